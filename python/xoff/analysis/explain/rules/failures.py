"""What broke, and whom it cost what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import Finding
from xoff.analysis.failures import flows_hit, wait_text
from xoff.text import count_text, size_text, time_text

_LISTED = 3
"""Entries of a kind that the evidence names."""

WORDS = {
    "link_down": "the link of {} was down",
    "degrade": "the link of {} was slow",
    "bit_errors": "the link of {} lost frames",
    "switch_reboot": "{} rebooted",
    "pause_storm": "{} babbled PAUSE",
    "receiver_stop": "{} took no data",
    "receiver_slow": "{} took data slowly",
}
"""What broke, by its kind in the table of events."""


_ADVICE = {
    "link_down": "routing.convergence says how long routing takes to avoid a dead link",
    "pause_storm": "switch.watchdog drops what waits behind a storm, and lets the others go on",
}
"""What may help, by kind."""


def _is_set(facts: Facts, kind: str) -> bool:
    """Whether the scenario has what the advice for this kind of event names."""
    scenario = facts.manifest["scenario"]
    return bool(scenario["switch"].get("watchdog")) if kind == "pause_storm" else "convergence" in scenario["routing"]


def _span(row: Mapping[str, Any]) -> str:
    end = "to the end" if row["end_ps"] is None else f"to {time_text(row['end_ps'])}"
    return f"from {time_text(row['start_ps'])} {end}"


def broken(facts: Facts) -> Finding | None:
    """Links, switches, NICs or receivers broke, and packets or time were lost."""
    events = facts.events
    if events.is_empty():
        return None
    evidence = []
    worst = events.sort(["lost_packets", "id"], descending=[True, False])
    for row in worst.head(_LISTED).iter_rows(named=True):
        what = WORDS.get(row["kind"], row["kind"] + " {}").format(row["target"])
        cost = (
            f"{count_text(row['lost_packets'], 'packet')} of {count_text(row['flows'], 'flow')} lost, "
            f"{size_text(row['lost_bytes'])}"
            if row["lost_packets"]
            else "it lost no packet itself"
        )
        evidence.append(f"{what} {_span(row)}: {cost}")
    hit = flows_hit(facts.run)
    for row in hit.head(_LISTED).iter_rows(named=True):
        again = f", {size_text(row['retransmitted_bytes'])} sent again" if row["retransmitted_bytes"] else ""
        evidence.append(
            f"flow {row['id']} {row['src']}->{row['dst']}: {count_text(row['packets'], 'data packet')} lost{again}"
            f"{wait_text(row)}"
        )
    if len(hit) > _LISTED:
        rest = hit[_LISTED:]
        evidence.append(
            f"{count_text(len(rest), 'other flow')} lost {count_text(int(rest['packets'].sum()), 'data packet')}"
        )
    first = worst.row(0, named=True)
    more = f", and {count_text(len(events) - 1, 'other event')}" if len(events) > 1 else ""
    title = WORDS.get(first["kind"], first["kind"] + " {}").format(first["target"])
    return Finding(
        "broken",
        "problem" if facts.manifest["failures"]["unfinished_flows"] else "warning",
        f"{title} {_span(first)}{more}",
        tuple(evidence),
        "any [[event]] that came",
        (
            "xoff explain RUN --without-events: the scenario again without its events, for what they cost each flow",
            *(_ADVICE[kind] for kind in _ADVICE if kind in set(events["kind"]) and not _is_set(facts, kind)),
        ),
        ports=tuple(str(target) for target in worst["target"] if "->" in str(target)),
        flows=tuple(hit["id"].to_list()),
    )


def storms(facts: Facts) -> Finding | None:
    """A PFC watchdog found queues that PAUSE kept still."""
    found = facts.watchdog
    if found.is_empty():
        return None
    by_port = found.sort(["dropped_packets", "port"], descending=[True, False])
    evidence = []
    for row in by_port.head(_LISTED).iter_rows(named=True):
        until = "until the end" if row["restored_ps"] is None else f"until {time_text(row['restored_ps'])}"
        dropped = (
            f"{count_text(row['dropped_packets'], 'packet')} dropped, {size_text(row['dropped_bytes'])}"
            if row["dropped_packets"]
            else "no packet dropped"
        )
        evidence.append(
            f"{row['port']} priority {row['priority']}: stopped by {row['by']} since {time_text(row['stopped_ps'])}, "
            f"found at {time_text(row['detected_ps'])}, {until}: {dropped}"
        )
    lost = facts.drops.filter((pl.col("cause") == "watchdog") & pl.col("flow").is_not_null())
    flows = lost.group_by("flow").agg(pl.col("packets").sum()).sort(["packets", "flow"], descending=[True, False])
    if not flows.is_empty():
        names = [f"flow {flow} ({packets:,})" for flow, packets in flows.head(_LISTED).iter_rows()]
        evidence.append(f"packets of {count_text(len(flows), 'flow')} were dropped, most of {', '.join(names)}")
    return Finding(
        "storms",
        "warning",
        f"the PFC watchdog broke {count_text(len(found), 'storm')}, first at {found.sort('detected_ps')['port'][0]}",
        tuple(evidence),
        "any queue that the watchdog found still for switch.watchdog.detection",
        ("the port that sent the PAUSE is where to look: a NIC that babbles, a receiver that stopped, or a deadlock",),
        ports=tuple(by_port["port"]),
        flows=tuple(flows["flow"].to_list()),
    )
