"""Credits and their updates against what the links carry meanwhile."""

from __future__ import annotations

import polars as pl

from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import Finding
from xoff.text import count_text, rate_text, share_text, time_text

SYMBOLS = 65_536
"""Symbol times within which InfiniBand wants an update of credits."""
_SYMBOL_BITS = 40
"""Bits that a link of four lanes carries in a symbol time: 65,536 symbol times are 65.5 us at 4 x 10 Gbps."""
LONG_PERIOD = 4
"""Times a link's round trip from which the update period is called long."""


def few_credits(facts: Facts) -> Finding | None:
    """Buffers too small to keep their link busy."""
    if facts.flow_control not in ("cbfc", "ue_cbfc", "credit") or "credits" not in facts.ports.columns:
        return None
    few = facts.ports.filter(pl.col("credits") < pl.col("needed_credits"))
    few = few.with_columns(share=pl.col("credits") / pl.col("needed_credits")).sort("share", "port")
    if few.is_empty():
        return None
    port, has, needed = few.select("port", "credits", "needed_credits").row(0)
    key = "flow_control.buffer" if facts.flow_control in ("cbfc", "ue_cbfc") else "flow_control.credits"
    return Finding(
        "few_credits",
        "warning",
        f"too few credits for {count_text(len(few), 'link')}, which stall although nobody is in their way",
        (
            f"what comes in by {port} has {has:,} credits of the {needed:,} that it carries until one comes back: "
            f"about {share_text(has / needed)} of its rate",
        ),
        "fewer credits than the link spends until the first of them is back",
        (f"leave {key} out: it is then computed from each link",)
        + (("a shorter flow_control.update_period",) if facts.flow_control == "cbfc" else ()),
        ports=tuple(few["port"]),
    )


def long_update_period(facts: Facts) -> Finding | None:
    """T_c longer than the specification allows, or than the link's round trip by far."""
    period = facts.value("flow_control", "update_period") if facts.flow_control == "cbfc" else None
    if period is None or "delay_ps" not in facts.ports.columns or facts.ports.is_empty():
        return None
    fastest = int(facts.ports["rate_bps"].max())  # type: ignore[arg-type]
    allowed = SYMBOLS * _SYMBOL_BITS / fastest * 1e12
    frame = pl.lit(facts.frame_bytes * 8e12) / pl.col("rate_bps")
    trips = facts.ports.select(trip=pl.col("delay_ps").cast(pl.Float64) * 2 + frame * 2)
    trip = float(trips["trip"].max())  # type: ignore[arg-type]
    if period <= allowed and period < LONG_PERIOD * trip:
        return None
    beyond = period > allowed
    return Finding(
        "long_update_period",
        "warning" if beyond else "note",
        f"T_c is {time_text(period)}, " + ("beyond the specification" if beyond else "long for these links"),
        (
            f"a link's round trip with two frames takes {time_text(int(trip))}: buffers bridge T_c, and hold "
            f"{period / trip:.3g} times as much for it",
            f"the specification wants an update within {SYMBOLS:,} symbol times: {time_text(int(allowed))} at four "
            f"lanes that make {rate_text(fastest)}",
        ),
        f"T_c of {LONG_PERIOD} round trips of a link; a warning beyond {SYMBOLS:,} symbol times",
        ("a shorter flow_control.update_period", "flow_control.on_change true"),
    )
