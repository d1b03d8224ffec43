"""FNCC's experiments: their runs, and what is measured in each.

Runs of the two-flow experiments depend on how two packet trains interleave, to the nanosecond. Each is repeated with
flow1 joining a little later each time and another seed, and numbers are averaged; figures show the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from xoff.papers.fncc.measures import Joined, measure_fairness, measure_fct, measure_joined
from xoff.runs.jobs import Job

HERE = Path(__file__).parent

JOIN_US = 300.0
"""When flow1 joins in the first repetition, in us."""
STEP_US = 0.1
"""How much later flow1 joins in each further repetition, in us: a packet lasts 0.12 us at 100 Gbps."""

SPEEDS = (100, 200, 400)
"""Line rates of the dumbbell, in Gbps."""
SCHEMES = ("fncc", "hpcc", "dcqcn", "rocc")
FCT_SCHEMES = ("fncc", "hpcc", "dcqcn")
HOPS = {
    "first": ("hpcc", "fncc"),
    "middle": ("hpcc", "fncc"),
    "last": ("hpcc", "fncc-no-lhcs", "fncc"),
}
"""Schemes compared when congestion is at this hop."""
WORKLOADS = {"websearch": "websearch", "hadoop": "fb_hadoop"}
"""The size distribution of each fat-tree experiment."""

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
    reading_window_ms: float
    """The window of the fat-tree under other readings; 0 leaves them out."""
    reading_seeds: int
    """Their seeds."""


FULL = Scale(repetitions=10, interval_ms=100, window_ms=10, seeds=5, reading_window_ms=2, reading_seeds=1)
QUICK = Scale(repetitions=5, interval_ms=20, window_ms=4, seeds=2, reading_window_ms=0, reading_seeds=0)

Sets = Mapping[str, Mapping[str, object]]
"""Settings by scheme, on top of the scenarios; `*` stands for all, and `None` removes a setting."""

NO_SETS: Sets = {}

PRINTED: Sets = {
    "dcqcn": {
        "detector.name": "red",
        "detector.k_min": "5KB",
        "detector.k_max": "200KB",
        "detector.p_max": 0.01,
    },
    "rocc": {"scheme.q_ref": "300KB", "scheme.q_mid": "600KB", "scheme.q_max": "660KB"},
}
"""The numbers that DCQCN's and RoCC's papers print, which FNCC (section 5.1) says it takes. They hold at all speeds:
neither paper says how to scale them, and scaled ones lie above FNCC's PFC threshold."""


def settings(name: str, sets: Sets) -> dict[str, object]:
    """The settings with which a scenario runs a scheme of the figures."""
    scheme = name.removesuffix("-no-lhcs")
    own = {**PRINTED.get(scheme, {}), **sets.get("*", {}), **sets.get(scheme, {})}
    made: dict[str, object] = {"scheme.name": scheme, **{key: value for key, value in own.items() if value is not None}}
    if scheme != name:
        made["scheme.lhcs"] = False
    return made


def joined_jobs(
    group: str, scenario: str, schemes: Iterable[str], scale: Scale, sets: Sets, gbps: int = 100
) -> list[Job]:
    """Repetitions of a two-flow experiment, by (group, scheme, repetition)."""
    jobs = []
    for scheme in schemes:
        for index in range(scale.repetitions):
            join_us = round(JOIN_US + index * STEP_US, 3)
            jobs.append(
                Job(
                    key=(group, scheme, index),
                    scenario=HERE / scenario,
                    measure=partial(measure_joined, join_us=join_us, keep=index == 0),
                    sets={
                        **settings(scheme, sets),
                        "topology.rate": f"{gbps}Gbps",
                        "traffic.1.start": f"{join_us}us",
                    },
                    seed=index + 1,
                    cost=0.04 * gbps / 100 + 0.05,
                )
            )
    return jobs


def group_jobs(group: str, scale: Scale, sets: Sets = NO_SETS) -> list[Job]:
    """All runs of an experiment: `100` (a dumbbell's speed), `first` (a hop), `fairness` or a workload."""
    if group.isdigit():
        return joined_jobs(group, "dumbbell.toml", SCHEMES, scale, sets, int(group))
    if group in HOPS:
        return joined_jobs(group, f"chain_{group}.toml", HOPS[group], scale, sets)
    if group == "fairness":
        return [fairness_job(scale)]
    return fct_jobs(group, FCT_SCHEMES, scale.window_ms, scale.seeds, sets)


def fairness_job(scale: Scale) -> Job:
    """Four flows that join and leave."""
    step = scale.interval_ms
    sets: dict[str, object] = {"run.duration": f"{7 * step}ms", "record.interval": f"{step * 5}us"}
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


def fct_jobs(workload: str, schemes: Iterable[str], window_ms: float, seeds: int, sets: Sets) -> list[Job]:
    """Seeds of a fat-tree experiment, by (workload, scheme, seed)."""
    return [
        Job(
            key=(workload, scheme, seed),
            scenario=HERE / "fat_tree.toml",
            measure=partial(measure_fct, edges_kb=EDGES_KB[workload]),
            sets={
                **settings(scheme, sets),
                "traffic.0.workload": WORKLOADS[workload],
                "traffic.0.stop": f"{window_ms}ms",
            },
            seed=seed,
            # Packet-hops, at a rate at which the two-flow runs' costs are seconds.
            cost=1.1 * window_ms,
        )
        for seed in range(1, seeds + 1)
        for scheme in schemes
    ]


def values(results: Mapping[Any, Joined], group: str, scheme: str, quantity: str) -> dict[int, float]:
    """A quantity of each repetition of a two-flow experiment; an event that never happened is at infinity."""
    found = {key[2]: float(getattr(each, quantity)) for key, each in results.items() if key[:2] == (group, scheme)}
    return {index: np.inf if np.isnan(value) else value for index, value in found.items()}


def mean(results: Mapping[Any, Joined], group: str, scheme: str, quantity: str) -> float:
    """A quantity averaged over the repetitions of a two-flow experiment; NaN if one has none."""
    values = [getattr(each, quantity) for key, each in results.items() if key[:2] == (group, scheme)]
    return float(np.mean(values))
