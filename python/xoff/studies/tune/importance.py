"""How much each key matters to an objective, by Optuna's PED-ANOVA."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from xoff.errors import extra
from xoff.studies.sweep.measures import magnitude
from xoff.studies.tune.best import Trial

FEWEST = 5
"""Minimum trials with different outcomes; fewer tell chance alone."""


def importances(trials: Sequence[Trial], space: Sequence[Mapping[str, Any]], objective: str) -> dict[str, float] | None:
    """The share that each key has in what sets the best tenth of the trials apart, largest first.

    PED-ANOVA compares where the best trials lie with where all of them lie, key by key. The shares add up to 1. It is
    `None` if the trials tell nothing: too few, or all as good.

    Raises
    ------
    UserError
        Optuna is not installed.
    """
    done = [trial for trial in trials if trial.error is None and objective in trial.measures]
    if len(done) < FEWEST or len({trial.measures[objective] for trial in done}) < 2:
        return None
    optuna = extra("optuna", "the importance of a tuning's keys")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    ranges = {each["key"]: _distribution(optuna, each, done) for each in space}
    keys = [each["key"] for each in space if len({repr(trial.settings.get(each["key"])) for trial in done}) > 1]
    if len(keys) < 2:
        return dict.fromkeys(keys, 1.0) or None
    study = optuna.create_study()
    found = optuna.importance
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for trial in done:
            study.add_trial(
                optuna.trial.create_trial(
                    params={key: _value(trial.settings.get(key), ranges[key]) for key in keys},
                    distributions={key: ranges[key] for key in keys},
                    value=trial.measures[objective],
                )
            )
        shares = found.get_param_importances(study, evaluator=found.PedAnovaImportanceEvaluator(), normalize=False)
    total = sum(shares.values())
    if not total > 0:
        return None
    ranked = sorted(shares, key=lambda key: (-shares[key], keys.index(key)))
    return {key: float(shares[key] / total) for key in ranked}


def number(value: Any) -> float | None:
    """A key's value as a number in the unit of `magnitude`; `None` if it is none."""
    found = magnitude(value)
    return None if found is None else found[0]


def _distribution(optuna: Any, each: Mapping[str, Any], trials: Sequence[Trial]) -> Any:
    """Where the trials' values of a key lie, in the unit of `magnitude`."""
    kinds = optuna.distributions
    values = [trial.settings.get(each["key"]) for trial in trials]
    numbers = [found for value in values if (found := number(value)) is not None]
    if "choices" in each or len(numbers) < len(values):
        return kinds.CategoricalDistribution(sorted({repr(value) for value in values}))
    low, high = min(numbers), max(numbers)
    return kinds.FloatDistribution(low, high, log=bool(each["log"]) and low > 0)


def _value(value: Any, distribution: Any) -> Any:
    return repr(value) if hasattr(distribution, "choices") else number(value)
