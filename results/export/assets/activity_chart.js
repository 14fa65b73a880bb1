// Under the schedule: power and the memory bandwidth asked for, as steps over the same time.
function activityChart(page, index, { title, unit, base, value, together, factor, zoom }) {
  const { data } = page, member = pointsOf(data)[index], executions = executionsOf(data, member);
  const place = el("div", { class: "chart" });
  if (zoom > 1) place.style.width = `${zoom * 100}%`;
  const limit = lastEnd(data, member);
  const all = activitySteps(data, executions, value, base(member), together), steps = all.filter(([at]) => at <= limit);
  if (steps.at(-1)[0] < limit) steps.push([limit, steps.at(-1)[1]]);
  const mostOf = (shown) => Math.max(...activitySteps(data, executionsOf(data, shown), value, base(shown), together).map(([, v]) => v));

  function paint(width) {
    const used = [...new Set(executions.map((e) => e.unit))];
    const left = unitMargin(data, used), right = width - 12, height = 84;
    const sides = scheduledSides(page);
    const x = scale([0, ...sides.map((shown) => ms(lastEnd(data, shown)))], left, right, { zero: true, margin: 0.01 });
    const y = scale([0, ...sides.map((shown) => mostOf(shown) / factor)], height - 8, 22, { zero: true });
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true" });
    svg.append(draw("text", { class: "title", x: left, y: 13 }, `${title} (${unit})`));
    for (const tick of y.ticks(2))
      svg.append(draw("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }),
        draw("text", { x: left - 9, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick)));
    const top = steps.map(([at, v], k) => `${k ? "H" : "M"}${x(ms(at)).toFixed(1)}${k ? "V" : " "}${y(v / factor).toFixed(1)}`).join("");
    const end = x(ms(steps.at(-1)[0])).toFixed(1);
    svg.append(draw("path", { class: "area", fill: "var(--shade)", d: `${top}L${end} ${y(0)}H${x(0)}Z` }),
      draw("path", { class: "outline", d: top }));
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect(), mouse = ((event.clientX - box.left) / box.width) * width;
      const now = steps.findLast(([at]) => x(ms(at)) <= mouse);
      if (now) tip.show([`${number(now[1] / factor)} ${unit}`, `from ${number(ms(now[0]))} ms`], event.clientX, event.clientY);
    });
    svg.addEventListener("pointerleave", tip.hide);
    return svg;
  }
  return { node: el("div", { class: "scroll" }, place), start: () => drawnToWidth(place, paint) };
}

// [[instant in ps, value from there on], ...]: what runs added up on top of what is always there. Of
// what runs at once on a shared unit, `together` makes one value.
function activitySteps(data, executions, value, base, together) {
  const changes = [], running = new Map();
  for (const e of executions) changes.push([e.start, e, true], [e.end, e, false]);
  changes.sort((a, b) => a[0] - b[0]);
  let now = base;
  const steps = [[0, base]];
  for (const [at, e, starts] of changes) {
    const unit = data.shared[e.unit];
    if (unit === null) now += starts ? value(e) : -value(e);
    else {
      const before = running.get(unit) ?? [];
      const after = starts ? [...before, e] : before.filter((other) => other !== e);
      running.set(unit, after);
      now += (after.length ? together(after.map(value)) : 0) - (before.length ? together(before.map(value)) : 0);
    }
    if (steps.at(-1)[0] === at) steps.at(-1)[1] = now; else steps.push([at, now]);
  }
  return steps;
}
