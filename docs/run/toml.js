// As much of TOML as the editor needs: colours, and which table a line is in.

const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

/** The parts of a line as `[class, text]`. */
function parts(line) {
  const found = [];
  const rule = /(#.*$)|("(?:[^"\\]|\\.)*"?|'[^']*'?)|(^\s*\[\[?[^\]#]*\]?\]?)|([A-Za-z0-9_.-]+(?=\s*=))|([^#"'A-Za-z0-9_.-]+|[A-Za-z0-9_.-]+)/g;
  for (const [text, comment, string, table, key] of line.matchAll(rule)) {
    found.push([comment ? "comment" : string ? "text" : table ? "table" : key ? "key" : "", text]);
  }
  return found;
}

/** A line as HTML, with `length` characters from `column` (from 1) marked as wrong if `bad` is given. */
function coloured(line, bad) {
  let at = 0;
  let html = "";
  for (const [kind, text] of parts(line)) {
    // A mark may begin and end within a part.
    const cuts = bad ? [bad.column - 1 - at, bad.column - 1 + bad.length - at] : [0, 0];
    const [from, to] = cuts.map((cut) => Math.min(Math.max(cut, 0), text.length));
    for (const [piece, isBad] of [[text.slice(0, from), false], [text.slice(from, to), true], [text.slice(to), false]]) {
      const classes = [kind && `c-${kind}`, isBad && "c-bad"].filter(Boolean).join(" ");
      if (piece) html += classes ? `<span class="${classes}">${escaped(piece)}</span>` : escaped(piece);
    }
    at += text.length;
  }
  return html;
}

/** The table of line `number` (from 0) as keys write it (`traffic[]`), with the `name` or `pattern` that it has, and its keys. */
function tableOf(lines, number) {
  const isHeader = (line) => /^\s*\[/.test(line);
  let begin = number;
  while (begin >= 0 && !isHeader(lines[begin])) begin -= 1;
  const header = begin < 0 ? null : /^\s*(\[\[?)\s*([^\]]*?)\s*\]/.exec(lines[begin]);
  const path = header ? header[2].replace(/\s/g, "") + (header[1] === "[[" ? "[]" : "") : "";
  const keys = new Map();
  for (let i = begin + 1; i < lines.length && !isHeader(lines[i]); i += 1) {
    const found = /^\s*([A-Za-z0-9_.-]+)\s*=\s*("([^"]*)")?/.exec(lines[i]);
    if (found && i !== number) keys.set(found[1], found[3]);
  }
  return { path, keys, form: keys.get("name") ?? keys.get("pattern") };
}
