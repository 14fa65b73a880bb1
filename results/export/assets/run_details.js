// How the front was reached: convergence, proof, provenance.
function convergenceChart(page) {
  const { convergence, evaluations } = page.data.provenance, place = byId("convergence");
  if (!convergence.length) {
    place.append(el("p", { class: "soft" }, "Not recorded."));
    return;
  }
  // What came after the last growth is part of the search.
  const points = [...convergence, [Math.max(evaluations, convergence.at(-1)[0]), convergence.at(-1)[1]]];
  drawnToWidth(place, (width) => {
    const height = 240, left = 48, right = width - 14, top = 12, bottom = height - 42;
    const x = scale([0, ...points.map(([n]) => n)], left, right, { zero: true, margin: 0.02 });
    const y = scale(points.map(([, share]) => 100 * share), bottom, top, { zero: points[0][1] < 0.2, margin: 0.05 });
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img",
      "aria-label": `Hypervolume over evaluations: ${number(100 * points[0][1])} % after ${points[0][0]}, 100 % at the end.` });
    for (const tick of x.ticks(width / 100)) svg.append(draw("text", { x: Math.min(x(tick), right + 12 - 3.5 * count(tick).length), y: bottom + 17, "text-anchor": "middle" }, count(tick)));
    for (const tick of y.ticks(4)) svg.append(draw("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }),
      draw("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick)));
    const d = points.map(([n, share], k) => (k ? `H${x(n).toFixed(1)}V${y(100 * share).toFixed(1)}` : `M${x(n).toFixed(1)} ${y(100 * share).toFixed(1)}`)).join("");
    svg.append(draw("path", { class: "growth", d }),
      draw("text", { class: "title", x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, "Design points evaluated"));
    return svg;
  });
  place.before(el("p", { class: "hint" }, "Hypervolume of the front so far, in % of the last one"));
}

// What a claim rests on.
const PROOF_WORDS = { certified: "proved", gap: "not proved", bounded: "proved", simulated: "proved" };

// A bound that is far away is no praise.
function proofBadge(proof, what = "", title = null) {
  const weak = proof.weak && proof.status !== "gap";
  return el("span", { class: `badge ${weak ? "weak" : proof.status}`, title }, `${what}${PROOF_WORDS[proof.status]}${weak ? ", but a weak bound" : ""}`);
}

function proofDetails(page) {
  const { proofs } = page.data, place = byId("proof");
  if (!proofs.length) {
    place.append(el("p", {}, el("span", { class: "badge none" }, "not proved")),
      el("p", { class: "soft" }, "Nothing was proved about this front: better members may exist."));
    return;
  }
  for (const proof of proofs)
    place.append(el("p", {}, proofBadge(proof)), el("p", {}, proofSentence(page.data, proof)),
      facts([["Space", proof.space], ...(proof.simulated ? [["Design points", count(proof.simulated)]] : proof.boxes ? [["Boxes", count(proof.boxes)], ["Inequalities", count(proof.inequalities)]]
        : [["Lemmas", count(proof.lemmas)], ["Nodes", count(proof.nodes)], ...checks(proof)]),
        ...(proof.seconds ? [["Time", `${number(proof.seconds)} s`]] : []), ...(proof.formulation ? [["Formulation", proof.formulation]] : [])]));
  const open = proofs.some((proof) => proof.whole) || !proofs.some((proof) => proof.exact) ? "" : "Of the whole front, only this member is proved to be best at something. ";
  place.append(el("p", { class: "hint" }, `${open}dse verify checks what is proved.`));
}

// Every tree that is complete has been checked node by node; solvers are a second opinion.
function checks(proof) {
  if (proof.status === "gap") return [];
  return [["Checked", ["node by node", ...proof.solvers.map((solver) => `that nothing is left out: ${solver}`)].join("; ")]];
}

function proofSentence(data, proof) {
  const how = {
    certified: " The tree of the search proves it; dse verify checks that.",
    gap: "",
    bounded: " Bounds over boxes of operating points show it; dse verify checks them.",
    simulated: " All design points were simulated; dse verify simulates them again.",
  }[proof.status];
  if (proof.complete) return `The front is complete: no design point is missing from its ${proof.members.length} members.${how}`;
  const reach = `For every design point a member is worse in no objective by more than ${proof.within}.`;
  if (proof.whole && proof.status === "gap") return `The search for the whole front was ended; dse certify goes further.${proof.bounds ? ` Not checked: ${reach.replace("For", "for")}` : ""}`;
  if (proof.whole) return `${reach}${how}`;
  const [k] = proof.objectives, [member] = proof.members, objective = data.objectives[k];
  const better = objective.label.startsWith("latency") ? "faster" : "better";
  const value = (v) => `${v === null ? "–" : v.toFixed(6)} ${objective.unit}`;
  const own = value(data.members[member].objectives[k]);
  if (proof.status === "bounded") return `No design point is ${better} than ${value(proof.bounds[0][0])}; member ${member} has ${own} (within ${proof.within}).${how}`;
  const more = proof.exact ? "" : ` by more than ${proof.within}`;
  if (proof.status !== "gap") return `No design point is ${better} than member ${member} (${own})${more}.${how}`;
  return `The search for a design point that is ${better} than member ${member} (${own}) was ended; dse certify goes further.`;
}

function provenanceDetails(page) {
  const source = page.data.provenance;
  byId("provenance").append(facts([
    ["Command", source.command ? el("code", {}, source.command) : "called from Python"],
    ["Program", `paretosoc ${source.version}`],
    ["Search", source.search],
    ["Platform", source.platform],
    ["Number format", source.precision.toUpperCase()],
    ["Execution", page.data.execution],
    ...source.inputs.map(([name, hash]) => [`Input ${name}`, el("span", { class: "hash" }, `sha256 ${hash}`)]),
    ["problem.json", el("span", { class: "hash" }, `sha256 ${source.problem_sha256}`)],
    ["front.json, content", el("span", { class: "hash" }, `sha256 ${source.front_sha256}`)],
  ]));
}

const facts = (rows) => el("dl", { class: "facts" }, rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
