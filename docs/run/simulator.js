// The simulator in Web Workers: one that checks what is written, and a fresh one for each run, which is ended to cancel it.

class Simulator {
  /** Compiles the WebAssembly once, for all workers. */
  static async load() {
    const made = new Simulator();
    const [glue, binary, worker] = await Promise.all([unpackText("glue"), unpack("wasm"), unpackText("worker")]);
    made.module = await WebAssembly.compile(binary);
    made.script = URL.createObjectURL(new Blob([glue, "\n", worker], { type: "text/javascript" }));
    made.checker = made.worker();
    return made;
  }

  /** A worker that can be asked: `ask(kind, value, onProgress)`. */
  worker() {
    const worker = new Worker(this.script);
    const waiting = new Map();
    let last = 0;
    worker.onmessage = ({ data: { id, result, error, isTrap, progress } }) => {
      const asked = waiting.get(id);
      if (progress) asked?.onProgress?.(progress);
      else {
        waiting.delete(id);
        error === undefined ? asked?.resolve(result) : asked?.reject(Object.assign(new Error(error), { isTrap }));
      }
    };
    worker.onerror = (event) => waiting.forEach(({ reject }) => reject(new Error(event.message)));
    worker.postMessage({ kind: "start", value: this.module });
    const ask = (kind, value, onProgress) =>
      new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject, onProgress });
        worker.postMessage({ id: last, kind, value });
      });
    const end = () => {
      worker.terminate();
      waiting.forEach(({ reject }) => reject(new Error("cancelled")));
      waiting.clear();
    };
    return { ask, end };
  }

  keys() {
    return this.checker.ask("keys");
  }

  check(scenario) {
    return this.checker.ask("check", scenario);
  }

  /** Runs a scenario; an earlier run that still goes on ends. */
  async run(scenario, onProgress) {
    this.cancel();
    const runner = (this.runner = this.worker());
    try {
      return await runner.ask("run", scenario, onProgress);
    } finally {
      runner.end();
      if (this.runner === runner) this.runner = null;
    }
  }

  cancel() {
    this.runner?.end();
    this.runner = null;
  }
}
