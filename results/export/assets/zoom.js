// Zoom of the front: drag a rectangle, double-click for all of it, or the buttons, around member A.
function zoomedPlot(page, place, view, again) {
  const spanOf = ({ from, to }) => [Math.min(from, to), Math.max(from, to)];
  const set = (window) => { view.window = window; again(); };

  function around(factor) {
    const { x, y } = view.scales, at = pointsOf(page.data)[page.state.a].objectives;
    const part = (scale, value) => {
      const [low, high] = spanOf(scale), middle = value === null ? (low + high) / 2 : Math.min(Math.max(scale(value), low), high);
      return [low, high].map((edge) => scale.value(middle + (edge - middle) * factor)).sort((p, q) => p - q);
    };
    const window = { x: part(x, at[view.x]), y: part(y, at[view.y]) };
    const all = ["x", "y"].every((k) => window[k][0] <= view.whole[k].low && window[k][1] >= view.whole[k].high);
    set(all ? null : window);
  }

  let start = null, frame = null;
  const here = (event) => { const box = place.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  place.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch" && event.button === 0) start = here(event);
  });
  place.addEventListener("pointermove", (event) => {
    if (!start) return;
    const [x, y] = here(event);
    if (!frame && Math.max(Math.abs(x - start[0]), Math.abs(y - start[1])) < 8) return;
    frame ??= place.querySelector("svg").appendChild(draw("rect", { class: "rubber" }));
    const box = { x: Math.min(x, start[0]), y: Math.min(y, start[1]), width: Math.abs(x - start[0]), height: Math.abs(y - start[1]) };
    for (const [name, value] of Object.entries(box)) frame.setAttribute(name, value);
    event.preventDefault();
  });
  addEventListener("pointerup", (event) => {
    if (start && frame) {
      const end = here(event), { x, y } = view.scales;
      // The click that follows on a mark would choose it.
      addEventListener("click", (click) => click.stopPropagation(), { capture: true, once: true });
      setTimeout(() => dispatchEvent(new Event("click")));
      set({ x: [x.value(start[0]), x.value(end[0])].sort((p, q) => p - q), y: [y.value(start[1]), y.value(end[1])].sort((p, q) => p - q) });
    }
    start = frame = null;
  }, { signal: page.over.signal });
  place.addEventListener("dblclick", () => set(null));
  const buttons = [["−", 2, "Zoom out"], ["+", 0.5, "Zoom in around A"]].map(([text, factor, name]) =>
    el("button", { type: "button", "aria-label": name, "data-plot-zoom": text, onclick: () => around(factor) }, text));
  byId("plot-controls").append(el("span", { class: "switch-label" }, "Zoom", el("span", { class: "switch", role: "group", "aria-label": "Zoom of the front" }, buttons)));
}
