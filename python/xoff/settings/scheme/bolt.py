"""Congestion control: `bolt`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Bytes, Table, table

__all__ = ["bolt"]


def bolt(
    *,
    cc_threshold: Bytes | None = None,
    pru: bool | None = None,
    sm: bool | None = None,
    max_pru_tokens: int | None = None,
    ai: float | None = None,
    max_mdf: float | None = None,
    min_cwnd: float | None = None,
    max_cwnd: float | None = None,
) -> Table:
    """Bolt: window from messages and tokens of switches.

    Parameters
    ----------
    cc_threshold
        Queue length from which on a switch is congested: CC_THRESHOLD, in bytes. Default: a full packet on the wire,
        one MTU.
    pru
        Proactive ramp-up: tokens of flows that end. Default true.
    sm
        Supply matching: tokens of what the link has left over. Default true.
    max_pru_tokens
        The maximum number of PRU's tokens in a queue. Default 256 (the authors' simulator).
    ai
        Increase a round trip, in packets. Default 1 (the authors' simulator).
    max_mdf
        The cut of a window of at most a packet, and at a loss, as a share of the window, above 0 and below 1. Default
        0.5 (the authors' simulator).
    min_cwnd
        The minimum window, in packets. Default 0.01 (the authors' simulator: 15 B of 1,500).
    max_cwnd
        The maximum window, in packets. Default 256 (the authors' simulator, at 100 Gb/s), but at least the bandwidth-
        delay product of the flow's NIC.
    """
    return table(
        {
            "name": "bolt",
            "cc_threshold": cc_threshold,
            "pru": pru,
            "sm": sm,
            "max_pru_tokens": max_pru_tokens,
            "ai": ai,
            "max_mdf": max_mdf,
            "min_cwnd": min_cwnd,
            "max_cwnd": max_cwnd,
        }
    )
