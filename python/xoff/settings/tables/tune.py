"""Plain tables of a scenario, and tables inside others: `tune`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from xoff.settings.table import Table, table

__all__ = ["tune"]

Measure = Literal[
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
]
Sampler = Literal["tpe", "nsga2", "random"]


def tune(
    *,
    objective: Measure | Sequence[Measure],
    budget: Mapping[str, object] | None = None,
    trials: int | None = None,
    seeds: Sequence[int] | None = None,
    sampler: Sampler | None = None,
    sampler_seed: int | None = None,
    batch: int | None = None,
    keys: Mapping[str, object] | None = None,
) -> Table:
    """A search for the values of some keys that minimize one or several measures of a run.

    Parameters
    ----------
    objective
        The measure to minimize, or a list of measures whose Pareto front is searched for. Each is the mean over the
        seeds.
    budget
        Maximum values of measures, as the mean over the seeds; a trial that exceeds one of them is no solution.
    trials
        Number of trials. A trial is a set of values, run with every seed.
    seeds
        Seeds with which each trial is run; without them, the scenario's own seed.
    sampler
        How values are chosen.
    sampler_seed
        Seed of that choice.
    batch
        Number of trials that are chosen together, before the results of any of them are known, and run side by side.
        The outcome depends on this number, but not on how many trials run at the same time.
    keys
        The keys, each with a range, `{ from = "20KB", to = "400KB", log = true }`, or a list of choices.
    """
    return table(
        {
            "objective": objective,
            "budget": budget,
            "trials": trials,
            "seeds": seeds,
            "sampler": sampler,
            "sampler_seed": sampler_seed,
            "batch": batch,
            "keys": keys,
        }
    )
