"""Congestion control: `timely`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["timely"]

Form = Literal["segment", "ns3_hpcc"]
Pacing = Literal["packet", "segment"]
Start = Literal["share", "line"]
Undetermined = Literal["hold", "cut"]


def timely(
    *,
    form: Form | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    t_low: Time | None = None,
    t_high: Time | None = None,
    min_rtt: Time | None = None,
    base_min_rtt: bool | None = None,
    delta: Rate | None = None,
    hai_after: int | None = None,
    hai_factor: float | None = None,
    least_factor: float | None = None,
    min_rate: Rate | None = None,
    initial_rate: Rate | None = None,
    start: Start | None = None,
    window: bool | None = None,
    segment: Bytes | None = None,
    pacing: Pacing | None = None,
    time_scaling: bool | None = None,
    deduct_serialization: bool | None = None,
    undetermined: Undetermined | None = None,
) -> Table:
    """TIMELY: rate from the gradient of the round-trip time.

    Parameters
    ----------
    form
        When the rate is updated, and in which numbers. Default `segment`.
    alpha
        Weight α of a new difference in the smoothed one, without unit, above 0 and at most 1. Default 0.875 (the
        setting of the CoNEXT 2016 study and of the simulators; the authors' snippet recommends 0.02).
    beta
        Multiplicative decrease β, without unit, above 0 and at most 2. Default 0.8 (SIGCOMM 2015, section 4.3); with
        ternary detection 1.6 (TCD, section 5.2).
    t_low
        Round-trip time T_low below which the rate always rises. Default 50 us (SIGCOMM 2015, section 4.4). The
        authors' snippet recommends 0 with packets paced one by one.
    t_high
        Round-trip time T_high above which the rate always falls. Default 500 us (SIGCOMM 2015, section 4.4; the
        authors' snippet recommends 1 ms).
    min_rtt
        D_minRTT, by which the gradient is divided. Default 20 us (CoNEXT 2016 and the simulators), unless
        `base_min_rtt`.
    base_min_rtt
        Takes the flow's base RTT for D_minRTT. Default false.
    delta
        Step δ of additive increase, in bits a second. Default 10 Mb/s for each 10 Gb/s of line rate (the authors'
        snippet; 10 Mb/s at 10 Gb/s in SIGCOMM 2015).
    hai_after
        Updates in a row with a falling round-trip time before steps grow by `hai_factor`; in form `ns3_hpcc`,
        increases in a row. Without unit. Default 5 (SIGCOMM 2015, section 4.3.1).
    hai_factor
        How many times δ a step of hyperactive increase is, without unit, from 1, which turns it off, to 1000. Default
        5 (SIGCOMM 2015, section 4.3.1).
    least_factor
        The minimum factor of a decrease, without unit, from 0 to 1. Default 0.5 in form `segment` (the authors'
        snippet), 0 in `ns3_hpcc`.
    min_rate
        The minimum rate, in bits a second. Default 100 Mb/s (1 % of 10 Gb/s in the simulators before HPCC's).
    initial_rate
        The rate at which a flow starts, in bits a second. Default: as `start` says.
    start
        The rate at which a flow starts. Default `share` in form `segment` (the CoNEXT 2016 study), `line` in
        `ns3_hpcc`.
    window
        Limits the bytes in flight to the NIC's bandwidth-delay product times rate over line rate (`timely_vwin` of
        HPCC's authors). Default false.
    segment
        Form `segment` only: payload bytes of a segment, rounded up to whole packets; at most 1 MB. Default 16 KB
        (SIGCOMM 2015, section 5).
    pacing
        Form `segment` only: whether the packets of a segment go back to back or each in its time. Default `segment`
        (SIGCOMM 2015, section 3.2).
    time_scaling
        Form `segment` only: scales steps, and cuts above T_high, by the time since the last update over D_minRTT if
        that is below 1 (the authors' snippet; Algorithm 1 in print does not). Default true.
    deduct_serialization
        Form `segment` only: subtracts a full packet's time at line rate from each sample, so that a segment's own
        length does not count (SIGCOMM 2015, section 3.1). Default true.
    undetermined
        Form `segment` only: what a sample with the mark of an undetermined port does, while the gradient is positive
        and the round-trip time is between the thresholds. Default `cut`; with `hold` the scenario's detector marks
        data packets, by default TCD.
    """
    return table(
        {
            "name": "timely",
            "form": form,
            "alpha": alpha,
            "beta": beta,
            "t_low": t_low,
            "t_high": t_high,
            "min_rtt": min_rtt,
            "base_min_rtt": base_min_rtt,
            "delta": delta,
            "hai_after": hai_after,
            "hai_factor": hai_factor,
            "least_factor": least_factor,
            "min_rate": min_rate,
            "initial_rate": initial_rate,
            "start": start,
            "window": window,
            "segment": segment,
            "pacing": pacing,
            "time_scaling": time_scaling,
            "deduct_serialization": deduct_serialization,
            "undetermined": undetermined,
        }
    )
