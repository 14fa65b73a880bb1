// One member in full: figures, schedule, mapping, clocks, energy, and the text to set it up.
const part = (title, ...nodes) => el("div", {}, el("h3", {}, title), nodes);

function memberPanel(page, side, index) {
  const { data } = page, member = pointsOf(data)[index];
  const base = side === "b" ? pointsOf(data)[page.state.a] : null;
  const zoom = page.state.zoom, starts = [];
  const charts = !member.schedule ? [] : [
    scheduleChart(page, side, index, zoom),
    activityChart(page, index, { title: "Power", unit: "W", factor: 1000, zoom, value: (e) => e.power,
      together: (powers) => Math.ceil(powers.reduce((sum, power) => sum + power, 0) / powers.length),
      base: (m) => m.base_mw + m.idle_mw.reduce((sum, idle) => sum + idle, 0) }),
    activityChart(page, index, { title: "Memory bandwidth asked for", unit: "GB/s", factor: 1e6, zoom, value: (e) => e.demand,
      together: (demands) => Math.max(...demands), base: () => 0 }),
  ];
  const mapping = mappingStrips(page, member);
  starts.push(...charts.map((chart) => chart.start), mapping.start);
  linkScrolling(page, charts.map((chart) => chart.node));
  const marks = data.marks[index], proof = memberProof(data, index);
  const node = el("article", { class: `panel member ${side}`, "data-side": side, "data-member": index, "aria-label": `${side.toUpperCase()}: ${memberName(data, index)}` },
    el("header", {}, el("span", { class: "which" }, side.toUpperCase()), el("h2", {}, index < data.members.length ? `Member ${index}` : member.label),
      marks ? el("span", { class: "soft" }, marks.join(", ")) : null,
      member.breaks ? el("span", { class: "soft" }, `another method${member.overloaded ? "; overloaded" : member.breaks.length ? `; breaks ${member.breaks.join(", ")}` : ""}`) : null,
      proof ? el("span", { class: `badge ${proof}` }, PROOF_WORDS[proof]) : null),
    figures(data, member, base, page.state.b !== null, data.confidence?.members[index]),
    part("Schedule", ...(charts.length ? [scheduleLegend(data, member), charts.map((chart) => chart.node)] : [notOnThisPage(page, index)])),
    part("Mapping along the layers", mapping.node),
    el("div", { class: "columns" },
      part("Operating points", operatingPoints(data, member, base)),
      part("Energy by unit, with its memory traffic", energyBars(page, index))),
    part("Setting it up", deploymentText(page, member, index)));
  const look = () => charts.forEach(({ node: chart }) => { chart.scrollLeft = page.state.middle * chart.scrollWidth - chart.clientWidth / 2; });
  return { node, start: () => { starts.forEach((start) => start()); look(); } };
}

// Schedules of thousands of executions are on the page for some members only.
function notOnThisPage({ data }, index) {
  const shown = data.members.flatMap((member, i) => (member.schedule ? [i] : []));
  const near = shown.reduce((best, i) => (Math.abs(i - index) < Math.abs(best - index) ? i : best), shown[0]);
  return el("p", { class: "hint" }, `Not on this page, which has ${counted(shown.length, "schedule")}, the nearest of member ${near}. `,
    ...(index < data.members.length ? [el("code", {}, `dse plot gantt DIR --member ${index} -o schedule.pdf`), " draws it."] : []));
}

// A longer time axis keeps the time in its middle; the charts of a member move together.
function linkScrolling(page, nodes) {
  for (const node of nodes)
    node.addEventListener("scroll", () => {
      page.state.middle = (node.scrollLeft + node.clientWidth / 2) / node.scrollWidth;
      nodes.forEach((other) => { if (other.scrollLeft !== node.scrollLeft) other.scrollLeft = node.scrollLeft; });
    });
}

function figures(data, member, base, pair, sure) {
  if (member.overloaded) return el("p", { class: "hint" }, "Overloaded: what is drawn is the first period alone, the next ones have more and more to do.");
  if (base?.overloaded) base = null;
  const rows = data.objectives.map((o, k) => [capital(o.label), member.objectives[k], o.unit, base?.objectives[k], sure && intervalText(sure.intervals[k])]);
  const labels = data.objectives.map((o) => o.label), alone = member.free_run ? " if one frame of each network runs" : "";
  if (!labels.includes("latency") && !member.responses) rows.push([`Makespan${alone}`, ms(member.makespan_ps), "ms", base && ms(base.makespan_ps)]);
  if (!labels.includes("energy")) rows.push([`Energy${member.responses ? " of a period" : ""}`, mj(member.energy_fj), "mJ", base && mj(base.energy_fj)]);
  if (member.responses)
    data.networks.forEach((network, n) => {
      const [often, jitter, misses] = member.responses[n];
      const spread = `95 % within ${number(ms(often))} ms, jitter ${number(ms(jitter))} ms, ${misses} too late`;
      rows.push([`Response of ${network.name}, at most`, ms(member.latencies_ps[n]), `ms, ${spread}`, base && ms(base.latencies_ps[n])]);
    });
  else if (data.networks.length > 1)
    data.networks.forEach((network, n) => {
      if (!labels.includes(`latency of ${network.name}`))
        rows.push([`Latency of ${network.name}${alone}`, ms(member.latencies_ps[n]), "ms", base && ms(base.latencies_ps[n])]);
    });
  const rate = (m, n) => m.free_run.rates_uhz[n] / 1e6;
  if (member.free_run)
    data.networks.forEach((network, n) => {
      const least = network.min_rate_uhz === null ? "" : `, at least ${number(network.min_rate_uhz / 1e6)} asked for`;
      const share = `${number(member.free_run.relative_ppm[n] / 1e4)} % of its rate alone`;
      rows.push([`Throughput of ${network.name}`, rate(member, n), `images/s, ${share}${least}`, base && rate(base, n)]);
    });
  return el("dl", { class: "figures" }, rows.map(([label, value, unit, before, interval]) => el("div", {},
    el("dt", {}, label), el("dd", {}, number(value), el("small", {}, ` ${unit}`)),
    // If there are intervals, all figures keep the line free.
    data.confidence ? el("span", { class: "interval" }, interval ?? "\u00a0") : null,
    // Beside B, A keeps the line free, so that both schedules begin at the same height.
    pair ? el("span", { class: "against" }, base ? ratio(value, before) : "\u00a0") : null)));
}

// The 5th and the 95th percentile of the draws of the costs.
function intervalText(interval) {
  const [least, most] = interval.map((value) => (value === null ? "overloaded" : number(value)));
  return least === most ? `always ${least}` : `${least} to ${most}`;
}

// A strip for each network, a cell for each group, in the colour of its unit.
function mappingStrips(page, member) {
  const { data } = page;
  const place = el("div", { class: "chart", role: "group", "aria-label": "Mapping: arrow keys go from group to group." });
  const cells = [];
  let first = 0;
  data.networks.forEach((network, n) => {
    network.groups.forEach((name, g) => cells.push({ n, g, name, unit: member.units[first + g], group: first + g }));
    first += network.groups.length;
  });
  const lines = (cell) => {
    const detail = data.networks[cell.n].details?.[cell.g];
    return [`${data.networks[cell.n].name}, group ${cell.g}: ${cell.name}`, `on ${data.units[cell.unit]}`,
      ...(detail ? [`${detail.layers.length} layers, ${number(detail.macs / 1e6)} M multiply-accumulates`] : [])];
  };
  let nodes = [], at = -1;

  function paint(width) {
    const tall = 48, svg = draw("svg", { viewBox: `0 0 ${width} ${tall * data.networks.length}`, height: tall * data.networks.length, "aria-hidden": "true" });
    nodes = [];
    data.networks.forEach((network, n) => {
      const top = n * tall, step = width / network.groups.length, own = cells.filter((cell) => cell.n === n);
      svg.append(draw("rect", { class: `n${n % 8}`, x: 0, y: top + 3, width: 9, height: 9, rx: 2 }),
        draw("text", { class: "title", x: 14, y: top + 12 }, network.name));
      own.forEach((cell) => {
        const g = draw("g", { class: "bar", "data-unit": data.units[cell.unit] },
          draw("rect", { class: `u${cell.unit % 9}`, x: cell.g * step, y: top + 18, width: step, height: 22 }),
          draw("rect", { class: "frame", x: cell.g * step, y: top + 18, width: step, height: 22 }));
        nodes.push(withTip(g, () => lines(cell)));
        svg.append(g);
      });
      // One name for each run of groups on the same unit, where it has room.
      for (let from = 0; from < own.length; ) {
        let to = from;
        while (to < own.length && own[to].unit === own[from].unit) to += 1;
        const text = data.units[own[from].unit];
        if (7 * text.length + 6 < (to - from) * step)
          svg.append(draw("text", { class: "on-light", x: ((from + to) / 2) * step, y: top + 33, "text-anchor": "middle", style: `paint-order:stroke;stroke:var(--u${own[from].unit % 9});stroke-width:6px`, "pointer-events": "none" }, text));
        from = to;
      }
    });
    return svg;
  }

  keysThrough(place, {
    length: () => cells.length, current: () => at,
    go: (step) => {
      nodes[at]?.classList.remove("current");
      at = step;
      nodes[at].classList.add("current");
      tipAt(nodes[at], () => lines(cells[step]));
      page.announce(lines(cells[step]).join(". "));
    },
    leave: () => { nodes[at]?.classList.remove("current"); tip.hide(); },
  });
  const used = [...new Set(member.units)].sort((a, b) => a - b);
  const legend = el("div", { class: "legend" }, used.map((u) => el("span", {},
    el("i", { class: "swatch", style: `background:var(--u${u % 9})` }), `${data.units[u]}: ${counted(member.units.filter((v) => v === u).length, "group")}`)));
  return { node: el("div", {}, legend, place), start: () => drawnToWidth(place, paint) };
}

function operatingPoints(data, member, base) {
  const rows = data.domains.map((domain, d) => {
    const point = member.points[d], changed = base && base.points[d] !== point ? "changed" : null;
    if (point === null) return el("tr", {}, el("td", {}, domain.name), el("td", { class: `number ${changed ?? ""}` }, "off"), el("td"), el("td"));
    const share = domain.khz.length > 1 ? (100 * domain.khz[point]) / domain.khz.at(-1) : 100;
    const volts = domain.mv[point] === null ? "–" : `${domain.mv[point]} mV`;
    return el("tr", {}, el("td", {}, domain.name),
      el("td", { class: `number ${changed ?? ""}` }, `${megahertz(domain.khz[point])} MHz`),
      el("td", { class: "number" }, volts),
      el("td", { class: "ladder-cell" }, el("span", { class: "ladder", title: `${point + 1} of ${domain.khz.length}` }, el("i", { style: `width:${share.toFixed(0)}%` })), ` ${point + 1}/${domain.khz.length}`));
  });
  return el("div", { class: "scroll", "data-part": "clocks" }, el("table", {}, el("thead", {}, el("tr", {}, ["clock", "frequency", "voltage", "of its ladder"].map((text, k) =>
    el("th", { class: k === 1 || k === 2 ? "number" : null, scope: "col" }, text)))), el("tbody", {}, rows)));
}

// Parts of the energy: the units, and the rest, which the memory, other clocks and the board take.
function energyParts(data, member) {
  const units = data.unit_names.map((name, u) => ({ name, class: `u${u % 9}`, value: mj(member.energy_by_unit_fj[u]) }))
    .filter((_, u) => data.unit_of[u] === u);
  const rest = member.energy_fj - member.energy_by_unit_fj.reduce((sum, value) => sum + value, 0);
  return [...units, { name: "idle memory, clocks and board", class: "u8", value: mj(rest) }];
}

function energyBars(page, index) {
  const { data } = page, member = pointsOf(data)[index];
  const most = Math.max(...[page.state.a, page.state.b].filter((i) => i !== null).flatMap((i) => energyParts(data, pointsOf(data)[i]).map((p) => p.value)));
  const total = mj(member.energy_fj);
  const rows = energyParts(data, member).filter((p) => p.value > 0).map((p) => el("tr", { "data-energy": p.name },
    el("td", {}, p.name),
    el("td", { style: "width:34%" }, draw("svg", { height: 16, width: "100%", "aria-hidden": "true" },
      draw("rect", { class: p.class, height: 16, rx: 3, width: `${((100 * p.value) / most).toFixed(1)}%`, stroke: "var(--soft)", "stroke-width": 0.5 }))),
    el("td", { class: "number" }, `${number(p.value)} mJ`), el("td", { class: "number" }, `${((100 * p.value) / total).toFixed(0)} %`)));
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "unit"), el("th"), el("th", { class: "number", scope: "col" }, `of ${number(total)} mJ`), el("th"))), el("tbody", {}, rows)));
}

// A mapping file, as 'dse evaluate --mapping' takes it.
function mappingFile(data, member) {
  let first = 0;
  const mapping = {};
  for (const network of data.networks) {
    const runs = {}, units = member.units.slice(first, first + network.groups.length);
    for (let from = 0, to; from < units.length; from = to) {
      for (to = from; to < units.length && units[to] === units[from]; ) to += 1;
      runs[to - from === 1 ? String(from) : `${from}-${to - 1}`] = data.units[units[from]];
    }
    mapping[network.name] = Object.keys(runs).length === 1 ? data.units[units[0]] : runs;
    first += network.groups.length;
  }
  const points = data.domains.map((d, k) => [d.name, member.points[k] === null ? null : d.khz[member.points[k]] / 1000]);
  const clocks = Object.fromEntries(points.filter(([, clock]) => clock !== null));
  const lines = (object) => Object.entries(object).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(",\n");
  const chosen = Object.fromEntries(data.networks.map((network, n) => [network.name, member.priorities[n]]));
  const priorities = data.searches_priorities ? `,\n  "priorities": {\n${lines(chosen)}\n  }` : "";
  return `{\n  "mapping": {\n${lines(mapping)}\n  },\n  "operating_points": {\n${lines(clocks)}\n  }${priorities}\n}\n`;
}

function deploymentText(page, member, index) {
  const { data } = page;
  const about = {
    nvpmodel: "A power mode for the board's own nvpmodel file.",
    sysfs: "A shell script that sets the clocks and can restore them; a dry run unless told otherwise.",
    trtexec: "Build and run lines; dse deploy --to trtexec writes them with the ONNX files.",
  };
  const text = (numbers) => numbers.map((k) => data.deployment_paragraphs[k]).join("\n\n");
  const texts = [
    ...Object.entries(data.deployments[index] ?? {}).map(([name, numbers]) => [name, text(numbers), about[name] ?? ""]),
    ["mapping file", mappingFile(data, member), `Units and clocks, for dse evaluate --mapping FILE. ${data.deployments.length && index < data.members.length ? `dse show DIR --member ${index} names what it can be deployed to, and why not to others.` : ""}`],
  ];
  const body = el("pre", { tabindex: "0" }), hint = el("p", { class: "hint" });
  const copy = el("button", { type: "button", onclick: () => copyText(body.textContent, copy) }, "Copy");
  const show = (k) => { body.textContent = texts[k][1]; hint.textContent = texts[k][2]; page.state.format = texts[k][0]; };
  const kept = Math.max(0, texts.findIndex(([name]) => name === page.state.format));
  show(kept);
  return el("div", {}, el("div", { class: "controls" },
    choice("Format", texts.map(([name], k) => [k, name]), kept, (k) => show(Number(k))), copy), hint, body);
}

async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages that are opened as files may not write to the clipboard in every browser.
    const area = el("textarea", { style: "position:fixed;opacity:0" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}
