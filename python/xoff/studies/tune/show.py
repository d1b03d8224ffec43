"""What `xoff tune` prints."""

from __future__ import annotations

import shlex

from xoff.runs.index import text_of
from xoff.studies.tune.best import Trial
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
        lines.append(("", _settings(trial)))
    if len(tuned.best) > MAX_SHOWN:
        lines.append(("", f"and {len(tuned.best) - MAX_SHOWN} more on the front: trials.parquet has all"))
    return "\n".join(f"{name:<9} {text}" for name, text in lines)


def _outcome(trial: Trial, tuned: Tuned) -> str:
    names = dict.fromkeys([*tuned.objective, *tuned.budget])
    return f"trial {trial.number}: " + ", ".join(f"{name} {trial.measures[name]:.4g}" for name in names)


def _settings(trial: Trial) -> str:
    pairs = (f"{key}={text_of(value)}" for key, value in trial.settings.items())
    return " ".join(f"--set {shlex.quote(pair)}" for pair in pairs)
