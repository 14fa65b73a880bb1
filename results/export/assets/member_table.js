// The choices, and other methods: a row each, sorted by any column; a row, or its number's button,
// chooses a member.
function memberTable(page) {
  const { data } = page, points = pointsOf(data);
  let rows = new Map(), columns = [], heads = [], body = null, drawn = null;

  function build() {
    drawn = page.state.resolution;
    const shown = choicesOf(page), all = points.map((_, i) => i).filter((i) => i >= data.members.length || shown.has(i));
    columns = columnsOf(page, [...shown.keys()].map((i) => data.members[i]));
    rows = new Map(all.map((i) => [i, el("tr", { class: "pick", "data-row": i, onclick: (event) => page.choose(i, event.shiftKey) },
      columns.map((column, k) => el("td", { class: column.number ? "number" : null },
        k === 0 ? el("button", { type: "button", "aria-label": `Show ${memberName(data, i)}` }, column.text(i)) : column.text(i))))]));
    body = el("tbody", {}, [...rows.values()]);
    heads = columns.map((column, k) => el("th", { scope: "col", class: column.number ? "number" : null, "aria-sort": "none" },
      el("button", { type: "button", onclick: () => sort(k), "aria-label": `Sort by ${column.title || "mark"}` }, column.title || "mark")));
    byId("table").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, heads)), body));
    byId("table-words").textContent = choiceWords(page);
  }
  function sort(k) {
    const up = heads[k].getAttribute("aria-sort") !== "ascending";
    heads.forEach((head, j) => head.setAttribute("aria-sort", j === k ? (up ? "ascending" : "descending") : "none"));
    const { value } = columns[k];
    const order = [...rows.keys()].sort((i, j) => {
      const [p, q] = [value(i) ?? -1, value(j) ?? -1];
      return (up ? 1 : -1) * (p < q ? -1 : p > q ? 1 : 0) || i - j;
    });
    body.replaceChildren(...order.map((i) => rows.get(i)));
  }
  function mark() {
    if (drawn !== page.state.resolution) build();
    rows.forEach((row, i) => {
      row.classList.toggle("chosen-a", i === page.state.a);
      row.classList.toggle("chosen-b", i === page.state.b);
    });
  }
  page.listen(mark);
  mark();
}

function columnsOf(page, members) {
  const { data } = page, points = pointsOf(data), more = moreDigits(members), stands = choicesOf(page);
  return [
    { title: "#", value: (i) => i, text: (i) => (i < data.members.length ? String(i) : points[i].label), number: true },
    { title: "", value: (i) => (data.marks[i] ? 0 : 1), text: (i) => (points[i].breaks ? `other method${points[i].overloaded ? ", overloaded" : points[i].at_fastest ? ", fastest clocks" : ""}` : (data.marks[i] ?? []).join(", ")) },
    ...data.objectives.map((o, k) => ({ title: `${o.label}, ${o.unit}`, number: true, value: (i) => points[i].objectives[k], text: (i) => number(points[i].objectives[k], more) })),
    { title: "stands for", number: true, value: (i) => stands.get(i) ?? -1, text: (i) => String(stands.get(i) ?? "") },
    ...(data.confidence ? regrets(data) : []),
    ...(data.members.some((m) => m.responses) ? responses(data, points) : []),
    { title: "units", value: (i) => unitsUsed(data, points[i]), text: (i) => data.units.map((unit, u) => [unit, points[i].units.filter((v) => v === u).length]).filter(([, n]) => n).map(([unit, n]) => `${unit} ${n}`).join(", ") },
    ...data.domains.map((domain, d) => {
      const clock = (i) => (points[i].points[d] === null ? null : domain.khz[points[i].points[d]] / 1000);
      return { title: `${domain.name}, MHz`, number: true, value: clock, text: (i) => (clock(i) === null ? "off" : megahertz(1000 * clock(i))) };
    }),
    { title: "transitions", number: true, value: (i) => transitionCount(data, points[i]), text: (i) => String(transitionCount(data, points[i])) },
  ];
}

// By how much a member is worse than the best one in the mean, if costs are off; how often it keeps all limits.
function regrets({ confidence }) {
  const of = (i, value) => (i < confidence.members.length ? value(confidence.members[i]) : null);
  const column = (title, value) => ({ title, number: true, value: (i) => of(i, value),
    text: (i) => (of(i, value) === null ? "" : (100 * of(i, value)).toFixed(1)) });
  const kept = confidence.members.some((sure) => sure.meets_limits < 1) ? [column("keeps limits, %", (sure) => sure.meets_limits)] : [];
  return [...confidence.goals.map((goal, k) => column(`regret, ${goal}, %`, (sure) => sure.regrets[k])), ...kept];
}

// The longest response of every network with a rate that is no objective.
function responses(data, points) {
  const shown = data.objectives.map((o) => o.label);
  return data.networks.map((network, n) => ({ n, label: `response of ${network.name}` })).filter(({ label }) => !shown.includes(label)).map(({ n, label }) => {
    const value = (i) => (points[i].overloaded ? null : ms(points[i].latencies_ps[n]));
    return { title: `${label}, ms`, number: true, value, text: (i) => number(value(i)) };
  });
}

function transitionCount(data, member) {
  return data.edges.filter(([s, t]) => data.unit_of[member.units[s]] !== data.unit_of[member.units[t]]).length;
}

// Digits that all figures need so that no two members look the same; members differ somewhere.
function moreDigits(members) {
  for (let more = 0; more < 9; more += 1) {
    const shown = new Set(members.map((member) => member.objectives.map((value) => number(value, more)).join(" ")));
    if (shown.size === members.length) return more;
  }
  return 9;
}
