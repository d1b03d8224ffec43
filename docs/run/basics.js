// What all parts of the page use.

const $ = (id) => document.getElementById(id);

/** An element with these properties and children. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** The bytes of a packed text of the page. */
async function unpack(id) {
  const bytes = atob($(id).textContent);
  const packed = new Uint8Array(bytes.length);
  // `Uint8Array.from` takes ten times as long.
  for (let place = 0; place < bytes.length; place++) packed[place] = bytes.charCodeAt(place);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const unpackText = async (id) => new TextDecoder().decode(await unpack(id));

/** `value` with three digits. */
const digits = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(3))) : "–");

/** A time in ps, in words. */
function timeText(ps) {
  for (const [unit, size] of [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3]]) {
    if (Math.abs(ps) >= size) return `${Number((ps / size).toPrecision(4))} ${unit}`;
  }
  return `${Math.round(ps)} ps`;
}

/** A size in bytes, in words. */
function sizeText(bytes) {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["KB", 1e3]]) {
    if (bytes >= size) return `${digits(bytes / size)} ${unit}`;
  }
  return `${digits(bytes)} B`;
}

/** The unit in which times up to `ps` are drawn: its name and its length in ps. */
function timeUnit(ps) {
  return ps >= 2e12 ? ["s", 1e12] : ps >= 2e9 ? ["ms", 1e9] : ["us", 1e6];
}

const THEME = matchMedia("(prefers-color-scheme: dark)");
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Text in which code stands between backticks, as nodes. */
const prose = (text) => text.split("`").map((part, i) => (i % 2 ? element("code", { textContent: part }) : part));
