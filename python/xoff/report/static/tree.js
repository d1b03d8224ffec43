// The congestion tree of the report: controls, keys and clicks.

globalThis.drawCongestionTree = async (context) => {
  const card = document.getElementById("tree");
  const byId = (id) => document.getElementById(id);
  const script = document.createElement("script");
  script.textContent = await context.unpack("bokeh");
  document.head.append(script);
  Bokeh.set_log_level("error");
  const looks = JSON.parse(card.dataset.looks);
  const slider = byId("tree-slider"), play = byId("tree-play"), hover = byId("tree-hover");
  const style = () => {
    const found = getComputedStyle(card);
    const named = (name) => found.getPropertyValue(`--${name}`).trim();
    return { text: named("text"), muted: named("muted"), idle: named("idle"), mark: named("path"), card: named("card") };
  };
  let now, stop = null;

  const draw = async (number) => {
    halt();
    // Until the network is drawn as it is at the moment shown, no numbers say anything about it.
    card.setAttribute("aria-busy", "true");
    const data = JSON.parse(await context.unpack(`tree-${number}`));
    const model = new Model(data), unit = timeUnit(data.end_ps);
    const step = round125(data.end_ps / 1000);
    const drawing = new NetworkDrawing(model, looks, style());
    const strip = new Strip(model, looks, data.end_ps, unit, style());
    byId("tree-strip").replaceChildren();
    for (const old of [...byId("tree-map").children]) if (old !== hover) old.remove();
    now = { data, model, unit, step, drawing, strip, time: 0 };
    const fromList = (choose) => (chosen) => {
      choose(chosen);
      byId("tree-map").scrollIntoView({ block: "nearest" });
    };
    const page = {
      context, time: () => now.time, goTo: fromList(goTo), choosePort: fromList(choosePort),
      chooseFlow: fromList(chooseFlow), chooseRoot: fromList(chooseRoot),
    };
    now.details = new Details(model, looks, unit, data.end_ps, page);
    now.details.clear();
    byId("tree-notes").replaceChildren(...data.notes.map((text) => element("p", text)));
    slider.max = Math.ceil(data.end_ps / step);
    for (const state of [UNKNOWN, UNDETERMINED]) {
      card.querySelector(`li[data-state="${state}"]`).hidden = !data.changes.state.includes(state) && !unknown(data, state);
    }
    now.details.lists();
    await drawing.show(byId("tree-map"));
    await strip.show(byId("tree-strip"));
    goTo(data.open_ps);
    listen(drawing, strip);
    await Promise.all([drawing, strip].map((each) => paint(each.view)));
    card.setAttribute("aria-busy", "false");
    card.dataset.run = number;
  };

  // Whether a port's state is not known from the start on.
  const unknown = (data, state) => state === UNKNOWN && data.changes.count.includes(0);

  const halt = () => {
    if (stop !== null) cancelAnimationFrame(stop);
    stop = null;
    play.textContent = "Play";
  };

  function goTo(time) {
    now.time = Math.max(0, Math.min(time, now.data.end_ps));
    const { model, drawing, strip, details, unit } = now;
    model.moveTo(now.time);
    drawing.draw();
    strip.moveTo(now.time);
    details.moved();
    slider.value = Math.round(now.time / now.step);
    byId("tree-time").textContent = `${(now.time / unit.scale).toFixed(unit.name === "us" ? 3 : 4)} ${unit.name}`;
    slider.setAttribute("aria-valuetext", byId("tree-time").textContent);
    const counts = new Array(looks.length).fill(0);
    for (const state of model.states) counts[state] += 1;
    for (const item of card.querySelectorAll("li[data-state] b")) {
      item.textContent = counts[item.parentElement.dataset.state].toLocaleString("en");
    }
  }

  const choosePort = (port) => {
    now.details.port(port);
    const root = now.model.roots.get(port);
    if (root) now.details.spread(port);
    now.drawing.mark(root ? [port, ...root.tree.map(([stopped]) => stopped)] : [], port);
  };

  const chooseFlow = (index) => {
    const flow = now.data.flows[index];
    if (now.time < flow.start_ps || now.time > flow.end_ps) goTo(flow.start_ps);
    now.details.flow(index);
    // Both halves of each link, so that the path is one line.
    now.drawing.mark(flow.hops.flat().flatMap(([port]) => [port, now.model.reverse[port]]));
  };

  const chooseRoot = (port) => {
    goTo(now.model.roots.get(port).first_ps);
    choosePort(port);
  };

  const clear = () => {
    now.details.clear();
    now.details.lists();
    now.drawing.mark([]);
  };

  // BokehJS takes two clicks within 300 ms for one double click, be they ever so far apart.
  const onTap = (plot, act) => ["tap", "doubletap"].forEach((name) => plot.on_event(name, act));

  const listen = (drawing, strip) => {
    const { plot, model } = drawing;
    onTap(plot, (event) => {
      const port = model.nearest(event, drawing.scale(), 9);
      if (port < 0) clear();
      else choosePort(port);
    });
    plot.on_event("mousemove", (event) => {
      const port = model.nearest(event, drawing.scale(), 9);
      hover.hidden = port < 0;
      if (port < 0) return;
      const found = model.pauses.get(port);
      const stopped = found ? `\npaused ${found.times} times, ${duration(found.total)} in all` : "";
      hover.textContent = `${now.data.network.ports[port]}\n${looks[model.states[port]].name}${stopped}`;
      const { sx, sy } = event;
      hover.style.left = `${sx > byId("tree-map").clientWidth - 240 ? sx - 250 : sx + 16}px`;
      hover.style.top = `${sy + 14}px`;
    });
    plot.on_event("mouseleave", () => { hover.hidden = true; });
    onTap(strip.plot, (event) => { halt(); goTo(event.x * now.unit.scale); });
  };

  const change = (direction) => { halt(); goTo(now.model.change(now.time, direction)); };
  const steps = (count) => { halt(); goTo((Math.round(now.time / now.step) + count) * now.step); };

  const toggle = () => {
    if (stop !== null) { halt(); return; }
    play.textContent = "Pause";
    if (now.time >= now.data.end_ps) goTo(0);
    let last = performance.now();
    const move = (moment) => {
      const whole = Number(byId("tree-speed").value) * 1000;
      goTo(now.time + now.data.end_ps * Math.max(moment - last, 0) / whole);
      last = moment;
      if (now.time >= now.data.end_ps) halt();
      else stop = requestAnimationFrame(move);
    };
    stop = requestAnimationFrame(move);
  };

  slider.addEventListener("input", () => { halt(); goTo(slider.value * now.step); });
  play.addEventListener("click", toggle);
  byId("tree-back").addEventListener("click", () => change(-1));
  byId("tree-on").addEventListener("click", () => change(1));
  // One after the other, however fast they are chosen.
  let drawn = draw(card.dataset.first);
  byId("tree-run").addEventListener("change", ({ target }) => {
    const { value } = target;
    // What is no longer chosen when its turn comes is left out.
    const next = () => (target.value === value ? draw(value) : undefined);
    drawn = drawn.then(next, next);
  });
  card.addEventListener("keydown", (event) => {
    if (event.target.matches("select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      ArrowLeft: () => steps(event.shiftKey ? -10 : -1), ArrowRight: () => steps(event.shiftKey ? 10 : 1),
      ",": () => change(-1), ".": () => change(1), Home: () => steps(-Infinity), End: () => goTo(now.data.end_ps),
      Escape: clear,
    };
    // Space presses a button that has the focus.
    if (!event.target.matches("button")) keys[" "] = toggle;
    if (!(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    now.drawing.dye(style());
    now.strip.dye(style());
  });
  await drawn;
  // For whoever looks at the page by program.
  globalThis.congestionTree = { place: (name) => now.drawing.pixel(now.data.network.ports.indexOf(name)) };
};
