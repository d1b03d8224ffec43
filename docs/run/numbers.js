// The run in numbers, beside the one before, and what was wrong.

const rows = [
  ["simulated time", (run) => timeText(run.manifest.sim_time_ps)],
  ["flows complete", ({ summary }) => `${summary.completed} of ${summary.flows}`],
  ["slowdown, mean", ({ summary }) => (summary.slowdown ? digits(summary.slowdown.mean) : "–")],
  ["slowdown, 99th percentile", ({ summary }) => (summary.slowdown ? digits(summary.slowdown.p99) : "–")],
  ["PAUSE frames", ({ summary }) => String(summary.pause_frames)],
  ["longest queue", ({ summary }) => sizeText(summary.max_queue_bytes)],
  ["packets dropped", ({ summary }) => String(summary.dropped)],
  ["events", ({ manifest }) => manifest.events.toLocaleString("en")],
  ["it took", ({ seconds }) => `${digits(seconds)} s`],
];

function showNumbers(run, old, names) {
  const tile = ([name, read]) =>
    element("div", { className: name }, element("dt", { textContent: name }), element("dd", { textContent: read(run) }),
      ...(old ? [element("dd", { textContent: read(old), className: "old", title: names.old })] : []));
  const all = [...rows, ["fingerprint", ({ fingerprint }) => fingerprint]];
  const parts = [element("dl", { className: "tiles" }, ...all.map(tile))];
  if (old) parts.unshift(element("p", {}, element("b", { textContent: names.now }), " beside ", element("span", { className: "muted", textContent: names.old })));
  parts.push(element("p", { className: "note",
    textContent: "The fingerprint sums up every event and its time: xoff run gives the same on any machine." }));
  if (!run.manifest.complete) {
    parts.push(element("p", { className: "fault", textContent: `The run is not complete: ${run.manifest.stop_reason}` }));
  }
  for (const warning of run.manifest.warnings) parts.push(element("p", { className: "note" }, ...prose(`Warning: ${warning}`)));
  $("numbers").replaceChildren(...parts);
}

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;

/** What is wrong with the scenario, and what is probably not meant. */
function showProblems({ problems, warnings }, editor) {
  const shown = problems.map((problem) => {
    const where = problem.line
      ? element("button", { type: "button", textContent: `line ${problem.line}, column ${problem.column}`,
          onclick: () => editor.go(problem.line, problem.column) })
      : "";
    const parts = [problem.message, problem.expected, ...problem.notes].filter(Boolean).map((part) => sentence(part));
    return element("div", { className: "problem" }, where, " ", ...prose(parts.join(" ")));
  });
  shown.push(...warnings.map((text) => element("div", { className: "warning" }, ...prose(`Warning: ${text}`))));
  if (!shown.length) shown.push(element("div", { className: "fine", textContent: "The scenario is sound." }));
  $("problems").replaceChildren(...shown);
}

/** The error of a run: problems of its scenario, or a sentence. */
function refusal(error) {
  if (error.isTrap) {
    return { text: "The simulation ended in a fault: most likely it needs more memory than a browser's tab has, 4 GB. Make the scenario smaller, or run it with xoff itself." };
  }
  try {
    const { scenario, run } = JSON.parse(error.message);
    return scenario ? { problems: scenario } : { text: `The run was broken off: ${run}` };
  } catch {
    return { text: error.message };
  }
}
