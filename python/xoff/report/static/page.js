"use strict";
{
const report = (error) => {
  document.getElementById("problem").textContent = `The plots could not be drawn: ${error}`;
};
(async () => {
  const problem = document.getElementById("problem");
  const unpack = async (id) => {
    const bytes = atob(document.getElementById(id).textContent);
    const packed = new Uint8Array(bytes.length);
    // `Uint8Array.from` takes ten times as long.
    for (let place = 0; place < bytes.length; place++) packed[place] = bytes.charCodeAt(place);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };
  if (typeof DecompressionStream === "undefined") {
    problem.textContent = "This browser is too old to draw the plots: it cannot unpack them.";
    return;
  }
  const script = document.createElement("script");
  script.textContent = await unpack("plotly");
  document.head.append(script);
  const figures = JSON.parse(await unpack("figures"));
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--text").trim();
    const card = style.getPropertyValue("--card").trim();
    return { "font.color": text, "hoverlabel.bgcolor": card, "hoverlabel.font.color": text };
  };
  // The only configuration of Plotly's figures. A page is a file of its own: nothing on it leads to a server.
  const config = {
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
    modeBarButtonsToRemove: ["lasso2d", "select2d"],
    toImageButtonOptions: { format: "svg" },
  };
  // On a narrow screen a legend stands below its plot, which becomes higher by that, and axes have fewer numbers.
  const narrow = matchMedia("(max-width: 700px)");
  const shape = ({ data, layout }) => {
    const beside = layout.legend?.orientation === "v" ? data.filter(({ showlegend }) => showlegend !== false).length : 0;
    const groups = new Set(data.filter(({ legendgrouptitle }) => legendgrouptitle).map(({ legendgroup }) => legendgroup)).size;
    const more = narrow.matches && beside ? 20 * (beside + groups) + 20 : 0;
    const found = { height: layout.height + more };
    if (beside) {
      const plot = layout.height - 100;
      const below = { orientation: "v", x: 0, xanchor: "left", y: -64 / plot, yanchor: "top", font: { size: 11 } };
      found.legend = { ...layout.legend, ...(narrow.matches ? below : {}) };
      found["margin.b"] = layout.margin.b + more;
    }
    for (const axis of Object.keys(layout).filter((key) => key.startsWith("xaxis"))) {
      found[`${axis}.nticks`] = narrow.matches ? 4 : 0;
    }
    for (const axis of Object.keys(layout).filter((key) => key.startsWith("yaxis"))) {
      found[`${axis}.tickfont.size`] = narrow.matches ? 10 : layout.font.size;
    }
    return found;
  };
  // The layout that fits the page; Plotly takes the size from the page as long as none is set.
  const fitted = (id, figure) => {
    const { height, ...shaped } = shape(figure);
    document.getElementById(id).style.height = `${height}px`;
    return { ...colours(), ...shaped, autosize: true };
  };
  const put = (layout, key, value) => {
    const names = key.split("."), last = names.pop();
    names.reduce((at, name) => at[name] ??= {}, layout)[last] = value;
  };
  let width = innerWidth;
  for (const [id, figure] of Object.entries(figures)) {
    const { height, ...layout } = structuredClone(figure.layout);
    Object.entries(fitted(id, figure)).forEach(([key, value]) => put(layout, key, value));
    await Plotly.newPlot(id, figure.data, layout, { ...config });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const id of Object.keys(figures)) Plotly.relayout(id, colours());
  });
  if (globalThis.drawCongestionTree) await globalThis.drawCongestionTree({ unpack, colours, config });
  const { dataset } = document.documentElement;
  dataset.drawn = Object.keys(figures).length;
  // Of a legend that has another number of lines in its new width, Plotly learns the height as it draws, and minds it the next time.
  const redraw = async () => {
    const at = width;
    for (const [id, figure] of Object.entries(figures)) {
      await Plotly.relayout(id, fitted(id, figure));
      await Plotly.relayout(id, fitted(id, figure));
    }
    if (at === width) dataset.drawn = Object.keys(figures).length;
  };
  let redrawn = Promise.resolve(), soon;
  const fit = () => {
    if (innerWidth === width) return;
    width = innerWidth;
    delete dataset.drawn;
    clearTimeout(soon);
    soon = setTimeout(() => { redrawn = redrawn.then(redraw).catch(report); }, 100);
  };
  addEventListener("resize", fit);
  fit();
})().catch((error) => {
  report(error);
  throw error;
});
}
