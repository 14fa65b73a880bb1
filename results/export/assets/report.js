// Unpacks the content and wires the parts together.
async function unpack() {
  const packed = Uint8Array.from(atob(byId("content").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function recall(page) {
  const asked = new URLSearchParams(location.hash.slice(1));
  const member = (text) => (/^\d+$/.test(text ?? "") && Number(text) < pointsOf(page.data).length ? Number(text) : null);
  const knee = Object.entries(page.data.marks).find(([, marks]) => marks.includes("knee"));
  page.state.a = member(asked.get("a")) ?? Number(knee?.[0] ?? 0);
  page.state.b = member(asked.get("b"));
}

function heading(page) {
  const { data } = page;
  const objectives = data.objectives.map((o) => o.label);
  const best = (proof) => data.marks[proof.members[0]]?.[0] ?? "best";
  const reach = (proof) => (proof.exact || proof.status === "gap" ? "" : ` within ${proof.within}`);
  const told = (proof) => proof.complete ? "complete front" : proof.whole ? `front within ${proof.within}` : `${best(proof)}${reach(proof)}`;
  byId("subtitle").append(`${counted(data.members.length, "member")}, ${objectives.join(objectives.length === 2 ? " against " : ", ")}; costs in ${data.provenance.precision.toUpperCase().replaceAll(",", ", ")} `,
    ...data.proofs.filter((proof) => proof.status !== "gap" || !data.proofs.some((one) => one.status !== "gap" && `${one.objectives}` === `${proof.objectives}`))
      .flatMap((proof) => [proofBadge(proof, `${told(proof)}: `, proofSentence(data, proof)), " "]),
    ...(data.proofs.length ? [] : [el("span", { class: "badge none" }, "not proved")]));
  const [words, first] = data.mapping_gain ?? ["", false];
  byId("gain").append(words);
  byId("gain").classList.toggle("first", first);
}

function cards(page) {
  const { data } = page;
  const nodes = Object.entries(data.marks).map(([index, marks]) => el("button", { type: "button", class: "card", "data-card": index,
    onclick: (event) => page.choose(Number(index), event.shiftKey) },
    el("strong", {}, marks.join(", ")),
    el("span", {}, data.objectives.map((o, k) => `${number(data.members[index].objectives[k])} ${o.unit}`).join(", "), ` (member ${index})`)));
  byId("cards").append(...nodes);
  byId("words").append(...[...data.sentences, ...(data.confidence?.sentences ?? [])].map((sentence) => el("p", {}, sentence)));
  const mark = () => nodes.forEach((node) => node.setAttribute("aria-current", String(Number(node.dataset.card) === page.state.a)));
  page.listen(mark);
  mark();
}

function memberControls(page) {
  const { data, state } = page;
  // The choices, other methods, and what is chosen.
  const names = () => {
    const shown = choicesOf(page);
    return pointsOf(data).map((_, i) => i).filter((i) => i >= data.members.length || shown.has(i) || i === state.a || i === state.b)
      .map((i) => [i, capital(memberName(data, i))]);
  };
  const sides = {
    a: choice("A", [], state.a, (value) => { state.a = Number(value); page.changed(); }),
    b: choice("B", [], state.b ?? "", (value) => { state.b = value === "" ? null : Number(value); page.changed(); }),
  };
  const targets = Object.keys(sides).map((side) => el("button", { type: "button", "data-target": side,
    onclick: () => { state.target = side; again(); } }, side.toUpperCase()));
  const zooms = [["−", 0.5, "Shorter time axis"], ["+", 2, "Longer time axis"]].map(([text, factor, name]) =>
    el("button", { type: "button", "aria-label": name, "data-zoom": factor,
      onclick: () => { state.zoom = Math.min(Math.max(state.zoom * factor, 1), 32); page.changed(); } }, text));
  const factor = el("output", {});
  const again = () => {
    factor.textContent = `${state.zoom}×`;
    targets.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.target === state.target)));
    for (const [side, label] of Object.entries(sides)) {
      const select = label.querySelector("select"), none = side === "b" ? [["", "none"]] : [];
      select.replaceChildren(...[...none, ...names()].map(([value, text]) => el("option", { value }, text)));
      select.value = state[side] ?? "";
    }
  };
  byId("member-controls").append(
    el("span", { class: "switch-label" }, "A click sets", el("span", { class: "switch", role: "group", "aria-label": "What a click sets" }, targets)),
    sides.a, sides.b,
    el("span", { class: "switch-label" }, "Time", el("span", { class: "switch", role: "group", "aria-label": "Zoom of the schedule" }, zooms), factor));
  page.listen(again);
  again();
}

function memberPanels(page) {
  const show = () => {
    const sides = ["a", "b"].filter((side) => page.state[side] !== null);
    const panels = sides.map((side) => memberPanel(page, side, page.state[side]));
    byId("panels").classList.toggle("pair", sides.length === 2);
    byId("panels").replaceChildren(...panels.map((panel) => panel.node));
    panels.forEach((panel) => panel.start());
  };
  page.listen(show);
  show();
}

startTheme();
document.addEventListener("pointerdown", tip.hide);
unpack().then((data) => {
  if (!data.members.length) {
    byId("front").hidden = byId("members").hidden = byId("table").parentNode.hidden = true;
    byId("failure").textContent = "The front is empty: no design point met all constraints.";
    byId("failure").hidden = false;
  }
  const page = makePage(data);
  heading(page);
  if (data.members.length) {
    recall(page);
    frontPlot(page);
    parallelPlot(page);
    cards(page);
    memberControls(page);
    memberPanels(page);
    memberTable(page);
  }
  convergenceChart(page);
  proofDetails(page);
  provenanceDetails(page);
  document.documentElement.dataset.ready = "true";
}).catch((error) => {
  byId("failure").textContent = `This browser cannot show the report (${error.message}); 'dse show' prints the front.`;
  byId("failure").hidden = false;
  throw error;
});
