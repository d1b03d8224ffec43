"""Throttles: what holds back the hosts' NIC ports by their used credits: `pft`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Table, table

__all__ = ["pft"]

Interval = Literal["random", "fixed"]
Reading = Literal["repaired", "literal"]
Threshold = Literal["average", "fixed"]


def pft(
    *,
    threshold: Threshold | None = None,
    interval: Interval | None = None,
    m: int | None = None,
    n: int | None = None,
    k: int | None = None,
    threshold_enter: int | None = None,
    threshold_escape: int | None = None,
    enter_window: int | None = None,
    enter_count: int | None = None,
    escape_window: int | None = None,
    escape_count: int | None = None,
    reading: Reading | None = None,
    random_bits: int | None = None,
    clock_mhz: int | None = None,
    flit: Bytes | None = None,
) -> Table:
    """Proactive flow throttling: intervals between flits that grow with used credits.

    Parameters
    ----------
    threshold
        What determines the state: `average` (AT) or `fixed` (FT). Default `average`.
    interval
        How flits are held back: `random` (RI) or `fixed` (FI). Default `random`.
    m
        Bits by which used credits are shifted left: m in Equation 1, without unit, at most 40. Default 18 with
        `random`, 0 with `fixed` (section III.D).
    n
        Bits by which they are then shifted right: n in Equation 1, without unit, at most 40. Default 0 with `random`,
        10 with `fixed`, in the middle of the 8 to 12 that section III.D recommends.
    k
        What is added: k in Equation 1, in cycles or in units of the random number. Default 0.
    threshold_enter
        t_e: used credits above which the port becomes Congested, in the unit of flow control. Default 592 (0x250,
        section IV.C).
    threshold_escape
        t_s: used credits below which it becomes Normal, at most `threshold_enter` with `fixed`. Default 672 (0x2a0,
        section IV.C) with `average`, 592 with `fixed`.
    enter_window
        `average` only: T_e, the window of the Normal state, in cycles, from 2 to 1,000,000. Default 1024, 1.46 us
        (not in the paper).
    enter_count
        `average` only: T_e', the cycles of that window above `threshold_enter` that make it Congested, below the
        window. Default 512 (not in the paper).
    escape_window
        `average` only: T_s, the window of the Congested state, in cycles, from 2 to 1,000,000. Default 1024 (not in
        the paper).
    escape_count
        `average` only: T_s', the cycles of that window below `threshold_escape` that make it Normal, below the
        window. Default 512 (not in the paper).
    reading
        `average` only: how Algorithm 2 is read. Default `repaired`.
    random_bits
        `random` only: b, the random number's width in bits, from 1 to 40. Default 28 (not in the paper: with it m =
        15 to 22 all have a visible effect up to 4096 credits, as section III.D says of them).
    clock_mhz
        The core's clock in MHz, from 1 to 100,000: windows count its cycles. Default 700 (section IV.B).
    flit
        Bytes of a flit, of which one may go in a cycle: a packet takes as many cycles as it has flits, and 1 + f(c)
        times as many while held back by `fixed`. Default what the link carries in a cycle, so that with f(c) = 0
        nothing is held back; a flit of 16 B at 700 MHz would hold back 100 Gb/s to 89.6.
    """
    return table(
        {
            "name": "pft",
            "threshold": threshold,
            "interval": interval,
            "m": m,
            "n": n,
            "k": k,
            "threshold_enter": threshold_enter,
            "threshold_escape": threshold_escape,
            "enter_window": enter_window,
            "enter_count": enter_count,
            "escape_window": escape_window,
            "escape_count": escape_count,
            "reading": reading,
            "random_bits": random_bits,
            "clock_mhz": clock_mhz,
            "flit": flit,
        }
    )
