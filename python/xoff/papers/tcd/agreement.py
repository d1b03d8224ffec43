"""TCD's victims beside the simulator that its authors released, flow by flow.

`python -m xoff.papers.tcd.agreement` runs `agreement.toml` with RED alone and with TCD, and prints both results.
The reference's completion times are taken at the receiver. xoff's end with the last ACK, whose way back over four
idle links is subtracted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from xoff.analysis.tables import frame
from xoff.papers.tcd.common import HERE
from xoff.papers.tcd.experiments import RED
from xoff.runs.library import run_as_meant

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

EDGES_BYTES = (10_000, 100_000, 1_000_000)
"""Sizes that divide the victims into four bins: below, and from the last one on."""
BINS = ("< 10 KB", "< 100 KB", "< 1 MB", "above")
MARKS = {"ecn": {"ce": 2_088, "ue": 0}, "tcd": {"ce": 0, "ue": 3_355}}
"""Packets of the victims that came marked in the reference runs."""
LINKS = 4
"""On the victims' way."""


@dataclass(frozen=True)
class Agreement:
    """Victims with one kind of marking, there and here."""

    theirs_us: Floats
    """FCT of each victim there."""
    ours_us: Floats
    """The same flow's here, at the receiver."""
    size_bytes: Floats
    """Its size."""
    marks: Mapping[str, int]
    """Packets that came marked here, by code point."""

    def means(self) -> list[tuple[int, float, float]]:
        """Flows, mean FCT there and here, for each of `BINS`."""
        place = np.searchsorted(np.array(EDGES_BYTES), self.size_bytes, side="right")
        return [
            (int(inside.sum()), float(self.theirs_us[inside].mean()), float(self.ours_us[inside].mean()))
            for inside in (place == index for index in range(len(BINS)))
        ]


def settings(mode: str) -> dict[str, object]:
    """The settings with which the scenario runs `mode`, `ecn` or `tcd`."""
    return {} if mode == "tcd" else {"detector": RED["code"]}


def compare(mode: str) -> Agreement:
    """Run the reference's flows with `mode`, `ecn` or `tcd`, and compare."""
    run = run_as_meant(HERE / "agreement.toml", sets=settings(mode))
    flows = frame(run, "flows").filter((pl.col("src") == "s0") & (pl.col("dst") == "r0")).sort("start_ps")
    reference = pl.read_csv(HERE / "reference" / "victims.txt", separator=" ", comment_prefix="#")
    if flows["start_ps"].to_list() != [start * 1_000 for start in reference["start_ns"]]:
        raise ValueError("the reference's victims are not those of the run")
    wire = run.manifest["wire"]
    back_us = LINKS * (4.0 + wire["ack_bytes"] * 8 / 40e3)
    return Agreement(
        theirs_us=reference[f"{mode}_us"].to_numpy(),
        ours_us=flows["fct_ps"].to_numpy() / 1e6 - back_us,
        size_bytes=flows["size_bytes"].to_numpy().astype(np.float64),
        marks={"ce": int(flows["marked_ce"].sum()), "ue": int(flows["marked_ue"].sum())},
    )


def table(found: Mapping[str, Agreement]) -> str:
    """The results of both simulators, as Markdown."""
    names = {"ecn": "RED", "tcd": "TCD"}
    lines = [
        "| marking | " + " | ".join(f"mean FCT {name}, us" for name in BINS) + " | CE marks | UE marks |",
        "| --- |" + " --- |" * (len(BINS) + 2),
    ]
    for mode, each in found.items():
        cells = [f"{theirs:,.1f} / {ours:,.1f} ({ours / theirs - 1:+.1%})" for _, theirs, ours in each.means()]
        marks = [f"{MARKS[mode][mark]:,} / {each.marks[mark]:,}" for mark in ("ce", "ue")]
        lines.append("| " + " | ".join([names[mode], *cells, *marks]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    print(table({mode: compare(mode) for mode in MARKS}))


if __name__ == "__main__":
    main()
