"""ECN's thresholds against PFC's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from xoff._xoff import red_thresholds
from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import Finding
from xoff.text import count_text, rate_text, size_text


@dataclass(frozen=True)
class _Late:
    """Ports that mark only after PAUSE."""

    rate_bps: int
    k_min: float
    k_max: float
    stop: float
    """Bytes of a queue at which those who fill it are stopped."""
    inputs: int
    """Inputs that fill it."""

    @property
    def evidence(self) -> str:
        """Both thresholds, in words."""
        marks = f"ports of {rate_text(self.rate_bps)} mark from {size_text(self.k_min)} and in full from "
        each = "for each input" if self.inputs == 1 else f"for the {self.inputs} inputs that bring as much, together"
        return f"{marks}{size_text(self.k_max)}; Xoff is {size_text(self.stop)} {each}"


def marks_after_pause(facts: Facts) -> Finding | None:
    """Kmax, or even Kmin, above Xoff: PFC stops the senders before marks tell them."""
    red = _red(facts)
    if red is None:
        return None
    late = []
    for rate, (stop, inputs) in sorted(_stops(facts).items()):
        thresholds = _thresholds(red, rate)
        if thresholds is not None and thresholds[1] > stop:
            late.append(_Late(rate, *thresholds, stop, inputs))
    if not late:
        return None
    never = any(each.k_min >= each.stop for each in late)
    what = "Kmin" if never else "Kmax"
    most = max(int((each.k_min if never else each.k_max) * each.inputs // each.stop) for each in late)
    fill = "one input fills" if most == 1 else f"up to {most} inputs fill"
    marked = int(facts.ports["marked_ce"].sum()) if "marked_ce" in facts.ports.columns else 0
    return Finding(
        "marks_after_pause",
        "warning" if never else "note",
        f"{what} is above Xoff: while {fill} a queue, PAUSE comes before "
        + ("any mark" if never else "marking is in full"),
        (
            *(each.evidence for each in late),
            f"{count_text(marked, 'packet')} marked CE, "
            f"{count_text(int(facts.ports['pause_frames_sent'].sum()), 'PAUSE frame')} sent",
        ),
        "Kmax above the bytes at which one input is stopped, or as many as bring what the port sends; a warning where "
        "Kmin is. With n inputs a queue may reach n times Xoff",
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


def _stops(facts: Facts) -> dict[int, tuple[float, int]]:
    """For each rate of switches' ports, bytes at which inputs that fill such a port's queue are stopped, and how many.

    They are the inputs of one rate that together bring the port's rate, and are stopped first. With dynamic thresholds,
    one input.
    """
    if "headroom_bytes" not in facts.ports.columns:
        return {}
    if facts.stops.is_empty():
        rest = _at_rest(facts)
        rates = facts.ports.filter(pl.col("headroom_bytes").is_not_null())["rate_bps"].unique()
        return {} if rest is None else dict.fromkeys(rates, (rest, 1))
    found: dict[int, tuple[float, int]] = {}
    inputs = facts.stops.group_by("node", "rate_bps").agg(pl.len(), pl.col("xoff").min())
    for switch in inputs.partition_by("node"):
        for rate in switch["rate_bps"]:
            for brought, ports, xoff in switch.select("rate_bps", "len", "xoff").iter_rows():
                number = -(-rate // brought)
                # A port brings nothing into its own queue.
                if number <= ports - (brought == rate):
                    stop = (float(number * xoff), number)
                    found[rate] = min(found.get(rate, stop), stop)
    return found


def _at_rest(facts: Facts) -> float | None:
    """Bytes at which PFC's dynamic threshold comes to rest with one input that fills a switch; `None` without.

    q = alpha (S - q) of the shareable memory S, above the input's reserve.
    """
    section = facts.section("flow_control")
    alpha, buffer = section.get("alpha"), facts.value("switch", "buffer")
    reserve = facts.value("flow_control", "reserve")
    if alpha is None or buffer is None or reserve is None or section.get("alpha_by_rate"):
        return None
    switches = facts.ports.filter(pl.col("headroom_bytes").is_not_null())
    taken = switches.group_by("node").agg((pl.col("headroom_bytes") + reserve).sum() * facts.priorities)
    if taken.is_empty():
        return None
    shareable = buffer - max(taken["headroom_bytes"].to_list())
    return float(reserve + alpha * max(shareable, 0) / (1 + alpha))
