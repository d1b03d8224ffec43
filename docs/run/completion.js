// Completion of tables, keys and values, from the list of all keys of a scenario.

/** Which keys of the list a table may have: those of its form, and those of all forms. */
const fits = (key, form) => key.of === null || form === undefined || key.of === form;

/** What may stand at the end of `before`, the line up to the caret: `{ word, choices: [{ text, insert, doc }] }`. */
function completions(keys, lines, number, before) {
  const table = /^\s*(\[\[?)\s*([A-Za-z0-9_.]*)$/.exec(before);
  if (table) return { word: table[2], choices: matching(tables(keys, table[1] === "[["), table[2]) };
  if (/^\s*\[/.test(before) || before.includes("#")) return null;
  const { path, keys: present, form } = tableOf(lines, number);
  const prefix = path ? `${path}.` : "";
  const value = /^\s*([A-Za-z0-9_.]+)\s*=\s*("?)([A-Za-z0-9_.]*)$/.exec(before);
  if (value) {
    const key = keys.find((k) => k.path === prefix + value[1] && fits(k, form));
    return key && { word: value[2] + value[3], choices: matching(values(key), value[2] + value[3]) };
  }
  const word = /^\s*([A-Za-z0-9_.]*)$/.exec(before)?.[1];
  if (word === undefined) return null;
  const found = new Map();
  for (const key of keys) {
    if (!key.path.startsWith(prefix) || !fits(key, form)) continue;
    const rest = key.path.slice(prefix.length);
    // A list of tables has headers of its own.
    if (rest.includes("[]") || present.has(rest) || found.has(rest)) continue;
    if (!prefix && rest.includes(".")) continue;
    const standard = key.default === null ? "" : ` Default: ${JSON.stringify(key.default)}.`;
    found.set(rest, { text: rest, insert: `${rest} = `, doc: `${key.type}. ${key.doc}${standard}` });
  }
  return { word, choices: matching([...found.values()], word) };
}

/** All tables that a header may name. */
function tables(keys, areLists) {
  const found = new Map();
  for (const { path, doc } of keys) {
    const steps = path.split(".").slice(0, -1);
    steps.forEach((step, index) => {
      const isList = step.endsWith("[]");
      if (isList !== areLists || steps.slice(0, index).some((s) => s.endsWith("[]"))) return;
      const name = steps.slice(0, index + 1).join(".").replace("[]", "");
      if (!found.has(name)) found.set(name, { text: name, insert: `${name}${areLists ? "]]" : "]"}`, doc: path === `${name}.name` ? doc : "" });
    });
  }
  return [...found.values()];
}

/** The values that a key's type names. */
function values(key) {
  const named = [...key.type.matchAll(/`("[^`]*"|true|false)`/g)].map(([, text]) => text);
  const standard = key.default === null ? [] : [JSON.stringify(key.default)];
  const { doc } = key;
  return [...new Set([...standard, ...named])].map((text) => ({ text, insert: text, doc }));
}

/** The choices that begin with `word`, then those that have it elsewhere. */
function matching(choices, word) {
  const bare = word.replaceAll('"', "").toLowerCase();
  const place = ({ text }) => text.replaceAll('"', "").toLowerCase().indexOf(bare);
  return choices.filter((c) => place(c) >= 0 && c.text !== word).sort((a, b) => Math.min(place(a), 1) - Math.min(place(b), 1));
}
