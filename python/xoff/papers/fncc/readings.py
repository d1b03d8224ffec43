"""The claims under other readings of the paper: what it leaves open is set otherwise, and all is run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from xoff.papers.fncc.experiments import FCT_SCHEMES, NO_SETS, PRINTED, WORKLOADS, Scale, Sets, fct_jobs, group_jobs
from xoff.papers.fncc.findings import GROUPS, find
from xoff.papers.verdicts import Claim, measured_text
from xoff.runs.jobs import Job

_SCALED_ECN = dict.fromkeys(PRINTED["dcqcn"])
_SCALED_ROCC = dict.fromkeys(PRINTED["rocc"])


@dataclass(frozen=True)
class Reading:
    """Another reading of something that the paper leaves open."""

    name: str
    """Short name."""
    what: str
    """What is set."""
    sets: Sets
    """Settings by scheme; `*` for all."""
    fct: bool = False
    """Whether the fat-tree is run under it too."""

    def touches(self, scheme: str) -> bool:
        """Whether runs of `scheme` differ under it."""
        return "*" in self.sets or scheme.removesuffix("-no-lhcs") in self.sets


READINGS = (
    Reading("default", "what the verdicts rest on", NO_SETS, fct=True),
    Reading(
        "ack-control", "ACKs in a class of their own, ahead of data", {"*": {"host.ack_class": "control"}}, fct=True
    ),
    Reading(
        "int-exact", "telemetry counters of unlimited width and step", {"*": {"packets.int_format": "exact"}}, fct=True
    ),
    Reading("int-live", "FNCC's ACKs read live counters", {"fncc": {"packets.int_refresh": "0ps"}}, fct=True),
    Reading("int-refresh-0.5us", "FNCC's table refreshed each 0.5 us", {"fncc": {"packets.int_refresh": "0.5us"}}),
    Reading("int-refresh-2us", "FNCC's table refreshed each 2 us", {"fncc": {"packets.int_refresh": "2us"}}),
    Reading("int-refresh-5us", "FNCC's table refreshed each 5 us", {"fncc": {"packets.int_refresh": "5us"}}, fct=True),
    Reading(
        "max-stage-5",
        "five additive steps between multiplicative ones, as HPCC prints",
        {scheme: {"scheme.max_stage": 5} for scheme in ("hpcc", "fncc")},
        fct=True,
    ),
    Reading(
        "w-ai-800",
        "W_AI of 800 B instead of 80 B",
        {scheme: {"scheme.w_ai": "800B"} for scheme in ("hpcc", "fncc")},
    ),
    Reading(
        "per-rtt",
        "no reaction between two round trips",
        {scheme: {"scheme.fast_react": False} for scheme in ("hpcc", "fncc")},
    ),
    Reading(
        "lhcs-literal",
        "Algorithm 3 as printed: LHCS and Eq. 6 in one ACK",
        {"fncc": {"scheme.lhcs_bypass": False}},
        fct=True,
    ),
    Reading(
        "rtt-per-pair", "T of each pair of hosts instead of the largest", {"*": {"host.base_rtt": "per_pair"}}, fct=True
    ),
    Reading(
        "pfc-250", "PFC at 250 KB per ingress port: 500 KB of the shared queue", {"*": {"flow_control.xoff": "250KB"}}
    ),
    Reading(
        "dcqcn-hpcc-ecn",
        "DCQCN with the ECN of HPCC's authors: 100 and 400 KB times speed over 25 Gbps, 20 %",
        {"dcqcn": _SCALED_ECN},
        fct=True,
    ),
    Reading(
        "dcqcn-mellanox", "DCQCN as HPCC's authors simulate it", {"dcqcn": {"scheme.variant": "mellanox"}}, fct=True
    ),
    Reading(
        "dcqcn-mellanox-hpcc-ecn",
        "both of these",
        {"dcqcn": {"scheme.variant": "mellanox", **_SCALED_ECN}},
        fct=True,
    ),
    Reading("dcqcn-periodic", "DCQCN's receiver sends CNPs on a 50 us grid", {"dcqcn": {"scheme.np": "periodic"}}),
    Reading("rocc-scaled", "RoCC's queue thresholds scaled with the speed", {"rocc": _SCALED_ROCC}),
    Reading(
        "pfc-250-mellanox",
        "PFC at 250 KB per ingress port, and DCQCN as HPCC's authors simulate it",
        {"*": {"flow_control.xoff": "250KB"}, "dcqcn": {"scheme.variant": "mellanox"}},
    ),
)


def jobs(groups: Sequence[str], scale: Scale) -> list[Job]:
    """All further runs for the claims on `groups`, by (reading, key)."""
    made = []
    for reading in READINGS:
        for group in groups:
            if group in WORKLOADS:
                # Shorter than the main runs, so the default is run again in the same size.
                if reading.fct and scale.reading_window_ms > 0:
                    run = [s for s in FCT_SCHEMES if reading.touches(s) or reading.name == "default"]
                    found = fct_jobs(group, run, scale.reading_window_ms, scale.reading_seeds, reading.sets)
                    made += [_renamed(job, reading) for job in found]
            elif group != "fairness":
                found = group_jobs(group, scale, reading.sets)
                made += [_renamed(job, reading) for job in found if reading.touches(job.key[1])]
    return made


def _renamed(job: Job, reading: Reading) -> Job:
    return replace(job, key=(reading.name, job.key))


def table(claims: Sequence[Claim], main: Mapping[Any, Any], further: Mapping[Any, Any], scale: Scale) -> pl.DataFrame:
    """One row a reading and claim that it can touch: verdict and numbers."""
    rows = []
    for reading in READINGS:
        for claim in claims:
            groups = GROUPS[claim.name]
            own = _of(further, reading.name, groups)
            if groups[0] in WORKLOADS:
                base = _of(further, "default", groups)
            else:
                base = {key: value for key, value in main.items() if key[0] in groups}
                own = own or (base if reading.name == "default" else {})
            if not own or groups == ("fairness",):
                continue
            # Schemes that a reading does not touch behave as they do by default.
            finding = find(claim, {**base, **own}, scale, "")
            rows.append((reading.name, reading.what, claim.name, finding.verdict, measured_text(finding)))
    return pl.DataFrame(rows, schema=["reading", "what", "claim", "verdict", "measured"], orient="row")


def _of(further: Mapping[Any, Any], reading: str, groups: Sequence[str]) -> dict[Any, Any]:
    return {key: value for (name, key), value in further.items() if name == reading and key[0] in groups}


def overview(found: pl.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Column names and rows of a table with a reading in each row and a claim's verdict in each column."""
    claims = found["claim"].unique(maintain_order=True).to_list()
    verdicts = {(reading, claim): verdict for reading, _, claim, verdict, _ in found.iter_rows()}
    rows = [
        [each.name, each.what, *(verdicts.get((each.name, claim), "not touched") for claim in claims)]
        for each in READINGS
        if any((each.name, claim) in verdicts for claim in claims)
    ]
    return ["reading", "what is set", *claims], rows
