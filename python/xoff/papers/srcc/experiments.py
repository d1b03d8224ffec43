"""SRCC's experiments: their runs, and what is measured in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from xoff.papers.srcc.measures import measure, measure_motivation
from xoff.runs.jobs import Job

HERE = Path(__file__).parent

SCHEMES = ("dcqcn", "swift", "hpcc", "pcn", "srcc")
"""In the order of the paper's percentages, SRCC last."""
OTHERS = SCHEMES[:-1]

INTERVALS_US = (8, 12, 16, 20, 24)
"""Times between two bursts of Fig. 7a, in us."""
SIZES_KB = (16, 32, 64, 128, 256)
"""Sizes of a message of a burst of Fig. 7b, in KB."""
SENDERS = (20, 40, 80, 120, 160)
"""Senders of Fig. 11; 50 MB over any of these numbers is a whole number of bytes, or rounded up to one."""
INCAST_BYTES = 50_000_000

TESTBED = {"web-server": "fb_webserver", "cache-follower": "fb_cache_follower"}
"""The size distribution of each testbed experiment."""
LARGE = {"websearch": "websearch", "hadoop": "srcc_hadoop"}
"""The size distribution of each large experiment."""

THRESHOLDS = {"srcc": "dynamic", "srcc-40": "40 % fixed", "srcc-60": "60 % fixed"}
"""Fig. 8a. A share of the 22 MB of a switch lies above anything that PFC lets a queue reach, so that the buffer is read
as what an ingress port may have: Q_PFC."""
WINDOWS = {"srcc-2rtt": "2 RTT", "srcc": "3 RTT", "srcc-4rtt": "4 RTT"}
"""Fig. 8b."""

SETTINGS: dict[str, dict[str, object]] = {
    "pcn": {"detector.name": "np_ecn"},
    "srcc-40": {"scheme.threshold": "fixed", "scheme.fixed_threshold": "200KB"},
    "srcc-60": {"scheme.threshold": "fixed", "scheme.fixed_threshold": "300KB"},
    "srcc-2rtt": {"scheme.window_rtts": 2.0},
    "srcc-4rtt": {"scheme.window_rtts": 4.0},
}
"""Settings that distinguish a line of the figures from its scheme."""


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    testbed_ms: float
    """Time in which flows arrive in the testbed."""
    large_ms: float
    """Time in which flows arrive in the large simulation."""
    loads: tuple[float, ...]
    """Loads of both; the paper's numbers are of the last one."""
    seeds: int
    """Runs of each experiment with random traffic."""


FULL = Scale(testbed_ms=10, large_ms=2, loads=(0.5, 0.6, 0.7, 0.8), seeds=3)
QUICK = Scale(testbed_ms=3, large_ms=0.6, loads=(0.5, 0.8), seeds=2)

Key = tuple[str, str, float, int]
"""Experiment, line of its figure, place on its axis, seed."""


def scheme_of(line: str) -> str:
    """The scheme behind a line of a figure."""
    return line.partition("-")[0]


def settings(line: str, sets: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """The settings of a line of the figures, with those of a reading for all (`*`) and for that line."""
    scheme = scheme_of(line)
    return {"scheme.name": scheme, **SETTINGS.get(line, {}), **sets.get("*", {}), **sets.get(scheme, {})}


def _job(key: Key, scenario: str, sets: dict[str, object], cost: float, **how: Any) -> Job:
    return Job(key, HERE / scenario, partial(measure, **how), sets, seed=key[3], cost=cost)


def motivation_jobs(sets: Mapping[str, Mapping[str, object]], seeds: int = 1) -> list[Job]:
    """Fig. 2, where only marks and paths are random."""
    scenario = HERE / "motivation.toml"
    return [
        Job(("motivation", s, 0.0, seed), scenario, measure_motivation, settings(s, sets), seed=seed, cost=10)
        for s in SCHEMES
        for seed in range(1, seeds + 1)
    ]


def load_jobs(
    group: str, lines: Iterable[str], loads: Sequence[float], scale: Scale, sets: Mapping[str, Mapping[str, object]]
) -> list[Job]:
    """An experiment over loads, by (group, line, load, seed)."""
    testbed = group in TESTBED
    window = scale.testbed_ms if testbed else scale.large_ms
    workload = TESTBED.get(group) or LARGE.get(group) or "fb_webserver"
    made = []
    for seed in range(1, scale.seeds + 1):
        for load in loads:
            for line in lines:
                added = {
                    "traffic.0.workload": workload,
                    "traffic.0.load": load,
                    "traffic.0.stop": f"{window}ms",
                }
                how: dict[str, Any] = {"label": "background", "window_ms": window}
                if not testbed:
                    # The burst comes in the middle of the arrivals.
                    added["traffic.1.start"] = f"{window / 2}ms"
                    how["port"], how["burst_ms"] = "leaf7->host191", window / 2
                key = (group, line, load, seed)
                cost = load * window * (1.0 if testbed else 12.0)
                scenario = "testbed.toml" if testbed else "large.toml"
                made.append(_job(key, scenario, {**settings(line, sets), **added}, cost, **how))
    return made


def burst_jobs(group: str, scale: Scale, sets: Mapping[str, Mapping[str, object]]) -> list[Job]:
    """Fig. 7, by (group, scheme, interval in us or size in KB, seed)."""
    made = []
    for seed in range(1, scale.seeds + 1):
        for value in INTERVALS_US if group == "burst-interval" else SIZES_KB:
            change: dict[str, object] = (
                {"traffic.1.every": f"{value}us"} if group == "burst-interval" else {"traffic.1.size": f"{value}KB"}
            )
            made += [
                _job((group, s, float(value), seed), "bursts.toml", {**settings(s, sets), **change}, 1.5)
                for s in SCHEMES
            ]
    return made


def incast_jobs(senders: Iterable[int], sets: Mapping[str, Mapping[str, object]], seeds: int = 1) -> list[Job]:
    """Fig. 11, by ("incast", scheme, senders, seed)."""
    made = []
    for count in senders:
        change = {"traffic.0.senders": count, "traffic.0.size": f"{-(-INCAST_BYTES // count)}B"}
        made += [
            _job(
                ("incast", s, float(count), seed),
                "incast.toml",
                {**settings(s, sets), **change},
                1.0,
                goodput="incast",
                port="leaf7->host191",
            )
            for s in SCHEMES
            for seed in range(1, seeds + 1)
        ]
    return made


def group_jobs(group: str, scale: Scale, sets: Mapping[str, Mapping[str, object]] | None = None) -> list[Job]:
    """All runs of an experiment."""
    sets = sets or {}
    if group == "motivation":
        return motivation_jobs(sets, scale.seeds)
    if group == "incast":
        return incast_jobs(SENDERS, sets, scale.seeds)
    if group.startswith("burst"):
        return burst_jobs(group, scale, sets)
    if group == "threshold":
        return load_jobs(group, THRESHOLDS, scale.loads[-1:], scale, sets)
    if group == "window":
        return load_jobs(group, WINDOWS, scale.loads, scale, sets)
    return load_jobs(group, SCHEMES, scale.loads, scale, sets)


def values(results: Mapping[Any, Any], group: str, line: str, at: float, quantity: str) -> dict[int, float]:
    """A quantity of each seed."""
    return {key[3]: float(getattr(each, quantity)) for key, each in results.items() if key[:3] == (group, line, at)}


def mean(results: Mapping[Any, Any], group: str, line: str, at: float, quantity: str) -> float:
    """A quantity averaged over the seeds; NaN if one of them has none."""
    return float(np.mean(list(values(results, group, line, at, quantity).values())))


def places(results: Mapping[Any, Any], group: str) -> list[float]:
    """The places on the axis of an experiment."""
    return sorted({key[2] for key in results if key[0] == group})
