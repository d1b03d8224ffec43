"""What became of the run: deadlock, losses, flows that did not complete."""

from __future__ import annotations

import polars as pl

from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import Finding
from xoff.text import count_text, share_text, size_text, time_text


def deadlock(facts: Facts) -> Finding | None:
    """Ports wait on each other in a circle."""
    ports = [str(port) for port in facts.manifest.get("deadlock") or ()]
    if not ports:
        return None
    return Finding(
        "deadlock",
        "problem",
        f"a deadlock: {count_text(len(ports), 'port')} wait on each other for ever",
        (f"stopped for ever, first the ports of a circle, each waiting for the next: {', '.join(ports)}",),
        "any circle of stopped ports whose packets fill each other's buffers",
        (
            'routes without a circle of links: routing.name "spanning_trees", or "d_mod_k" in a fat-tree',
            "a scheme that keeps queues below the threshold, such as hpcc",
        ),
        ports=tuple(ports),
    )


def losses(facts: Facts) -> Finding | None:
    """Packets were dropped."""
    if not facts.drops.is_empty() and (facts.drops["cause"] != "buffer").all():
        return None  # what broke is to blame
    dropped = facts.ports.filter(pl.col("dropped") > 0).sort(["dropped", "port"], descending=[True, False])
    if dropped.is_empty():
        return None
    total, again = int(dropped["dropped"].sum()), 0
    if "retransmitted_bytes" in facts.flows.columns:
        again = int(facts.flows["retransmitted_bytes"].sum())
    worst = ", ".join(f"{port} ({count:,})" for port, count in dropped.select("port", "dropped").head(3).iter_rows())
    evidence = [f"{count_text(total, 'packet')} dropped that came in by {count_text(len(dropped), 'port')}: {worst}"]
    if again:
        acked = int(facts.flows["acked_bytes"].sum())
        evidence.append(f"{size_text(again)} sent again, {share_text(again / max(acked, 1))} of what was acknowledged")
    pfc = facts.flow_control == "pfc"
    advice = (
        ("leave flow_control.headroom out: it is then computed from each link", "a larger switch.buffer")
        if pfc
        else (
            "a larger switch.buffer",
            'flow control: flow_control.name "pfc"',
            "marking that begins at shorter queues",
        )
    )
    return Finding(
        "losses",
        "problem" if pfc else "warning",
        "ports over their headroom: packets were dropped" if pfc else "packets were dropped and sent again",
        tuple(evidence),
        "any packet dropped",
        advice,
        ports=tuple(dropped["port"]),
    )


def unfinished(facts: Facts) -> Finding | None:
    """Flows with a size had not completed when the run ended."""
    left = facts.flows.filter(pl.col("fct_ps").is_null() & pl.col("size_bytes").is_not_null())
    if left.is_empty():
        return None
    flows = left.sort("id")["id"].to_list()
    evidence = [
        f"{len(left):,} of {count_text(len(facts.flows), 'flow')} had not completed after "
        f"{time_text(facts.sim_time_ps)}: {facts.manifest.get('stop_reason', 'the run ended')}"
    ]
    if not facts.breakdown.is_empty():
        held = (
            facts.breakdown.filter(pl.col("flow").is_in(flows))
            .group_by("part")
            .agg(pl.col("time_ps").sum())
            .sort(["time_ps", "part"], descending=[True, False])
        )
        total = max(int(held["time_ps"].sum()), 1)
        parts = ", ".join(f"{part} {share_text(ps / total)}" for part, ps in held.head(3).iter_rows())
        evidence.append(f"until then their senders' time was: {parts}")
    return Finding(
        "unfinished",
        "problem" if facts.manifest.get("deadlock") else "warning",
        f"{count_text(len(left), 'flow')} did not complete",
        tuple(evidence),
        "any flow of a size without a completion time",
        ("let time pass until nothing is left that could happen, and close the session then",)
        if "session" in facts.manifest
        else ("a longer run.duration, or none",),
        flows=tuple(flows),
    )
