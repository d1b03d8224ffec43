"""What `xoff tune` prints."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from xoff.runs.index import text_of
from xoff.studies.tune.best import Trial, mean
from xoff.studies.tune.run import Tuned
from xoff.text import count_text

MAX_SHOWN = 10
"""Trials of a Pareto front that are printed."""


def best_text(tuned: Tuned) -> str:
    """The best trials in a few lines, each with the settings that `xoff run` takes."""
    failed = sum(trial.error is not None for trial in tuned.trials)
    over = sum(trial.error is None and bool(trial.exceeds(tuned.budget)) for trial in tuned.trials)
    counts = [count_text(len(tuned.trials), "trial")]
    counts += [f"{over:,} above the budget"] if over else []
    counts += [f"{failed:,} failed"] if failed else []
    lines = [("tuning", ", ".join(counts))]
    if not tuned.best:
        lines.append(("best", "none: no trial keeps to the budget" if over else "none: every trial failed"))
    for trial in tuned.best[:MAX_SHOWN]:
        lines.append(("best", _outcome(trial, tuned)))
        lines.append(("", settings_text(trial.settings)))
    if tuned.best:
        lines.append(("baseline", _baseline(tuned)))
    if len(tuned.best) > MAX_SHOWN:
        lines.append(("", f"and {len(tuned.best) - MAX_SHOWN} more on the front: trials.parquet has all"))
    return "\n".join(f"{name:<9} {text}" for name, text in lines)


def _outcome(trial: Trial, tuned: Tuned) -> str:
    names = dict.fromkeys([*tuned.objective, *tuned.budget])
    return f"trial {trial.number}: " + ", ".join(f"{name} {trial.measures[name]:.4g}" for name in names)


def _baseline(tuned: Tuned) -> str:
    """What the scenario came to with its own values of the keys."""
    baseline = tuned.baseline
    if baseline.error is not None or not baseline.by_seed:
        return "none: " + (baseline.error or "no run of it")
    measures = mean(list(baseline.by_seed.values()))
    names = [name for name in dict.fromkeys([*tuned.objective, *tuned.budget]) if name in measures]
    own = ", ".join(f"{key} = {text_of(value)}" for key, value in baseline.settings.items())
    return ", ".join(f"{name} {measures[name]:.4g}" for name in names) + f" (the scenario's own {own})" * bool(own)


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings as `xoff run` takes them."""
    pairs = (f"{key}={text_of(value)}" for key, value in settings.items())
    return " ".join(f"--set {shlex.quote(pair)}" for pair in pairs)
