"""Ternary detection's max(T_on) against the longest ON that its link can have."""

from __future__ import annotations

from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import Finding
from xoff.text import time_text

FAR = 4
"""Times the lowest max(T_on) beyond which detection is called slow."""


def max_on(facts: Facts) -> Finding | None:
    """max(T_on) given, and shorter than an ON can be, or far longer."""
    detector = facts.section("detector")
    given = facts.value("detector", "max_on") if detector.get("name") == "tcd" else None
    if given is None:
        return None
    lowest = _by_credits(facts) if facts.flow_control == "cbfc" else _by_pauses(facts)
    if lowest is None or lowest <= given <= FAR * lowest:
        return None
    short = given < lowest
    return Finding(
        "max_on",
        "warning" if short else "note",
        f"max(T_on) is {time_text(given)}, " + ("shorter than an ON may last" if short else "far longer than needed"),
        (
            f"by the link and the thresholds an ON lasts up to {time_text(int(lowest))}"
            + (
                ": a port between two pauses counts as determined, and victims are marked CE"
                if short
                else f": a congested port counts as undetermined for {time_text(int(given - lowest))} more"
            ),
        ),
        f"below the equation's max(T_on) of the slowest port, or more than {FAR} times it",
        ("leave detector.max_on out: it is then computed for each port",),
    )


def _by_credits(facts: Facts) -> float | None:
    period = facts.value("flow_control", "update_period")
    share = facts.section("detector").get("share", 1.0)
    return None if period is None else period / float(share)


def _by_pauses(facts: Facts) -> float | None:
    """TCD's Eq. 3 at its worst port: (2 (Xoff - Xon) + tau C) / (2 epsilon C) + tau, tau = 2 MTU/C + 2 t_p."""
    if facts.stops.is_empty() or "delay_ps" not in facts.ports.columns:
        return None
    between = max((facts.stops["xoff"] - facts.stops["xon"]).to_list())
    epsilon = float(facts.section("detector").get("epsilon", 0.05))
    longest = 0.0
    for rate, delay in facts.ports.select("rate_bps", "delay_ps").unique().iter_rows():
        c = rate / 8e12  # bytes a ps
        tau = 2 * facts.frame_bytes / c + 2 * delay
        longest = max(longest, (2 * between + tau * c) / (2 * epsilon * c) + tau)
    return longest or None
