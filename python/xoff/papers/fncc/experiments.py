"""FNCC's experiments: their runs, and what is measured in each.

Runs of the two-flow experiments depend on how two packet trains interleave, to the nanosecond, and under RoCC on when
its controller ticks. Each is repeated with flow1 joining later each time and another seed; figures show the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from xoff.papers.fncc.measures import Joined, measure_fairness, measure_fct, measure_joined
from xoff.papers.fncc.space import HEADER, TELEMETRY
from xoff.papers.space import Reading
from xoff.runs.jobs import Job

HERE = Path(__file__).parent

JOIN_US = 300.0
"""When flow1 joins in the first repetition, in us."""

SPEEDS = (100, 200, 400)
"""Line rates of the dumbbell, in Gbps."""
SCHEMES = ("fncc", "hpcc", "dcqcn", "rocc")
FCT_SCHEMES = ("fncc", "hpcc", "dcqcn")
NO_LHCS, EQUAL_HEADERS = "-no-lhcs", "-equal-headers"
"""Ablations, as endings of a scheme's name: without LHCS, and with as many bytes of header as HPCC's data."""
HOPS = {
    "first": ("hpcc", "fncc"),
    "middle": ("hpcc", "fncc"),
    "last": ("hpcc", "fncc-no-lhcs", "fncc"),
}
"""Schemes compared when congestion is at this hop."""
WORKLOADS = {"websearch": "websearch", "hadoop": "fb_hadoop"}
"""The size distribution of each fat-tree experiment."""
_STEPS = {"scheme.r_ai": "40Mbps", "scheme.r_hai": "200Mbps"}
"""DCQCN's steps of increase, as its paper and its authors' simulator have them, at all speeds."""
SCOPES = {"fncc": ("all", "int", "fncc"), "hpcc": ("all", "int"), "dcqcn": ("all", "dcqcn"), "rocc": ("all", "rocc")}
"""The scopes of the paper's space that a scheme's runs are in."""

EDGES_KB: dict[str, tuple[float, ...]] = {
    "websearch": (10, 20, 30, 50, 80, 200, 1000, 2000, 5000, 10000, 30000),
    "hadoop": (0.35, 0.5, 0.7, 1, 2, 30, 50, 80, 120, 300, 1000, 10000),
}
"""Largest flow of each size bin, in KB: the distributions' own points, so that bins hold 3 to 20 % of the flows."""


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    repetitions: int
    """Runs of each two-flow experiment."""
    interval_ms: float
    """Time between two joins of the fairness experiment."""
    window_ms: float
    """Time in which flows arrive in the fat-tree."""
    seeds: int
    """Runs of each fat-tree experiment."""


FULL = Scale(repetitions=10, interval_ms=100, window_ms=10, seeds=5)
QUICK = Scale(repetitions=5, interval_ms=20, window_ms=2, seeds=3)
SURVEY = Scale(repetitions=10, interval_ms=20, window_ms=4, seeds=5)
"""How much is run under each reading."""


def settings(name: str, reading: Reading, *scopes: str) -> dict[str, object]:
    """The settings with which a scenario runs a scheme of the figures, with those of further scopes."""
    scheme = name.removesuffix(NO_LHCS).removesuffix(EQUAL_HEADERS)
    base: dict[str, object] = {"scheme.name": scheme}
    if scheme == "dcqcn" and reading.sets("dcqcn").get("scheme.variant") != "mellanox":
        base |= _STEPS
    made = reading.on(base, *SCOPES[scheme], *scopes)
    if name.endswith(NO_LHCS):
        made["scheme.lhcs"] = False
    if name.endswith(EQUAL_HEADERS):
        made["packets.header"] = f"{HEADER + TELEMETRY}B"
    return made


def join_us(index: int, scale: Scale, reading: Reading) -> float:
    """When flow1 joins in a repetition, in us: evenly spread, and at other fractions of a microsecond each time."""
    over = float(str(reading.sets("join")["over_us"]))
    return round(JOIN_US + index * over / scale.repetitions, 3)


def joined_jobs(
    group: str, scenario: str, schemes: Iterable[str], scale: Scale, reading: Reading, gbps: int = 100
) -> list[Job]:
    """Repetitions of a two-flow experiment, by (group, scheme, repetition)."""
    jobs = []
    for scheme in schemes:
        for index in range(scale.repetitions):
            join = join_us(index, scale, reading)
            jobs.append(
                Job(
                    key=(group, scheme, index),
                    scenario=HERE / scenario,
                    measure=partial(measure_joined, join_us=join, keep=index == 0),
                    sets={
                        **settings(scheme, reading),
                        "topology.rate": f"{gbps}Gbps",
                        "traffic.1.start": f"{join}us",
                    },
                    seed=index + 1,
                    cost=0.04 * gbps / 100 + 0.05,
                )
            )
    return jobs


def group_jobs(group: str, scale: Scale, reading: Reading) -> list[Job]:
    """All runs of an experiment: `100` (a dumbbell's speed), `first` (a hop), `fairness` or a workload."""
    if group.isdigit():
        return joined_jobs(group, "dumbbell.toml", SCHEMES, scale, reading, int(group))
    if group in HOPS:
        return joined_jobs(group, f"chain_{group}.toml", HOPS[group], scale, reading)
    if group == "fairness":
        return [fairness_job(scale, reading)]
    return fct_jobs(group, (*FCT_SCHEMES, f"fncc{EQUAL_HEADERS}"), scale, reading)


def fairness_job(scale: Scale, reading: Reading) -> Job:
    """Four flows that join and leave."""
    step = scale.interval_ms
    sets: dict[str, object] = {
        **settings("fncc", reading),
        "run.duration": f"{7 * step}ms",
        "record.interval": f"{step * 5}us",
    }
    for index in range(4):
        sets[f"traffic.{index}.start"] = f"{index * step}ms"
        sets[f"traffic.{index}.stop"] = f"{(index + 4) * step}ms"
    return Job(
        key=("fairness", "fncc", 0),
        scenario=HERE / "fairness.toml",
        measure=partial(measure_fairness, interval_ms=step),
        sets=sets,
        cost=0.06 * step * 7,
    )


def ideal_header(scheme: str, sets: Mapping[str, object], reading: Reading) -> tuple[int, int]:
    """Bytes of header in the ideal FCT that a run gives, and in the one by which its slowdowns are taken."""
    given = int(str(sets.get("packets.header", f"{HEADER}B")).removesuffix("B"))
    if reading.sets("verdict")["ideal"] == "bare":
        return given, HEADER
    return given, HEADER + TELEMETRY if scheme == "hpcc" else given


def fct_jobs(workload: str, schemes: Iterable[str], scale: Scale, reading: Reading) -> list[Job]:
    """Seeds of a fat-tree experiment, by (workload, scheme, seed)."""
    jobs = []
    for seed in range(1, scale.seeds + 1):
        for scheme in schemes:
            sets = settings(scheme, reading, "fat-tree")
            jobs.append(
                Job(
                    key=(workload, scheme, seed),
                    scenario=HERE / "fat_tree.toml",
                    measure=partial(
                        measure_fct, edges_kb=EDGES_KB[workload], headers=ideal_header(scheme, sets, reading)
                    ),
                    sets={
                        **sets,
                        "traffic.0.workload": WORKLOADS[workload],
                        "traffic.0.stop": f"{scale.window_ms}ms",
                    },
                    seed=seed,
                    # Packet-hops, at a rate at which the two-flow runs' costs are seconds.
                    cost=1.1 * scale.window_ms,
                )
            )
    return jobs


def values(results: Mapping[Any, Any], group: str, scheme: str, quantity: str) -> dict[int, float]:
    """A quantity of each repetition or seed of an experiment; an event that never happened is at infinity."""
    get = attrgetter(quantity)
    found = {key[2]: float(get(each)) for key, each in results.items() if key[:2] == (group, scheme)}
    return {index: np.inf if np.isnan(value) else value for index, value in found.items()}


def mean(results: Mapping[Any, Joined], group: str, scheme: str, quantity: str) -> float:
    """A quantity averaged over the repetitions of a two-flow experiment."""
    return float(np.mean(list(values(results, group, scheme, quantity).values())))
