// Quantities with units, as scenarios have them.

const UNITS = {
  ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12,
  B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4,
  bps: 1, Kbps: 1e3, Mbps: 1e6, Gbps: 1e9, Tbps: 1e12,
};

/** A quantity as `{ value, unit, base }`, `base` in ps, B or bit/s; `null` if the text is none. */
function quantity(text) {
  const found = /^\s*([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z]*)\s*$/.exec(String(text));
  if (!found || (found[2] && !(found[2] in UNITS))) return null;
  const value = Number(found[1]);
  return { value, unit: found[2], base: value * (found[2] ? UNITS[found[2]] : 1) };
}

/** `base` written in `unit`, in three digits; a whole number if `whole`. */
function written(base, unit, whole) {
  const value = base / (unit ? UNITS[unit] : 1);
  // Smallest units have no parts.
  const round = whole || unit === "ps" || unit === "B" || unit === "bps";
  return `${round ? Math.round(value) : Number(value.toPrecision(3))}${unit}`;
}
