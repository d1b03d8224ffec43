"""Congestion control: `patched_timely`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["patched_timely"]

Pacing = Literal["packet", "segment"]
Start = Literal["share", "line"]
Undetermined = Literal["hold", "cut"]


def patched_timely(
    *,
    alpha: float | None = None,
    beta: float | None = None,
    t_low: Time | None = None,
    t_high: Time | None = None,
    rtt_ref: Time | None = None,
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
    """Patched TIMELY: TIMELY with a fixed point.

    Parameters
    ----------
    alpha
        Weight α of a new difference in the smoothed one, without unit, above 0 and at most 1. Default 0.875 (CoNEXT
        2016; SQCC, section IV).
    beta
        Multiplicative decrease β, without unit, above 0 and at most 1. Default 0.008 (CoNEXT 2016; SQCC, section IV).
    t_low
        Round-trip time T_low below which the rate always rises. Default 50 us (CoNEXT 2016; SQCC, section IV).
    t_high
        Round-trip time T_high above which the rate always falls. Default 500 us (CoNEXT 2016; SQCC, section IV).
    rtt_ref
        Reference RTT_ref of the error, (RTT - RTT_ref)/RTT_ref. Default T_low (SQCC, section II.A).
    min_rtt
        D_minRTT, by which the gradient is divided. Default 20 us (CoNEXT 2016), unless `base_min_rtt`.
    base_min_rtt
        Takes the flow's base RTT for D_minRTT. Default false.
    delta
        Step δ of additive increase, in bits a second. Default 10 Mb/s for each 10 Gb/s of line rate (SQCC, section
        IV: 10 Mb/s at 10 Gb/s).
    update_gap
        Minimum time between two updates; a segment that completes earlier makes none. Default D_minRTT (SQCC, Eq. 3).
    segment
        Payload bytes of a segment, at whose end the rate is updated; rounded up to whole packets, so that 1 B is a
        packet, and at most 1 MB. Default 16 KB (CoNEXT 2016).
    pacing
        Whether the packets of a segment go back to back or each in its time. Default `packet` (CoNEXT 2016's
        validation).
    deduct_serialization
        Takes a full packet's time at line rate off each sample (TIMELY, section 3.1). Default true.
    min_rate
        The minimum rate, in bits a second. Default 1 Mb/s, a tenth of the share of each of 1000 flows at 10 Gb/s.
    initial_rate
        The rate at which a flow starts, in bits a second. Default: as `start` says.
    start
        The rate at which a flow starts. Default `share` (CoNEXT 2016).
    undetermined
        What a sample with the mark of an undetermined port does, while the gradient is positive and the round-trip
        time is between the thresholds, as in TCD's rule for TIMELY. Default `cut`; with `hold` the scenario's
        detector marks data packets, by default TCD.
    """
    return table(
        {
            "name": "patched_timely",
            "alpha": alpha,
            "beta": beta,
            "t_low": t_low,
            "t_high": t_high,
            "rtt_ref": rtt_ref,
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
