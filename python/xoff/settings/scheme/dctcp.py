"""Congestion control: `dctcp`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, table

__all__ = ["dctcp"]

Form = Literal["window", "rate"]


def dctcp(
    *,
    form: Form | None = None,
    g: float | None = None,
    initial_alpha: float | None = None,
    w_ai: Bytes | None = None,
    r_ai: Rate | None = None,
    initial_window: Bytes | None = None,
    min_window: int | None = None,
    min_rate: Rate | None = None,
) -> Table:
    """DCTCP: window from the share of marked bytes.

    Parameters
    ----------
    form
        What is steered. Default `window`, as in the paper.
    g
        Weight of the latest window in α, without unit, above 0 and at most 1. Default 1/16 (DCTCP, section 4).
    initial_alpha
        α of a new flow, without unit, from 0 to 1. Default 1, so that the first cut halves (RFC 8257).
    w_ai
        Increase a round trip, in bytes. Default: the payload of a full packet (RFC 5681, section 3.1).
    r_ai
        Increase a round trip as a rate, in bits a second, in place of `w_ai`, which is this rate times T. Default:
        none.
    initial_window
        Window of a new flow, in bytes; below the bandwidth-delay product of its NIC the window doubles each round
        trip up to that product, or to the first mark. Only with `form = "window"`. Default: that product, as for RDMA
        flows.
    min_window
        The minimum window, in full packets. Only with `form = "window"`. Default 2 (RFC 5681, equation 4).
    min_rate
        The minimum rate, in bits a second. Only with `form = "rate"`. Default 100 Mb/s (HPCC's authors' simulator).
    """
    return table(
        {
            "name": "dctcp",
            "form": form,
            "g": g,
            "initial_alpha": initial_alpha,
            "w_ai": w_ai,
            "r_ai": r_ai,
            "initial_window": initial_window,
            "min_window": min_window,
            "min_rate": min_rate,
        }
    )
