"""ECN's thresholds against PFC's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from xoff._xoff import red_thresholds
from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import Finding
from xoff.text import count_text, rate_text, size_text


def marks_after_pause(facts: Facts) -> Finding | None:
    """Kmax, or even Kmin, above Xoff: PFC stops the senders before marks tell them."""
    red, xoff = _red(facts), _xoff(facts)
    if red is None or xoff is None:
        return None
    switches = facts.ports.filter(pl.col("headroom_bytes").is_not_null()) if _tells(facts) else facts.ports
    late: list[tuple[int, int, int]] = []
    for rate in sorted(set(switches["rate_bps"].to_list())):
        thresholds = _thresholds(red, rate)
        if thresholds is not None and thresholds[1] > xoff:
            late.append((*thresholds, rate))
    if not late:
        return None
    worst = max(late)
    never = worst[0] >= xoff
    marked = int(facts.ports["marked_ce"].sum()) if "marked_ce" in facts.ports.columns else 0
    what = "Kmin" if never else "Kmax"
    inputs = int(worst[0 if never else 1] // xoff)
    stopped = "one input" if inputs == 1 else f"up to {count_text(inputs, 'input')}"
    return Finding(
        "marks_after_pause",
        "warning" if never else "note",
        f"{what} is above Xoff: with {stopped} PAUSE comes before " + ("any mark" if never else "marking is in full"),
        (
            *(
                f"ports of {rate_text(rate)} mark from {size_text(k_min)} and in full from {size_text(k_max)}; Xoff is "
                f"{size_text(xoff)} for each input"
                for k_min, k_max, rate in late
            ),
            f"{count_text(marked, 'packet')} marked CE, "
            f"{count_text(int(facts.ports['pause_frames_sent'].sum()), 'PAUSE frame')} sent",
        ),
        "Kmax above the bytes at which one input is stopped; a warning where Kmin is. With n inputs a queue may reach "
        "n times Xoff",
        ("lower detector.k_min and k_max", "a higher flow_control.xoff"),
    )


def _red(facts: Facts) -> Mapping[str, Any] | None:
    """RED's parameters, its own or those within another detector."""
    detector = facts.section("detector")
    if detector.get("name") == "np_ecn" and detector.get("rule") != "red":
        return None
    red = detector if detector.get("name") == "red" else detector.get("red")
    return red if isinstance(red, Mapping) else None


def _thresholds(red: Mapping[str, Any], rate_bps: int) -> tuple[int, int] | None:
    """Kmin and Kmax in bytes at a port's rate."""
    parameters = {key: value for key, value in red.items() if key != "name"}
    return red_thresholds(json.dumps(parameters), rate_bps)


def _tells(facts: Facts) -> bool:
    return "headroom_bytes" in facts.ports.columns


def _xoff(facts: Facts) -> float | None:
    """Bytes of one input and priority at which it is stopped: Xoff, or where the dynamic threshold comes to rest.

    With one input that fills a switch, q = alpha (S - q) of the shareable memory S, above its reserve.
    """
    thresholds = facts.thresholds()
    if thresholds is not None:
        return thresholds[0]
    section = facts.section("flow_control")
    alpha, buffer = section.get("alpha"), facts.value("switch", "buffer")
    reserve = facts.value("flow_control", "reserve")
    if alpha is None or buffer is None or reserve is None or section.get("alpha_by_rate") or not _tells(facts):
        return None
    switches = facts.ports.filter(pl.col("headroom_bytes").is_not_null())
    taken = switches.group_by("node").agg((pl.col("headroom_bytes") + reserve).sum() * facts.priorities)
    if taken.is_empty():
        return None
    shareable = buffer - max(taken["headroom_bytes"].to_list())
    return float(reserve + alpha * max(shareable, 0) / (1 + alpha))
