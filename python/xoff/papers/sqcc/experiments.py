"""SQCC's experiments: their runs.

A run is an incast of N flows under one of four variants: patched TIMELY, and SQCC with its parts added one by one. The
claims share runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

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
    PATCHED: {"scheme.name": "patched_timely", "scheme.segment": "1B"},
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

GROUPS: Mapping[str, tuple[Point, ...]] = {
    "patched-timely-fixed-point": tuple((PATCHED, n) for n in FIXED),
    "error-function": tuple((variant, n) for n in (2, 40, 60) for variant in (PATCHED, ERROR)),
    "delta": tuple((variant, n) for n in (40, 60) for variant in (ERROR, DELTA)),
    "table2": tuple((variant, 500) for variant in (ERROR, DELTA, SQCC)),
    "large-incast": tuple((SQCC, n) for n in INCASTS),
}
"""The runs that each claim needs."""


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    duration_s: float
    """Simulated time of a run; its second half is the steady state."""
    seeds: int
    """Seeds of each run, which draw the flows' phases."""
    readings_s: float
    """Simulated time of runs under other readings."""
    start_s: float
    """Simulated time of runs whose flows start otherwise, which settle later."""
    every: bool
    """Whether other readings are run for all claims, or only for the plots of Table II."""


FULL = Scale(duration_s=0.8, seeds=3, readings_s=0.3, start_s=2, every=True)
QUICK = Scale(duration_s=0.4, seeds=2, readings_s=0.3, start_s=1.5, every=False)

Sets = Mapping[str, object]
"""Settings on top of a run's own; `None` removes one."""


def settings(point: Point, duration_s: float, sets: Sets) -> dict[str, object]:
    """The settings with which the scenario makes a run."""
    variant, n = point
    made: dict[str, object] = {
        **VARIANTS[variant],
        "topology.hosts": n + 1,
        "traffic.0.senders": n,
        # Eq. 6 and 17 start from C/N, as do the validation runs of patched TIMELY.
        "scheme.initial_rate": f"{round(CAPACITY_BPS / n)}bps",
        "traffic.0.spread": f"{round(1e12 * 8 * FRAME * n / CAPACITY_BPS)}ps",
        "run.duration": f"{duration_s}s",
        **sets,
    }
    return {key: value for key, value in made.items() if value is not None}


def jobs(points: Iterable[Point], scale: Scale, seeds: int | None = None, sets: Sets | None = None) -> list[Job]:
    """Runs by (variant, N, seed)."""
    return [
        Job(
            key=(*point, seed),
            scenario=SCENARIO,
            measure=partial(measure, keep=seed == 1),
            sets=settings(point, scale.duration_s, sets or {}),
            seed=seed,
            cost=scale.duration_s,
        )
        for point in dict.fromkeys(points)
        for seed in range(1, (scale.seeds if seeds is None else seeds) + 1)
    ]
