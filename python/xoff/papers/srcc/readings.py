"""The claims under other readings of the paper: what the paper leaves open is set otherwise, and is run again.

On the cheapest experiments that show what a reading does: the web server at its highest load and the incast of 160; the
base scheme, which has the largest effect, on the large simulation too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from xoff.papers.rules import fall
from xoff.papers.srcc.experiments import LARGE, OTHERS, SCHEMES, Scale, incast_jobs, load_jobs
from xoff.papers.srcc.findings import NAMES
from xoff.runs.jobs import Job

Sets = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True)
class Reading:
    """Another reading of something that the paper leaves open."""

    name: str
    """Short name."""
    what: str
    """What is set."""
    sets: Sets
    """Settings by scheme; `*` for all."""
    large: bool = False
    """Whether the large simulation is run under it too, at its highest load."""

    def touches(self, scheme: str) -> bool:
        """Whether runs of `scheme` differ under it."""
        return "*" in self.sets or scheme in self.sets


READINGS = (
    Reading("default", "what the verdicts rest on", {}),
    Reading("rtt-factor-2", "the threshold counts the slower data's way too", {"srcc": {"scheme.rtt_factor": 2.0}}),
    Reading("rate-4us", "arrivals measured over 4 us instead of 1 us", {"srcc": {"scheme.rate_time": "4us"}}),
    Reading("literal", "the threshold as Eq. 6 prints it", {"srcc": {"scheme.threshold": "literal"}}),
    Reading("window-2rtt", "time window of 2 RTT", {"srcc": {"scheme.window_rtts": 2.0}}),
    Reading("window-4rtt", "time window of 4 RTT", {"srcc": {"scheme.window_rtts": 4.0}}),
    Reading(
        "other-queue",
        "only uncongested packets to other queues make a flow one that blocks others",
        {"srcc": {"scheme.sharing": "other_queue"}},
    ),
    Reading(
        "base-none",
        "no end-to-end scheme under SRCC: rates double each RTT",
        {"srcc": {"scheme.base": "none"}},
        large=True,
    ),
    Reading("pfc-250", "PFC at 250 KB for each ingress port", {"*": {"flow_control.xoff": "250KB"}}),
    Reading("pfc-1000", "PFC at 1 MB for each ingress port", {"*": {"flow_control.xoff": "1MB"}}),
    Reading(
        "pfc-dynamic",
        "PFC at an eighth of what is free of 22 MB",
        {"*": {"flow_control": {"name": "pfc", "alpha": 0.125}}},
    ),
)


def jobs(groups: Sequence[str], scale: Scale) -> list[Job]:
    """All further runs for the claims on `groups`, by (reading, key)."""
    made = []
    for reading in READINGS[1:]:
        lines = [s for s in SCHEMES if reading.touches(s)]
        found: list[Job] = []
        if "web-server" in groups:
            found += load_jobs("web-server", lines, scale.loads[-1:], scale, reading.sets)
        for group in LARGE:
            if group in groups and reading.large:
                found += load_jobs(group, lines, scale.loads[-1:], scale, reading.sets)
        if "incast" in groups:
            found += [job for job in incast_jobs([160], reading.sets) if job.key[1] in lines]
        made += [replace(job, key=(reading.name, job.key)) for job in found]
    return made


def table(main: Mapping[Any, Any], further: Mapping[Any, Any], group: str, at: float) -> pl.DataFrame:
    """One row a reading and scheme that it touches, with means over the seeds of what is measured."""
    quantities = ("pauses_per_ms", "blocked_share", "afct_us", "p99_us", "messages", "goodput_gbps")
    rows = []
    for reading in READINGS:
        for scheme in SCHEMES:
            if reading.name == "default":
                runs = [each for key, each in main.items() if key[:3] == (group, scheme, at)]
            else:
                runs = [
                    each
                    for (name, key), each in further.items()
                    if name == reading.name and key[:3] == (group, scheme, at)
                ]
            if runs:
                means = {q: float(np.mean([getattr(run, q) for run in runs])) for q in quantities}
                rows.append({"reading": reading.name, "what": reading.what, "scheme": scheme, **means})
    return pl.DataFrame(rows)


def overview(found: pl.DataFrame, quantity: str, unit: str, more: bool) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a table with a reading in each row: SRCC's `quantity`, and its distance from the others'.

    The distance is how much less SRCC's value is, or with `more` how much more.
    """
    value = {(r, s): v for r, s, v in found.select("reading", "scheme", quantity).iter_rows()}
    rows = []
    for reading, what in found.select("reading", "what").unique(maintain_order=True).iter_rows():
        # Schemes that a reading does not touch behave as they do by default.
        own, *others = (value.get((reading, s), value["default", s]) for s in ("srcc", *OTHERS))
        distances = [own / other - 1 if more else fall(own, other) for other in others]
        rows.append([reading, what, f"{own:.4g}", *(f"{100 * d:.1f} %" for d in distances)])
    sign = "above" if more else "below"
    return ["reading", "what is set", f"SRCC, {unit}", *(f"{sign} {NAMES[s]}" for s in OTHERS)], rows
