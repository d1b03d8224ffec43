"""Congestion control: `swift`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Table, Time, table

__all__ = ["swift"]

Undetermined = Literal["hold", "cut"]


def swift(
    *,
    ai: float | None = None,
    beta: float | None = None,
    max_mdf: float | None = None,
    base_target: Time | None = None,
    per_hop: Time | None = None,
    fs_range: Time | None = None,
    fs_min: float | None = None,
    fs_max: float | None = None,
    min_cwnd: float | None = None,
    max_cwnd: float | None = None,
    initial_cwnd: float | None = None,
    rtt_gain: float | None = None,
    retx_reset: int | None = None,
    endpoint_target: Time | None = None,
    undetermined: Undetermined | None = None,
) -> Table:
    """Swift: window from the delay's distance to a target.

    Parameters
    ----------
    ai
        Increase a round trip below the target, in packets. Default 1 (Bolt's authors).
    beta
        Share of the delay's relative excess by which the window is cut: β, without unit. Default 0.8 (Bolt's
        authors).
    max_mdf
        The maximum cut, as a share of the window, above 0 and below 1. Default 0.5 (Bolt's authors).
    base_target
        Target delay of a path without hops and a large window, as a time. Default: 5 us above the largest base RTT,
        and at least 10 us (Bolt's authors at an RTT of 5 to 8 us); a target below the base RTT would starve flows.
    per_hop
        Added to the target for each switch on the path: ħ, as a time (Swift, section 3.3). Default 1 us (Bolt's
        authors).
    fs_range
        The maximum that flow scaling adds to the target, as a time; 0 turns it off (Swift, section 3.3). Default 100
        us (Bolt's authors).
    fs_min
        Window up to which flow scaling adds all of `fs_range`, in packets. Default 0.1 (Bolt's authors).
    fs_max
        Window from which on flow scaling adds nothing, in packets. Default 256 (Bolt's authors).
    min_cwnd
        The minimum window, in packets. Default 0.001 (Swift, section 3.5).
    max_cwnd
        The maximum window, in packets. Default 256 (Bolt's authors, at 100 Gb/s), but at least the bandwidth-delay
        product of the flow's NIC and `initial_cwnd`: one flow alone must be able to fill a link.
    initial_cwnd
        Window of a new flow, in packets. Default: the bandwidth-delay product of its NIC, as for RDMA flows; the
        paper gives none.
    rtt_gain
        Weight of the latest sample in the RTT that spaces cuts, and packets below a window of one; without unit,
        above 0 and at most 1. The delay that is compared with the target is never averaged. Default 1, the latest
        alone.
    retx_reset
        Timeouts in a row after which the window falls to `min_cwnd`: RETX_RESET_THRESHOLD, a number (Swift, Algorithm
        1). Default 5 (Broadcom's htsim; the paper gives none).
    endpoint_target
        Target of the delay at the receiving host, as a time, for a second window (Swift, section 3.2). Default: none,
        which leaves that window out and counts the host's delay as the fabric's.
    undetermined
        What an ACK with the mark of an undetermined port does to the fabric's window if its delay is not below the
        target, after TCD's rule for delay-based schemes. Default `cut`; with `hold` the scenario's detector marks
        data packets, by default TCD.
    """
    return table(
        {
            "name": "swift",
            "ai": ai,
            "beta": beta,
            "max_mdf": max_mdf,
            "base_target": base_target,
            "per_hop": per_hop,
            "fs_range": fs_range,
            "fs_min": fs_min,
            "fs_max": fs_max,
            "min_cwnd": min_cwnd,
            "max_cwnd": max_cwnd,
            "initial_cwnd": initial_cwnd,
            "rtt_gain": rtt_gain,
            "retx_reset": retx_reset,
            "endpoint_target": endpoint_target,
            "undetermined": undetermined,
        }
    )
