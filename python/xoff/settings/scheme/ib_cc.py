"""Congestion control: `ib_cc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xoff.settings.table import Table, Time, table

__all__ = ["ib_cc"]

Becn = Literal["ack", "cnp"]
Scope = Literal["qp", "sl"]
Shape = Literal["quadratic", "mellanox", "simula", "ibsim", "list"]
Undetermined = Literal["ignore", "hold"]


def ib_cc(
    *,
    becn: Becn | None = None,
    scope: Scope | None = None,
    ccti_increase: int | None = None,
    ccti_limit: int | None = None,
    ccti_min: int | None = None,
    ccti_timer: Time | None = None,
    cct: Shape | None = None,
    fabric_constant: float | None = None,
    multipliers: Sequence[int] | None = None,
    shift: int | None = None,
    undetermined: Undetermined | None = None,
) -> Table:
    """InfiniBand congestion control: delays between packets from a table.

    Parameters
    ----------
    becn
        How a BECN travels. Default `ack`.
    scope
        Whose packets are held back: the packets of one flow (`qp`) or all packets of a host's priority (`sl`), the
        two modes of an adapter's congestion control. Default `qp`.
    ccti_increase
        Steps by which a BECN raises the index: CCTI_Increase, without unit, at least 1. Default 1; with TCD 2
        (section 5.2.2, which calls 1 the default).
    ccti_limit
        The largest index: CCTI_Limit, without unit, below the table's length. Default: the table's last.
    ccti_min
        The minimum index, at which flows start: CCTI_Min, without unit. Default 0.
    ccti_timer
        Time after which the index falls by one: CCTI_Timer, in the specification a multiple of 1.024 us. Default
        153.6 us, 150 of them (attributed to Gran et al., IPDPS 2010, and not verified there).
    cct
        The congestion control table: a formula for 128 entries, or a `list`. The specification has none; `quadratic`
        is `mellanox` in eighths without rounding down. Default `quadratic`.
    fabric_constant
        `mellanox` and `simula` only: the fabric constant k, without unit, from 0.001 to 1000. Default 0.218 (a study
        at LLNL, which has 0.408 for another fabric).
    multipliers
        `list` only: the table's multipliers, from 0 to 16,383, at most 128 of them.
    shift
        `list` only: the shift of all entries, from 0 to 3. Default 3: multipliers are eighths of the packet's time.
    undetermined
        What a BECN that reports an undetermined port does. Default `ignore`.
    """
    return table(
        {
            "name": "ib_cc",
            "becn": becn,
            "scope": scope,
            "ccti_increase": ccti_increase,
            "ccti_limit": ccti_limit,
            "ccti_min": ccti_min,
            "ccti_timer": ccti_timer,
            "cct": cct,
            "fabric_constant": fabric_constant,
            "multipliers": multipliers,
            "shift": shift,
            "undetermined": undetermined,
        }
    )
