"""The claims under other readings of the paper: what it leaves open is set otherwise, and run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from xoff.papers.sqcc.experiments import GROUPS, Scale, Sets, jobs
from xoff.papers.sqcc.findings import find
from xoff.papers.verdicts import Claim, measured_text
from xoff.runs.jobs import Job


@dataclass(frozen=True)
class Reading:
    """Another reading of something that the paper leaves open."""

    name: str
    """Short name."""
    what: str
    """What is set."""
    sets: Sets = field(default_factory=dict)
    """Settings on top of each run."""
    axis: str = ""
    """The sensitivity plot that shows it."""
    label: str = ""
    """Its name in that plot."""


PACING, START = "pacing", "start"

_PFC: Sets = {"flow_control.name": "pfc", "flow_control.xoff": "100KB"}


def _burst(packets: int) -> Sets:
    # A frame of 1000 B has 62 B of headers and 8 B of timestamp.
    return {"scheme.segment": f"{packets * 930}B", "scheme.pacing": "segment"}


READINGS = (
    Reading("default", "what the verdicts rest on: a packet at a time, from C/N", {}, "both"),
    Reading("burst-4", "segments of 4 packets back to back", _burst(4), PACING, "4 packets"),
    Reading("burst-16", "segments of 16 packets back to back", _burst(16), PACING, "16 packets"),
    Reading("burst-64", "segments of 64 packets, T_low's 62.5 KB, back to back", _burst(64), PACING, "64 packets"),
    Reading(
        "segment-16",
        "updates after 16 packets, which are paced one by one",
        {"scheme.segment": "14880B"},
        PACING,
        "16, paced singly",
    ),
    Reading("start-100M", "flows start with 100 Mbps", {"scheme.initial_rate": "100Mbps"}, START, "100 Mbps"),
    Reading(
        "start-line-pfc",
        "flows start at line rate, and PFC at 100 KB per sender holds the storm back",
        {**_PFC, "scheme.initial_rate": "10Gbps"},
        START,
        "line rate, PFC",
    ),
    Reading("at-once", "all flows start at the same moment", {"traffic.0.spread": "0ps"}, START, "at once, C/N"),
    Reading("min-rtt-base", "D_minRTT is the base RTT, 5.8 us", {"scheme.base_min_rtt": True}),
    Reading("no-gap", "no least time between updates", {"scheme.update_gap": "0ps"}),
    Reading("whole-rtt", "a packet's own time counts into the RTT", {"scheme.deduct_serialization": False}),
)


def sensitivity(axis: str) -> list[Reading]:
    """The readings of a plot, the default first."""
    return [reading for reading in READINGS if reading.axis in (axis, "both")]


def further(claims: Sequence[Claim], scale: Scale) -> list[Job]:
    """All further runs for the claims, by (reading, variant, N, seed)."""
    points = [point for claim in claims for point in GROUPS[claim.name]]
    of_table = [point for point in points if point in GROUPS["table2"]]
    made = []
    for reading in READINGS[1:]:
        if reading.axis == START:
            wanted, length = of_table, scale.start_s
        else:
            wanted, length = points if scale.every else of_table if reading.axis else [], scale.readings_s
        found = jobs(wanted, replace(scale, duration_s=length), 1, reading.sets)
        made += [replace(job, key=(reading.name, *job.key)) for job in found]
    return made


def by_reading(main: Mapping[Any, Any], others: Mapping[Any, Any]) -> dict[str, dict[Any, Any]]:
    """Results of each reading by (variant, N, seed)."""
    found: dict[str, dict[Any, Any]] = {"default": dict(main)}
    for (name, *key), value in others.items():
        found.setdefault(name, {})[tuple(key)] = value
    return found


def table(claims: Sequence[Claim], results: Mapping[str, Mapping[Any, Any]]) -> pl.DataFrame:
    """One row a reading and claim: verdict and numbers."""
    rows = []
    for reading in READINGS:
        own = results.get(reading.name, {})
        for claim in claims:
            if all((*point, 1) in own for point in GROUPS[claim.name]):
                finding = find(claim, own, "")
                rows.append((reading.name, reading.what, claim.name, finding.verdict, measured_text(finding)))
    return pl.DataFrame(rows, schema=["reading", "what", "claim", "verdict", "measured"], orient="row")


def overview(found: pl.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Column names and rows of a table with a reading in each row and a claim's verdict in each column."""
    claims = found["claim"].unique(maintain_order=True).to_list()
    verdicts = {(reading, claim): verdict for reading, _, claim, verdict, _ in found.iter_rows()}
    rows = [
        [each.name, each.what, *(verdicts.get((each.name, claim), "not run") for claim in claims)]
        for each in READINGS
        if any((each.name, claim) in verdicts for claim in claims)
    ]
    return ["reading", "what is set", *claims], rows
