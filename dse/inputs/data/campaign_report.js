(() => {
"use strict";
const content = JSON.parse(document.getElementById("content").textContent);
// Cividis (Nunez et al. 2018): evenly lighter to every reader.
const RAMP = ["#00204d", "#31446b", "#666970", "#958f78", "#cab969", "#ffea46"];

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** The colour at a share from 0 (worst) to 1 (best), and one to write on it. */
function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  const mixed = [1, 3, 5].map(place => {
    const [a, b] = [RAMP[low], RAMP[low + 1]].map(code => parseInt(code.slice(place, place + 2), 16));
    return Math.round(a + (b - a) * (at - low));
  });
  const light = (0.299 * mixed[0] + 0.587 * mixed[1] + 0.114 * mixed[2]) / 255;
  return [`rgb(${mixed.join(",")})`, light > 0.48 ? "#111" : "#fff"];
}

function cellsOf(choice) {
  return content.panels.flatMap(panel => panel.cells.flat().map(cell => cell[choice]));
}

/** One scale for all panels, so that boards and caps can be compared. */
function scaleOf(choice) {
  const numbers = cellsOf(choice).filter(cell => cell && cell.value !== null);
  const sorted = numbers.sort((a, b) => a.value - b.value);
  if (!sorted.length) return null;
  const [low, high] = [sorted[0], sorted[sorted.length - 1]];
  const larger = content.values[choice].larger;
  const share = value => {
    const part = high.value > low.value ? (value - low.value) / (high.value - low.value) : 1;
    return larger || high.value === low.value ? part : 1 - part;
  };
  return { share, worst: larger ? low : high, best: larger ? high : low };
}

function cellElement(cell, value, scale) {
  if (!cell) return make("td", { class: "no" });
  const several = cell.runs > 1 ? `; the best of ${cell.runs} runs` : "";
  const shown = cell.value === null ? cell.status : `${cell.text} ${value.unit}`.trim();
  const title = `${cell.name}: ${value.label} ${shown}, ${cell.members} members${several}`;
  const text = cell.value === null ? (cell.status === "finished" ? "-" : cell.status) : cell.text;
  const inside = cell.page
    ? make("a", { href: cell.page, title, "aria-label": title }, text)
    : make("span", { title }, text);
  const element = make("td", {}, inside);
  if (cell.value !== null) {
    const [background, ink] = colour(scale.share(cell.value));
    element.style.background = background;
    element.style.color = ink;
  }
  return element;
}

function panelElement(panel, choice, scale) {
  const value = content.values[choice];
  const corner = `${panel.rowFields} \u2193  ${panel.columnFields} \u2192`;
  const head = make("tr", {}, make("th", {}, corner), ...panel.columns.map(name => make("th", { scope: "col" }, name)));
  const body = panel.rows.map((name, i) => make("tr", {}, make("th", { scope: "row" }, name),
    ...panel.cells[i].map(cell => cellElement(cell[choice], value, scale))));
  const table = make("table", { class: "heat" }, make("thead", {}, head), make("tbody", {}, ...body));
  const unit = value.unit ? `, ${value.unit}` : "";
  const what = make("p", { class: "soft" }, `${value.label}${unit}`);
  return make("section", {}, make("h2", {}, panel.title || "All runs"), what, table);
}

function draw() {
  const choice = Number(select.value);
  const scale = scaleOf(choice);
  document.getElementById("panels").replaceChildren(
    ...content.panels.map(panel => panelElement(panel, choice, scale)));
  const legend = document.getElementById("scale");
  legend.replaceChildren();
  if (scale) {
    const bar = make("i", {});
    bar.style.background = `linear-gradient(90deg, ${RAMP.join(",")})`;
    legend.append(`${scale.worst.text}`, bar, `${scale.best.text} is best`);
  }
}

const select = document.getElementById("value");
content.values.forEach((value, index) => select.append(make("option", { value: index }, value.label)));
select.addEventListener("change", draw);
draw();
const failures = document.getElementById("failures");
failures.hidden = content.failures.length === 0;
failures.querySelector("tbody").append(...content.failures.map(run =>
  make("tr", {}, make("td", {}, run.name), make("td", {}, run.status), make("td", {}, run.error))));
document.documentElement.setAttribute("data-ready", "");
})();
