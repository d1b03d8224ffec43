"""Means over several runs with their intervals, on common places: what a figure draws as a line and a band.

Intervals are those of the mean at 95 %, by Student's t distribution, and so assume that seeds are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xoff.analysis.student import half_width

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Band:
    """A mean over runs at each place."""

    x: Floats
    """Places, in rising order."""
    mean: Floats
    """The mean of the runs that have the place."""
    half: Floats | None
    """Half of the interval, not a number where a single run has the place; `None` if there is one run in all."""


def by_place(numbers: Sequence[npt.NDArray[np.int64]], x: Sequence[Floats], y: Sequence[Floats]) -> Band:
    """Runs that have numbered places: the mean of `x` and of `y` over the runs that have the number."""
    if len(y) == 1:
        return Band(x[0], y[0], None)
    every = np.unique(np.concatenate(numbers))
    rows = [
        [(run, int(np.flatnonzero(of == each)[0])) for run, of in enumerate(numbers) if each in of] for each in every
    ]
    places = np.array([np.mean([x[run][at] for run, at in row]) for row in rows])
    estimates = [_estimate(np.array([y[run][at] for run, at in row])) for row in rows]
    return Band(places, np.array([mean for mean, _ in estimates]), np.array([half for _, half in estimates]))


def of_steps(curves: Sequence[tuple[Floats, Floats]]) -> Band:
    """Step functions that are 0 before their first place: the mean at every place of any of them."""
    if len(curves) == 1:
        return Band(*curves[0], None)
    every = np.unique(np.concatenate([x for x, _ in curves]))
    values = np.array([_stepped(x, y, every) for x, y in curves])
    return _over_runs(every, values)


def of_samples(curves: Sequence[tuple[Floats, Floats]]) -> Band:
    """Samples over time: the mean at each time that any of them has, up to where the shortest ends.

    Between two samples of a run its value is on the line between them.
    """
    if len(curves) == 1:
        return Band(*curves[0], None)
    there = [(x, y) for x, y in curves if len(x)]
    if not there:
        return Band(np.zeros(0), np.zeros(0), None)
    every = np.unique(np.concatenate([x for x, _ in there]))
    every = every[(every >= max(x[0] for x, _ in there)) & (every <= min(x[-1] for x, _ in there))]
    return _over_runs(every, np.array([np.interp(every, x, y) for x, y in there]))


def _stepped(x: Floats, y: Floats, at: Floats) -> Floats:
    if len(x) == 0:
        return np.zeros(len(at))
    place = np.searchsorted(x, at, side="right")
    return np.where(place > 0, y[np.maximum(place - 1, 0)], 0.0)


def _over_runs(x: Floats, values: Floats) -> Band:
    count = len(values)
    mean = values.mean(axis=0) if values.size else np.zeros(0)
    if count < 2:
        return Band(x, mean, None)
    return Band(x, mean, half_width(count) * values.std(axis=0, ddof=1) / np.sqrt(count))


def _estimate(values: Floats) -> tuple[float, float]:
    band = _over_runs(np.zeros(1), values[:, None])
    return float(band.mean[0]), float("nan") if band.half is None else float(band.half[0])
