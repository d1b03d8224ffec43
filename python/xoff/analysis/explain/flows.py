"""The worst flows, and where their time went."""

from __future__ import annotations

from typing import Any

import polars as pl

from xoff.analysis.explain.facts import WAITING, Facts
from xoff.analysis.explain.findings import FlowTime, Share


def worst_flows(facts: Facts, count: int) -> tuple[FlowTime, ...]:
    """The flows that fared worst: those of a size that did not complete, then by slowdown, then the longest.

    Among endless flows, those with the fewest bytes acknowledged come first.
    """
    unfinished = pl.col("fct_ps").is_null() & pl.col("size_bytes").is_not_null()
    by = [unfinished, pl.col("slowdown"), pl.col("fct_ps"), pl.col("acked_bytes"), pl.col("id")]
    order = facts.flows.sort(by, descending=[True, True, True, False, False], nulls_last=True)
    rows = order.head(count).iter_rows(named=True)
    return tuple(_flow_time(facts, row) for row in rows)


def _flow_time(facts: Facts, row: dict[str, Any]) -> FlowTime:
    shares = _shares(facts, row["id"])
    until_the_end = max(facts.sim_time_ps - int(row.get("start_ps") or 0), 0)
    return FlowTime(
        flow=row["id"],
        src=row["src"],
        dst=row["dst"],
        nic=row.get("nic") if facts.has_several_nics(row["src"]) else None,
        size_bytes=row["size_bytes"],
        fct_ps=row["fct_ps"],
        time_ps=until_the_end if row["fct_ps"] is None else row["fct_ps"],
        slowdown=row["slowdown"],
        shares=shares,
    )


def _shares(facts: Facts, flow: int) -> tuple[Share, ...]:
    if facts.breakdown.is_empty():
        return ()
    own = facts.breakdown.filter(pl.col("flow") == flow)
    return _as_shares(own.sort(["time_ps", "leg", "part", "port"], descending=[True, False, False, False]))


def _as_shares(rows: pl.DataFrame) -> tuple[Share, ...]:
    return tuple(Share(*row) for row in rows.select("leg", "part", "port", "time_ps").iter_rows())


def totals(facts: Facts) -> dict[str, int]:
    """The time of all complete flows by part, in ps, longest first; empty if it was not recorded."""
    parts = facts.parts
    if parts.is_empty():
        return {}
    sums = {name: int(parts[name].sum()) for name in parts.columns if name not in ("flow", "fct_ps")}
    return {name: ps for name, ps in sorted(sums.items(), key=lambda item: (-item[1], item[0])) if ps}


def longest_waits(facts: Facts, count: int) -> tuple[Share, ...]:
    """Where all complete flows together waited most, by leg, part and port."""
    if facts.parts.is_empty():
        return ()
    waits = facts.breakdown.filter(pl.col("part").is_in(WAITING) & pl.col("flow").is_in(facts.parts["flow"].to_list()))
    sums = waits.group_by("leg", "part", "port").agg(pl.col("time_ps").sum())
    return _as_shares(sums.sort(["time_ps", "leg", "part", "port"], descending=[True, False, False, False]).head(count))
