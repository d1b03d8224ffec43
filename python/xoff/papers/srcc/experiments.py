"""SRCC's experiments: their runs, and what is measured in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from xoff.papers.space import Reading
from xoff.papers.srcc.measures import SHOWN_MS, measure, measure_motivation
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
"""Fig. 8a."""
WINDOWS = {"srcc-2rtt": "2 RTT", "srcc-3rtt": "3 RTT", "srcc-4rtt": "4 RTT"}
"""Fig. 8b: T alone changes, and not the window in which flows are counted."""

_NO_MARKS: dict[str, object] = {"detector.name": "red", "detector.k_min": "1GB", "detector.k_max": "2GB"}
"""Thresholds above anything that a queue can hold."""
_STEPS = {"r_ai": "40Mbps", "r_hai": "200Mbps"}
"""DCQCN's steps of increase, as its paper and its authors' simulator have them at 40 Gbps."""
_SHARES = {"srcc-40": 0.4, "srcc-60": 0.6}
_LINES: dict[str, dict[str, object]] = {
    "srcc-2rtt": {"scheme.window_rtts": 2.0},
    "srcc-3rtt": {"scheme.window_rtts": 3.0},
    "srcc-4rtt": {"scheme.window_rtts": 4.0},
}


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    testbed_ms: float
    """Time in which flows arrive in the testbed."""
    large_ms: float
    """Time in which flows arrive in the large simulation."""
    loads: tuple[float, ...]
    """Loads of both; the paper's numbers are of the last one."""
    testbed_seeds: int
    """Runs of each experiment of the testbed."""
    seeds: int
    """Runs of every other experiment."""


FULL = Scale(testbed_ms=10, large_ms=2, loads=(0.5, 0.6, 0.7, 0.8), testbed_seeds=8, seeds=5)
QUICK = Scale(testbed_ms=3, large_ms=0.6, loads=(0.5, 0.8), testbed_seeds=4, seeds=3)
SURVEY = Scale(testbed_ms=5, large_ms=1, loads=(0.5, 0.8), testbed_seeds=5, seeds=4)
"""How much is run under each reading."""

Key = tuple[str, str, float, int]
"""Experiment, line of its figure, place on its axis, seed."""


def scheme_of(line: str) -> str:
    """The scheme behind a line of a figure."""
    return line.partition("-")[0]


def settings(line: str, reading: Reading, *places: str) -> dict[str, object]:
    """The settings of a line of the figures in the scenarios of some scopes, under a reading."""
    base: dict[str, object] = {"scheme.name": scheme_of(line)}
    if line == "pcn":
        base["detector.name"] = "np_ecn"
    if line == "dcqcn":
        base |= {f"scheme.{key}": value for key, value in _STEPS.items()}
    if line == "swift":
        base["scheme.max_cwnd"] = 256.0
    scopes = ["all", *places]
    if scheme_of(line) == "srcc":
        scopes.append("srcc")
        if line not in _SHARES:
            scopes.append("computed")
        if reading.sets("srcc").get("scheme.base") != "none":
            base |= {f"scheme.dcqcn.{key}": value for key, value in _STEPS.items()}
            # Without a base nobody looks at marks.
            if reading.sets("marks")["ecn"] == "off":
                base |= _NO_MARKS
    made = reading.on(base, *scopes) | _LINES.get(line, {})
    if line in _SHARES:
        kilobytes = _SHARES[line] * float(str(reading.sets("fixed")["of_kb"]))
        made |= {"scheme.threshold": "fixed", "scheme.fixed_threshold": f"{kilobytes:g}KB"}
    return made


def _job(key: Key, scenario: str, sets: dict[str, object], cost: float, **how: Any) -> Job:
    return Job(key, HERE / scenario, partial(measure, **how), sets, seed=key[3], cost=cost)


def motivation_jobs(reading: Reading, seeds: int = 1) -> list[Job]:
    """Fig. 2, where only marks and paths are random."""
    burst_ms = float(str(reading.sets("motivation")["burst_ms"]))
    end = f"{burst_ms + SHOWN_MS[1]:g}ms"
    change: dict[str, object] = {"traffic.1.start": f"{burst_ms:g}ms", "traffic.1.stop": end, "run.duration": end}
    return [
        Job(
            ("motivation", s, 0.0, seed),
            HERE / "motivation.toml",
            partial(measure_motivation, burst_ms=burst_ms),
            {**settings(s, reading), **change},
            seed=seed,
            cost=10,
        )
        for s in SCHEMES
        for seed in range(1, seeds + 1)
    ]


def load_jobs(group: str, lines: Iterable[str], loads: Sequence[float], scale: Scale, reading: Reading) -> list[Job]:
    """An experiment over loads, by (group, line, load, seed)."""
    testbed = group in TESTBED
    arrivals = {key: float(str(value)) for key, value in reading.sets("arrivals").items()}
    window = arrivals.get("ms") or (scale.testbed_ms if testbed else scale.large_ms) * arrivals["times"]
    workload = TESTBED.get(group) or LARGE.get(group) or "fb_webserver"
    place = "testbed" if testbed else "large"
    made = []
    for seed in range(1, (scale.testbed_seeds if testbed else scale.seeds) + 1):
        for load in loads:
            for line in lines:
                added = {
                    "traffic.0.workload": workload,
                    "traffic.0.load": load,
                    "traffic.0.stop": f"{window:g}ms",
                }
                how: dict[str, Any] = {"label": "background", "window_ms": window}
                if not testbed:
                    # The burst comes in the middle of the arrivals.
                    added["traffic.1.start"] = f"{window / 2:g}ms"
                    how["port"], how["burst_ms"] = "leaf7->host191", window / 2
                key = (group, line, load, seed)
                cost = load * window * (1.0 if testbed else 12.0)
                made.append(_job(key, f"{place}.toml", {**settings(line, reading, place), **added}, cost, **how))
    return made


def burst_jobs(group: str, scale: Scale, reading: Reading) -> list[Job]:
    """Fig. 7, by (group, scheme, interval in us or size in KB, seed)."""
    made = []
    for seed in range(1, scale.testbed_seeds + 1):
        for value in INTERVALS_US if group == "burst-interval" else SIZES_KB:
            change: dict[str, object] = (
                {"traffic.1.every": f"{value}us"} if group == "burst-interval" else {"traffic.1.size": f"{value}KB"}
            )
            made += [
                _job((group, s, float(value), seed), "bursts.toml", {**settings(s, reading, "bursts"), **change}, 1.5)
                for s in SCHEMES
            ]
    return made


def incast_jobs(senders: Iterable[int], reading: Reading, seeds: int = 1) -> list[Job]:
    """Fig. 11, by ("incast", scheme, senders, seed)."""
    made = []
    for count in senders:
        change = {"traffic.0.senders": count, "traffic.0.size": f"{-(-INCAST_BYTES // count)}B"}
        made += [
            _job(
                ("incast", s, float(count), seed),
                "incast.toml",
                {**settings(s, reading), **change},
                1.0,
                goodput="incast",
                port="leaf7->host191",
            )
            for s in SCHEMES
            for seed in range(1, seeds + 1)
        ]
    return made


def group_jobs(group: str, scale: Scale, reading: Reading) -> list[Job]:
    """All runs of an experiment."""
    if group == "motivation":
        return motivation_jobs(reading, scale.seeds)
    if group == "incast":
        return incast_jobs(SENDERS, reading, scale.seeds)
    if group.startswith("burst"):
        return burst_jobs(group, scale, reading)
    if group == "threshold":
        return load_jobs(group, THRESHOLDS, scale.loads[-1:], scale, reading)
    if group == "window":
        return load_jobs(group, WINDOWS, scale.loads, scale, reading)
    return load_jobs(group, SCHEMES, scale.loads, scale, reading)


def values(results: Mapping[Any, Any], group: str, line: str, at: float, quantity: str) -> dict[int, float]:
    """A quantity of each seed."""
    return {key[3]: float(getattr(each, quantity)) for key, each in results.items() if key[:3] == (group, line, at)}


def mean(results: Mapping[Any, Any], group: str, line: str, at: float, quantity: str) -> float:
    """A quantity averaged over the seeds; NaN if one of them has none."""
    return float(np.mean(list(values(results, group, line, at, quantity).values())))


def places(results: Mapping[Any, Any], group: str) -> list[float]:
    """The places on the axis of an experiment."""
    return sorted({key[2] for key in results if key[0] == group})
