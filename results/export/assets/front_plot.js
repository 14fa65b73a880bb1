// The front: two objectives as axes, forms for the units that work, colours for what is chosen.
const FORMS = [
  "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0 -5 0Z", "M-4.6 -4.6H4.6V4.6H-4.6Z", "M0 -5.8L5.6 4.4H-5.6Z",
  "M0 -6L6 0L0 6L-6 0Z", "M0 5.8L5.6 -4.4H-5.6Z", "M-2 -6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
  "M0 -6L5.7 -1.9L3.5 4.9H-3.5L-5.7 -1.9Z", "M-6 -2.6L0 -6L6 -2.6V2.6L0 6L-6 2.6Z",
];
const BASELINE_FORM = "M-5 -5L5 5M-5 5L5 -5";

function objectiveTitle(objective) {
  return `${capital(objective.label)} (${objective.unit})`;
}

// Of units that cost the same it does not matter which: they have one name, and are counted.
function unitsUsed(data, member) {
  const counts = new Map();
  for (const u of [...new Set(member.units)].sort((a, b) => a - b))
    counts.set(data.unit_kinds[u], (counts.get(data.unit_kinds[u]) ?? 0) + 1);
  return [...counts].map(([kind, n]) => (n > 1 ? `${n} ${kind}` : kind)).join(" + ");
}

// Beside the members, what other methods gave can be chosen, too: by the numbers after theirs.
function pointsOf(data) {
  data.points ??= [...data.members, ...data.baselines];
  return data.points;
}

function memberName(data, index) {
  const baseline = data.baselines[index - data.members.length];
  if (baseline) return `baseline ${baseline.label}`;
  const marks = data.marks[index];
  return marks ? `member ${index}, ${marks.join(", ")}` : `member ${index}`;
}

// What is proved of a member: that it is best at something, or one of all that there are.
function memberProof(data, index) {
  const about = data.proofs.filter((proof) => proof.members.includes(index) && (proof.exact || (!proof.whole && proof.status === "gap")));
  return about.find((proof) => proof.status === "certified")?.status ?? about[0]?.status ?? null;
}

function objectiveTexts(data, member) {
  return data.objectives.map((o, k) => `${capital(o.label)} ${number(member.objectives[k])} ${o.unit}`);
}

function clockTexts(data, member) {
  return data.domains.map((d, k) =>
    member.points[k] === null ? `${d.name} off` : `${d.name} ${megahertz(d.khz[member.points[k]])} MHz`);
}

function memberTip(data, index) {
  const member = pointsOf(data)[index];
  const groups = data.units
    .map((unit, u) => [unit, member.units.filter((v) => v === u).length])
    .filter(([, groups]) => groups).map(([unit, groups]) => `${unit} ${groups}`);
  const status = memberProof(data, index), proof = status ? [capital(PROOF_WORDS[status])] : [];
  const broken = member.breaks?.length ? [`Breaks ${member.breaks.join(", ")}`] : [];
  const figures = member.overloaded ? ["Overloaded"] : [...objectiveTexts(data, member), ...broken];
  return [capital(memberName(data, index)), ...figures,
    `Groups on ${groups.join(", ")}`, `Clocks: ${clockTexts(data, member).join(", ")}`, ...proof];
}

// What colours may stand for: [title, value of a member] each; the first is the one to begin with.
function colourings(data) {
  const objectives = data.objectives.map((o, k) => [objectiveTitle(o), (m) => m.objectives[k]]);
  const clocks = data.varying_domains.map((d) => [
    `${data.domains[d].name} clock (MHz)`,
    (m) => (m.points[d] === null ? null : data.domains[d].khz[m.points[d]] / 1000),
  ]);
  return [...objectives.slice(2), ...clocks, ...objectives.slice(0, 2)];
}

function frontPlot(page) {
  const { data } = page;
  const place = byId("plot");
  const counts = new Map();
  for (const { label } of data.baselines) counts.set(label, (counts.get(label) ?? 0) + 1);
  const isSeries = (point) => counts.get(point.label) > 1;
  const kinds = data.members.map((m) => unitsUsed(data, m)), often = new Map();
  for (const kind of kinds) often.set(kind, (often.get(kind) ?? 0) + 1);
  const rank = new Map([...often].sort((a, b) => b[1] - a[1]).map(([kind], k) => [kind, k]));
  const form = (i) => FORMS[Math.min(rank.get(kinds[i]), FORMS.length - 1)];
  const colours = colourings(data);
  const view = page.view ??= { x: 0, y: Math.min(1, data.objectives.length - 1), colour: 0, window: null, scales: null, whole: null };
  view.colour = Math.min(view.colour, colours.length - 1);
  let positions = [], rings = null, taken = []; // taken: the room of words.

  let shown = choicesOf(page);
  const isShown = (i) => i >= data.members.length || shown.has(i);

  function paint(width) {
    shown = choicesOf(page);
    const height = Math.round(Math.min(Math.max(width * 0.62, 300), 520));
    const box = { left: 58, right: width - 14, top: 14, bottom: height - 46 };
    const all = [...data.members, ...inSight()];
    const along = (k, from, to) => scale(all.map((m) => m.objectives[k]), from, to, { beside: boundsInSight(k) });
    const whole = { x: along(view.x, box.left, box.right), y: along(view.y, box.bottom, box.top) };
    const x = view.window ? scale(view.window.x, box.left, box.right, { margin: 0 }) : whole.x;
    const y = view.window ? scale(view.window.y, box.bottom, box.top, { margin: 0 }) : whole.y;
    Object.assign(view, { scales: { x, y }, whole });
    const within = ([px, py]) => px >= box.left - 1 && px <= box.right + 1 && py >= box.top - 1 && py <= box.bottom + 1;
    const at = (m) => [x(m.objectives[view.x]), y(m.objectives[view.y])];
    positions = pointsOf(data).map((m) => (all.includes(m) && within(at(m)) ? at(m) : [NaN, NaN]));
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true" });
    const [regions, proofWords] = provedRegions(x, y, box);
    svg.append(axes(x, y, box), regions, ...staircases(at));
    const [, valueOf] = colours[view.colour];
    const values = data.members.map(valueOf).filter((value) => value !== null);
    const share = shares(values);
    const colour = (m) => (valueOf(m) === null ? "var(--line)" : viridis(share(valueOf(m))));
    const shrink = shown.size > 150 ? 0.72 : 1;
    drawBaselines(svg);
    // Marked members last: on top, where a click on them is meant for them.
    const order = [...shown.keys()].sort((i, j) => Boolean(data.marks[i]) - Boolean(data.marks[j]) || i - j);
    order.forEach((i) => {
      if (!positions[i].every(Number.isFinite)) return;
      const member = data.members[i];
      const size = data.marks[i] ? 1.35 : shrink;
      const mark = draw("path", { d: form(i), class: "mark", fill: colour(member), "data-member": i,
        transform: `translate(${positions[i].map((v) => v.toFixed(1))}) scale(${size})`,
        onclick: (event) => page.choose(i, event.shiftKey) });
      svg.append(withTip(mark, () => memberTip(data, i)));
    });
    svg.append(names(box, proofWords));
    rings = draw("g");
    svg.append(rings);
    paintRings();
    return svg;
  }

  function drawBaselines(svg) {
    data.baselines.forEach((point, k) => {
      const index = data.members.length + k;
      if (!positions[index].every(Number.isFinite)) return;
      if (isSeries(point)) {
        const [cx, cy] = positions[index];
        svg.append(withTip(draw("circle", { class: "dot cross", "data-member": index, r: 2.6, cx, cy,
          onclick: (event) => page.choose(index, event.shiftKey) }), () => memberTip(data, index)));
        return;
      }
      const cross = draw("g", { class: "cross", "data-member": index, transform: `translate(${positions[index]})`,
        onclick: (event) => page.choose(index, event.shiftKey) },
        draw("rect", { x: -8, y: -8, width: 16, height: 16, fill: "transparent" }), draw("path", { d: BASELINE_FORM, class: "baseline" }));
      svg.append(withTip(cross, () => memberTip(data, index)));
    });
  }

  // A baseline, or a bound, far away would leave no room for the front: it is named below the plot.
  function near(value, k) {
    const known = data.members.map((m) => m.objectives[k]).filter((known) => known !== null);
    const low = Math.min(...known), high = Math.max(...known), room = 1.0 * (high - low || Math.abs(high));
    return value >= low - room && value <= high + room;
  }
  const inSight = () => data.baselines.filter((point) => !point.overloaded && [view.x, view.y].every((k) => near(point.objectives[k], k)));
  const boundsInSight = (k) => drawnProofs().filter((proof) => proof.objectives.includes(k))
    .flatMap((proof) => proof.bounds.map((bounds) => bounds[proof.objectives.indexOf(k)])).filter((value) => near(value, k));

  function axes(x, y, box) {
    const g = draw("g");
    for (const tick of x.ticks(Math.max(3, (box.right - box.left) / 90))) {
      g.append(draw("line", { class: "grid", x1: x(tick), x2: x(tick), y1: box.top, y2: box.bottom }),
        draw("text", { x: x(tick), y: box.bottom + 17, "text-anchor": "middle" }, tickText(tick)));
    }
    for (const tick of y.ticks((box.bottom - box.top) / 60)) {
      g.append(draw("line", { class: "grid", x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) }),
        draw("text", { x: box.left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick)));
    }
    const middle = (box.top + box.bottom) / 2;
    g.append(
      draw("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
      draw("line", { class: "axis", x1: box.left, x2: box.left, y1: box.top, y2: box.bottom }),
      draw("text", { class: "title", x: (box.left + box.right) / 2, y: box.bottom + 38, "text-anchor": "middle" }, objectiveTitle(data.objectives[view.x])),
      draw("text", { class: "title", x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` }, objectiveTitle(data.objectives[view.y])));
    return g;
  }

  const drawnProofs = () => data.proofs.filter((proof) => proof.bounds && !proof.bounds.flat().includes(null) &&
    proof.objectives.every((k) => k === view.x || k === view.y));

  // Whether a proof leaves all of a plot with these scales open: a bound is beyond its best corner.
  const outOfSight = (proof, x, y) => proof.bounds.some((bounds) => proof.objectives.every((k, at) => {
    const axis = k === view.x ? x : y;
    return data.objectives[k].larger_is_better ? bounds[at] >= axis.high : bounds[at] <= axis.low;
  }));

  // Of each objective of such a proof its least value, rounded no further: it is a bound.
  function outOfSightText(proof) {
    const least = proof.objectives.map((k, at) => {
      const { unit, larger_is_better: larger } = data.objectives[k], values = proof.bounds.map((bounds) => bounds[at]);
      return larger ? `none above ${Math.max(...values).toFixed(6)} ${unit}` : `none below ${Math.min(...values).toFixed(6)} ${unit}`;
    });
    return `${proof.status === "gap" ? "bound so far" : "bound"} out of sight: ${least.join(", ")}`;
  }

  // Where a proof leaves no design point: shaded up to its bounds, which are a line where there is
  // one objective, else steps. Dashed: a solver has not checked it, or a gap is left. Also the room
  // that words take: [left, top, right, bottom] each.
  function provedRegions(x, y, box) {
    // A line on the edge of the plot would be read as a bound there.
    const inner = draw("clipPath", { id: "plot-inner" }, draw("rect", { x: box.left + 1, y: box.top + 1, width: box.right - box.left - 2, height: box.bottom - box.top - 2 }));
    const g = draw("g", {}, inner), room = [];
    let upright = null; // Where words along the line of the first objective end.
    for (const proof of drawnProofs()) {
      if (outOfSight(proof, x, y)) continue;
      const side = (k, good, bad) => (data.objectives[k].larger_is_better ? [bad, good] : [good, bad]);
      const [goodX, badX] = side(view.x, box.left, box.right), [goodY, badY] = side(view.y, box.bottom, box.top);
      const inside = (value, p, q) => Math.min(Math.max(value, Math.min(p, q)), Math.max(p, q)).toFixed(1);
      const corners = proof.bounds.map((bounds) => {
        const of = (k) => bounds[proof.objectives.indexOf(k)];
        return [of(view.x) === undefined ? null : x(of(view.x)), of(view.y) === undefined ? null : y(of(view.y))];
      });
      const [first] = corners;
      let steps;
      if (first[1] === null) steps = `M${inside(first[0], goodX, badX)} ${badY}V${goodY}`;
      else if (first[0] === null) steps = `M${badX} ${inside(first[1], goodY, badY)}H${goodX}`;
      else {
        // Some may lie beyond the box: by direction, then, not by distance from its edge.
        corners.sort((p, q) => (goodX < badX ? p[0] - q[0] : q[0] - p[0]));
        steps = `M${inside(first[0], goodX, badX)} ${badY}` + corners.map(([cx, cy]) => `H${inside(cx, goodX, badX)}V${inside(cy, goodY, badY)}`).join("") + `H${badX}`;
      }
      const close = first[1] === null ? `H${goodX}V${badY}Z` : first[0] === null ? `V${goodY}H${badX}Z` : `V${goodY}H${goodX}V${badY}Z`;
      g.append(draw("path", { class: "proved", d: steps + close }),
        draw("path", { class: `proved-line ${proof.status}`, d: steps, "clip-path": "url(#plot-inner)" }));
      const text = proof.status === "gap" ? "bound so far: none here" : "proved: no design point here";
      // Words that would lie on marks are left to the legend.
      const write = (place, attributes) => {
        if (positions.some(([px, py], i) => isShown(i) && px > place[0] - 6 && px < place[2] + 6 && py > place[1] - 6 && py < place[3] + 6)) return;
        g.append(draw("text", { class: "proved-name", ...attributes }, text));
        room.push(place);
      };
      if (first[1] === null) {
        const at = Number(inside(first[0], goodX, badX));
        // Beyond the line; on this side of it where that is too near to the edge.
        const shift = (goodX < badX) === Math.abs(at - goodX) > 18 ? -6 : 14;
        upright = [at + shift - 12, at + shift + 4];
        write([upright[0], box.bottom - 10 - textWidth(text), upright[1], box.bottom - 10],
          { x: at + shift, y: box.bottom - 10, transform: `rotate(-90 ${at + shift} ${box.bottom - 10})` });
      } else if (first[0] !== null && inside(first[1], goodY, badY) === first[1].toFixed(1)) {
        // Beyond the line of a proof about the first objective, where its own words stand.
        const edge = Number(inside(first[0], goodX, badX)) + (goodX < badX ? 12 : -12);
        const left = !upright ? edge : goodX < badX ? Math.max(edge, upright[1] + 4) : Math.min(edge, upright[0] - 4);
        const base = goodY > badY ? box.bottom - 10 : box.top + 18, begin = goodX < badX ? left : left - textWidth(text);
        write([begin, base - 12, begin + textWidth(text), base + 4], { x: left, y: base, "text-anchor": goodX < badX ? "start" : "end" });
      }
    }
    return [g, room];
  }

  // With two objectives, the best known between two members is the worse of both: a step. The same
  // of methods that have a front.
  function staircases(at) {
    if (data.objectives.length !== 2 || view.x === view.y) return [];
    const first = data.objectives[view.x].larger_is_better;
    const series = [...counts.keys()].map((label) => ["series", data.baselines.filter((point) => point.label === label && isSeries(point))]);
    return [["stairs", data.stairs.map((i) => data.members[i])], ...series].map(([kind, points]) => {
      const sorted = points.map(at).filter((p) => p.every(Number.isFinite)).sort((p, q) => p[0] - q[0] || p[1] - q[1]);
      const d = sorted.map(([x, y], i) => (i === 0 ? `M${x} ${y}` : first ? `V${y}H${x}` : `H${x}V${y}`)).join("");
      return draw("path", { class: kind, d, "clip-path": "url(#plot-inner)" });
    });
  }

  const textWidth = (text) => 7.1 * text.length + 6;

  // Names of marked members and baselines, each at the free place nearest to its point; ``words``:
  // the room that others have taken. A name keeps within the box and off others at any distance.
  function names(box, words) {
    const g = draw("g"), places = new Map();
    const named = new Set();
    data.baselines.forEach((point, k) => {
      const at = positions[data.members.length + k];
      // A method that has a front is named in the legend.
      if (!at.every(Number.isFinite) || isSeries(point) || named.has(point.label)) return;
      named.add(point.label);
      const label = point.label + (point.breaks.length ? "*" : "");
      places.set(String(at), [at, places.has(String(at)) ? `${places.get(String(at))[1]}, ${label}` : label]);
    });
    const wanted = [
      ...Object.entries(data.marks).map(([i, marks]) => [positions[i], marks.join(", "), Infinity]),
      // Far from its cross a name is read as another's: the tip of the cross has it, too.
      ...[...places.values()].map(([at, label]) => [at, label, 70]),
    ].filter(([at]) => at.every(Number.isFinite));
    taken = [...words];
    const points = positions.filter((_, i) => isShown(i));
    for (const [[px, py], text, farthest] of wanted) {
      const wide = textWidth(text), tall = 15;
      let best = null;
      for (const away of [9, 18, 30, 46, 66, 90, 120, 160])
        for (const [dx, dy] of [[1, -1], [1, 1], [-1, -1], [-1, 1], [1, 0], [-1, 0], [0, -1], [0, 1]]) {
          const left = px + dx * away + ((dx - 1) / 2) * wide, top = py + dy * away + ((dy - 1) / 2) * tall;
          const out = left < box.left || left + wide > box.right || top < box.top || top + tall > box.bottom;
          const covers = taken.filter((t) => left < t[2] && left + wide > t[0] && top < t[3] && top + tall > t[1]).length;
          const hides = points.filter(([x, y]) => x > left - 5 && x < left + wide + 5 && y > top - 5 && y < top + tall + 5).length;
          const ex = Math.min(Math.max(px, left), left + wide), ey = Math.min(Math.max(py, top), top + tall);
          const crosses = taken.filter((t) => [1, 2, 3, 4, 5].some((k) => {
            const [x, y] = [px + ((ex - px) * k) / 5, py + ((ey - py) * k) / 5];
            return x > t[0] && x < t[2] && y > t[1] && y < t[3];
          })).length;
          const cost = 1000 * out + 400 * covers + 60 * crosses + 3 * Math.min(hides, 12) + away / 3;
          if (!best || cost < best.cost) best = { cost, left, top };
        }
      const { left, top } = best;
      const ex = Math.min(Math.max(px, left), left + wide), ey = Math.min(Math.max(py, top), top + tall);
      if (Math.hypot(ex - px, ey - py) > farthest) continue;
      taken.push([left, top, left + wide, top + tall]);
      g.append(draw("line", { class: "leader", x1: px, y1: py, x2: ex, y2: ey }),
        draw("text", { class: "name", x: left + 3, y: top + 11.5 }, text));
    }
    return g;
  }

  function paintRings() {
    if (!rings) return;
    rings.replaceChildren();
    for (const side of ["b", "a"]) {
      const index = page.state[side];
      if (index === null || !positions[index]?.every(Number.isFinite)) continue;
      const [x, y] = positions[index];
      rings.append(...errorBars(side, index, x, y));
      // Below, on its own side, unless a name is there.
      const out = side === "a" ? -16 : 16;
      const free = ([dx, dy]) => taken.every((t) => x + dx + 6 < t[0] || x + dx - 6 > t[2] || y + dy + 2 < t[1] || y + dy - 11 > t[3]);
      const corners = [[out, 18], [out, -9], [-out, 18], [-out, -9]];
      const [dx, dy] = corners.find(free) ?? corners[0];
      rings.append(draw("circle", { class: `ring ${side}`, cx: x, cy: y, r: side === "a" ? 11 : 14 }),
        draw("text", { class: `letter ${side}`, x: x + dx, y: y + dy, "text-anchor": "middle" }, side.toUpperCase()));
    }
  }

  // Between which values two objectives of a chosen member are in nine of ten draws of the costs.
  function errorBars(side, index, x, y) {
    const sure = data.confidence?.members[index], { scales } = view;
    if (!sure || data.members[index].overloaded) return [];
    const ends = (k, along) => sure.intervals[k].map((value) => (value === null ? NaN : along(value)));
    const [[left, right], [bottom, top]] = [ends(view.x, scales.x), ends(view.y, scales.y)];
    const bar = (d) => draw("path", { class: `error-bar ${side}`, d, "clip-path": "url(#plot-inner)" });
    const cap = 4;
    return [
      ...(Number.isFinite(left + right) && left !== right ? [bar(`M${left} ${y}H${right}M${left} ${y - cap}V${y + cap}M${right} ${y - cap}V${y + cap}`)] : []),
      ...(Number.isFinite(bottom + top) && bottom !== top ? [bar(`M${x} ${bottom}V${top}M${x - cap} ${bottom}H${x + cap}M${x - cap} ${top}H${x + cap}`)] : []),
    ];
  }

  function legend() {
    const [title, valueOf] = colours[view.colour];
    const values = data.members.map(valueOf).filter((value) => value !== null);
    const used = new Set([...choicesOf(page).keys()].map((i) => kinds[i]));
    const forms = [...rank].slice(0, FORMS.length).filter(([kind]) => used.has(kind)).map(([kind, k]) => el("span", {},
      draw("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, draw("path", { d: FORMS[k], class: "mark", fill: "none" })), kind));
    const ramp = el("span", { class: "ramp" }, `${title}: `, el("span", {}, number(Math.min(...values))),
      el("i", { style: `background:${VIRIDIS_RAMP}` }), el("span", {}, number(Math.max(...values)) + (shares(values).logarithmic ? " (logarithmic)" : "")));
    const single = data.baselines.filter((point) => !isSeries(point));
    const words = (single.every((point) => point.at_fastest) ? ", at the fastest clocks" : "") + (single.some((point) => point.breaks.length) ? " (* breaks a limit)" : "");
    const icon = (kind, d) => draw("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, draw("path", { d, class: kind }));
    const crosses = single.length ? [el("span", {}, icon("baseline", BASELINE_FORM), `other methods${words}`)] : [];
    const lines = data.objectives.length === 2 ? [el("span", {}, icon("stairs", "M-7 0H7"), `all ${counted(data.members.length, "member")}`)] : [];
    for (const [label, n] of counts) if (n > 1) lines.push(el("span", {}, data.objectives.length === 2 ? icon("series", "M-7 0H7") : icon("dot", "M-2.6 0A2.6 2.6 0 1 0 2.6 0A2.6 2.6 0 1 0 -2.6 0Z"), label));
    const seen = inSight();
    const far = single.filter((point) => !seen.includes(point)).map((point) =>
      `${point.label}${point.breaks.length && !point.overloaded ? "*" : ""} (${point.overloaded ? "overloaded" : data.objectives.map((o, k) => `${number(point.objectives[k])} ${o.unit}`).join(", ")})`);
    const proofs = drawnProofs(), unseen = view.whole ? proofs.filter((proof) => outOfSight(proof, view.whole.x, view.whole.y)) : [];
    const shaded = proofs.length > unseen.length ? [el("span", {}, el("i", { class: "swatch shaded" }), "where no design point is (proved)")] : [];
    const bounds = unseen.map((proof) => el("span", {}, outOfSightText(proof)));
    const bars = data.confidence ? [el("span", {}, icon("error-bar a", "M-7 0H7M-7 -4V4M7 -4V4"), "5 to 95 % of the draws of the costs; errors that members have in common move them together")] : [];
    byId("plot-legend").replaceChildren(...forms, ...lines, ...crosses, ...shaded, ...bounds, ...bars, ...(values.length ? [ramp] : []),
      ...(far.length ? [el("span", {}, `Out of sight: ${far.join("; ")}`)] : []));
  }

  const again = drawnToWidth(place, paint);
  const change = (key) => (value) => { Object.assign(view, { [key]: Number(value), window: null }); again(); legend(); };
  const objectives = data.objectives.map((o, k) => [k, objectiveTitle(o)]);
  const controls = byId("plot-controls");
  if (data.objectives.length > 2)
    controls.append(choice("Across", objectives, view.x, change("x")), choice("Up", objectives, view.y, change("y")));
  if (colours.length > 1)
    controls.append(choice("Colour", colours.map(([title], k) => [k, title]), view.colour, change("colour")));
  controls.append(resolutionControl(page, () => { again(); legend(); page.changed(); }));
  zoomedPlot(page, place, view, again);
  legend();
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", `The front, ${data.members.length} members. Arrow keys go from member to member, with Shift for B.`);
  const order = () => positions.map((_, i) => i).filter((i) => isShown(i) && positions[i].every(Number.isFinite)).sort((i, j) => positions[i][0] - positions[j][0] || i - j);
  const side = (event) => (event.shiftKey || page.state.target === "b" ? "b" : "a");
  keysThrough(place, {
    length: () => order().length,
    current: (event) => order().indexOf(page.state[side(event)] ?? page.state.a),
    go: (step, event) => page.choose(order()[step], event.shiftKey),
  });
  page.listen(paintRings);
}
