"""Draws incast.svg: sixteen hosts answer one at once, under four schemes; takes a few seconds."""

from pathlib import Path

import matplotlib as mpl
import polars as pl

import xoff

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[2]
SCHEMES = {"none": "#0072B2", "dcqcn": "#D55E00", "hpcc": "#009E73", "fncc": "#CC79A7"}
PARTS = {
    "paused": ("paused by PFC", "#E69F00"),
    "queueing": ("in queues", "#D55E00"),
    "window": ("held back by the window", "#0072B2"),
    "rate": ("held back by the rate", "#CC79A7"),
    "serialization": ("on the wire", "#009E73"),
    "propagation": ("propagation", "#555555"),
}


def main() -> None:
    """Run the four, and draw the queue over time and where the flows' time went."""
    mpl.rcParams.update({"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "xoff", "font.family": "sans-serif"})
    figure, (queue, time) = plt.subplots(1, 2, figsize=(9.6, 2.9), layout="constrained", width_ratios=[1, 1.15])
    left: dict[str, float] = dict.fromkeys(SCHEMES, 0.0)
    for scheme, colour in SCHEMES.items():
        sets = {"scheme.name": scheme, "record.breakdown": True}
        run = xoff.run(ROOT / "scenarios" / "incast.toml", sets=sets)
        samples = pl.from_arrow(run.queues).filter(pl.col("time_ps") <= 400_000_000)
        queue.plot(samples["time_ps"] / 1e6, samples["bytes"] / 1e6, colour, label=scheme, lw=1.4)
        shares = pl.from_arrow(run.breakdown)
        for part, (label, shade) in PARTS.items():
            mean = shares.filter(pl.col("part") == part)["time_ps"].sum() / run.flows.num_rows / 1e9
            time.barh(scheme, mean, left=left[scheme], color=shade, label=label if scheme == "none" else None)
            left[scheme] += mean
    queue.set(xlabel="time (µs)", ylabel="queue to the receiver (MB)", xlim=(0, 400), ylim=0)
    queue.legend(frameon=False, loc="center right")
    time.set(xlabel="mean time from start to completion of the 16 flows (ms)")
    time.invert_yaxis()
    figure.legend(*time.get_legend_handles_labels(), frameon=False, loc="outside upper right", ncols=3)
    for axes in (queue, time):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
