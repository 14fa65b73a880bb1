// A schedule: units as rows, networks as colours, what contention adds hatched, transitions as
// arrows. All schedules on the page share one scale of time, so that lengths can be compared.
const ROW = 46, BAR = 30, MOST_ARROWS = 400, MOST_BARS = 1500, NARROW = 2;

// The executions of a member, unpacked; the order is frame, network, repeat, group.
function executionsOf(data, member) {
  if (member.executions) return member.executions;
  const order = [];
  let first = 0;
  data.networks.forEach((network, n) => {
    for (let repeat = 1; repeat <= network.repeats; repeat += 1)
      network.groups.forEach((name, g) => order.push({ network: n, repeat, group: first + g, local: g, name }));
    first += network.groups.length;
  });
  let end = 0;
  const { gap_ps, stretch_ps, waited_ps, places } = member.schedule;
  member.executions = gap_ps.map((gap, i) => {
    const at = places ? places[i] : i;
    const about = order[at % order.length];
    const [first, step, demand, power] = data.group_costs[about.group][member.cost[about.group]];
    const alone = first + (about.repeat - 1) * step;
    const start = end + gap, stretch = stretch_ps[i];
    end = start + alone + stretch;
    return {
      ...about, frame: 1 + Math.floor(at / order.length), unit: member.units[about.group],
      start, end, alone, stretch, waited: waited_ps[i], demand, power,
    };
  });
  return member.executions;
}

// Members on the page whose schedules it has, A and B.
const scheduledSides = (page) => [page.state.a, page.state.b].filter((i) => i !== null).map((i) => pointsOf(page.data)[i]).filter((member) => member.schedule);

// Of a free run without the tail of what still runs at its end: a slow group may be most of the picture.
// With rates, to the end of the period that recurs.
const lastEnd = (data, member) => member.free_run?.shown_ps
  ?? Math.max(member.period_end_ps ?? 0, ...executionsOf(data, member).map((e) => e.end));

function executionTip(data, e) {
  const network = data.networks[e.network];
  const detail = network.details?.[e.local];
  const lines = [`${network.name}, group ${e.local}: ${e.name}`];
  if (e.frame > 1) lines.push(`Frame ${e.frame}`);
  if (network.repeats > 1) lines.push(`Repeat ${e.repeat}`);
  lines.push(`${data.units[e.unit]}, ${number(ms(e.start))} to ${number(ms(e.end))} ms`);
  const slower = e.alone ? (e.end - e.start) / e.alone : 1;
  lines.push(`Alone ${number(ms(e.alone))} ms` + (e.stretch
    ? `; contention adds ${number(ms(e.stretch))} ms (${slower.toFixed(3)}×)` : "; no contention"));
  if (e.waited) lines.push(`Waited ${number(ms(e.waited))} ms for the unit`);
  lines.push(`Asks for ${number(e.demand / 1e6)} GB/s, draws ${number(e.power / 1000)} W more than idle`);
  if (detail) {
    const names = detail.layers.slice(0, 6).join(", ") + (detail.layers.length > 6 ? ", …" : "");
    lines.push(`${detail.layers.length} layers: ${names}`, `${number(detail.macs / 1e6)} M multiply-accumulates, cost ${detail.origins[e.unit]}`);
  }
  return lines;
}

// A bar for each execution. Of thousands, those of a network that follow each other on a unit share
// one where each is narrow: a longer time axis takes it apart.
function barsOf(executions, lanes, x) {
  const bars = [], latest = new Map();
  for (const e of [...executions].sort((a, b) => a.start - b.start)) {
    const narrow = executions.length > MOST_BARS && x(ms(e.end)) - x(ms(e.start)) < NARROW;
    const own = `${e.unit} ${e.network}`, lane = lanes.get(own)[1] > 1 ? own : e.unit, before = latest.get(lane);
    if (narrow && before?.narrow && before.network === e.network && x(ms(e.start)) - x(ms(before.end)) < 1) {
      Object.assign(before, { end: e.end, stretch: before.stretch + e.stretch, last: e, count: before.count + 1 });
    } else {
      bars.push({ ...e, narrow, last: e, count: 1 });
      latest.set(lane, bars.at(-1));
    }
  }
  return bars;
}

function barTip(data, bar) {
  if (bar.count === 1) return executionTip(data, bar);
  const repeats = bar.repeat === bar.last.repeat ? `repeat ${bar.repeat}` : `repeats ${bar.repeat} to ${bar.last.repeat}`;
  return [`${data.networks[bar.network].name}, ${repeats}`,
    `${counted(bar.count, "execution")} on ${data.units[bar.unit]}, ${number(ms(bar.start))} to ${number(ms(bar.end))} ms`,
    bar.stretch ? `Contention adds ${number(ms(bar.stretch))} ms` : "No contention"];
}

function hatch(id) {
  return draw("pattern", { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    draw("rect", { width: 2, height: 5, fill: "var(--panel)", opacity: 0.75 }));
}

// Room for the names of units, in bold, left of their rows.
const unitMargin = (data, used) => 16 + 8.4 * Math.max(...used.map((u) => data.units[u].length));

// Dark ink on light fills: of the networks' colours only the blue and the vermillion are dark.
const inkOn = (network) => ([0, 5].includes(network % 8) ? "on-dark" : "on-light");

// Networks whose executions overlap on a unit have a part of the row's height each, [number, of how many].
function lanesOf(executions) {
  const lanes = new Map();
  for (const unit of new Set(executions.map((e) => e.unit))) {
    const here = executions.filter((e) => e.unit === unit).sort((a, b) => a.start - b.start), latest = new Map();
    const overlaps = here.some((e) => {
      const found = [...latest].some(([network, end]) => network !== e.network && end > e.start);
      latest.set(e.network, Math.max(e.end, latest.get(e.network) ?? 0));
      return found;
    });
    const networks = [...new Set(here.map((e) => e.network))].sort((a, b) => a - b);
    networks.forEach((network, k) => lanes.set(`${unit} ${network}`, overlaps ? [k, networks.length] : [0, 1]));
  }
  return lanes;
}

function scheduleChart(page, side, index, zoom) {
  const { data } = page, member = pointsOf(data)[index], executions = executionsOf(data, member);
  const used = [...new Set(executions.map((e) => e.unit))].sort((a, b) => a - b);
  const row = new Map(used.map((unit, k) => [unit, k])), lanes = lanesOf(executions);
  const place = el("div", { class: "chart", role: "group",
    "aria-label": `Schedule of member ${index}: arrow keys go from group to group.` });
  const outer = el("div", { class: "scroll" }, place);
  const state = { at: -1, bars: [], nodes: [] };

  function paint(width) {
    const left = unitMargin(data, used), right = width - 12;
    const bottom = 8 + ROW * used.length, height = bottom + 40;
    const ends = scheduledSides(page).map((shown) => lastEnd(data, shown));
    const x = scale([0, ...ends].map(ms), left, right, { zero: true, margin: 0.01 });
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true" });
    const pattern = `hatch-${side}`;
    svg.append(draw("defs", {}, hatch(pattern)));
    for (const tick of x.ticks(Math.max(3, (right - left) / 80)))
      svg.append(draw("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 4, y2: bottom }),
        draw("text", { x: x(tick), y: bottom + 16, "text-anchor": "middle" }, tickText(tick)));
    svg.append(draw("text", { class: "title", x: right, y: bottom + 34, "text-anchor": "end" }, "Time (ms)"));
    used.forEach((unit, k) => svg.append(
      draw("line", { class: "axis", x1: left, x2: right, y1: 8 + (k + 1) * ROW - 4, y2: 8 + (k + 1) * ROW - 4 }),
      draw("text", { class: "title", x: left - 9, y: 8 + k * ROW + BAR / 2 + 10, "text-anchor": "end" }, data.units[unit])));
    data.networks.forEach((network) => {
      const at = network.deadline_ps === null ? null : x(ms(network.arrival_ps + network.deadline_ps));
      if (at !== null && at <= right)
        svg.append(withTip(draw("line", { class: "deadline", x1: at, x2: at, y1: 4, y2: bottom }), () => [`Deadline of ${network.name}`]));
    });
    const run = member.free_run, from = run && run.window_ps[0];
    if (run && from < run.shown_ps)
      svg.append(withTip(draw("rect", { class: "window", x: x(ms(from)), width: x(ms(run.shown_ps)) - x(ms(from)), y: 4, height: bottom - 4 }),
        () => ["Throughput and power are counted here", `${number(ms(from))} to ${number(ms(run.window_ps[1]))} ms`]));
    state.bars = barsOf(executions, lanes, x);
    state.nodes = state.bars.map((e) => bar(e, x, pattern));
    svg.append(...state.nodes, transitions(x));
    return svg;
  }

  function bar(e, x, pattern) {
    const limit = lastEnd(data, member), cut = (ps) => x(ms(Math.min(ps, limit)));
    const [lane, count] = lanes.get(`${e.unit} ${e.network}`), tall = BAR / count;
    const top = 8 + row.get(e.unit) * ROW + 4 + lane * tall, from = cut(e.start), middle = e.narrow ? cut(e.end) : cut(e.start + e.alone), to = cut(e.end);
    const colour = `n${e.network % 8}`, wide = Math.max(to - from, 0.6);
    const g = draw("g", { class: "bar", "data-group": e.group, "data-start": e.start },
      draw("rect", { class: colour, x: from, y: top, width: Math.max(middle - from, 0.4), height: tall }));
    if (e.stretch && !e.narrow) g.append(
      draw("rect", { class: colour, x: middle, y: top, width: to - middle, height: tall, opacity: 0.72 }),
      draw("rect", { fill: `url(#${pattern})`, x: middle, y: top, width: to - middle, height: tall }));
    if (!e.narrow) g.append(draw("rect", { class: "frame", x: from, y: top, width: wide, height: tall }));
    const repeat = data.networks[e.network].repeats > 1 ? `·${e.repeat}` : "";
    // Layers without names of their own are only numbered.
    const name = /^n\d+( \.\. n\d+)?$/.test(e.name) ? "" : ` ${e.name}`;
    const labels = e.count > 1 ? [data.networks[e.network].name] : [`${e.local}${repeat}${name}`, `${e.local}${repeat}`];
    const label = labels.find((text) => 6.3 * text.length + 6 < wide && tall > 11);
    if (label) g.append(draw("text", { class: inkOn(e.network), x: from + wide / 2, y: top + tall / 2 + 4, "text-anchor": "middle" }, label));
    return withTip(g, () => barTip(data, e));
  }

  // From the end of the source, for as long as the transition takes, to its target's row.
  function transitions(x) {
    const g = draw("g"), total = data.units.length, ends = new Map();
    executions.forEach((e) => ends.set(`${e.group} ${e.frame} ${e.repeat}`, e));
    const moves = data.edges.map(([s, t], k) => [s, t, k]).filter(([s, t]) => member.units[s] !== member.units[t]);
    const sources = moves.map(([source]) => source);
    if (executions.reduce((sum, e) => sum + sources.filter((s) => s === e.group).length, 0) > MOST_ARROWS) return g;
    for (const e of executions)
      for (const [source, target, k] of moves) {
        if (e.group !== source) continue;
        const [u, v] = [member.units[source], member.units[target]];
        const delay = data.transition_ps[(k * total + u) * total + v];
        if (member.free_run && e.end + delay > member.free_run.shown_ps) continue;
        const down = row.get(v) > row.get(u);
        const x1 = x(ms(e.end)), y1 = 12 + row.get(u) * ROW + (down ? BAR : 0);
        const x2 = x(ms(e.end + delay)), y2 = 12 + row.get(v) * ROW + (down ? 0 : BAR);
        const tilt = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
        const kind = converts(data, u, v) ? " conversion" : "";
        g.append(draw("line", { class: `arrow${kind}`, x1, y1, x2, y2, "data-edge": k }),
          ...waits(x, ends.get(`${target} ${e.frame} ${e.repeat}`), x2, y2),
          draw("path", { class: `arrow-head${kind}`, d: "M0 0L-7 -3.2V3.2Z", transform: `translate(${x2} ${y2}) rotate(${tilt})` }));
      }
    return g;
  }

  const waits = (x, to, x2, y2) => (to && x(ms(to.start)) > x2 + 1 ? [draw("line", { class: "arrow waits", x1: x2, y1: y2, x2: x(ms(to.start)), y2 })] : []);

  function goTo(step) {
    state.nodes[state.at]?.classList.remove("current");
    state.at = step;
    const node = state.nodes[step];
    node.classList.add("current");
    node.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    tipAt(node, () => barTip(data, state.bars[step]));
    page.announce(barTip(data, state.bars[step]).slice(0, 4).join(". "));
  }
  keysThrough(place, {
    length: () => state.bars.length, current: () => state.at, go: goTo,
    leave: () => { state.nodes[state.at]?.classList.remove("current"); tip.hide(); },
  });
  if (zoom > 1) place.style.width = `${zoom * 100}%`;
  return { node: outer, start: () => drawnToWidth(place, paint) };
}

// Between two number formats of one unit.
const converts = (data, u, v) => u !== v && data.unit_of[u] === data.unit_of[v];

function scheduleLegend(data, member) {
  const shown = executionsOf(data, member);
  const entries = data.networks.map((network, n) => el("span", {}, el("i", { class: "swatch", style: `background:var(--n${n % 8})` }), member.priorities[n].length === 1 && member.priorities[n][0] ? `${network.name}, priority ${member.priorities[n][0]}` : network.name));
  if (shown.some((e) => e.stretch)) entries.push(el("span", {}, el("i", { class: "swatch hatched" }), "added by contention"));
  const moves = data.edges.map((edge) => edge.map((g) => member.units[g])).filter(([u, v]) => u !== v);
  if (moves.some(([u, v]) => !converts(data, u, v))) entries.push(el("span", {}, "→ transition, dotted until its unit is free"));
  if (moves.some(([u, v]) => converts(data, u, v))) entries.push(el("span", { class: "conversion" }, "→ conversion between number formats"));
  const run = member.free_run;
  if (run) entries.push(el("span", {}, el("i", { class: "swatch window" }), `counted: ${number(ms(run.window_ps[0]))} to ${number(ms(run.window_ps[1]))} ms`));
  const legend = el("div", { class: "legend" }, entries);
  return run ? el("div", {}, el("p", { class: "soft shown" }, `Shown: ${run.words}.`), legend) : legend;
}
