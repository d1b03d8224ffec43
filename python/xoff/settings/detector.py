"""Detectors: what marks packets.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from xoff.settings.table import Bytes, Table, Time, table

__all__ = [
    "fecn",
    "np_ecn",
    "red",
    "tcd",
]

Delayed = Literal["head", "queued"]
Rule = Literal["backlog", "red"]
Rules = Literal["paper", "code"]
VictimMask = Literal["hosts", "none", "all"]


def red(
    *,
    k_min: Bytes | None = None,
    k_max: Bytes | None = None,
    p_max: float | None = None,
    rates: Sequence[Mapping[str, object]] | None = None,
    step: Bytes | None = None,
    spares_hosts: bool | None = None,
) -> Table:
    """Random early detection on the queue's length.

    Parameters
    ----------
    k_min
        Queue length up to which nothing is marked, in bytes. Given together with `k_max`. Default 100 KB for each 25
        Gb/s of the port (production values, after HPCC's authors).
    k_max
        Queue length above which everything is marked, in bytes. Given together with `k_min`. Default 400 KB for each
        25 Gb/s of the port (production values, after HPCC's authors).
    p_max
        Probability of a mark at `k_max`, towards which it rises linearly from `k_min`; without unit, from 0 to 1.
        Default 0.2 (production value, after HPCC's authors).
    rates
        Thresholds by the port's rate, in place of `k_min` and `k_max`; the rate of every switch port must be listed.
    step
        Queue length for each 10 Gb/s of the port up to which nothing is marked, and above which everything is, in
        bytes: DCTCP's K, in place of `k_min`, `k_max` and `rates`. Default: none, but 30 KB under `dctcp` if the
        scenario names no detector (HPCC's authors).
    spares_hosts
        Ports that lead to hosts mark nothing, as where receivers grant credit for them.
    """
    return table(
        {
            "name": "red",
            "k_min": k_min,
            "k_max": k_max,
            "p_max": p_max,
            "rates": rates,
            "step": step,
            "spares_hosts": spares_hosts,
        }
    )


def np_ecn(
    *,
    rule: Rule | None = None,
    red: Mapping[str, object] | None = None,
) -> Table:
    """Marks no packet that a PAUSE has held up.

    Parameters
    ----------
    rule
        When a packet that no PAUSE has held up is marked. Default `backlog`.
    red
        RED's parameters, with `rule = "red"` only.
    """
    return table(
        {
            "name": "np_ecn",
            "rule": rule,
            "red": red,
        }
    )


def fecn(
    *,
    threshold: Bytes | None = None,
    marking_rate: int | None = None,
    packet_size: Bytes | None = None,
    victim_mask: VictimMask | None = None,
    delayed: Delayed | None = None,
) -> Table:
    """InfiniBand's marking, by queue length and credits.

    Parameters
    ----------
    threshold
        Queue length above which packets may be marked, in bytes; with 0 any backlog is enough. Default 50 KB (TCD,
        section 3.1.1); the specification's scale from 0 to 15 means what a switch's maker defines.
    marking_rate
        Packets between two marks that may be marked and are not, without unit; 0 marks each packet. The specification
        speaks of their mean number; here the number is the same each time. Default 0.
    packet_size
        The minimum packet that may be marked, in bytes on the wire, at most 16,320 B (255 units of 64 B). Default 0.
    victim_mask
        Ports that mark as victims too. Default `hosts`.
    delayed
        Which packets count as delayed for lack of credits once there are some: the one at the `head` of the queue, as
        a port is a root while it has credits, or all that were `queued` then (in TCD, section 3.1.1, FECN errs on
        "packets arriving after the arrival of new credits"). Default `head`.
    """
    return table(
        {
            "name": "fecn",
            "threshold": threshold,
            "marking_rate": marking_rate,
            "packet_size": packet_size,
            "victim_mask": victim_mask,
            "delayed": delayed,
        }
    )


def tcd(
    *,
    rules: Rules | None = None,
    max_on: Time | None = None,
    epsilon: float | None = None,
    tau: Time | None = None,
    hysteresis: Bytes | None = None,
    share: float | None = None,
    period: Time | None = None,
    low: Bytes | None = None,
    high: Bytes | None = None,
    rise: Bytes | None = None,
    red: Mapping[str, object] | None = None,
    fecn: Mapping[str, object] | None = None,
) -> Table:
    """Ternary detection: congestion, no congestion, undetermined.

    Parameters
    ----------
    rules
        Whose rules: the paper's, or those of the simulator that its authors released. Default `paper`.
    max_on
        max(T_on): an egress that was stopped within this time is undetermined. Default by Equation 3 from the link
        and its flow control; if credits are updated in periods, the period over `share` (section 4.4).
    epsilon
        Equation 3: the minimum congestion degree epsilon of a flow that TCD is to detect, as a share of the link's
        rate, above 0 and at most 1. Default 0.05 (section 4.2).
    tau
        Equation 3: response time tau until a stop or a go takes effect. Default 2 MTU/C + 2 t_p of the link (section
        4.3).
    hysteresis
        Equation 3: B_1 - B_0, the distance between the lengths that pause and resume the sender, in bytes. Default
        that of PFC: Xoff less Xon, or `resume_offset` with dynamic thresholds.
    share
        Equation 3: the share of the link's rate that the priority may expect, above 0 and at most 1; max(T_on) is
        divided by it. Default 1 (section 4.5: "according to the expected proportion").
    period
        Period T at which the length of a queue is examined after it was undetermined. Default max(T_on) (section
        4.3).
    low
        Queue length up to which a queue that was undetermined is not congested, in bytes. Default RED's K_min with
        the paper's rules, two frames with FECN or with the rules of the released simulator.
    high
        `paper` only: queue length above which growth means congestion, in bytes. Default RED's K_min or FECN's
        threshold: the paper says "the threshold", and up to there nothing is marked.
    rise
        The minimum growth of the queue in a period that counts as growth, in bytes; with 0 a queue that has not
        fallen counts (section 4.1: "otherwise, the port transits to the congestion state"). Default 1 B with the
        paper's rules (section 4.2: "if the queue length increases"), 0.9 of a frame's payload with those of the
        released simulator.
    red
        RED, if TCD wraps RED: it decides on CE while the port is not undetermined. Default: the scheme's own marking,
        RED or FECN.
    fecn
        FECN, if TCD wraps FECN in place of RED.
    """
    return table(
        {
            "name": "tcd",
            "rules": rules,
            "max_on": max_on,
            "epsilon": epsilon,
            "tau": tau,
            "hysteresis": hysteresis,
            "share": share,
            "period": period,
            "low": low,
            "high": high,
            "rise": rise,
            "red": red,
            "fecn": fecn,
        }
    )
