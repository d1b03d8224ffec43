// The page: what is written, what is run, and what is shown of it.

let simulator = null;
let tree = null;
let plots = null;

const page = {
  ready: {}, // texts of the ready scenarios, by name
  files: {}, // texts of the files that they name
  name: "", // the ready scenario, if its text is unchanged
  overrides: [], // what a link sets
  knob: null, // the setting that is turned, with its value
  base: null, // the last run without it
};

const editor = new Editor(changed, () => start());
const knob = new Knob(turn);

function fault(text) {
  Object.assign($("fault"), { textContent: text, hidden: !text });
}

/** Everything that describes the run that is to be made, with `more` settings. */
const asked = (more = []) => ({ text: editor.text, files: page.files, overrides: [...page.overrides, ...more] });

function changed() {
  const isReady = page.ready[page.pickedName] === editor.text;
  page.name = isReady ? page.pickedName : "";
  $("revert").hidden = isReady && !page.overrides.length;
  $("shared").textContent = "";
  showOverrides();
  clearTimeout(page.checking);
  page.checking = setTimeout(check, 200);
}

async function check() {
  if (!simulator) return null; // The text is checked once there is one.
  const number = (page.checks = (page.checks ?? 0) + 1);
  const found = await simulator.check(asked());
  if (number !== page.checks) return found;
  editor.mark(found.problems);
  showProblems(found, editor);
  document.documentElement.dataset.problems = String(found.problems.length);
  return found;
}

function showOverrides() {
  const sets = page.overrides.map(([key, value]) => `${key} = ${value}`).join(", ");
  $("hint").textContent = sets
    ? `The link sets ${sets}, whatever the text says.`
    : "Keys are completed as you type, or with Ctrl+Space; Ctrl+Enter runs.";
}

function pick(name, overrides = []) {
  page.pickedName = name;
  page.overrides = overrides;
  page.base = null;
  page.knob = null;
  $("pick").value = name;
  editor.text = page.ready[name];
  changed();
}

/** Runs what is written. */
async function start() {
  page.knob = null;
  const before = page.base;
  const run = await simulate([], { now: "this run", old: "the run before" }, before);
  if (!run) return;
  page.base = run;
  page.baseOf = JSON.stringify(asked());
  knob.offer(run.manifest.scenario);
  $("release").disabled = true;
}

/** Runs with one setting turned; without a key, shows the run as the scenario says. */
async function turn(key, value) {
  // What is compared is one setting alone: a text that was changed since is run first.
  if (!page.base || page.baseOf !== JSON.stringify(asked())) {
    const place = $("slide").value;
    await start();
    if (!key || page.baseOf !== JSON.stringify(asked())) return;
    $("slide").value = place;
    $("value").textContent = value;
  }
  $("release").disabled = key === null;
  page.knob = key && [key, value];
  if (key) await simulate([page.knob], { now: `${key} = ${value}`, old: "as the scenario says" }, page.base);
  else {
    simulator.cancel();
    fault("");
    show(page.base, null, { now: "as the scenario says" });
  }
}

async function simulate(more, names, old) {
  const number = (page.runs = (page.runs ?? 0) + 1);
  fault("");
  busy(true);
  const began = performance.now();
  const report = ({ share, now, done, flows }) => {
    $("progress").querySelector("progress").value = share;
    const left = share > 0.02 ? `, about ${digits(((performance.now() - began) / 1000) * (1 / share - 1))} s left` : "";
    $("progress").querySelector("span").textContent = `${timeText(now)} simulated, ${done} of ${flows} flows complete${left}`;
  };
  try {
    // Congestion roots are recorded for the drawing; that changes no event. A run that is fast-forwarded cannot have them.
    const roots = [["record.roots", "true"]];
    const isFine = (await simulator.check(asked([...more, ...roots]))).problems.length === 0;
    if (number !== page.runs) return null;
    const run = await simulator.run(asked([...more, ...(isFine ? roots : [])]), report);
    if (number !== page.runs) return null;
    show(run, old, names);
    return run;
  } catch (error) {
    if (number !== page.runs || error.message === "cancelled") return null;
    const { problems, text } = refusal(error);
    if (problems) {
      editor.mark(problems);
      showProblems({ problems, warnings: [] }, editor);
    }
    const first = problems?.[0];
    fault(text ?? `The scenario cannot be run: ${first.message}${first.expected ? `; ${first.expected}` : ""}.`);
    $("nothing").textContent = "No run yet.";
    return null;
  } finally {
    if (number === page.runs) busy(false);
  }
}

function busy(is) {
  $("cancel").hidden = !is;
  $("progress").hidden = !is;
  $("progress").querySelector("progress").value = 0;
  $("progress").querySelector("span").textContent = "";
  document.documentElement.dataset.busy = String(is);
}

function show(run, old, names) {
  $("nothing").hidden = true;
  $("results").hidden = false;
  showNumbers(run, old, names);
  plots.show(run, old);
  tree.show(run, old !== null && tree.time !== undefined);
  Object.assign(document.documentElement.dataset, { fingerprint: run.fingerprint, seconds: run.seconds });
}

async function copyLink() {
  const set = page.knob ? [page.knob] : [];
  const hash = await fragment({ name: page.name, text: editor.text, overrides: [...page.overrides, ...set] });
  history.replaceState(null, "", `#${hash}`);
  try {
    await navigator.clipboard.writeText(location.href);
    $("shared").textContent = "The link is copied. It holds the scenario itself; the part behind # is sent to no server.";
  } catch {
    $("shared").textContent = "The link stands in the address bar. It holds the scenario itself; the part behind # is sent to no server.";
  }
}

/** Shows what the address asks for, and runs it if it is one of the ready scenarios. */
async function open() {
  let found = null;
  let complaint = "";
  try {
    found = await linked(location.hash);
  } catch (error) {
    complaint = `The link cannot be read: ${error.message}`;
  }
  if (found?.text !== undefined) {
    pick("incast", found.overrides);
    editor.text = found.text;
    changed();
    $("nothing").textContent = "The scenario is the link's. Press Run.";
    return;
  }
  const isHere = found !== null && Object.hasOwn(page.ready, found.name);
  if (found && !isHere) complaint = `The link names a scenario that is not here: ${found.name}.`;
  pick(isHere ? found.name : "incast", isHere ? found.overrides : []);
  await start();
  if (complaint) fault(complaint);
}

async function begin() {
  if (typeof DecompressionStream === "undefined" || typeof WebAssembly === "undefined") {
    throw new Error("This browser is too old: it has no WebAssembly, or cannot unpack the page.");
  }
  Object.assign(page, JSON.parse(await unpackText("scenarios")));
  for (const name of Object.keys(page.ready)) $("pick").append(element("option", { value: name, textContent: page.titles[name] }));
  if (!$("wasm")) throw new Error("This site was built without the simulator: make site has it if Rust comes from rustup.");
  const script = element("script", { textContent: await unpackText("plotly") });
  document.head.append(script);
  simulator = await Simulator.load();
  plots = new Plots();
  tree = new Tree();
  const keys = await simulator.keys();
  editor.keys = keys;
  knob.know(keys);
  $("run").disabled = false;
  $("run").addEventListener("click", start);
  $("cancel").addEventListener("click", () => {
    page.runs += 1;
    simulator.cancel();
    busy(false);
    $("nothing").textContent = "The run was cancelled.";
  });
  $("share").addEventListener("click", copyLink);
  $("revert").addEventListener("click", () => {
    pick(page.pickedName);
    start();
  });
  $("pick").addEventListener("change", () => {
    history.replaceState(null, "", "#");
    pick($("pick").value);
    start();
  });
  $("ports").addEventListener("change", () => plots.drawQueues());
  for (const id of ["measure", "label"]) $(id).addEventListener("change", () => plots.drawCdf());
  THEME.addEventListener("change", () => {
    if (!plots.run) return;
    plots.draw();
    tree.draw();
  });
  addEventListener("hashchange", open);
  await open();
}

begin().catch((error) => {
  fault(String(error?.message ?? error));
  $("nothing").textContent = "";
});
