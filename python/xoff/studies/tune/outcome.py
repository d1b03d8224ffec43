"""What a tuning came to: `tuning.json` says what was asked for, and what the baseline and the best runs gave.

The baseline is the scenario with its own values of the keys that are tuned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from xoff.errors import UserError
from xoff.runs.files import write_file
from xoff.runs.parquet import read_table
from xoff.studies.tune.best import Trial

OUTCOME = "tuning.json"
TRIALS = "trials.parquet"
"""A row for each trial."""


@dataclass(frozen=True)
class Measured:
    """A set of values, and what each of its runs came to."""

    settings: dict[str, Any]
    """The keys' values; a key that the scenario leaves out is left out."""
    by_seed: dict[str, dict[str, float]]
    """Measures by seed."""
    error: str | None = None
    """Why there are none."""


@dataclass(frozen=True)
class Outcome:
    """A tuning's question and its answer."""

    scenario: str
    """The scenario's file."""
    version: str
    """Of xoff."""
    about: dict[str, Any]
    """The table `tune`: objective, budget, seeds, sampler and so on."""
    space: list[dict[str, Any]]
    """Each key with its range or its choices."""
    baseline: Measured
    best: dict[str, Measured]
    """The best trials, by number."""
    trials: list[Trial] = field(default_factory=list)
    """All trials; not in the file."""

    def write(self, folder: Path) -> None:
        """Write it into `folder`, without the trials."""
        about = {key: value for key, value in asdict(self).items() if key != "trials"}
        write_file(folder / OUTCOME, json.dumps(about, indent=1, default=str) + "\n")


def is_tuning(folder: Path) -> bool:
    """Whether a folder of runs is that of a tuning that this version of xoff made."""
    return (folder / OUTCOME).is_file()


def read_outcome(folder: Path) -> Outcome:
    """That of a tuning's folder, with all trials.

    Raises
    ------
    UserError
        A file is damaged, or not as xoff writes it.
    """
    file = folder / OUTCOME
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        measured = [found["baseline"], *found["best"].values()]
        baseline, *best = [Measured(dict(each["settings"]), _by_seed(each), each["error"]) for each in measured]
        objective = [str(name) for name in found["about"]["objective"]]
        budget = {str(name): float(most) for name, most in found["about"]["budget"].items()}
        about = {**found["about"], "objective": objective, "budget": budget}
        space = [{**each, "key": str(each["key"])} for each in found["space"]]
        trials = _trials(folder / TRIALS, [each["key"] for each in space], [*objective, *budget])
        numbered = dict(zip(found["best"], best, strict=True))
        return Outcome(str(found["scenario"]), str(found["version"]), about, space, baseline, numbered, trials)
    except UserError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"{file}: not what a tuning came to, or broken: {type(error).__name__}: {error}") from None


def _by_seed(of: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    return {
        str(seed): {str(name): float(value) for name, value in each.items()} for seed, each in of["by_seed"].items()
    }


def _trials(file: Path, keys: Sequence[str], names: Sequence[str]) -> list[Trial]:
    """The trials in `trials.parquet`, with the measures that the objective and the budget name, and more."""
    table = pl.DataFrame(read_table(file))
    lacking = [name for name in ("trial", "error") if name not in table.columns]
    if lacking:
        raise UserError(f"{file}: no column `{lacking[0]}`, so not a table that this version of xoff wrote")
    apart = {"trial", "error", "best", "within_budget", *keys}
    measures = [name for name in table.columns if name not in apart and table[name].dtype.is_numeric()]
    for name in names:
        if name in table.columns and name not in measures and table[name].null_count() < len(table):
            raise UserError(f"{file}: the column `{name}` is of type {table[name].dtype}; expected numbers")
    return [
        Trial(
            int(row["trial"]),
            {key: row[key] for key in keys if row.get(key) is not None},
            {name: float(row[name]) for name in measures if row[name] is not None},
            row["error"],
        )
        for row in table.iter_rows(named=True)
    ]
