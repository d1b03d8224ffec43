"""What broke in a run, and what it cost each flow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from xoff.analysis.tables import frame
from xoff.errors import UserError
from xoff.text import count_text, size_text, time_text

if TYPE_CHECKING:
    from xoff.runs.results import Run


@dataclass(frozen=True)
class Span:
    """A time in which something was broken, or a queue in a storm."""

    kind: str
    """As in the table of events, or `watchdog`."""
    target: str
    """What was broken."""
    start_ps: int
    """Since when."""
    end_ps: int
    """Until when; the end of the run if it was not whole again."""


def has_events(run: Run) -> bool:
    """Whether anything could break in a run; a run of an earlier version has no such tables."""
    return bool(run.manifest.get("failures"))


def spans(run: Run) -> list[Span]:
    """What was broken when, and the storms that watchdogs broke, by their beginning."""
    if not has_events(run):
        return []
    end = int(run.manifest["sim_time_ps"])
    found = [
        Span(row["kind"], row["target"], row["start_ps"], end if row["end_ps"] is None else row["end_ps"])
        for row in frame(run, "events").iter_rows(named=True)
    ]
    found += [
        Span("watchdog", row["port"], row["detected_ps"], end if row["restored_ps"] is None else row["restored_ps"])
        for row in frame(run, "watchdog").iter_rows(named=True)
    ]
    return sorted(found, key=lambda span: (span.start_ps, span.target))


def flows_hit(run: Run) -> pl.DataFrame:
    """Flows that lost data packets, most first, with their columns and `packets`, `lost_bytes`, `first_ps`."""
    lost = (
        frame(run, "drops")
        .filter(pl.col("data") & pl.col("flow").is_not_null())
        .group_by("flow")
        .agg(pl.col("packets").sum(), pl.col("lost_bytes").sum(), pl.col("first_ps").min())
        .with_columns(pl.col("flow").cast(pl.UInt32))
    )
    flows = frame(run, "flows")
    return (
        lost.join(flows, left_on="flow", right_on="id")
        .rename({"flow": "id"})
        .sort(["packets", "id"], descending=[True, False])
    )


def wait_text(row: Mapping[str, Any]) -> str:
    """How a flow that lost packets fared, as far as its own run says."""
    if row["fct_ps"] is None:
        return ", not complete" if row["size_bytes"] is not None else ""
    if row["ideal_fct_ps"] is None:
        return ""
    return f", complete {time_text(max(row['fct_ps'] - row['ideal_fct_ps'], 0))} later than alone in the network"


@dataclass(frozen=True)
class Costs:
    """What the events of a run cost its flows, against a run without them."""

    rows: list[dict[str, Any]]
    """By flow, the longest delay first: completion times and acknowledged bytes of both runs, `delay_ps`, packets
    lost and bytes sent again."""
    text: str
    """In words."""


def costs_of_events(run: Run, flows: int) -> Costs | None:
    """Run the scenario of `run` again without its events, and compare; `None` if it has no events.

    Raises
    ------
    UserError
        The run was not read from a folder.
    """
    from xoff.runs.library import run_as_meant

    if not run.manifest["scenario"].get("event"):
        return None
    if run.folder is None:
        raise UserError("a run without its events is made from the folder of a run")
    found = compared(run, run_as_meant(run.folder, sets={"event": []}))
    return Costs(found.to_dicts(), "\n".join([*_delays(found, flows), *_shortfalls(found, flows)]))


def _delays(found: pl.DataFrame, flows: int) -> list[str]:
    """What the events cost flows that are complete without them."""
    finished = found.filter(pl.col("without_ps").is_not_null())
    if finished.is_empty():
        return []
    later = finished.filter(pl.col("delay_ps") > 0)
    lines = [
        f"Without the events {len(later):,} of {count_text(len(finished), 'flow')} would have been complete earlier"
        + (f", by {time_text(int(later['delay_ps'].sum()))} in all" if len(later) else "")
        + "."
    ]
    lines += [
        f"  flow {row['id']} {row['src']}->{row['dst']}: {time_text(row['fct_ps'])} instead of "
        f"{time_text(row['without_ps'])}, {count_text(row['packets'], 'data packet')} lost"
        for row in later.head(flows).iter_rows(named=True)
    ]
    never = finished.filter(pl.col("fct_ps").is_null())
    if not never.is_empty():
        names = ", ".join(str(flow) for flow in never["id"].head(flows))
        verb = "was" if len(never) == 1 else "were"
        lines.append(f"  {count_text(len(never), 'flow')} would have been complete, and never {verb}: {names}")
    return lines


def _shortfalls(found: pl.DataFrame, flows: int) -> list[str]:
    """What the events cost flows that are not complete in either run, such as endless ones: bytes."""
    endless = found.filter(pl.col("without_ps").is_null() & pl.col("fct_ps").is_null())
    if endless.is_empty():
        return []
    short = pl.col("without_bytes").cast(pl.Int64) - pl.col("acked_bytes").cast(pl.Int64)
    less = endless.with_columns(short=short).filter(pl.col("short") > 0).sort(["short", "id"], descending=[True, False])
    lines = [
        f"Without the events {len(less):,} of {count_text(len(endless), 'flow')} that did not end would have sent more"
        + (f", {size_text(int(less['short'].sum()))} in all" if len(less) else "")
        + "."
    ]
    return lines + [
        f"  flow {row['id']} {row['src']}->{row['dst']}: {size_text(row['acked_bytes'])} instead of "
        f"{size_text(row['without_bytes'])}, {count_text(row['packets'], 'data packet')} lost"
        for row in less.head(flows).iter_rows(named=True)
    ]


def compared(run: Run, without: Run) -> pl.DataFrame:
    """Completion times and acknowledged bytes of each flow with events and without, longest delay first.

    `delay_ps` is null if one of the two runs did not complete the flow.
    """
    columns = ["id", "src", "dst", "size_bytes", "fct_ps", "acked_bytes"]
    both = (
        frame(run, "flows")
        .select(*columns, "retransmitted_bytes")
        .join(
            frame(without, "flows").select("id", without_ps=pl.col("fct_ps"), without_bytes=pl.col("acked_bytes")),
            on="id",
            how="left",
        )
    )
    delay = pl.col("fct_ps").cast(pl.Int64) - pl.col("without_ps").cast(pl.Int64)
    lost = flows_hit(run).select("id", "packets")
    return (
        both.join(lost, on="id", how="left")
        .with_columns(delay_ps=delay, packets=pl.col("packets").fill_null(0))
        .sort(["delay_ps", "id"], descending=[True, False], nulls_last=True)
    )
