// The worker's part: it has the WebAssembly and its JavaScript before this, and answers one request after another.

const TABLES = {
  flows: ["label", "src", "dst", "size_bytes", "start_ps", "fct_ps", "slowdown"],
  queues: ["time_ps", "port", "max_bytes"],
  pauses: ["port", "start_ps", "length_ps"],
  roots: ["port", "start_ps", "length_ps", "max_bytes"],
  ports: ["port", "max_queue_bytes", "paused_ps"],
};

const requests = {
  keys: () => JSON.parse(wasm_bindgen.keys()),
  check: ({ text, files, overrides }) =>
    JSON.parse(wasm_bindgen.check(text, JSON.stringify(files), JSON.stringify(overrides))),
  run: ({ text, files, overrides }, id) => {
    const began = performance.now();
    const report = (share, now, done, flows) => {
      postMessage({ id, progress: { share, now, done, flows } });
      return true;
    };
    const run = wasm_bindgen.run(text, JSON.stringify(files), JSON.stringify(overrides), report);
    const tables = {};
    for (const [table, columns] of Object.entries(TABLES)) {
      tables[table] = Object.fromEntries(columns.map((name) => [name, run.column(table, name)]));
    }
    const found = {
      manifest: JSON.parse(run.manifest()),
      summary: JSON.parse(run.summary()),
      fingerprint: run.fingerprint(),
      network: JSON.parse(run.network()),
      tables,
      seconds: (performance.now() - began) / 1000,
    };
    run.free();
    return found;
  },
};

onmessage = ({ data: { id, kind, value } }) => {
  if (kind === "start") {
    wasm_bindgen.initSync({ module: value });
    return;
  }
  try {
    postMessage({ id, result: requests[kind](value, id) });
  } catch (error) {
    postMessage({ id, error: String(error?.message ?? error), isTrap: error instanceof WebAssembly.RuntimeError });
  }
};
