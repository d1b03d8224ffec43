"""Errors on links: frames that were lost by them, and what link-level retry made of them."""

from __future__ import annotations

import polars as pl

from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import Finding
from xoff.text import count_text, share_text, size_text, time_text

_LISTED = 3
"""Ports that the evidence names."""

_MANY = 0.01
"""Share of a port's frames sent again from which retries are a warning."""


def link_errors(facts: Facts) -> Finding | None:
    """Links lost frames by their steady errors."""
    if facts.drops.is_empty():
        return None
    lost = facts.drops.filter((pl.col("cause") == "bit_errors") & pl.col("id").is_null())
    if lost.is_empty():
        return None
    by_port = lost.group_by("port").agg(pl.col("packets").sum()).sort(["packets", "port"], descending=[True, False])
    total = int(by_port["packets"].sum())
    worst = ", ".join(f"{port} ({count:,})" for port, count in by_port.head(_LISTED).iter_rows())
    evidence = [f"{count_text(total, 'packet')} lost on {count_text(len(by_port), 'port')}: {worst}"]
    if "retransmitted_bytes" in facts.flows.columns:
        again, acked = int(facts.flows["retransmitted_bytes"].sum()), int(facts.flows["acked_bytes"].sum())
        if again:
            evidence.append(f"senders sent {size_text(again)} again, beside {size_text(acked)} that was acknowledged")
    return Finding(
        "link_errors",
        "warning",
        f"errors on links lost {count_text(total, 'packet')}",
        tuple(evidence),
        "any packet lost by link.ber or link.frame_loss",
        ("link.llr = {} has each link send lost frames again by itself",),
        ports=tuple(by_port["port"]),
    )


def link_retries(facts: Facts) -> Finding | None:
    """Link-level retry sent frames again, or waited with a full replay buffer."""
    table = facts.retries
    if table.is_empty():
        return None
    table = table.filter((pl.col("replayed") > 0) | (pl.col("full_ps") > 0))
    if table.is_empty():
        return None
    worst = table.sort(["replayed", "full_ps", "port"], descending=[True, True, False])
    evidence = []
    for row in worst.head(_LISTED).iter_rows(named=True):
        sent = row["frames"] + row["replayed"]
        timer = f", {count_text(row['timeouts'], 'timeout')}" if row["timeouts"] else ""
        full = f", replay buffer full for {time_text(row['full_ps'])}" if row["full_ps"] else ""
        evidence.append(
            f"{row['port']}: {row['corrupt']:,} of {count_text(sent, 'frame')} spoiled, "
            f"{row['replayed']:,} sent again, {share_text(row['replayed'] / max(sent, 1))}{timer}{full}"
        )
    corrupt, replayed = int(table["corrupt"].sum()), int(table["replayed"].sum())
    share = max(float(r["replayed"]) / max(r["frames"] + r["replayed"], 1) for r in worst.iter_rows(named=True))
    waits = int(table["full_ps"].sum())
    title = (
        f"links repaired {count_text(corrupt, 'spoiled frame')} by sending {replayed:,} again"
        if replayed
        else f"replay buffers were full for {time_text(waits)}"
    )
    return Finding(
        "link_retries",
        "warning" if share >= _MANY or waits else "note",
        title,
        tuple(evidence),
        f"a warning from {share_text(_MANY)} of a port's frames, and for any wait for a full replay buffer",
        (
            ("a larger link.llr.replay_buffer, or none: it is then computed from each link",)
            if waits and facts.manifest["scenario"]["link"]["llr"].get("replay_buffer")
            else ()
        ),
        ports=tuple(worst["port"]),
    )
