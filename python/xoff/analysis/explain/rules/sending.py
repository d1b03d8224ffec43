"""What holds flows at their senders though the network is free, and timers of schemes and transport."""

from __future__ import annotations

import polars as pl

from xoff.analysis.explain.facts import WAITING, Facts
from xoff.analysis.explain.findings import Finding
from xoff.analysis.explain.quantities import bytes_in
from xoff.text import count_text, share_text, size_text, time_text

HELD_SHARE = 0.5
"""Share of its completion time for which a flow is held at its sender."""
FREE_SHARE = 0.1
"""Share of its completion time up to which the network's waiting counts as none."""
MANY = 0.1
"""Share of the flows from which it makes a warning."""
SLOW_TIMEOUT = 100
"""Base RTTs from which the retransmission timer is called slow."""


def window_limited(facts: Facts) -> Finding | None:
    """Windows too small for their path."""
    return _held(
        facts,
        "window",
        "window_limited",
        "a window below what the path holds",
        ("a larger window or initial window of the scheme", "host.ack_every 1, where ACKs are collected"),
    )


def rate_limited(facts: Facts) -> Finding | None:
    """Rates too low for a free network."""
    return _held(
        facts,
        "rate",
        "rate_limited",
        "their scheme's rate",
        ("a higher initial or minimum rate, larger steps or shorter timers of the scheme", "later marks"),
    )


def slow_sources(facts: Facts) -> Finding | None:
    """Sources slower than the network: nothing to repair."""
    return _held(
        facts,
        "source",
        "slow_sources",
        "their source, which makes data too slowly",
        ("traffic.N.rate, if more was meant",),
    )


def _held(facts: Facts, part: str, rule: str, by: str, advice: tuple[str, ...]) -> Finding | None:
    parts = facts.parts
    if part not in parts.columns:
        return None
    network = pl.sum_horizontal(pl.lit(0), *(pl.col(name) for name in WAITING if name in parts.columns))
    shares = parts.with_columns(held=pl.col(part) / pl.col("fct_ps"), waiting=network / pl.col("fct_ps"))
    held = shares.filter((pl.col("held") >= HELD_SHARE) & (pl.col("waiting") < FREE_SHARE))
    held = held.sort(["held", "flow"], descending=[True, False])
    if held.is_empty():
        return None
    flow, share = held.select("flow", "held").row(0)
    evidence = [
        f"{len(held):,} of {count_text(len(parts), 'complete flow')}; flow {flow} for {share_text(share)} of its "
        f"{time_text(held['fct_ps'][0])}, and waited in the network for {share_text(held['waiting'][0])}"
    ]
    if part == "window" and facts.base_rtt_ps:
        rate = int(facts.ports["rate_bps"].max())  # type: ignore[arg-type]
        bdp = bytes_in(rate, facts.base_rtt_ps)
        evidence.append(f"the fastest link carries {size_text(bdp)} in a base RTT of {time_text(facts.base_rtt_ps)}")
    return Finding(
        rule,
        "warning" if part != "source" and len(held) >= MANY * len(parts) else "note",
        f"{count_text(len(held), 'flow')} held back by {by}",
        tuple(evidence),
        f"{share_text(HELD_SHARE)} of the completion time, and less than {share_text(FREE_SHARE)} queueing or paused"
        + ("" if part == "source" else f"; a warning from {share_text(MANY)} of the flows"),
        advice,
        flows=tuple(held["flow"]),
    )


def dcqcn_timers(facts: Facts) -> Finding | None:
    """DCQCN's timers run out between two CNPs of lasting congestion."""
    scheme = facts.section("scheme")
    interval = facts.value("scheme", "cnp_interval")
    if scheme.get("name") != "dcqcn" or scheme.get("variant") != "paper" or interval is None:
        return None
    timers = {key: facts.value("scheme", key) for key in ("alpha_timer", "increase_timer")}
    early = {key: time for key, time in timers.items() if time is not None and time <= interval}
    if not early:
        return None
    return Finding(
        "dcqcn_timers",
        "warning",
        "DCQCN recovers between two CNPs of lasting congestion",
        tuple(
            f"{key} is {time_text(time)}, and CNPs of a flow come {time_text(interval)} apart at the least"
            for key, time in early.items()
        ),
        "alpha_timer or increase_timer not above cnp_interval",
        tuple(f"scheme.{key} above {time_text(interval)}" for key in early),
    )


def retransmit_timeout(facts: Facts) -> Finding | None:
    """A retransmission timer that runs out before an ACK can come, or long after."""
    timeout = facts.value("host", "retransmit_timeout")
    if facts.scenario.get("lossy") is not True or timeout is None or facts.base_rtt_ps == 0:
        return None
    ratio = timeout / facts.base_rtt_ps
    if 2 <= ratio <= SLOW_TIMEOUT:
        return None
    short = ratio < 2
    evidence = [f"it is {time_text(timeout)}, and the base RTT {time_text(facts.base_rtt_ps)}"]
    if "recovery" in facts.parts.columns:
        share = int(facts.parts["recovery"].sum()) / max(int(facts.parts["fct_ps"].sum()), 1)
        evidence.append(f"flows spent {share_text(share)} of their time with recovery")
    return Finding(
        "retransmit_timeout",
        "warning" if short else "note",
        "the retransmission timer is " + ("shorter than two base RTTs" if short else "long"),
        tuple(evidence),
        f"less than 2 base RTTs, or more than {SLOW_TIMEOUT}",
        ("host.retransmit_timeout of some queueing delays above the base RTT",),
    )
