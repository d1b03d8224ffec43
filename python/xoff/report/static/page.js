"use strict";
(async () => {
  const problem = document.getElementById("problem");
  const unpack = async (id) => {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
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
    responsive: true,
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
    modeBarButtonsToRemove: ["lasso2d", "select2d"],
    toImageButtonOptions: { format: "svg" },
  };
  for (const [id, figure] of Object.entries(figures)) {
    await Plotly.newPlot(id, figure.data, figure.layout, { ...config });
    await Plotly.relayout(id, colours());
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const id of Object.keys(figures)) Plotly.relayout(id, colours());
  });
  if (globalThis.drawCongestionTree) await globalThis.drawCongestionTree({ unpack, colours, config });
  document.documentElement.dataset.drawn = Object.keys(figures).length;
})().catch((error) => {
  document.getElementById("problem").textContent = `The plots could not be drawn: ${error}`;
  throw error;
});
