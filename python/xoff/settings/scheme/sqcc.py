"""Congestion control: `sqcc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["sqcc"]

ErrorFunction = Literal["sqcc", "patched_timely"]
Pacing = Literal["packet", "segment"]
Start = Literal["share", "line"]
Undetermined = Literal["hold", "cut"]


def sqcc(
    *,
    error: ErrorFunction | None = None,
    adapt_delta: bool | None = None,
    adapt_t_low: bool | None = None,
    log_base: int | None = None,
    capacity: Rate | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    t_low: Time | None = None,
    t_high: Time | None = None,
    min_rtt: Time | None = None,
    base_min_rtt: bool | None = None,
    delta: Rate | None = None,
    update_gap: Time | None = None,
    segment: Bytes | None = None,
    pacing: Pacing | None = None,
    deduct_serialization: bool | None = None,
    min_rate: Rate | None = None,
    initial_rate: Rate | None = None,
    start: Start | None = None,
    undetermined: Undetermined | None = None,
) -> Table:
    """SQCC: patched TIMELY with steps by the number of flows.

    Parameters
    ----------
    error
        The error of the cut. Default `sqcc` (Eq. 16).
    adapt_delta
        The step δ follows N: δ = C k / N² (Eq. 25). Without it δ stays at `delta`. Default true.
    adapt_t_low
        The threshold T_low follows N: k times `t_low` (Eq. 25). Without it k is 1, also in δ, which then is C / N²
        (Eq. 22). Default true.
    log_base
        `adapt_t_low` only: base of the logarithm in k = ⌊lg N⌋, without unit, from 2 to 1000. Default 10, with which
        Eq. 25 gives the values of section IV.
    capacity
        `adapt_delta` only: capacity C of the bottleneck in δ, in bits a second. Default the sender's line rate.
    alpha
        Weight α of a new difference in the smoothed one, without unit, above 0 and at most 1. Default 0.875 (section
        IV).
    beta
        Multiplicative decrease β, without unit, above 0 and at most 1. Default 0.008 (section IV).
    t_low
        Threshold T_low at k = 1, below which the rate always rises: seg/C in the paper. Default 50 us (section IV).
    t_high
        Round-trip time T_high from which on the rate falls as in TIMELY. Default 500 us (section IV).
    min_rtt
        D_minRTT, by which the gradient is divided. Default 20 us (CoNEXT 2016; SQCC has no value), unless
        `base_min_rtt`.
    base_min_rtt
        Takes the flow's base RTT for D_minRTT. Default false.
    delta
        Step δ without `adapt_delta`, in bits a second. Default 10 Mb/s for each 10 Gb/s of line rate (section IV: 10
        Mb/s at 10 Gb/s).
    update_gap
        Minimum time between two updates; a segment that completes earlier makes none. Default D_minRTT (Eq. 3).
    segment
        Payload bytes of a segment, at whose end the rate is updated; rounded up to whole packets, so that 1 B is a
        packet, and at most 1 MB. Default 1 B: the paper's 62.5 KB would make T_low 50 us, but sent back to back they
        do not give its queues.
    pacing
        Whether the packets of a segment go back to back or each in its time. Default `packet`.
    deduct_serialization
        Takes a full packet's time at line rate off each sample (TIMELY, section 3.1). Default true.
    min_rate
        The minimum rate, in bits a second. Default 1 Mb/s, a tenth of the share of each of 1000 flows at 10 Gb/s.
    initial_rate
        The rate at which a flow starts, in bits a second. Default: as `start` says.
    start
        The rate at which a flow starts. Default `share` (CoNEXT 2016; SQCC does not say).
    undetermined
        What a sample with the mark of an undetermined port does, while the gradient is positive and the round-trip
        time is between the thresholds, as in TCD's rule for TIMELY. Default `cut`; with `hold` the scenario's
        detector marks data packets, by default TCD.
    """
    return table(
        {
            "name": "sqcc",
            "error": error,
            "adapt_delta": adapt_delta,
            "adapt_t_low": adapt_t_low,
            "log_base": log_base,
            "capacity": capacity,
            "alpha": alpha,
            "beta": beta,
            "t_low": t_low,
            "t_high": t_high,
            "min_rtt": min_rtt,
            "base_min_rtt": base_min_rtt,
            "delta": delta,
            "update_gap": update_gap,
            "segment": segment,
            "pacing": pacing,
            "deduct_serialization": deduct_serialization,
            "min_rate": min_rate,
            "initial_rate": initial_rate,
            "start": start,
            "undetermined": undetermined,
        }
    )
