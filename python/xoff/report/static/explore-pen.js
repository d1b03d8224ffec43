// Drawing: the same plots on a canvas, and as SVG for a file; axes and their ticks.

// A pen on a canvas of `width` by `height` CSS pixels.
class CanvasPen {
  constructor(canvas, width, height) {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    // To set the size also clears the canvas, and takes longer.
    if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
    this.context = canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
  }

  line(points, colour, { width = 1.4, dash = [], alpha = 1 } = {}) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.globalAlpha = alpha;
    context.setLineDash(dash);
    context.beginPath();
    for (let at = 0; at < points.length; at += 2) {
      if (Number.isNaN(points[at + 1])) at + 3 < points.length && context.moveTo(points[at + 2], points[at + 3]);
      else context.lineTo(points[at], points[at + 1]);
    }
    context.stroke();
    context.globalAlpha = 1;
    context.setLineDash([]);
  }

  rect(x, y, width, height, colour, alpha = 1) {
    this.context.fillStyle = colour;
    this.context.globalAlpha = alpha;
    this.context.fillRect(x, y, width, height);
    this.context.globalAlpha = 1;
  }

  text(text, x, y, colour, { align = "left", turned = false, bold = false, most = 0 } = {}) {
    const { context } = this;
    context.fillStyle = colour;
    context.font = `${bold ? "600 " : ""}12px system-ui, sans-serif`;
    context.textAlign = align === "middle" ? "center" : align;
    context.textBaseline = "middle";
    context.save();
    context.translate(x, y);
    if (turned) context.rotate(-Math.PI / 2);
    context.fillText(most ? fitted(text, most, (each) => context.measureText(each).width) : text, 0, 0);
    context.restore();
  }

  clip(x, y, width, height) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
  }

  unclip() {
    this.context.restore();
  }
}

// A text that is no wider than `most`: if it is cut, both ends stay, which tell names apart.
const fitted = (text, most, widthOf) => {
  const cut = (count) => `${text.slice(0, Math.ceil(count / 2))}\u2026${text.slice(text.length - Math.floor(count / 2))}`;
  if (widthOf(text) <= most) return text;
  let count = text.length - 1;
  while (count > 1 && widthOf(cut(count)) > most) count--;
  return cut(count);
};

const escaped = (text) => String(text).replace(/[&<>"]/g, (each) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[each]);

// A pen that writes SVG.
class SvgPen {
  constructor(width, height, background) {
    Object.assign(this, { width, height, parts: [], clips: 0 });
    this.rect(0, 0, width, height, background);
  }

  line(points, colour, { width = 1.4, dash = [], alpha = 1 } = {}) {
    let path = "", lifted = true;
    for (let at = 0; at < points.length; at += 2) {
      if (Number.isNaN(points[at + 1])) { lifted = true; continue; }
      path += `${lifted ? "M" : "L"}${points[at].toFixed(1)} ${points[at + 1].toFixed(1)}`;
      lifted = false;
    }
    const more = `${dash.length ? ` stroke-dasharray="${dash}"` : ""}${alpha < 1 ? ` stroke-opacity="${alpha}"` : ""}`;
    this.parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="${width}"${more}/>`);
  }

  rect(x, y, width, height, colour, alpha = 1) {
    const box = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(width, 0).toFixed(1)}" height="${Math.max(height, 0).toFixed(1)}"`;
    this.parts.push(`<rect ${box} fill="${colour}"${alpha < 1 ? ` fill-opacity="${alpha}"` : ""}/>`);
  }

  text(text, x, y, colour, { align = "left", turned = false, bold = false, most = 0 } = {}) {
    const anchor = { left: "start", middle: "middle", right: "end" }[align];
    const turn = turned ? ` transform="rotate(-90 ${x.toFixed(1)} ${y.toFixed(1)})"` : "";
    const shown = most ? fitted(text, most, (each) => each.length * 6.6) : text;
    this.parts.push(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${colour}" text-anchor="${anchor}" dominant-baseline="central"${bold ? ' font-weight="600"' : ""}${turn}>${escaped(shown)}</text>`);
  }

  clip(x, y, width, height) {
    this.clips++;
    this.parts.push(`<clipPath id="clip${this.clips}"><rect x="${x}" y="${y}" width="${width}" height="${height}"/></clipPath><g clip-path="url(#clip${this.clips})">`);
  }

  unclip() {
    this.parts.push("</g>");
  }

  toString() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="system-ui, sans-serif" font-size="12">${this.parts.join("\n")}</svg>\n`;
  }
}

// Round numbers from `low` to `high`, about `count` of them.
const roundTicks = (low, high, count) => {
  const rough = (high - low) / Math.max(count, 1);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const ticks = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + step * 1e-9; place++) ticks.push(place * step);
  return ticks;
};

// Powers of ten from `low` to `high`, with 2 and 5 times these if there are few.
const logTicks = (low, high, count) => {
  const found = [], decades = Math.log10(high / low), every = Math.ceil(decades / Math.max(count, 1));
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of decades < count / 2.5 ? [1, 2, 5] : [1]) {
      const value = factor * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001 && (factor > 1 || power % every === 0)) found.push(value);
    }
  }
  return found.length > 1 ? found : roundTicks(low, high, count).filter((value) => value > 0);
};

// The frame of a plot: where values are on it, and its axes.
class Frame {
  constructor({ width, height, x, y, xLog = false, yLog = false, left = 62, top = 8, bottom = 40 }) {
    const right = 24;
    Object.assign(this, { width, height, xLog, yLog, left, top, right: width - right, bottom: height - bottom });
    this.x0 = x[0];
    this.x1 = x[1] > x[0] ? x[1] : x[0] + 1;
    this.y0 = y[0];
    this.y1 = y[1] > y[0] ? y[1] : y[0] + 1;
    const slope = (log, a, b, from, to) => (to - from) / (log ? Math.log(b / a) : b - a);
    this.kx = slope(xLog, this.x0, this.x1, this.left, this.right);
    this.ky = slope(yLog, this.y0, this.y1, this.bottom, this.top);
  }

  x(value) {
    return this.left + (this.xLog ? Math.log(value / this.x0) : value - this.x0) * this.kx;
  }

  y(value) {
    return this.bottom + (this.yLog ? Math.log(Math.max(value, this.y0) / this.y0) : value - this.y0) * this.ky;
  }

  timeAt(pixel) {
    const value = this.x0 + (pixel - this.left) / this.kx;
    return Math.min(Math.max(value, this.x0), this.x1);
  }

  axes(pen, looks, { xTitle, yTitle, xScale = 1, yScale = 1, yTicks = null }) {
    const across = this.right - this.left, down = this.bottom - this.top;
    const ticks = (log, low, high, count) => (log ? logTicks(low, high, count) : roundTicks(low, high, count));
    const xs = ticks(this.xLog, this.x0 / xScale, this.x1 / xScale, Math.max(2, Math.floor(across / 90)));
    const ys = yTicks ?? ticks(this.yLog, this.y0 / yScale, this.y1 / yScale, Math.max(2, Math.floor(down / 34)));
    for (const value of xs) {
      const x = this.x(value * xScale);
      pen.line([x, this.top, x, this.bottom], looks.line, { width: 1, alpha: 0.6 });
      pen.text(short(value, 6), x, this.bottom + 12, looks.muted, { align: "middle" });
    }
    for (const value of ys) {
      const y = this.y(value * yScale);
      pen.line([this.left, y, this.right, y], looks.line, { width: 1, alpha: 0.6 });
      pen.text(short(value, 6), this.left - 6, y, looks.muted, { align: "right" });
    }
    pen.line([this.left, this.bottom, this.right, this.bottom], looks.muted, { width: 1 });
    if (xTitle) pen.text(xTitle, (this.left + this.right) / 2, this.bottom + 29, looks.text, { align: "middle" });
    if (yTitle) pen.text(yTitle, 10, (this.top + this.bottom) / 2, looks.text, { align: "middle", turned: true });
  }
}

// The points of a series in a frame: all of them, or of each column of pixels the first, the smallest, the largest and the last.
const pointsOf = (series, frame, scale = 1) => {
  const [begin, end] = series.span(frame.x0, frame.x1), { time, value, steps } = series;
  const across = Math.ceil(frame.right - frame.left), points = [];
  if (end - begin <= 4 * across) {
    for (let at = begin; at < end; at++) {
      const x = frame.x(time[at]), y = frame.y(value[at] / scale);
      if (steps && at > begin) points.push(x, frame.y(value[at - 1] / scale));
      points.push(x, y);
    }
    if (steps && end > begin) points.push(frame.x(Math.max(frame.x1, time[end - 1])), frame.y(value[end - 1] / scale));
    return points;
  }
  let from = begin;
  for (let column = 0; column <= across && from < end; column++) {
    const to = column === across ? end : lowerBound(time, frame.x0 + (column + 1) / frame.kx, from, end);
    if (to <= from) continue;
    const x = frame.left + column + 0.5, [low, high] = series.extremes.range(from, to);
    points.push(x, frame.y(value[from] / scale));
    if (high >= low) points.push(x, frame.y(low / scale), x, frame.y(high / scale));
    points.push(x, frame.y(value[to - 1] / scale));
    from = to;
  }
  return points;
};
