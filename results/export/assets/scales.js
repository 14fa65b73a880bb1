// From values to pixels: linear and logarithmic axes with round ticks, and the colours of values.
const LOG_RATIO = 10; // An axis whose values span more is logarithmic.

// ``beside``: values that it reaches, too, and that do not make it logarithmic.
function scale(values, from, to, { zero = false, margin = 0.06, beside = [] } = {}) {
  const known = values.filter((value) => value !== null);
  let low = Math.min(...known), high = Math.max(...known);
  if (!known.length) [low, high] = [0, 1];
  const logarithmic = !zero && low > 0 && high > LOG_RATIO * low;
  for (const value of beside.filter((value) => !logarithmic || value > 0)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const f = logarithmic ? Math.log10 : (value) => value;
  let a = f(low), b = f(high);
  if (zero) a = Math.min(0, a);
  const spare = (b - a || Math.abs(b) || 1) * margin;
  if (!zero) a -= spare;
  b += spare;
  const at = (value) => from + ((f(value) - a) / (b - a || 1)) * (to - from);
  at.logarithmic = logarithmic;
  at.low = logarithmic ? 10 ** a : a;
  at.high = logarithmic ? 10 ** b : b;
  [at.from, at.to] = [from, to];
  at.value = (place) => {
    const value = a + ((place - from) / (to - from)) * (b - a);
    return logarithmic ? 10 ** value : value;
  };
  at.ticks = (most) => (logarithmic ? decades(at.low, at.high, most) : roundTicks(a, b, most));
  return at;
}

function roundTicks(low, high, most) {
  const rough = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) ticks.push(k * step + 0);
  return ticks;
}

function decades(low, high, most) {
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e += 1)
    for (const m of [1, 2, 5]) if (m * 10 ** e >= low && m * 10 ** e <= high) ticks.push(m * 10 ** e);
  const step = Math.ceil(ticks.length / most);
  return ticks.filter((_, i) => i % step === 0);
}

const tickText = (value) => String(Number(value.toPrecision(6)));

// Viridis, which rises in lightness: it can be read in grey, too.
const VIRIDIS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];

function viridis(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const k = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const part = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mixed = [0, 1, 2].map((i) => Math.round(part(VIRIDIS[k], i) + (place - k) * (part(VIRIDIS[k + 1], i) - part(VIRIDIS[k], i))));
  return `rgb(${mixed.join(",")})`;
}
const shares = (values) => scale(values, 0, 1, { margin: 0 });
const VIRIDIS_RAMP = `linear-gradient(90deg, ${VIRIDIS.join(", ")})`;
