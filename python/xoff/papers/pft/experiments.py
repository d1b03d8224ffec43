"""PFT's experiments: their runs.

A run is GPCNeT on 120 hosts, without PFT or with a setting of PFT. The claims share runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from xoff.papers.pft.measures import measure
from xoff.papers.space import Reading
from xoff.runs.jobs import Job

HERE = Path(__file__).parent
SCENARIO = HERE / "fabric.toml"


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

    def sets(self, reading: Reading) -> dict[str, object]:
        """The setting as keys of a scenario, under a reading."""
        m, n = (self.shift, 0) if self.interval == "random" else (0, self.shift)
        enter, escape = self.enter, self.escape
        made: dict[str, object] = {
            "throttle.name": "pft",
            "throttle.threshold": self.threshold,
            "throttle.interval": self.interval,
            "throttle.m": m,
            "throttle.n": n,
            "throttle.k": self.k,
            "record.throttles": True,
        }
        if self.interval == "random":
            made |= reading.sets("random")
        if self.threshold == "average":
            made |= reading.sets("algorithm") | _windows(reading)
            if reading.sets("thresholds")["ordered"]:
                enter, escape = max(enter, escape), min(enter, escape)
        return {**made, "throttle.threshold_enter": enter, "throttle.threshold_escape": escape}


def _windows(reading: Reading) -> dict[str, object]:
    """Windows and counts of Algorithm 2, in cycles."""
    cycles = int(str(reading.sets("window")["cycles"]))
    count = round(cycles * float(str(reading.sets("count")["share"])))
    return {
        "throttle.enter_window": cycles,
        "throttle.escape_window": cycles,
        "throttle.enter_count": count,
        "throttle.escape_count": count,
    }


BEST = Control("average", "random", 18)
"""The paper's best setting: AT-RI, m 18, n 0, k 0, 0x250 and 0x2a0."""
CLAIMED = 2.58
"""Its F_C."""

STRATEGIES = ("AT-RI", "FT-RI", "AT-FI", "FT-FI")
SHIFTS = {"random": (15, 16, 18, 20), "fixed": (8, 10, 12)}
"""m of RI and n of FI, among those of section III.D."""
MIDDLE = {"random": 18, "fixed": 10}
"""The values of m and n at which thresholds and k are varied."""
ADDED = 4
"""The k of FI beside 0."""
PAIR = (0x100, 0x080)
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
            made.append(Control(threshold, interval, middle, ADDED, *own))
        made.append(Control(threshold, interval, middle, 0, *PAIR))
    return tuple(made)


GRID = _grid()
"""All settings of Fig. 5."""
DRAWN = tuple(
    next(c for c in GRID if c.strategy == strategy and c.shift == MIDDLE[c.interval] and c.k == 0)
    for strategy in STRATEGIES
)
"""The settings whose distributions are drawn (Fig. 3 and 4): the middle one of each strategy, and the best of AT-RI."""
PPORTS = (1, 8, 16)
"""Processes a port; the paper shows 16."""


@dataclass(frozen=True)
class Point:
    """A run without its seed."""

    control: Control | None
    """PFT's setting; `None` without PFT."""
    processes: int = 16
    """PPort."""


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    grid: Sequence[Control]
    """Settings of Fig. 5."""
    seeds: int
    """Seeds of each run, which draw congestors, rings and routes."""
    processes: Sequence[int]
    """Processes a port, with the paper's best setting alone where they are not 16."""


FULL = Scale(GRID, seeds=4, processes=PPORTS)
QUICK = Scale(DRAWN, seeds=3, processes=PPORTS)
SURVEY = Scale(DRAWN, seeds=5, processes=(16,))
"""How much is run under each reading."""
QUICK_SURVEY = Scale(DRAWN, seeds=3, processes=(16,))
"""The same with `--quick`."""


def points(claim: str, scale: Scale) -> list[Point]:
    """The runs that a claim needs, each of which is made with each seed."""
    if claim == "injection-rate":
        return []
    if claim == "best-setting":
        return [Point(control, processes) for processes in scale.processes for control in (None, BEST)]
    return [Point(None), *(Point(control) for control in scale.grid)]


def settings(point: Point, reading: Reading) -> dict[str, object]:
    """The settings with which the scenario makes a run under a reading."""
    own = reading.on({"traffic.0.congestor_iterations": 2200, "traffic.0.processes": point.processes}, "fabric")
    if point.processes < 16:
        # A few processes have the network for themselves, and make more iterations each in the time of the tests.
        iterations = int(str(own["traffic.0.congestor_iterations"]))
        own["traffic.0.congestor_iterations"] = iterations * 16 // point.processes
    return own if point.control is None else own | point.control.sets(reading)


def jobs(claims: Iterable[str], scale: Scale, reading: Reading) -> list[Job]:
    """The runs of some claims, by (point, seed)."""
    wanted = dict.fromkeys(point for claim in sorted(set(claims)) for point in points(claim, scale))
    return [
        Job(
            key=(point, seed),
            scenario=SCENARIO,
            measure=measure,
            sets=settings(point, reading),
            seed=seed,
            cost=point.processes,
        )
        for seed in range(1, scale.seeds + 1)
        for point in wanted
    ]
