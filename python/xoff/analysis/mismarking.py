"""Marks held against the ground truth: which ports were congestion roots when they marked. No drawing here.

A mark CE is *false* if the queue that gave it was no congestion root at that moment: what waited there would not have
waited without the stops of flow control. docs/model.md says what a root is.
Runs need `record.marks` and `record.roots`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xoff.analysis.tables import frame

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from xoff.runs.results import Run

    Numbers = npt.NDArray[np.int64]


def checked_marks(run: Run) -> pl.DataFrame:
    """The rows of `marks` that say CE, with `priority` of their flow, and `false`: the queue was no root then.

    A root counts at its first and its last moment too. Rows of a run without recorded roots have no `false`.
    """
    import polars as pl

    flows = frame(run, "flows").select(pl.col("id").alias("flow"), "priority")
    marks = frame(run, "marks").filter(pl.col("mark") == "ce").join(flows, on="flow", how="left", maintain_order="left")
    if not _records_roots(run):
        return marks.with_columns(pl.lit(None, pl.Boolean).alias("false"))
    spans = _root_spans(run)
    time = marks["time_ps"].to_numpy().astype(np.int64)
    wrong = np.ones(len(marks), dtype=np.bool_)
    rows = marks.with_row_index("_row").partition_by("port", "priority", as_dict=True)
    for queue, part in rows.items():
        if queue in spans:
            start, end = spans[queue]
            own = part["_row"].to_numpy()
            # Roots of one queue do not overlap: only the latest that has begun can still last.
            latest = np.searchsorted(start, time[own], side="right") - 1
            wrong[own] = (latest < 0) | (end[latest] < time[own])
    return marks.with_columns(pl.Series("false", wrong))


def mismarked_flows(run: Run, label: str | None = None) -> pl.DataFrame:
    """The flows, or those with this label, each with `ce`, packets marked CE on its way, and `false_ce`, falsely so.

    `false_ce` is null if congestion roots were not recorded.
    """
    import polars as pl

    flows = frame(run, "flows").select(pl.col("id").alias("flow"), "label")
    if label is not None:
        flows = flows.filter(pl.col("label") == label)
    unknown = not _records_roots(run)
    counts = (
        checked_marks(run)
        .group_by("flow")
        .agg(ce=pl.len(), false_ce=pl.lit(None, pl.UInt32) if unknown else pl.col("false").sum())
    )
    joined = flows.join(counts, on="flow", how="left", maintain_order="left").with_columns(pl.col("ce").fill_null(0))
    return joined if unknown else joined.with_columns(pl.col("false_ce").fill_null(0))


def _records_roots(run: Run) -> bool:
    flows = frame(run, "flows")
    return "hol_blocked" in flows.columns and (flows.is_empty() or flows["hol_blocked"].null_count() < len(flows))


def _root_spans(run: Run) -> dict[tuple[object, ...], tuple[Numbers, Numbers]]:
    """By port and priority: when the queue became a root and when it ceased to be one, in order."""
    roots = frame(run, "roots").sort("start_ps").partition_by("port", "priority", as_dict=True)
    return {
        queue: (
            (start := each["start_ps"].to_numpy().astype(np.int64)),
            start + each["length_ps"].to_numpy().astype(np.int64),
        )
        for queue, each in roots.items()
    }
