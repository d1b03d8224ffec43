"""Spans of time: unions of them, differences, and how much of a grid they cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Times = npt.NDArray[np.int64]


class Intervals:
    """A set of moments, as disjoint half-open intervals in ascending order."""

    def __init__(self, start: Times, end: Times) -> None:
        """The union of intervals in any order; empty ones are left out."""
        kept = end > start
        order = np.argsort(start[kept], kind="stable")
        start, end = start[kept][order], end[kept][order]
        if len(start):
            # A new interval begins where all before it have ended.
            reach = np.maximum.accumulate(end)
            first = np.concatenate([[True], start[1:] > reach[:-1]])
            last = np.concatenate([first[1:], [True]])
            start, end = start[first], reach[last]
        self.start: Times = start
        self.end: Times = end

    def __len__(self) -> int:
        return len(self.start)

    @property
    def total(self) -> int:
        """How much time is in the set."""
        return int((self.end - self.start).sum())

    def __or__(self, other: Intervals) -> Intervals:
        return Intervals(np.concatenate([self.start, other.start]), np.concatenate([self.end, other.end]))

    def __sub__(self, other: Intervals) -> Intervals:
        edges = np.unique(np.concatenate([self.start, self.end, other.start, other.end]))
        begin, end = edges[:-1], edges[1:]
        kept = self._has(begin) & ~other._has(begin)
        return Intervals(begin[kept], end[kept])

    def _has(self, moments: Times) -> npt.NDArray[np.bool_]:
        if not len(self):
            return np.zeros(len(moments), dtype=bool)
        place = np.searchsorted(self.start, moments, side="right") - 1
        return (place >= 0) & (moments < self.end[np.maximum(place, 0)])

    def covered(self, edges: Times) -> Times:
        """How much of each bin between two `edges` lies in the set."""
        if not len(self):
            return np.zeros(len(edges) - 1, dtype=np.int64)
        moments = np.stack([self.start, self.end], axis=1).reshape(-1)
        before = np.concatenate([[0], np.cumsum(self.end - self.start)])
        place = np.searchsorted(moments, edges, side="right")
        # An odd place is within an interval.
        inside = np.where(place % 2 == 1, edges - moments[np.maximum(place - 1, 0)], 0)
        return np.diff(before[place // 2] + inside)

    def closed(self, gap: int) -> Intervals:
        """The set without gaps shorter than `gap`."""
        if not len(self):
            return self
        wide = self.start[1:] - self.end[:-1] >= gap
        first, last = np.concatenate([[True], wide]), np.concatenate([wide, [True]])
        return Intervals(self.start[first], self.end[last])
