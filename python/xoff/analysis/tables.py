"""What is computed from a run's tables for figures, the report and the command line. No drawing here.

Percentiles interpolate linearly between the two nearest ranks. Slowdowns count completed flows only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from xoff._xoff import slowdown_statistics as slowdown_numbers
from xoff.analysis.columns import as_numpy, rows_of

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl
    import pyarrow as pa

    from xoff.runs.results import Run

    Floats = npt.NDArray[np.float64]

STATISTICS = ("mean", "p50", "p95", "p99")
"""Statistics of slowdown, in the order shown."""


@dataclass(frozen=True)
class SizeBins:
    """Slowdown statistics of the flows in each size bin."""

    place: npt.NDArray[np.int64]
    """Number of the bin among those of the edges."""
    low_bytes: Floats
    """Smallest flow of the bin, in bytes."""
    high_bytes: Floats
    """Largest flow of the bin, in bytes."""
    median_bytes: Floats
    """Median flow size of the bin, in bytes."""
    count: npt.NDArray[np.int64]
    """Flows in the bin."""
    statistics: dict[str, Floats]
    """Slowdown by statistic."""


@dataclass(frozen=True)
class Series:
    """A quantity over time."""

    name: str
    """What it belongs to: a port, a flow."""
    time_ps: Floats
    """Time in ps."""
    value: Floats
    """The quantity, in the unit of its column."""


def frame(run: Run, table: str) -> pl.DataFrame:
    """A table of `run` as polars, names as text; of `queues` the rows of whole ports, not of single priorities."""
    import polars as pl

    read = run.table(table)
    if read.num_columns == 0:
        return pl.DataFrame()
    data = pl.DataFrame(read)
    if table == "queues" and "priority" in data.columns:
        data = data.filter(pl.col("priority").is_null()).drop("priority")
    return data.with_columns(pl.col(pl.Categorical).cast(pl.String))


def slowdown_statistics(slowdown: Floats) -> dict[str, float]:
    """Mean and percentiles of a set of slowdowns that is not empty."""
    return slowdown_numbers(slowdown.tolist()) or {}


def hol_blocked(run: Run) -> int | None:
    """Flows that head-of-line blocking held up; `None` if the run did not record congestion roots."""
    flows = run.table("flows")
    if "hol_blocked" not in flows.column_names or flows["hol_blocked"].null_count == flows.num_rows:
        return None
    return int(as_numpy(flows["hol_blocked"]).sum())


@dataclass(frozen=True)
class Endings:
    """How the flows of a run ended."""

    completed: int
    """Completed, or stopped when they were told to."""
    stopped: int
    """Flows among the completed that stopped before they had sent their size: they have no slowdown."""
    incomplete: int
    """Flows that had not sent their size when the run ended."""


def endings(run: Run) -> Endings:
    """How the flows of `run` ended; a flow without a size that lasts until the end of the run does not count."""
    flows = run.table("flows")
    if flows.num_rows == 0:
        return Endings(0, 0, 0)
    done = as_numpy(flows["fct_ps"].is_valid())
    sized = as_numpy(flows["size_bytes"].is_valid())
    whole = as_numpy(flows["slowdown"].is_valid())
    count = np.count_nonzero
    return Endings(int(count(done)), int(count(done & sized & ~whole)), int(count(sized & ~done)))


def labels_of(run: Run) -> list[str]:
    """The labels of its flows, each once."""
    flows = run.table("flows")
    return [str(name) for name in flows["label"].unique().to_pylist()] if "label" in flows.column_names else []


def _flows(run: Run, label: str | None) -> pa.Table:
    """Its flows, or those of one label."""
    flows = run.table("flows")
    if label is None or "label" not in flows.column_names:
        return flows
    return rows_of(flows, "label", label)


def slowdowns(run: Run, label: str | None = None) -> Floats:
    """Slowdown of every flow that sent all of its size, in the order of the table; only those of `label` if given."""
    flows = _flows(run, label)
    if "slowdown" not in flows.column_names:
        return np.zeros(0)
    return as_numpy(flows["slowdown"].drop_null()).astype(np.float64)


def size_edges(runs: Sequence[Run], bins: int = 10, label: str | None = None) -> Floats:
    """Upper sizes of `bins` groups with about equally many completed flows, over all runs together, in bytes.

    Fewer groups, one for each size, if flows have few different sizes.
    """
    pooled = np.concatenate([_sized(run, label)[0] for run in runs]) if runs else np.zeros(0)
    if len(pooled) == 0:
        return np.zeros(0)
    distinct = np.unique(pooled)
    if len(distinct) <= bins:
        return distinct
    quantiles = np.percentile(pooled, np.linspace(0, 100, bins + 1)[1:], method="inverted_cdf")
    return np.unique(quantiles)


def slowdown_by_size(run: Run, edges: Floats, label: str | None = None) -> SizeBins:
    """Statistics of slowdown for the flows between successive `edges` (see `size_edges`); empty bins left out."""
    size, slowdown = _sized(run, label)
    place = np.searchsorted(edges, size, side="left")
    rows = []
    for index in range(len(edges)):
        inside = place == index
        if inside.any():
            sizes = size[inside]
            rows.append(
                (
                    index,
                    sizes.min(),
                    sizes.max(),
                    np.median(sizes),
                    sizes.size,
                    slowdown_statistics(slowdown[inside]),
                )
            )
    return SizeBins(
        place=np.array([row[0] for row in rows], dtype=np.int64),
        low_bytes=np.array([row[1] for row in rows]),
        high_bytes=np.array([row[2] for row in rows]),
        median_bytes=np.array([row[3] for row in rows]),
        count=np.array([row[4] for row in rows], dtype=np.int64),
        statistics={name: np.array([row[5][name] for row in rows]) for name in STATISTICS},
    )


def cdf(values: Floats, points: int = 1000) -> tuple[Floats, Floats]:
    """The empirical distribution: values in order, and the share of values that are no larger.

    At most `points` of them, the tail kept in full detail: half are spread evenly, half over the last hundredth.
    """
    ordered = np.sort(values)
    share = np.arange(1, len(ordered) + 1) / max(len(ordered), 1)
    if len(ordered) <= points:
        return ordered, share
    tail = int(len(ordered) * 0.99)
    picks = np.unique(
        np.concatenate(
            [
                np.linspace(0, tail, points // 2).astype(np.int64),
                np.linspace(tail, len(ordered) - 1, points - points // 2).astype(np.int64),
            ]
        )
    )
    return ordered[picks], share[picks]


def thin(time_ps: Floats, value: Floats, points: int = 4000) -> tuple[Floats, Floats]:
    """At most about `points` of a series, the smallest and the largest of each stretch kept, and both ends."""
    if len(value) <= points:
        return time_ps, value
    edges = np.linspace(0, len(value), max(points // 2, 1) + 1).astype(np.int64)
    picks = {0, len(value) - 1}
    for low, high in pairwise(edges):
        picks.add(int(low + np.argmin(value[low:high])))
        picks.add(int(low + np.argmax(value[low:high])))
    kept = np.array(sorted(picks))
    return time_ps[kept], value[kept]


def all_ports(run: Run, table: str, column: str) -> list[Series]:
    """`column` of a sampled table for each port, in the order of names; priorities apart if there are several."""
    import polars as pl

    data = frame(run, table)
    if data.is_empty():
        return []
    named = pl.col("port")
    if "priority" in data.columns and data["priority"].n_unique() > 1:
        named = pl.format("{} priority {}", "port", "priority")
    parts = data.with_columns(named.alias("_name")).sort("time_ps").partition_by("_name", as_dict=True)
    return sorted((_series(str(name), part, column) for (name,), part in parts.items()), key=lambda each: each.name)


def busiest(run: Run, table: str, column: str, top: int) -> list[Series]:
    """The `top` of `all_ports` by greatest value, then by mean, without those that are always zero."""
    found = [series for series in all_ports(run, table, column) if series.value.max() > 0]
    return sorted(found, key=lambda each: (-each.value.max(), -each.value.mean(), each.name))[:top]


def sampled_rates(run: Run) -> pl.DataFrame:
    """The table of rates with its rows at the moments of sampling.

    A flow's first and last interval is shorter than the others, and a single packet in a very short one is a rate
    beyond any link's. Here `sent_bps` and `goodput_bps` are means over the whole interval between two samples in which
    the row lies, with zero for the rest of it, and `time_ps` is its end or that of the run. A flow has one row in each.
    """
    import polars as pl

    data, interval = frame(run, "rates"), run.manifest.get("sample_interval_ps")
    if data.is_empty() or interval is None:
        return data
    begin = (pl.col("time_ps") - 1) // interval * interval
    end = pl.min_horizontal(begin + interval, pl.lit(run.manifest["sim_time_ps"], pl.UInt64))
    share = pl.col("interval_ps") / (end - begin)
    means = (pl.col(name) * share for name in ("sent_bps", "goodput_bps"))
    return data.with_columns(end.alias("time_ps"), *means)


def flow_rates(
    run: Run, column: str = "sent_bps", max_flows: int = 20, label: str | None = None
) -> tuple[list[Series], int]:
    """The rate of each recorded flow over time (see `sampled_rates`), and how many flows were recorded.

    Only flows of `label` if given. One series for each flow, or one of their sum if there are more than `max_flows`.
    """
    import polars as pl

    data = sampled_rates(run)
    if data.is_empty():
        return [], 0
    if label is not None:
        data = data.filter(pl.col("flow").is_in(_flows(run, label)["id"].to_pylist()))
        if data.is_empty():
            return [], 0
    flows = data["flow"].unique().sort().to_list()
    if len(flows) > max_flows:
        total = data.group_by("time_ps").agg(pl.col(column).sum()).sort("time_ps")
        return [_series(f"sum of {len(flows)} flows", total, column)], len(flows)
    parts = data.sort("time_ps").partition_by("flow", as_dict=True)
    named = frame(run, "flows").filter(pl.col("id").is_in(flows)).select("id", "src", "dst")
    names = {flow: f"{flow}: {src}->{dst}" for flow, src, dst in named.iter_rows()}
    return [_series(names.get(flow, f"flow {flow}"), parts[(flow,)], column) for flow in flows], len(flows)


def stopped_ports(run: Run) -> Series | None:
    """How many ports (each priority apart) stand still by PAUSE, at each moment that it changes."""
    data = frame(run, "pauses")
    if data.is_empty():
        return None
    start = data["start_ps"].to_numpy().astype(np.float64)
    end = start + data["length_ps"].to_numpy().astype(np.float64)
    times = np.concatenate([start, end])
    steps = np.concatenate([np.ones(len(start)), -np.ones(len(end))])
    moments, place = np.unique(times, return_inverse=True)
    change = np.bincount(place, weights=steps, minlength=len(moments))
    return Series("stopped ports", moments, np.cumsum(change))


def paused_by_port(run: Run) -> pl.DataFrame:
    """For each port that was stopped: `port`, `paused_ps` in all, and `times`; longest first."""
    import polars as pl

    data = frame(run, "pauses")
    if data.is_empty():
        return pl.DataFrame(schema={"port": pl.String, "paused_ps": pl.UInt64, "times": pl.UInt32})
    return (
        data.group_by("port")
        .agg(pl.col("length_ps").sum().alias("paused_ps"), pl.len().alias("times"))
        .sort(["paused_ps", "port"], descending=[True, False])
    )


def _sized(run: Run, label: str | None = None) -> tuple[Floats, Floats]:
    flows = _flows(run, label)
    if not {"size_bytes", "slowdown"} <= set(flows.column_names):
        return np.zeros(0), np.zeros(0)
    done = flows.select(["size_bytes", "slowdown"]).drop_null()
    return (
        as_numpy(done["size_bytes"]).astype(np.float64),
        as_numpy(done["slowdown"]).astype(np.float64),
    )


def _series(name: str, data: pl.DataFrame, column: str) -> Series:
    return Series(
        name,
        data["time_ps"].to_numpy().astype(np.float64),
        data[column].to_numpy().astype(np.float64),
    )
