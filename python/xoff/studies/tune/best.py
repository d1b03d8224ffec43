"""What a trial came to, and which trials are best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MEASURES = (
    "slowdown_mean",
    "slowdown_p50",
    "slowdown_p95",
    "slowdown_p99",
    "pause_frames",
    "paused_ps",
    "hol_blocked",
    "max_queue_bytes",
    "dropped",
    "incomplete",
)
"""The measures of a run that a tuning can minimize."""


@dataclass(frozen=True)
class Trial:
    """A set of values, and what it came to."""

    number: int
    """From 0, in the order in which they were chosen."""
    settings: dict[str, Any]
    """The keys' values."""
    measures: dict[str, float] = field(default_factory=dict)
    """Means over the seeds; nothing for a trial that failed."""
    error: str | None = None
    """Why it failed."""

    def exceeds(self, budget: Mapping[str, float]) -> dict[str, float]:
        """By how much it is above each budget that it exceeds."""
        over = {name: self.measures.get(name, math.inf) - most for name, most in budget.items()}
        return {name: more for name, more in over.items() if more > 0}


def measures_of(summary: Mapping[str, Any]) -> dict[str, float]:
    """A run's measures, of its manifest's `summary`; what it does not have is left out."""
    of = {name: value for name, value in summary.items() if name != "slowdown"}
    of.update({f"slowdown_{name}": value for name, value in (summary["slowdown"] or {}).items()})
    of["incomplete"] = summary["flows"] - summary["completed"]
    return {name: float(of[name]) for name in MEASURES if of.get(name) is not None}


def mean(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure that all runs have."""
    shared = [name for name in runs[0] if all(name in run for run in runs)]
    return {name: math.fsum(run[name] for run in runs) / len(runs) for name in shared}


def best(trials: Iterable[Trial], objective: Sequence[str], budget: Mapping[str, float]) -> list[Trial]:
    """Trials within the budget of which none is worse than another in one objective and no better in any.

    With one objective that is the trial with the lowest value, with several the Pareto front, in the order of the first
    objective. Of trials with the same outcome the first counts.
    """
    within = [trial for trial in trials if trial.error is None and not trial.exceeds(budget)]
    outcome = {trial.number: tuple(trial.measures[name] for name in objective) for trial in within}
    front: list[Trial] = []
    for trial in sorted(within, key=lambda trial: (outcome[trial.number], trial.number)):
        own = outcome[trial.number]
        # Those before it are no worse in the first objective, and one of them is no worse in the others.
        if not any(all(a <= b for a, b in zip(outcome[other.number], own, strict=True)) for other in front):
            front.append(trial)
    return front
