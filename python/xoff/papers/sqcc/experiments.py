"""SQCC's experiments: their runs.

A run is an incast of N flows under one of four variants: patched TIMELY, and SQCC with its parts added one by one. The
claims share runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from xoff.papers.space import Reading
from xoff.papers.sqcc.measures import measure
from xoff.runs.jobs import Job

HERE = Path(__file__).parent
SCENARIO = HERE / "incast.toml"

CAPACITY_BPS = 10e9
"""The bottleneck's rate C (section IV)."""
FRAME = 1000
"""Bytes of a frame, and so of a packet of queue."""

PATCHED, ERROR, DELTA, SQCC = "patched", "error", "delta", "sqcc"
VARIANTS: Mapping[str, Mapping[str, object]] = {
    PATCHED: {"scheme.name": "patched_timely"},
    ERROR: {"scheme.name": "sqcc", "scheme.adapt_delta": False, "scheme.adapt_t_low": False},
    DELTA: {"scheme.name": "sqcc", "scheme.adapt_t_low": False},
    SQCC: {"scheme.name": "sqcc"},
}
"""Patched TIMELY; SQCC's error function alone; with the step delta; with T_low, which is the whole of SQCC."""

Point = tuple[str, int]
"""A variant and a number of flows N."""

FIXED = (2, 10, 20, 30, 40, 50, 60, 70, 80, 100)
"""The N at which patched TIMELY is compared with Eq. 6."""
INCASTS = (60, 100, 500, 1000)
"""The N of Fig. 4."""
ROWS = tuple((variant, 500) for variant in (ERROR, DELTA, SQCC))
"""The rows of Table II."""

GROUPS: Mapping[str, tuple[Point, ...]] = {
    "patched-timely-fixed-point": tuple((PATCHED, n) for n in FIXED),
    "error-function": tuple((variant, n) for n in (2, 40, 60) for variant in (PATCHED, ERROR)),
    "delta": tuple((variant, n) for n in (40, 60) for variant in (ERROR, DELTA)),
    "table2": ROWS,
    "t-low": ROWS,
    "large-incast": tuple((SQCC, n) for n in INCASTS),
}
"""The runs that each claim needs."""


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    duration_s: float
    """Simulated time of a run with up to 100 flows; with more it is longer in proportion, as seg/R is, the time between
    two updates. The second half is the steady state."""
    seeds: int
    """Seeds of each run, which draw the flows' phases."""


FULL = Scale(duration_s=0.8, seeds=3)
QUICK = Scale(duration_s=0.25, seeds=3)
SURVEY = Scale(duration_s=0.5, seeds=3)
"""How much is run under each reading."""


def duration_s(n: int, scale: Scale) -> float:
    """Simulated time of a run with N flows."""
    return scale.duration_s * max(1.0, n / 100)


def settings(point: Point, scale: Scale, reading: Reading) -> dict[str, object]:
    """The settings with which the scenario makes a run."""
    variant, n = point
    rate = reading.sets("start")["rate"]
    spread = reading.sets("phases")["at"] == "spread"
    base: dict[str, object] = {
        **VARIANTS[variant],
        "topology.hosts": n + 1,
        "traffic.0.senders": n,
        "scheme.initial_rate": f"{round(CAPACITY_BPS / n)}bps" if rate == "share" else rate,
        "traffic.0.spread": f"{round(1e12 * 8 * FRAME * n / CAPACITY_BPS) if spread else 0}ps",
        "run.duration": f"{duration_s(n, scale):g}s",
    }
    return reading.on(base, "all", "patched" if variant == PATCHED else "sqcc")


def jobs(points: Iterable[Point], scale: Scale, reading: Reading) -> list[Job]:
    """Runs by (variant, N, seed)."""
    return [
        Job(
            key=(*point, seed),
            scenario=SCENARIO,
            measure=partial(measure, keep=seed == 1),
            sets=settings(point, scale, reading),
            seed=seed,
            cost=duration_s(point[1], scale),
        )
        for point in dict.fromkeys(points)
        for seed in range(1, scale.seeds + 1)
    ]
