// An exploration: the front as it grows, convergence, the bound as it rises, and one member.
const KEPT = "paretosoc-member";
let page = null, version = "", shown = "";
const keyOf = (member) => JSON.stringify([member.units, member.points]);

// What the reader chose survives a reload, and another run of the same problem.
const chosen = {
  get() { try { return JSON.parse(sessionStorage.getItem(KEPT)); } catch { return null; } },
  set(member) { try { sessionStorage.setItem(KEPT, JSON.stringify({ key: keyOf(member), objectives: member.objectives })); } catch { /* until it is closed */ } },
};

// The chosen member; where another one has taken its place, the one nearest to it; else the knee.
function memberToShow(data) {
  const wanted = chosen.get();
  if (wanted && wanted.objectives.length === data.objectives.length) {
    const same = data.members.findIndex((member) => keyOf(member) === wanted.key);
    if (same >= 0) return same;
    const far = data.members.map((member) => member.objectives.reduce((sum, value, k) => sum + Math.abs(value - wanted.objectives[k]) / (Math.abs(wanted.objectives[k]) || 1), 0));
    return far.indexOf(Math.min(...far));
  }
  return Number(Object.entries(data.marks).find(([, marks]) => marks.includes("knee"))?.[0] ?? 0);
}

function showMember() {
  const member = page.data.members[page.state.a], now = `${page.state.a} ${page.state.zoom} ${keyOf(member)}`;
  if (now === shown) return;
  shown = now;
  const panel = memberPanel(page, "a", page.state.a);
  byId("panels").replaceChildren(panel.node);
  panel.start();
}

function showFront(data, bounds, weak) {
  const before = page;
  before?.over.abort();
  page = makePage(data);
  const { choose } = page;
  page.choose = (index) => choose(index, false);
  page.remember = () => chosen.set(data.members[page.state.a]);
  page.state.a = memberToShow(data);
  if (before) {
    page.view = before.view;
    page.state.format = before.state.format;
  }
  redrawn(() => {
    frontPlot(page);
    convergenceChart(page);
    boundChart(bounds, weak);
  });
  page.listen(showMember);
  showMember();
}

// Bounds of the last kind of proof: about all objectives, or one; in percent of what is found.
function boundChart(bounds, weak) {
  const last = bounds.at(-1), place = byId("bound");
  const points = bounds.filter(([, objectives]) => objectives === last?.[1]).map(([seconds, , within]) => [seconds, 100 / (1 + within)]);
  byId("bound-words").textContent = !last ? "The proof follows the search."
    : `${last[1] > 1 ? "The front" : "The fastest member"} is proved within ${number(100 * last[2])} %${weak ? ", a weak bound" : ""}; bound in % of it`;
  if (!points.length) return;
  drawnToWidth(place, (width) => {
    const height = 240, left = 48, right = width - 14, top = 12, bottom = height - 42;
    const x = scale([0, ...points.map(([seconds]) => seconds)], left, right, { zero: true, margin: 0.02 });
    const y = scale([...points.map(([, share]) => share), 100], bottom, top, { margin: 0.05 });
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": byId("bound-words").textContent });
    for (const tick of x.ticks(width / 100)) svg.append(draw("text", { x: Math.min(x(tick), right - 12), y: bottom + 17, "text-anchor": "middle" }, tickText(tick)));
    for (const tick of y.ticks(4)) svg.append(draw("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }),
      draw("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick)));
    const d = points.map(([at, share], k) => (k ? `H${x(at).toFixed(1)}V${y(share).toFixed(1)}` : `M${x(at).toFixed(1)} ${y(share).toFixed(1)}`)).join("");
    const [at, share] = points.at(-1);
    svg.append(draw("path", { class: "growth", d }), draw("circle", { class: "here", cx: x(at), cy: y(share), r: 3.5 }), draw("text", { class: "title", x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, "Seconds of the proof"));
    return svg;
  });
}

const PHASES = { starting: "Preparing the search.", searching: "Searching.", proving: "Proving what was found.", ended: "Ended." };
// At the end the page has no server any more: it names the folder, and what shows all of it.
function showResult(folder) {
  byId("result").hidden = !folder;
  if (!folder) return;
  byId("result-folder").textContent = folder;
  byId("result-command").textContent = `dse report ${/^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`}`;
}


follow(() => ({ version }), (state) => {
  const drawn = (state.front ?? page?.data)?.members.length;
  const { compiling } = state;
  subtitle(compiling ? `Compiling kernels, which happens once: ${counted(compiling.functions, "function")} after ${Math.round(compiling.seconds)} s.` : PHASES[state.phase]);
  showResult(state.result);
  const most = state.max_evaluations;
  byId("share").value = state.phase === "searching" ? (most === null ? 0 : state.evaluations / most) : state.phase === "starting" ? 0 : 1;
  byId("words").textContent = `${count(state.evaluations)}${most === null ? "" : ` of ${count(most)}`} design points in ${number(state.seconds)} s; ${counted(state.members, "member")}`
    + (drawn && drawn < state.members ? `, ${count(drawn)} of them below` : "")
    + (state.nodes === null ? "" : `; proof: ${counted(state.nodes, "node")}`);
  if (state.front?.members.length) showFront(state.front, state.bounds, state.weak);
  version = state.version;
});
