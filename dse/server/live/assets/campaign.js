// A campaign: its runs by state; a finished one leads to its report.
const STATES = ["finished", "failed", "infeasible", "waiting"];
let wanted = "finished";
byId("run-controls").append(choice("State", STATES.map((name) => [name, name]), wanted, (value) => { wanted = value; }));

function runRow(run) {
  const name = run.report ? el("a", { href: `report/${run.hash}`, target: "_blank", rel: "noopener" }, run.name) : run.name;
  return el("tr", {}, el("td", {}, name), el("td", { class: "number" }, run.members === null ? "–" : count(run.members)),
    el("td", { class: "number" }, run.seconds === null ? "–" : number(run.seconds)), el("td", {}, run.error));
}

follow(() => ({ state: wanted }), (state) => {
  const { counts } = state, total = Object.values(counts).reduce((sum, value) => sum + value, 0);
  subtitle(state.phase === "ended" ? "Ended; dse campaign table shows the results." : `Running, ${count(state.running)} at work.`);
  byId("share").value = total ? 1 - counts.waiting / total : 0;
  byId("words").textContent = `${count(total - counts.waiting)} of ${counted(total, "run")}`
    + (state.seconds_left === null || !counts.waiting ? "" : `; about ${number(state.seconds_left)} s left`);
  byId("states").replaceChildren(...Object.entries(counts).map(([name, value]) => el("div", { "data-state": name }, el("strong", {}, count(value)), el("span", {}, name))));
  if (state.state !== wanted) return;
  byId("shown").textContent = counts[wanted] > state.runs.length ? `The first ${count(state.runs.length)} of ${count(counts[wanted])}.` : "";
  const [head, body] = byId("runs").children, at = document.activeElement?.closest?.("#runs a")?.getAttribute("href");
  if (!head.children.length) head.append(el("tr", {}, ["run", "members", "seconds", "message"].map((text, k) => el("th", { scope: "col", class: k === 1 || k === 2 ? "number" : null }, text))));
  const text = JSON.stringify(state.runs);
  if (body.dataset.shown === text) return;
  body.dataset.shown = text;
  body.replaceChildren(...state.runs.map(runRow));
  if (at) body.querySelector(`a[href="${CSS.escape(at)}"]`)?.focus({ preventScroll: true });
});
