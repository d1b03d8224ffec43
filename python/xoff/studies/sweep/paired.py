"""Differences to a baseline by seed: runs of one seed share what chance does to the traffic, and it cancels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xoff.errors import UserError, nearest
from xoff.runs.index import text_of
from xoff.studies.sweep.aggregate import Case, Results
from xoff.studies.sweep.measures import estimate, magnitude

MAX_BASELINES = 24
"""Maximum baselines that a page offers."""


@dataclass(frozen=True)
class Difference:
    """How much more a case has of a measure than its baseline, as the mean over the seeds that both have."""

    mean: float
    """The mean of the differences, in the measure's unit."""
    half: float | None
    """Half of its 95 % interval by Student's t distribution; `None` for one seed."""
    seeds: int
    """How many pairs."""
    share: float | None
    """The mean difference as a share of the baseline's mean over the same seeds; `None` if that is 0."""

    @property
    def differs(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.half is not None and abs(self.mean) > self.half


def paired(values: Mapping[int, float], baseline: Mapping[int, float]) -> Difference | None:
    """The differences of values by seed; `None` if no seed has both."""
    seeds = sorted(set(values) & set(baseline))
    if not seeds:
        return None
    found = estimate([values[seed] - baseline[seed] for seed in seeds])
    base = estimate([baseline[seed] for seed in seeds]).mean
    return Difference(found.mean, found.half, len(seeds), found.mean / base if base else None)


def partner(case: Case, baseline: Mapping[str, Any], cases: Sequence[Case]) -> Case | None:
    """The case to compare with: one with the baseline's settings, and of those the one that is closest to `case`.

    It is `None` if `case` has the baseline's settings itself, or if two are as close.
    """
    if _has(case, baseline):
        return None
    found = [other for other in cases if _has(other, baseline)]
    ranked = sorted(found, key=lambda other: -_alike(case, other))
    if len(ranked) > 1 and _alike(case, ranked[0]) == _alike(case, ranked[1]):
        return None
    return ranked[0] if ranked else None


def baselines(found: Results, first: str | None = None) -> list[dict[str, Any]]:
    """The baselines to choose from: each value of each key, those of the key `first` before others.

    Of a sample, each combination.
    """
    if found.sampled:
        options = [{key: case.settings.get(key) for key in found.keys} for case in found.cases]
        return options[:MAX_BASELINES] if found.keys else []
    keys = sorted(found.keys, key=lambda key: key != first)
    options = []
    for key in keys:
        values = {text_of(case.settings[key]): case.settings[key] for case in found.cases if key in case.settings}
        options += [{key: value} for value in values.values()]
    return options[:MAX_BASELINES]


def first_key(found: Results) -> str | None:
    """The key whose first value is the baseline unless another one is chosen: one of names rather than numbers."""
    names = [key for key in found.keys if any(magnitude(case.settings.get(key)) is None for case in found.cases)]
    return next(iter([*names, *found.keys]), None)


def default_baseline(found: Results) -> dict[str, Any]:
    """The baseline unless another one is chosen; empty if there is nothing to compare, or settings are drawn."""
    options = [] if found.sampled else baselines(found, first_key(found))
    return options[0] if options else {}


def read_baseline(texts: Sequence[str], found: Results) -> dict[str, Any]:
    """The baseline that `--baseline KEY=VALUE` names, given once for each key.

    Raises
    ------
    UserError
        A key is not swept, or has no such value, or no case has all the values.
    """
    chosen: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key, value = key.strip(), value.strip()
        if not equals or not key:
            raise UserError(f"--baseline {text}: expected KEY=VALUE, as in --baseline scheme.name=dcqcn")
        if key not in found.keys:
            swept = f"this sweep varies {', '.join(found.keys)}" if found.keys else "this sweep varies no key"
            raise UserError(f"--baseline {text}: {swept}{nearest(key, found.keys)}")
        values = {text_of(case.settings[key]): case.settings[key] for case in found.cases if key in case.settings}
        match = [each for name, each in values.items() if name == value or _equal(each, value)]
        if not match:
            known = f"expected one of {', '.join(values)}{nearest(value, values)}"
            raise UserError(f"--baseline {text}: no such value of {key}; {known}")
        chosen[key] = match[0]
    if chosen and not any(_has(case, chosen) for case in found.cases):
        raise UserError(f"--baseline {' '.join(texts)}: no run of the sweep has all of these values")
    return chosen


def _equal(setting: Any, text: str) -> bool:
    """Whether a text says a setting otherwise, as `0.1MB` for `100KB`."""
    try:
        one, other = magnitude(setting), magnitude(float(text))
    except ValueError:
        one, other = magnitude(setting), magnitude(text)
    return one is not None and one == other


def _has(case: Case, settings: Mapping[str, Any]) -> bool:
    return all(text_of(case.settings.get(key)) == text_of(value) for key, value in settings.items())


def _alike(one: Case, other: Case) -> int:
    keys = {*one.settings, *other.settings}
    return sum(text_of(one.settings.get(key)) == text_of(other.settings.get(key)) for key in keys)
