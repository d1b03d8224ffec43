"""PFT's experiments: their runs.

A run is GPCNeT on 120 hosts, without PFT or with a setting of PFT. The claims share runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from xoff.papers.pft.measures import measure
from xoff.runs.jobs import Job

HERE = Path(__file__).parent
SCENARIO = HERE / "fabric.toml"

Sets = Mapping[str, object]
"""Settings on top of a run's own."""


@dataclass(frozen=True)
class Control:
    """A setting of PFT: a strategy for the state, one for the interval, and their parameters."""

    threshold: Literal["average", "fixed"]
    """AT or FT."""
    interval: Literal["random", "fixed"]
    """RI or FI."""
    shift: int
    """m of RI (with n 0), n of FI (with m 0): what the paper varies."""
    k: int = 0
    """Added to the shifted credits."""
    enter: int = 0x250
    """Used credits above which congestion begins."""
    escape: int = 0x2A0
    """Used credits below which it ends."""

    @property
    def strategy(self) -> str:
        """The paper's name: AT-RI and the like."""
        return f"{self.threshold[0].upper()}T-{self.interval[0].upper()}I"

    @property
    def thresholds(self) -> str:
        """Both thresholds, as the paper prints them."""
        return f"{self.enter:#x}, {self.escape:#x}"

    @property
    def name(self) -> str:
        """The whole setting in a line."""
        letter = "m" if self.interval == "random" else "n"
        added = f", k {self.k}" if self.k else ""
        return f"{self.strategy}, {letter} {self.shift}{added}, {self.thresholds}"

    @property
    def sets(self) -> Sets:
        """The setting as keys of a scenario."""
        m, n = (self.shift, 0) if self.interval == "random" else (0, self.shift)
        return {
            "throttle.name": "pft",
            "throttle.threshold": self.threshold,
            "throttle.interval": self.interval,
            "throttle.m": m,
            "throttle.n": n,
            "throttle.k": self.k,
            "throttle.threshold_enter": self.enter,
            "throttle.threshold_escape": self.escape,
            "record.throttles": True,
        }


BEST = Control("average", "random", 18)
"""The paper's best setting: AT-RI, m 18, n 0, k 0, 0x250 and 0x2a0."""
CLAIMED = 2.58
"""Its F_C."""

STRATEGIES = ("AT-RI", "FT-RI", "AT-FI", "FT-FI")
SHIFTS = {"random": (15, 16, 17, 18, 19, 20, 21, 22), "fixed": (8, 9, 10, 11, 12)}
"""m of RI and n of FI in section III.D."""
MIDDLE = {"random": 18, "fixed": 10}
"""The values of m and n at which thresholds and k are varied."""
ADDED = (1, 4)
"""The k of FI beside 0."""
PAIRS = ((0x100, 0x080), (0x400, 0x200), (0x800, 0x400))
"""Thresholds beside the paper's; it prints no others."""


def _own(threshold: Literal["average", "fixed"]) -> tuple[int, int]:
    # FT needs the threshold of entry to be the greater one, so there the paper's two change places.
    return (0x250, 0x2A0) if threshold == "average" else (0x2A0, 0x250)


def _grid() -> tuple[Control, ...]:
    made = []
    kinds: tuple[tuple[Literal["average", "fixed"], Literal["random", "fixed"]], ...] = (
        ("average", "random"),
        ("fixed", "random"),
        ("average", "fixed"),
        ("fixed", "fixed"),
    )
    for threshold, interval in kinds:
        own, middle = _own(threshold), MIDDLE[interval]
        made += [Control(threshold, interval, shift, 0, *own) for shift in SHIFTS[interval]]
        if interval == "fixed":
            made += [Control(threshold, interval, middle, k, *own) for k in ADDED]
        made += [Control(threshold, interval, middle, 0, *pair) for pair in PAIRS]
    return tuple(made)


GRID = _grid()
"""All settings of Fig. 5."""
DRAWN = tuple(
    next(c for c in GRID if c.strategy == strategy and c.shift == MIDDLE[c.interval] and c.k == 0)
    for strategy in STRATEGIES
)
"""The settings whose distributions are drawn (Fig. 3 and 4): the middle one of each strategy, and the best of AT-RI."""
QUICK_GRID = tuple(
    c for c in GRID if c in DRAWN or (c.k == 0 and c.shift in (15, 16, 20, 8, 12) and c.enter in (0x250, 0x2A0))
)
HEAVY = "heavy"
"""The reading under which the congestors' trees reach their sources: messages of 64 KiB."""
HEAVY_SETS: Sets = {"traffic.0.congestor_size": "64KiB", "traffic.0.congestor_iterations": 90}
"""Its settings; fewer iterations, as each takes longer."""
PPORTS = (1, 8, 16)
"""Processes a port; the paper shows 16."""


@dataclass(frozen=True)
class Point:
    """A run without its seed."""

    control: Control | None
    """PFT's setting; `None` without PFT."""
    processes: int = 16
    """PPort."""
    reading: str = "default"
    """Name of the reading."""


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    grid: Sequence[Control]
    """Settings of Fig. 5."""
    seeds: int
    """Seeds of the grid, which draw congestors, rings and routes."""
    drawn_seeds: int
    """Seeds of the settings whose distributions are drawn, and of runs without control."""
    every: bool
    """All values of each reading, or only the outer ones."""
    sets: Sets = field(default_factory=dict)
    """How long the tests are."""


FULL = Scale(GRID, seeds=1, drawn_seeds=3, every=True)
QUICK = Scale(QUICK_GRID, seeds=1, drawn_seeds=1, every=False)


def points(claim: str, scale: Scale) -> dict[Point, int]:
    """The runs that a claim needs, with the number of their seeds."""
    if claim == "injection-rate":
        return {}
    needed = {Point(None): scale.drawn_seeds} | {Point(control): scale.seeds for control in scale.grid}
    needed |= {Point(control): scale.drawn_seeds for control in DRAWN}
    if claim == "control-factor":
        for processes in PPORTS:
            for control in (None, BEST):
                needed.setdefault(Point(control, processes), 1)
    return needed


def heavy(scale: Scale) -> dict[Point, int]:
    """Runs under `HEAVY`, with one seed each: the grid, or with `--quick` the part of it that is drawn."""
    controls = QUICK_GRID if scale.every else DRAWN
    return {Point(control, reading=HEAVY): 1 for control in (None, *controls)}


def settings(point: Point, scale: Scale, sets: Sets) -> dict[str, object]:
    """The settings with which the scenario makes a run; `sets` are a reading's."""
    own: dict[str, object] = {"traffic.0.processes": point.processes, **scale.sets}
    if point.control is not None:
        own |= point.control.sets
    own |= {key: value for key, value in sets.items() if point.control or not key.startswith("throttle.")}
    return own


def jobs(wanted: Mapping[Point, int], scale: Scale, sets: Sets | None = None) -> list[Job]:
    """Runs by (point, seed)."""
    return [
        Job(
            key=(point, seed),
            scenario=SCENARIO,
            measure=measure,
            sets=settings(point, scale, sets or {}),
            seed=seed,
            cost=point.processes,
        )
        for point, seeds in wanted.items()
        for seed in range(1, seeds + 1)
    ]


def merged(groups: Iterable[Mapping[Point, int]]) -> dict[Point, int]:
    """The runs of several claims, each with the greatest number of seeds."""
    needed: dict[Point, int] = {}
    for group in groups:
        for point, seeds in group.items():
            needed[point] = max(seeds, needed.get(point, 0))
    return needed
