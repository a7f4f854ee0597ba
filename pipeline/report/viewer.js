// The slice viewer of report.html: its state and all actions that change it.

class Viewer {
  constructor(root) {
    this.root = root;
    this.index = JSON.parse(document.getElementById("viewer-index").textContent);
    this.group = this.index.groups[0];
    this.view = { at: [0, 0, 0], channel: 0, level: 0, width: 1, truth: "outline", prediction: "outline", errors: false, hidden: new Set(), colors: this.index.colors };
    this.list = new CaseList(this.index, (id) => this.open(id));
    this.figures = planes.map((plane) => this.figure(plane));
    this.controls = element("div", { class: "controls" });
    this.message = element("p", { class: "readout", role: "status" });
    this.stage = element("div", { class: "stage", tabindex: 0, role: "application", "aria-label": "slices", keydown: (event) => this.key(event) },
      ...this.figures.map(({ node }) => node));
    this.root.append(this.list.node, element("div", { class: "viewing" }, this.controls, this.stage, this.message));
    this.root.hidden = false;
    this.list.show(this.group, null);
    // The layout changes the height of the stage itself; within the observer's turn, that would be a loop.
    new ResizeObserver(() => requestAnimationFrame(() => this.study && this.layOut())).observe(this.stage);
    document.addEventListener("click", (event) => this.fromPlot(event));
    const section = root.closest("section"), keys = section.querySelector(".keys");
    section.addEventListener("keydown", (event) => {
      if (event.key === "?") keys.open = !keys.open;
      if (event.key === "Escape") keys.open = false;
    });
  }

  // Creates a plane's canvas with its slice slider.
  figure(plane) {
    const canvas = element("canvas");
    const slider = element("input", { type: "range", min: 0, step: 1, "aria-label": plane.name + " slice",
      input: (event) => this.move(plane.normal, +event.target.value) });
    const caption = element("figcaption");
    this.listen(canvas, plane);
    return { plane, canvas, slider, caption, node: element("figure", {}, canvas, slider, caption) };
  }

  // Mouse: dragging moves the crosshair, with shift or the right button it sets window and level; the wheel changes
  // slices. Touch: dragging sideways changes slices, vertical drags scroll the page; a tap moves the crosshair.
  listen(canvas, plane) {
    let last = null, turned = 0;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.move(plane.normal, this.view.at[plane.normal] + Math.sign(event.deltaY));
    }, { passive: false });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      last = { x: event.clientX, y: event.clientY, windowing: event.shiftKey || event.button === 2 };
      turned = 0;
      if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
      if (!last.windowing) this.point(event, canvas, plane);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      const dx = event.clientX - last.x, dy = event.clientY - last.y;
      if (last.windowing) {
        Object.assign(last, { x: event.clientX, y: event.clientY });
        this.windowBy(dx / canvas.clientWidth, -dy / canvas.clientHeight);
      } else if (event.pointerType === "touch") {
        const steps = Math.trunc(dx / 8) - turned;
        turned += steps;
        if (steps !== 0) this.move(plane.normal, this.view.at[plane.normal] + steps);
      } else {
        this.point(event, canvas, plane);
      }
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (last = null));
  }

  // Moves the crosshair to the pointer.
  point(event, canvas, plane) {
    const place = canvas.getBoundingClientRect();
    const part = (at, begin, length) => Math.min(0.999999, Math.max(0, (at - begin) / length));
    const across = part(event.clientX, place.left, place.width), down = part(event.clientY, place.top, place.height);
    this.view.at[plane.right] = Math.floor(across * this.study.size[plane.right]);
    this.view.at[plane.down] = Math.floor((plane.upward ? 0.999999 - down : down) * this.study.size[plane.down]);
    this.paint();
  }

  move(axis, to) {
    if (!this.study) return;
    this.view.at[axis] = Math.min(this.study.size[axis] - 1, Math.max(0, to));
    this.paint();
  }

  windowBy(wider, brighter) {
    const [low, high] = this.study.channels[this.view.channel].range;
    this.view.width = Math.min(2 * (high - low), Math.max((high - low) / 200, this.view.width + wider * (high - low)));
    this.view.level = Math.min(high, Math.max(low, this.view.level - brighter * (high - low)));
    this.control();
    this.paint();
  }

  resetWindow() {
    const [low, high] = this.study.channels[this.view.channel].window;
    this.view.level = (low + high) / 2;
    this.view.width = high - low;
  }

  key(event) {
    if (!this.study || event.target !== this.stage || event.ctrlKey || event.metaKey || event.altKey) return;
    const slices = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    const cases = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = { off: "outline", outline: "fill", fill: "off" };
    if (slices) this.move(2, this.view.at[2] + slices);
    else if (cases) this.open(this.list.neighbour(cases));
    else if (event.key === "e") this.change({ errors: !this.view.errors });
    else if (event.key === "t") this.change({ truth: next[this.view.truth] });
    else if (event.key === "p") this.change({ prediction: next[this.view.prediction] });
    else if (event.key === "r") this.setChannel(this.view.channel);
    else if (event.key >= "1" && event.key <= String(Math.min(9, this.study.channels.length))) this.setChannel(event.key - 1);
    else return;
    event.preventDefault();
  }

  change(what) {
    Object.assign(this.view, what);
    this.control();
    this.paint();
  }

  async setChannel(channel) {
    this.view.channel = channel;
    this.resetWindow();
    this.control();
    await this.load();
  }

  // Loads the volumes of the view and paints them, unless the view has changed meanwhile.
  async load() {
    const study = this.study, channel = this.view.channel;
    const [greys, truth, prediction] = await Promise.all([study.greys[channel], study.truth, study.prediction].map(volume));
    if (study !== this.study || channel !== this.view.channel) return false;
    this.volumes = { greys, truth, prediction };
    this.paint();
    return true;
  }

  // Shows a case of the group.
  async open(id) {
    const found = this.group.cases[id];
    if (!found || found.study === null) return;
    const sameGrid = this.id === id;
    this.id = id;
    this.study = JSON.parse(document.getElementById(found.study).textContent);
    this.study.regions.forEach((region, i) => (region.color = this.index.colors.regions[i]));
    this.volumes = null;
    this.view.channel = Math.min(this.view.channel, this.study.channels.length - 1);
    this.list.show(this.group, id);
    this.resetWindow();
    this.control();
    try {
      const labelled = (await volume(this.study.truth)) || (await volume(this.study.prediction));
      if (this.id !== id) return;
      if (!sameGrid) this.view.at = fullestSlices(labelled, this.study.size);
      this.layOut();
      await this.load();
    } catch (error) {
      this.message.textContent = `This browser cannot decompress the volumes (${error.message}); the pictures below show some of the cases.`;
    }
  }

  // Places the canvases side by side at one scale, or stacked if there is no room.
  layOut() {
    const shown = this.figures.filter(({ plane }) => !this.study.flat || plane.normal === 2);
    const room = this.stage.clientWidth, gap = 12;
    const sizes = shown.map(({ plane }) => extent(this.study, plane));
    const widths = sizes.reduce((sum, size) => sum + size.width, 0), tallest = Math.max(...sizes.map((size) => size.height));
    const beside = room >= 560 || shown.length === 1;
    const scale = beside ? Math.min((room - gap * (shown.length - 1)) / widths, 520 / tallest)
      : Math.min(room / Math.max(...sizes.map((size) => size.width)), 420 / tallest);
    for (const figure of this.figures) figure.node.hidden = !shown.includes(figure);
    shown.forEach(({ canvas }, i) => {
      canvas.style.width = Math.floor(sizes[i].width * scale) + "px";
      canvas.style.height = Math.floor(sizes[i].height * scale) + "px";
    });
    this.paint();
  }

  paint() {
    if (!this.volumes) return;
    for (const { plane, canvas, slider, caption, node } of this.figures) {
      if (node.hidden) continue;
      paintPlane(canvas, this.study, this.view, plane, this.volumes);
      const at = this.view.at[plane.normal], [first, step, count] = this.study.slices[plane.normal];
      slider.max = this.study.size[plane.normal] - 1;
      slider.value = at;
      slider.hidden = this.study.flat;
      caption.textContent = this.study.flat ? "" : `${plane.name}, slice ${first + step * at} of ${count}`;
    }
    this.message.textContent = this.readout();
  }

  // Shows the values at the crosshair.
  readout() {
    const { study, view, volumes } = this, [x, y, z] = view.at;
    const coarse = study.size.map((n, axis) => Math.ceil(n / study.step[axis]));
    const block = view.at.map((at, axis) => Math.floor(at / study.step[axis]));
    const { name, range: [low, high] } = study.channels[view.channel];
    const grey = low + (volumes.greys[(block[2] * coarse[1] + block[1]) * coarse[0] + block[0]] / 255) * (high - low);
    const at = (z * study.size[1] + y) * study.size[0] + x;
    const words = (bytes) => {
      const found = study.regions.filter(({ labels }) => labels.includes(bytes[at])).map((region) => region.name.replaceAll("_", " "));
      return found.length ? found.join(", ") : "background";
    };
    const parts = [this.id, `${name} ≈ ${+grey.toPrecision(3)}`];
    if (volumes.truth) parts.push("ground truth: " + words(volumes.truth));
    return [...parts, "prediction: " + words(volumes.prediction)].join(" · ");
  }

  // Updates the controls to the view.
  control() {
    const { study, view } = this;
    const [low, high] = study.channels[view.channel].range;
    const focused = this.controls.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
    const slider = (label, least, most, value, change) =>
      element("label", {}, label + " ", element("input", { type: "range", "aria-label": label, min: least, max: most, step: (most - least) / 500, value,
        input: (event) => { change(+event.target.value); this.paint(); } }));
    const modes = [["off", "off"], ["outline", "outline"], ["fill", "fill"]];
    const tick = (text, checked, change, color) =>
      element("label", { class: "tick" }, element("input", { type: "checkbox", checked, change: (event) => change(event.target.checked) }),
        color ? element("span", { class: "swatch", style: `background: ${color}` }) : "", " " + text);
    const groups = this.index.groups;
    const rows = [
      groups.length > 1 && choices("Group", groups.map(({ name }, i) => [String(i), name]), String(groups.indexOf(this.group)), (i) => this.setGroup(groups[i])),
      study.channels.length > 1 && choices("Channel", study.channels.map(({ name }, i) => [String(i), name]), String(view.channel), (i) => this.setChannel(+i)),
      slider("Level", low, high, view.level, (value) => (view.level = value)),
      slider("Window", (high - low) / 200, 2 * (high - low), view.width, (value) => (view.width = value)),
      element("button", { type: "button", click: () => { this.resetWindow(); this.control(); this.paint(); } }, "Reset"),
      study.truth !== null && choices("Ground truth (dashed)", modes, view.truth, (truth) => this.change({ truth })),
      choices("Prediction", modes, view.prediction, (prediction) => this.change({ prediction })),
      element("div", { class: "regions" }, ...study.regions.map(({ name, color }) => tick(name.replaceAll("_", " "), !view.hidden.has(name), (on) => {
        if (on) view.hidden.delete(name);
        else view.hidden.add(name);
        this.paint();
      }, color))),
      study.truth !== null && tick("errors", view.errors, (errors) => this.change({ errors })),
      study.truth !== null && view.errors && element("span", { class: "key" },
        element("span", { class: "swatch", style: `background: ${view.colors.missed}` }), " false negative ",
        element("span", { class: "swatch", style: `background: ${view.colors.false}` }), " false positive"),
    ];
    this.controls.replaceChildren(...rows.filter(Boolean));
    if (focused) this.controls.querySelector(`[aria-label="${focused}"]`)?.focus();
  }

  setGroup(group) {
    this.group = group;
    this.list.show(group, this.id);
    if (group.cases[this.id]?.study) this.open(this.id);
    else this.openFirst();
  }

  openFirst() {
    this.list.chosen = null;
    const first = this.list.neighbour(0);
    if (first) this.open(first);
  }

  // Opens the case of a dot in a plot.
  fromPlot(event) {
    const dot = event.target.closest?.("[data-case]");
    if (!dot) return;
    const group = this.index.groups.find(({ name }) => name === dot.dataset.group) || this.index.groups[0];
    const id = dot.dataset.case;
    if (!group.cases[id]?.study) return;
    this.group = group;
    this.open(id);
    this.root.scrollIntoView({ block: "start" });
  }
}

// Nothing is decompressed before the viewer becomes visible.
const viewer = new Viewer(document.getElementById("viewer"));
new IntersectionObserver((entries, observer) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  observer.disconnect();
  if (!viewer.id) viewer.openFirst();
}, { rootMargin: "300px" }).observe(viewer.root);
