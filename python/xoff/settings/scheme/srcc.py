"""Congestion control: `srcc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["srcc"]

Base = Literal["dcqcn", "none"]
Composition = Literal["cut", "cap"]
Sharing = Literal["any_queue", "other_queue"]
Threshold = Literal["dynamic", "literal", "fixed"]


def srcc(
    *,
    threshold: Threshold | None = None,
    fixed_threshold: Bytes | None = None,
    q_pfc: Bytes | None = None,
    floor: Bytes | None = None,
    rtt_factor: float | None = None,
    rate_time: Time | None = None,
    window_rtts: float | None = None,
    count_rtts: float | None = None,
    sharing: Sharing | None = None,
    cnm_interval: Time | None = None,
    flow_timeout: Time | None = None,
    target_timeout: Time | None = None,
    base: Base | None = None,
    composition: Composition | None = None,
    dcqcn: Mapping[str, object] | None = None,
    rise_interval: Time | None = None,
) -> Table:
    """SRCC: target rates straight from switches to the flows that block others.

    Parameters
    ----------
    threshold
        Congestion threshold Q_cth of an egress queue. Default `dynamic` (SRCC, section III-C).
    fixed_threshold
        `fixed` only, and required there: the threshold, in bytes (SRCC, Fig. 8a: 40 % and 60 % of a buffer).
    q_pfc
        The PFC threshold Q_PFC of Eq. 4, in bytes. Default: Xoff of the packet's ingress port, at that moment if Xoff
        is dynamic.
    floor
        The minimum threshold, in bytes. Default two full frames; the paper gives none, and Eq. 6 falls below zero.
    rtt_factor
        One-way delays N_TTL d that the queue goes on growing for, without unit. Default 1, the message's way (SRCC,
        section III-C); 2 counts the way of the slower data too.
    rate_time
        `dynamic` only: time constant of the measured arrival rate. Default 1 us; the paper gives none.
    window_rtts
        Time window T within which an uncongested packet counts, in base RTTs. Default 3 (SRCC, section V-B, Fig. 8b).
    count_rtts
        Time after a flow's last packet for which the flow counts in the target C/n, in base RTTs. Default 3; the
        paper gives none.
    sharing
        Which uncongested packets count. Default `any_queue` (SRCC, section III-B).
    cnm_interval
        Minimum time between two messages of a switch to a flow. Default one base RTT; the paper gives none.
    flow_timeout
        Time after a flow's last packet at which a switch's table forgets it, at least `count_rtts`. Default 10 ms;
        the paper gives none.
    target_timeout
        Time for which a target limits its flow after the last message of its congestion point. Default three base
        RTTs; the paper gives none.
    base
        The end-to-end scheme by which a rate recovers (SRCC, section III-E). Default `dcqcn`.
    composition
        `base = "dcqcn"` only: what a message does to the base. Default `cut`; the paper gives no rule.
    dcqcn
        `base = "dcqcn"` only: its parameters. Default those of scheme `dcqcn`.
    rise_interval
        `base = "none"` only: time without a message after which a rate doubles. Default one base RTT; the paper has
        none.
    """
    return table(
        {
            "name": "srcc",
            "threshold": threshold,
            "fixed_threshold": fixed_threshold,
            "q_pfc": q_pfc,
            "floor": floor,
            "rtt_factor": rtt_factor,
            "rate_time": rate_time,
            "window_rtts": window_rtts,
            "count_rtts": count_rtts,
            "sharing": sharing,
            "cnm_interval": cnm_interval,
            "flow_timeout": flow_timeout,
            "target_timeout": target_timeout,
            "base": base,
            "composition": composition,
            "dcqcn": dcqcn,
            "rise_interval": rise_interval,
        }
    )
