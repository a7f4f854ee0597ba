// The list of cases of the slice viewer: their scores, sorted by any column.

// Creates an element with attributes (functions are listeners) and children.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function choices(label, options, chosen, change) {
  const select = element("select", { change: (event) => change(event.target.value) });
  for (const [value, text] of options) select.append(element("option", { value, selected: value === chosen }, text));
  return element("label", {}, label + " ", select);
}

const mean = (numbers) => {
  const there = numbers.filter((n) => n !== null && n !== undefined);
  return there.length ? there.reduce((a, b) => a + b, 0) / there.length : null;
};

// A table of the cases of a group. `select(id)` is called with the selected case.
class CaseList {
  constructor(index, select) {
    this.index = index;
    this.select = select;
    this.metric = index.metrics[0];
    this.column = 1;
    this.upwards = this.metricIsBetterWhenLarge();
    this.body = element("tbody");
    this.head = element("tr");
    this.node = element("div", { class: "case-list" },
      index.metrics.length > 1
        ? choices("Metric", index.metrics.map((m) => [m, m]), this.metric, (metric) => {
            this.metric = metric;
            this.upwards = this.metricIsBetterWhenLarge();
            this.show();
          })
        : "",
      element("div", { class: "scroll" }, element("table", {}, element("thead", {}, this.head), this.body)));
  }

  // The worst cases come first: large distances are worse.
  metricIsBetterWhenLarge() {
    return !/^(hd|hausdorff|assd|lesion_wise_hd)/.test(this.metric);
  }

  // Returns the cases in their order, with the cells of their columns: name, mean, regions.
  rows() {
    const rows = Object.entries(this.group.cases).map(([id, { scores }]) => {
      const values = this.index.regions.map((region) => (scores[region] || {})[this.metric] ?? null);
      return { id, cells: [id, mean(values), ...(values.length > 1 ? values : [])] };
    });
    const order = (a, b) => {
      const x = a.cells[this.column], y = b.cells[this.column];
      if (x === null || y === null) return (x === null) - (y === null); // missing values last
      return typeof x === "string" ? x.localeCompare(y) : x - y;
    };
    const sign = this.upwards ? 1 : -1;
    return rows.sort((a, b) => {
      const way = order(a, b);
      return a.cells[this.column] === null || b.cells[this.column] === null ? way : sign * way;
    });
  }

  heading(text, column) {
    const sorted = column === this.column;
    const sort = () => {
      this.upwards = sorted ? !this.upwards : true;
      this.column = column;
      this.show();
    };
    return element("th", { "aria-sort": sorted ? (this.upwards ? "ascending" : "descending") : "none" },
      element("button", { type: "button", click: sort }, text + (sorted ? (this.upwards ? "\u00a0↑" : "\u00a0↓") : "")));
  }

  show(group = this.group, chosen = this.chosen) {
    this.group = group;
    this.chosen = chosen;
    const several = this.index.regions.length > 1;
    const names = ["Case", several ? "Mean" : this.index.regions[0], ...(several ? this.index.regions : [])];
    this.head.replaceChildren(...names.map((name, column) => this.heading(name.replaceAll("_", " "), column)));
    this.body.replaceChildren(...this.rows().map(({ id, cells }) => {
      const there = group.cases[id].study !== null;
      const [, ...numbers] = cells;
      return element("tr", { "data-id": id, "aria-current": id === chosen && "true", click: () => there && this.select(id) },
        element("td", {}, element("button", { type: "button", disabled: !there,
          title: there ? "" : "no volumes in this page" }, id)),
        ...numbers.map((n) => element("td", { class: "number" }, n === null ? "-" : n.toFixed(3))));
    }));
  }

  // Returns the viewable case before or after the selected one.
  neighbour(step) {
    const ids = this.rows().map(({ id }) => id).filter((id) => this.group.cases[id].study !== null);
    return ids[Math.min(ids.length - 1, Math.max(0, ids.indexOf(this.chosen) + step))];
  }
}
