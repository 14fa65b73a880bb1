// Small things that every part of the page uses: elements, numbers in words, the tip, the theme.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}
const el = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);
const byId = (id) => document.getElementById(id);

// Four significant digits and ``more``, no exponent, no digit before the point dropped: as in the
// tables of dse.
function number(value, more = 0) {
  if (value === null || !Number.isFinite(value)) return "–";
  for (const [limit, decimals] of [[1000, 0], [100, 1], [10, 2], [1, 3]])
    if (Math.abs(Number(value.toFixed(decimals))) >= limit) return value.toFixed(decimals + more);
  return value ? value.toFixed(4 + more) : "0";
}
const count = (value) => value.toLocaleString("en-GB");
const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const ms = (ps) => ps / 1e9;
const mj = (fj) => fj / 1e12;
const megahertz = (khz) => String(Number((khz / 1000).toFixed(3)));

function ratio(value, base) {
  if (!(base > 0) || !Number.isFinite(value)) return "";
  const share = value / base;
  if (share >= 2) return `${share.toFixed(1)}× of A`;
  return `${(100 * share).toFixed(Math.abs(share - 1) < 0.02 ? 1 : 0)} % of A`;
}

// One tip for the whole page: near the pointer, or near what the keyboard is on.
const tip = {
  show(lines, x, y) {
    const node = byId("tip");
    node.replaceChildren(el("b", {}, lines[0]), ...lines.slice(1).map((line) => el("div", {}, line)));
    node.hidden = false;
    const box = node.getBoundingClientRect();
    const left = x + 14 + box.width > innerWidth - 8 ? x - box.width - 14 : x + 14;
    const top = y + 16 + box.height > innerHeight - 8 ? y - box.height - 12 : y + 16;
    node.style.left = `${Math.max(8, left)}px`;
    node.style.top = `${Math.max(8, top)}px`;
  },
  hide() {
    byId("tip").hidden = true;
  },
};
function withTip(node, lines) {
  const show = (event) => tip.show(lines(), event.clientX, event.clientY);
  node.addEventListener("pointermove", show);
  // A finger leaves when it lifts: then the tip stays until the next touch elsewhere.
  node.addEventListener("pointerup", show);
  node.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") tip.hide(); });
  return node;
}
function tipAt(node, lines) {
  const box = node.getBoundingClientRect();
  tip.show(lines(), box.left + box.width / 2, box.top + box.height / 2);
}

// Draws again when the width of its place changes; what is drawn gets that width in pixels.
function drawnToWidth(place, paint) {
  let width = 0;
  const again = () => {
    const now = Math.floor(place.clientWidth);
    if (now < 40) return;
    width = now;
    place.replaceChildren(paint(now));
  };
  new ResizeObserver(() => {
    if (Math.floor(place.clientWidth) !== width) again();
  }).observe(place);
  again();
  return again;
}

function choice(label, options, chosen, onChange) {
  const select = el("select", { onchange: () => onChange(select.value) },
    options.map(([value, text]) => el("option", { value, selected: String(value) === String(chosen) }, text)));
  return el("label", {}, label, select);
}

function startTheme() {
  const button = byId("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let kept = null;
  try { kept = localStorage.getItem("paretosoc-theme"); } catch { /* no storage in this browser */ }
  const apply = () => {
    const now = kept ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now;
    button.textContent = now === "dark" ? "Light" : "Dark";
  };
  dark.addEventListener("change", apply);
  button.addEventListener("click", () => {
    kept = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("paretosoc-theme", kept); } catch { /* lasts until it is closed */ }
    apply();
  });
  apply();
}

// What is shown, and what is chosen (A, and B beside it). ``over`` ends what listens to the window.
function makePage(data) {
  const listeners = [];
  const state = { a: 0, b: null, target: "a", zoom: 1, middle: 0, format: null, resolution: data.resolution };
  const page = {
    data, state, view: null, over: new AbortController(),
    listen: (listener) => listeners.push(listener),
    remember: () => remember(state),
    changed: () => { tip.hide(); page.remember(); listeners.forEach((listener) => listener()); },
    choose(index, second) {
      const side = second || state.target === "b" ? "b" : "a";
      state[side] = index;
      page.changed();
      page.announce(`${side.toUpperCase()}: ${memberTip(data, index).join(". ")}`);
    },
    announce(text) { byId("announce").textContent = text; },
  };
  return page;
}

// The members that stand for all at the chosen resolution, and for how many each does.
function choicesOf(page) {
  return new Map(page.data.choices[page.state.resolution]?.members);
}
const percentOf = (page) => Number(page.data.choices[page.state.resolution].percent.toPrecision(3));

function choiceWords(page) {
  const all = page.data.members.length, few = choicesOf(page).size;
  return few === all ? `All ${counted(all, "member")}.` : `${counted(few, "choice")} of ${counted(all, "member")}: every member is within ${percentOf(page)} % of one of them in every objective.`;
}

// The slider of resolutions: at its left end every member is a choice.
function resolutionControl(page, changed) {
  const words = el("output", { id: "resolution-words" });
  const tell = () => { words.textContent = `${percentOf(page)} %: ${choicesOf(page).size}`; };
  const input = el("input", { type: "range", id: "resolution", min: 0, max: page.data.choices.length - 1, step: 1, value: page.state.resolution,
    oninput: () => { page.state.resolution = Number(input.value); tell(); changed(); } });
  tell();
  return el("label", { title: "Every member is within this of a mark in every objective." }, "Resolution", input, words);
}

// The address says what is shown (#a=3&b=70), so that a link leads to it.
function remember(state) {
  const hash = `#a=${state.a}${state.b === null ? "" : `&b=${state.b}`}`;
  try { history.replaceState(null, "", hash); } catch { /* not where the page has no address */ }
}
