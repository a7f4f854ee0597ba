// Uses the slice viewer of a report as a person would, and writes what it saw into the page: a line per thing
// that should hold. viewer_browser_test.cpp puts it at the end of a page and reads the lines.
const faults = [];
addEventListener("error", (event) => faults.push(event.message));
addEventListener("unhandledrejection", (event) => faults.push(String(event.reason)));
const complain = console.error;
console.error = (...words) => { faults.push(words.join(" ")); complain(...words); };

addEventListener("load", async () => {
  const lines = element("pre", { id: "seen" });
  const check = (what, holds) => lines.append(`${holds ? "yes" : "no"}: ${what}\n`);
  // Time is virtual here and may run ahead of threads that unpack volumes: so each turn takes real time, too.
  let spun = 0;
  const settled = async (holds) => {
    for (let i = 0; i < 4000 && !holds(); ++i) {
      for (let turn = 0; turn < 5e6; ++turn) spun += turn % 3;
      await new Promise((done) => setTimeout(done, 25));
    }
    return holds();
  };
  const root = document.getElementById("viewer"), readout = root.querySelector(".readout");
  const canvases = [...root.querySelectorAll("canvas")], sliders = [...root.querySelectorAll("figure input")];
  const captions = () => [...root.querySelectorAll("figcaption")].map((node) => node.textContent);
  const picture = (canvas) => canvas.toDataURL();
  const select = (label) => [...root.querySelectorAll("label")].find((node) => node.textContent.startsWith(label)).querySelector("select, input");
  const set = (control, value) => { control.value = value; control.dispatchEvent(new Event("change", { bubbles: true })); };
  const changes = (what, act) => { const before = picture(canvases[0]); act(); check(what, picture(canvases[0]) !== before); };
  const pointer = (canvas, kind, x, y, more = {}) => {
    const place = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(kind, { bubbles: true, clientX: place.left + x * place.width, clientY: place.top + y * place.height, ...more }));
  };
  const colors = (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
    return seen;
  };
  try {
    root.scrollIntoView();
    await settled(() => readout.textContent.includes("prediction:"));
    check("the worst case is shown first", readout.textContent.startsWith("case_1"));
    check("a case begins where most is labelled", captions().join() === "axial, slice 4 of 8,coronal, slice 5 of 10,sagittal, slice 6 of 12");
    check("all planes have pixels", canvases.every((canvas) => colors(canvas).size > 3));

    changes("the wheel turns slices", () => canvases[0].dispatchEvent(new WheelEvent("wheel", { deltaY: 1, cancelable: true })));
    check("the caption follows", captions()[0] === "axial, slice 5 of 8");
    sliders[0].value = 3;
    sliders[0].dispatchEvent(new Event("input", { bubbles: true }));
    check("the slider turns slices", captions()[0] === "axial, slice 4 of 8");
    const stage = root.querySelector(".stage");
    const press = (key) => stage.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const keys = document.querySelector(".keys");
    check("the list of keys is closed", !keys.open);
    press("?");
    check("? opens it", keys.open);
    press("Escape");
    check("Escape closes it", !keys.open);
    check("the contents lead to the viewer", document.querySelector(`nav a[href="#${root.closest("section").id}"]`) !== null);
    press("ArrowUp");
    check("an arrow key turns slices", captions()[0] === "axial, slice 5 of 8");

    pointer(canvases[0], "pointerdown", 0.1, 0.9);
    pointer(canvases[0], "pointermove", 0.01, 0.01);
    pointer(canvases[0], "pointerup", 0.01, 0.01);
    check("dragging moves the other planes", captions()[1].startsWith("coronal, slice 1 ") && captions()[2].startsWith("sagittal, slice 1 "));
    pointer(canvases[1], "pointerdown", 0.5, 0.01);
    pointer(canvases[1], "pointerup", 0.5, 0.01);
    check("the top of a coronal slice is superior", captions()[0] === "axial, slice 8 of 8");
    sliders[0].value = 4;
    sliders[0].dispatchEvent(new Event("input", { bubbles: true }));
    pointer(canvases[0], "pointerdown", 0.5, 0.5, { pointerType: "touch" });
    pointer(canvases[0], "pointermove", 0.5, 0.5, { pointerType: "touch", clientX: canvases[0].getBoundingClientRect().left + canvases[0].clientWidth / 2 + 17 });
    pointer(canvases[0], "pointerup", 0.5, 0.5, { pointerType: "touch" });
    check("a finger sideways turns slices", captions()[0] === "axial, slice 7 of 8");
    press("ArrowDown");
    press("ArrowDown");

    changes("shift and dragging change the window", () => {
      pointer(canvases[0], "pointerdown", 0.5, 0.5, { shiftKey: true });
      pointer(canvases[0], "pointermove", 0.8, 0.3);
      pointer(canvases[0], "pointerup", 0.8, 0.3);
    });
    press("r");
    changes("the prediction is filled", () => set(select("Prediction"), "fill"));
    changes("the truth goes", () => set(select("Ground truth"), "off"));
    changes("a region goes", () => select(" whole tumor").click());
    select(" whole tumor").click();
    set(select("Prediction"), "off");
    check("without errors none is coloured", !["255,48,48", "32,224,255"].some((color) => colors(canvases[0]).has(color)));
    changes("errors are shown", () => select(" errors").click());
    check("errors are told apart", root.querySelector(".key").textContent.includes("false negative"));
    select(" errors").click();
    const before = picture(canvases[0]);
    set(select("Channel"), "1");
    check("another channel is another picture", await settled(() => picture(canvases[0]) !== before && readout.textContent.includes("flair")));

    const order = () => [...root.querySelectorAll("tbody tr")].map((row) => row.dataset.id).join();
    const heading = (i) => root.querySelectorAll("thead button")[i];
    check("the worst case stands first", order() === "case_1,case_2,case_3,case_4");
    heading(1).click();
    check("a second click turns the order", order() === "case_4,case_3,case_2,case_1");
    set(select("Metric"), "hd95");
    check("another metric sorts by it", order() === "case_4,case_3,case_2,case_1");
    heading(0).click();
    check("cases are sorted by name", order() === "case_1,case_2,case_3,case_4");
    root.querySelector('tr[data-id="case_2"] button').click();
    check("a click opens a case", await settled(() => readout.textContent.startsWith("case_2")));
    check("a case without volumes stays shut", root.querySelector('tr[data-id="case_3"] button').disabled);
    press("ArrowLeft");
    check("an arrow key opens the case before", await settled(() => readout.textContent.startsWith("case_1")));
    set(select("Group"), "1");
    check("another group keeps the case", (await settled(() => readout.textContent.startsWith("case_1"))) && root.querySelector("tr[aria-current]").dataset.id === "case_1");

    const dot = document.querySelector('svg [data-case="case_2"]');
    if (dot) dot.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    check("a dot of the box plot opens its case", dot ? await settled(() => readout.textContent.startsWith("case_2")) : document.querySelector("svg") === null);
    check("nothing is wider than the window", document.documentElement.scrollWidth <= innerWidth);
    check("nothing came from elsewhere", performance.getEntriesByType("resource").filter(({ name }) => !name.startsWith("data:") && !name.startsWith("blob:")).length === 0);
  } catch (error) {
    faults.push(String(error.stack));
  }
  check("no script complained", faults.length === 0);
  lines.append(faults.map((fault) => `fault: ${fault}\n`).join(""));
  lines.append("done\n");
  document.body.append(lines);
});

function element(name, attributes) {
  const made = document.createElement(name);
  Object.assign(made, attributes);
  return made;
}
