// Three objectives and more: one axis for each, best at the bottom, one line for each choice.
function parallelPlot(page) {
  const { data } = page;
  if (data.objectives.length < 3) return;
  const place = byId("parallel");
  let lines = [], chosen = null;

  function paint(width) {
    const step = (width - 120) / (data.objectives.length - 1);
    // Titles that would run into each other stand on several lines, in turns.
    const wide = 7.6 * Math.max(...data.objectives.map((o) => objectiveTitle(o).length));
    const rows = wide < step ? 1 : Math.min(data.objectives.length, Math.ceil((1.5 * wide - 50) / step));
    const height = 254 + 16 * rows, top = 18 + 16 * rows, bottom = height - 22;
    const axes = data.objectives.map((objective, k) => {
      const [worst, best] = [top, bottom];
      const at = scale(data.members.map((m) => m.objectives[k]),
        objective.larger_is_better ? worst : best, objective.larger_is_better ? best : worst, { margin: 0.03 });
      return { at, x: 60 + k * step, objective };
    });
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true" });
    const path = (m) => axes.map(({ at, x }, k) => `${k ? "L" : "M"}${x.toFixed(1)} ${at(m.objectives[k]).toFixed(1)}`).join("");
    lines = data.members.map((m) => (m.objectives.includes(null) ? null : path(m)));
    const first = data.members.map((m) => m.objectives[0]);
    const share = shares(first), shown = choicesOf(page);
    lines.forEach((d, i) => {
      if (d === null || !shown.has(i)) return;
      svg.append(withTip(draw("path", { d, class: "line", stroke: viridis(share(first[i])), "data-line": i,
        onclick: (event) => page.choose(i, event.shiftKey) }), () => memberTip(data, i)));
    });
    axes.forEach(({ at, x, objective }, k) => {
      const anchor = k === 0 ? "start" : k === axes.length - 1 ? "end" : "middle";
      const shift = k === 0 ? -50 : k === axes.length - 1 ? 50 : 0;
      svg.append(draw("line", { class: "axis", x1: x, x2: x, y1: top, y2: bottom }),
        draw("text", { class: "title", x: x + shift, y: 14 + (k % rows) * 16, "text-anchor": anchor }, objectiveTitle(objective)));
      for (const tick of at.ticks(5))
        svg.append(draw("text", { class: "over", x: k === 0 ? x - 6 : x + 6, y: at(tick) + 4, "text-anchor": k === 0 ? "end" : "start" }, tickText(tick)));
    });
    svg.append(draw("text", { x: 60, y: height - 4 }, "best at the bottom"));
    chosen = draw("g");
    svg.append(chosen);
    paintChosen();
    return svg;
  }

  function paintChosen() {
    if (!chosen) return;
    chosen.replaceChildren(...["b", "a"]
      .filter((side) => page.state[side] !== null && lines[page.state[side]])
      .map((side) => draw("path", { class: `line chosen ${side}`, d: lines[page.state[side]] })));
  }

  byId("parallel").before(el("h3", {}, "Every objective at once"));
  const again = drawnToWidth(place, paint);
  let drawn = page.state.resolution;
  page.listen(() => {
    if (drawn === page.state.resolution) return paintChosen();
    drawn = page.state.resolution;
    return again();
  });
}
