// A run that goes on: the page asks its own server what is new, until the run has ended.

const showLive = (run) => {
  const about = run.live, byId = (id) => document.getElementById(id), put = (id, text) => { byId(id).textContent = text; };
  byId("live-share").value = about.share;
  put("live-done", `${short(about.share * 100, 3)} %`);
  put("live-left", about.where !== null ? "\u2013" : about.left_s === null ? "not known yet" : `${short(Math.max(about.left_s, 0), 2)} s`);
  put("live-speed", about.where !== null ? "\u2013" : Math.round(about.events_per_s).toLocaleString("en"));
  put("live-time", timeText(run.end_ps, 5));
  put("live-flows", `${about.flows_done.toLocaleString("en")} of ${about.flows.toLocaleString("en")}`);
  const absent = "not recorded", most = [...run.series.queues.values()].flat().map((part) => run.seriesOf("queues", part, "max_bytes").extremes.range(0, Infinity)[1]);
  put("live-queue", most.length ? sizeText(Math.max(...most)) : absent);
  put("live-pauses", run.recorded.pauses && about.recorded ? run.count("pauses.port").toLocaleString("en") : absent);
  put("live-roots", run.recorded.roots && about.recorded ? run.count("roots.port").toLocaleString("en") : absent);
  const notes = [];
  if (!about.recorded) notes.push("The run has several threads, each with its own records: the figures come with the end of the run. With --threads 1 they grow.");
  if (about.forgotten.length) notes.push(`Of ${about.forgotten.join(", ")} the page has forgotten the beginning; the results have it.`);
  put("live-note", notes.join(" "));
  if (about.where !== null) put("live-state", `ended; the results are in ${about.where}: xoff explore has all of them`);
};

(async () => {
  while (!globalThis.explorer) await new Promise((next) => setTimeout(next, 30));
  const page = globalThis.explorer, state = document.getElementById("live-state");
  let { live } = page.runs[0];
  showLive(page.runs[0]);
  state.textContent ||= "running";
  while (live.where === null) {
    try {
      const answer = await fetch(`data?since=${live.version}`);
      if (answer.status === 204) continue;
      if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
      const run = new Run(await answer.arrayBuffer(), 0);
      ({ live } = run);
      page.replace([run]);
      state.textContent = "running";
      showLive(run);
      document.documentElement.dataset.looks = String(live.version);
    } catch (error) {
      state.textContent = "the run has ended or was stopped; what the page has stays";
      return;
    }
    await new Promise((next) => setTimeout(next, 600));
  }
  // The server waits for this, and then goes.
  fetch(`data?since=${live.version}`).catch(() => {});
})();
