"""Congestion control.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = [
    "bolt",
    "dcqcn",
    "dctcp",
    "expresspass",
    "fncc",
    "hpcc",
    "ib_cc",
    "none",
    "nscc",
    "nscc_rccc",
    "patched_timely",
    "pcn",
    "powertcp",
    "rccc",
    "rocc",
    "sqcc",
    "srcc",
    "swift",
    "theta_powertcp",
    "timely",
]

Base = Literal["dcqcn", "none"]
Becn = Literal["ack", "cnp"]
Composition = Literal["cut", "cap"]
ErrorFunction = Literal["sqcc", "patched_timely"]
Form = Literal["window", "rate"]
Form2 = Literal["segment", "ns3_hpcc"]
Np = Literal["immediate", "periodic"]
OldWindow = Literal["round_trip", "packet"]
Pacing = Literal["packet", "segment"]
RateField = Literal["exact", "mbps16"]
Scope = Literal["qp", "sl"]
Shape = Literal["quadratic", "mellanox", "simula", "ibsim", "list"]
Sharing = Literal["any_queue", "other_queue"]
Start = Literal["share", "line"]
Threshold = Literal["dynamic", "literal", "fixed"]
Trigger = Literal["period", "kept"]
Undetermined = Literal["hold", "ignore"]
Undetermined2 = Literal["hold", "cut"]
Variant = Literal["paper", "mellanox"]


def none() -> Table:
    """No congestion control."""
    return table({"name": "none"})


def dcqcn(
    *,
    variant: Variant | None = None,
    g: float | None = None,
    initial_alpha: float | None = None,
    alpha_timer: Time | None = None,
    decrease_timer: Time | None = None,
    increase_timer: Time | None = None,
    byte_counter: Bytes | None = None,
    f: int | None = None,
    r_ai: Rate | None = None,
    r_hai: Rate | None = None,
    hyper: bool | None = None,
    min_rate: Rate | None = None,
    clamp_target: bool | None = None,
    window: bool | None = None,
    whole_bits: bool | None = None,
    np: Np | None = None,
    cnp_interval: Time | None = None,
    undetermined: Undetermined | None = None,
) -> Table:
    """DCQCN: rate from congestion notification packets.

    Parameters
    ----------
    variant
        Which of the two algorithms. Default `paper`.
    g
        Gain g of the congestion estimate α, without unit, above 0 and at most 1. Default 1/256 (both sources).
    initial_alpha
        α at a flow's first CNP, without unit, from 0 to 2. Default 1 (both sources); 0.5 in the simulator on which
        TCD builds.
    alpha_timer
        Period of the updates of α: in `paper` the time without a CNP after which α decays, in `mellanox`
        unconditional. Default 55 us in `paper` (SIGCOMM 2015, section 3.1), 1 us in `mellanox`.
    decrease_timer
        `mellanox` only: period at which a pending cut is made. Default 4 us.
    increase_timer
        Period of the increase timer. Default 55 us in `paper`, 300 us in `mellanox`.
    byte_counter
        `paper` only: bytes sent for one step of the byte counter. Default 10 MB.
    f
        Steps of fast recovery: F, without unit. Default 5 in `paper`, 1 in `mellanox`.
    r_ai
        Step R_AI of additive increase, in bits a second. Default 1 Mb/s for each Gb/s of line rate in `paper`: the
        paper's 40 Mb/s at 40 Gb/s (SIGCOMM 2015), in proportion to the rate as the steps of HPCC's authors are; in
        `mellanox` 5 Mb/s for each 25 Gb/s (HPCC's authors).
    r_hai
        Step R_HAI of hyper increase, in bits a second. Default five times R_AI's default in `paper` (200 Mb/s at 40
        Gb/s in the simulators' settings, the paper has no number), 50 Mb/s for each 25 Gb/s of line rate in
        `mellanox` (HPCC's authors).
    hyper
        Hyper increase follows additive increase. Default true.
    min_rate
        The minimum rate, in bits a second. Default 100 Mb/s.
    clamp_target
        Every cut sets the target rate to the rate before the cut; otherwise only a cut that follows an increase does.
        Default true in `paper`, false in `mellanox`.
    window
        Limits the bytes in flight to the NIC's bandwidth-delay product times rate over line rate (`dcqcn_vwin` of
        HPCC's authors). Default false.
    whole_bits
        `mellanox` only: rates are whole bits a second, halves rounded down, as in the simulator of HPCC's authors.
        Default false.
    np
        `paper` only: when the receiver sends CNPs. Default `immediate`.
    cnp_interval
        `paper` only: minimum time between two CNPs of a flow. Default 50 us (SIGCOMM 2015, section 3.1).
    undetermined
        `paper` only: what a CNP that reports an undetermined port does. Default `hold`.
    """
    return table(
        {
            "name": "dcqcn",
            "variant": variant,
            "g": g,
            "initial_alpha": initial_alpha,
            "alpha_timer": alpha_timer,
            "decrease_timer": decrease_timer,
            "increase_timer": increase_timer,
            "byte_counter": byte_counter,
            "f": f,
            "r_ai": r_ai,
            "r_hai": r_hai,
            "hyper": hyper,
            "min_rate": min_rate,
            "clamp_target": clamp_target,
            "window": window,
            "whole_bits": whole_bits,
            "np": np,
            "cnp_interval": cnp_interval,
            "undetermined": undetermined,
        }
    )


def hpcc(
    *,
    eta: float | None = None,
    max_stage: int | None = None,
    form: Form | None = None,
    r_ai: Rate | None = None,
    w_ai: Bytes | None = None,
    min_rate: Rate | None = None,
    fast_react: bool | None = None,
) -> Table:
    """HPCC: window from telemetry on data packets.

    Parameters
    ----------
    eta
        Target utilization η, without unit, above 0 and at most 1. Default 0.95 (HPCC, section 5.1).
    max_stage
        Additive steps, one a round trip, before the next multiplicative one: maxStage, without unit. Default 0, which
        the authors' simulations used; the paper prints 5.
    form
        What is steered. Default `window`, as in the paper.
    r_ai
        Additive increase as a rate, in bits a second, in place of `w_ai`, which is this rate times T. Default: none.
    w_ai
        Additive increase W_AI, in bytes. Default 80 B (HPCC, section 5.1), which is 50 Mb/s at a base RTT of 12.8 us.
    min_rate
        The minimum rate, in bits a second. Default 100 Mb/s (the authors' simulator).
    fast_react
        Reacts to each ACK, from a reference window that is updated once a round trip (HPCC, section 3.2). Otherwise
        only the first ACK of each round trip counts, and loads are measured over the time between those. Default
        true.
    """
    return table(
        {
            "name": "hpcc",
            "eta": eta,
            "max_stage": max_stage,
            "form": form,
            "r_ai": r_ai,
            "w_ai": w_ai,
            "min_rate": min_rate,
            "fast_react": fast_react,
        }
    )


def fncc(
    *,
    eta: float | None = None,
    max_stage: int | None = None,
    w_ai: Bytes | None = None,
    min_rate: Rate | None = None,
    fast_react: bool | None = None,
    lhcs: bool | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    lhcs_bypass: bool | None = None,
) -> Table:
    """FNCC: window from telemetry on ACKs.

    Parameters
    ----------
    eta
        Target utilization η, without unit, above 0 and at most 1. Default 0.95 (FNCC, section 3.2.2).
    max_stage
        Additive steps, one a round trip, before the next multiplicative one: maxStage, without unit. Default 0, which
        the simulations of HPCC's authors used; HPCC's paper prints 5.
    w_ai
        Additive increase W_AI, in bytes. Default 80 B (HPCC, section 5.1), which is 50 Mb/s at a base RTT of 12.8 us.
    min_rate
        The minimum rate, in bits a second. Default 100 Mb/s (the simulator of HPCC's authors).
    fast_react
        Reacts to each ACK, from a reference window that is updated once a round trip (FNCC, section 3.2.2). Without
        it only the first ACK of each round trip counts. Default true.
    lhcs
        Last-hop congestion speedup (FNCC, Algorithm 2). Default true.
    alpha
        u' above which the last hop counts as congested: α, without unit, above 0 and at most 10. Default 1.05 (FNCC,
        section 3.2.2).
    beta
        Part of the fair share that LHCS grants, so that the queue drains: β, without unit, above 0 and at most 1.
        Default 0.9 (FNCC, section 3.2.2).
    lhcs_bypass
        When LHCS fires, the window is the share itself. False is the order of Algorithm 3 as printed: the share
        becomes the reference window, and the same ACK divides it by U/η once more, so that flows start from half of
        what section 5.4.2 reports. Default true.
    """
    return table(
        {
            "name": "fncc",
            "eta": eta,
            "max_stage": max_stage,
            "w_ai": w_ai,
            "min_rate": min_rate,
            "fast_react": fast_react,
            "lhcs": lhcs,
            "alpha": alpha,
            "beta": beta,
            "lhcs_bypass": lhcs_bypass,
        }
    )


def rocc(
    *,
    interval: Time | None = None,
    rate_unit: Rate | None = None,
    queue_unit: Bytes | None = None,
    min_rate: Rate | None = None,
    q_ref: Bytes | None = None,
    q_mid: Bytes | None = None,
    q_max: Bytes | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    cnp_delay: Time | None = None,
    rise_interval: Time | None = None,
) -> Table:
    """RoCC: fair rate from switches.

    Parameters
    ----------
    interval
        Period T of the controller. Default 40 us (RoCC, parameter table).
    rate_unit
        Unit ΔF of rates, in bits a second. Default 10 Mb/s (RoCC, parameter table).
    queue_unit
        Unit ΔQ of queue lengths, in bytes. Default 600 B (RoCC, parameter table).
    min_rate
        The minimum fair rate F_min, in bits a second; the maximum is the port's line rate. Default 100 Mb/s (RoCC,
        parameter table).
    q_ref
        Queue length Q_ref that the controller holds, in bytes. Default 150 KB at 40 Gb/s, else 300 KB for each 100
        Gb/s of the port (RoCC, parameter table, extended linearly).
    q_mid
        Growth of the queue within T that halves the rate: Q_mid, in bytes. Default 300 KB at 40 Gb/s, else 600 KB for
        each 100 Gb/s of the port.
    q_max
        Queue length that sets the rate to its minimum: Q_max, in bytes. Default 360 KB at 40 Gb/s, else 660 KB for
        each 100 Gb/s of the port.
    alpha
        Integral gain before tuning, in rate units for each queue unit: α~. Default 0.3 at 40 Gb/s, else 0.45 (RoCC,
        parameter table).
    beta
        Proportional gain before tuning, in rate units for each queue unit: β~. Default 1.5 at 40 Gb/s, else 2.25
        (RoCC, parameter table).
    cnp_delay
        Time that a sender's NIC takes to obey a message. Default 15 us (RoCC, section 6).
    rise_interval
        Time without a message after which a sender doubles its rate. Default 55 us (the authors' simulator; the paper
        names no number).
    """
    return table(
        {
            "name": "rocc",
            "interval": interval,
            "rate_unit": rate_unit,
            "queue_unit": queue_unit,
            "min_rate": min_rate,
            "q_ref": q_ref,
            "q_mid": q_mid,
            "q_max": q_max,
            "alpha": alpha,
            "beta": beta,
            "cnp_delay": cnp_delay,
            "rise_interval": rise_interval,
        }
    )


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
    undetermined: Undetermined2 | None = None,
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


def pcn(
    *,
    w_min: float | None = None,
    w_max: float | None = None,
    period: Time | None = None,
    congested_share: float | None = None,
    idle: Time | None = None,
    rate_field: RateField | None = None,
    min_rate: Rate | None = None,
) -> Table:
    """PCN: rate from what the receiver gets.

    Parameters
    ----------
    w_min
        Minimum weight of the line rate in an increase, and share by which a decrease stays below the receiving rate,
        without unit, above 0 and below 1. Default 1/128 (the simulator's).
    w_max
        Maximum weight of the line rate in an increase, without unit, from `w_min` to 1. Default 1/2 (the paper's,
        after those who cite it); the simulator has 1/4.
    period
        T: period of the receiver's CNPs. Default 50 us.
    congested_share
        Share of marked packets in a period from which a flow is congested, without unit, above 0 and at most 1.
        Default 0.95.
    idle
        Time between two packets after which the mean time between arrivals restarts at T. Default 10 ms.
    rate_field
        Width of the receiving rate in a CNP. Default `exact`.
    min_rate
        The minimum rate, in bits a second. Default none (the simulator has none).
    """
    return table(
        {
            "name": "pcn",
            "w_min": w_min,
            "w_max": w_max,
            "period": period,
            "congested_share": congested_share,
            "idle": idle,
            "rate_field": rate_field,
            "min_rate": min_rate,
        }
    )


def timely(
    *,
    form: Form2 | None = None,
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
    undetermined: Undetermined2 | None = None,
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
    undetermined: Undetermined2 | None = None,
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
    undetermined: Undetermined2 | None = None,
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


def powertcp(
    *,
    gamma: float | None = None,
    expected_flows: float | None = None,
    old_window: OldWindow | None = None,
    min_rate: Rate | None = None,
) -> Table:
    """PowerTCP: window from power, by telemetry.

    Parameters
    ----------
    gamma
        Weight of the new window: γ, without unit, above 0 and at most 1. Default 0.9 (PowerTCP, section 3.3).
    expected_flows
        Flows that are expected to share a NIC: N, a number. The additive increase β is the NIC's bandwidth-delay
        product over N (PowerTCP, section 3.3). Default 10 (the authors' module for Linux; the paper gives none).
    old_window
        Which earlier window the law starts from. Default `round_trip` (PowerTCP, section 3.3).
    min_rate
        The minimum rate, in bits a second. Default 100 Mb/s (the simulator of HPCC's authors, which the authors
        extend).
    """
    return table(
        {
            "name": "powertcp",
            "gamma": gamma,
            "expected_flows": expected_flows,
            "old_window": old_window,
            "min_rate": min_rate,
        }
    )


def theta_powertcp(
    *,
    gamma: float | None = None,
    expected_flows: float | None = None,
    min_rate: Rate | None = None,
) -> Table:
    """θ-PowerTCP: window from power, by round-trip times.

    Parameters
    ----------
    gamma
        Weight of the new window: γ, without unit, above 0 and at most 1. Default 0.9 (PowerTCP, section 3.3).
    expected_flows
        Flows that are expected to share a NIC: N, a number. The additive increase β is the NIC's bandwidth-delay
        product over N (PowerTCP, section 3.3). Default 10 (the authors' module for Linux; the paper gives none).
    min_rate
        The minimum rate, in bits a second. Default 100 Mb/s (the simulator of HPCC's authors, which the authors
        extend).
    """
    return table(
        {
            "name": "theta_powertcp",
            "gamma": gamma,
            "expected_flows": expected_flows,
            "min_rate": min_rate,
        }
    )


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


def expresspass(
    *,
    credit: Bytes | None = None,
    credit_spread: Bytes | None = None,
    credit_queue: int | None = None,
    target_loss: float | None = None,
    initial_rate: float | None = None,
    w_init: float | None = None,
    w_min: float | None = None,
    w_max: float | None = None,
    jitter: float | None = None,
    timeout: Time | None = None,
) -> Table:
    """ExpressPass: credits from receivers, which every port limits.

    Parameters
    ----------
    credit
        A credit on the wire in the mean, in bytes. Default 84 B, which counts preamble and gap (section 3.1).
    credit_spread
        By how many bytes a credit's size varies either way. Default 8 B: 76 to 92 B (the authors' simulator).
    credit_queue
        Credits that a port holds while its limit does not let them go. Default 8 (section 3.1).
    target_loss
        Share of lost credits that the receiver aims at, without unit, from 0 to 0.5. Default 0.1 (Algorithm 1).
    initial_rate
        Credits at first, as a share of the most that the link lets through, above 0 and at most 1. Default 1/16.
    w_init
        w at first: weight of the maximum rate in an increase, from `w_min` to `w_max`. Default 1/16.
    w_min
        Minimum w, without unit, above 0. Default 0.01 (Algorithm 1).
    w_max
        Maximum w, without unit, at most 1. Default 0.5 (Algorithm 1).
    jitter
        By how much the time between two credits varies either way, as a share of that time, from 0 to 0.5. Default
        0.1 (the authors' simulator).
    timeout
        Time without data after which a receiver sends no more credits until it is asked. Default 2 ms.
    """
    return table(
        {
            "name": "expresspass",
            "credit": credit,
            "credit_spread": credit_spread,
            "credit_queue": credit_queue,
            "target_loss": target_loss,
            "initial_rate": initial_rate,
            "w_init": w_init,
            "w_min": w_min,
            "w_max": w_max,
            "jitter": jitter,
            "timeout": timeout,
        }
    )


def nscc(
    *,
    target_delay: Time | None = None,
    initial_window: int | None = None,
    fair_increase: float | None = None,
    alpha: float | None = None,
    eta: float | None = None,
    fast_increase: float | None = None,
    gamma: float | None = None,
    max_cut: float | None = None,
    delay_gain: float | None = None,
    qa_gate: int | None = None,
    qa_trigger: Trigger | None = None,
) -> Table:
    """NSCC: Ultra Ethernet's window from marks and delay.

    Parameters
    ----------
    target_delay
        Target queueing delay D; without it, three quarters of the network's base RTT if switches trim, otherwise the
        base RTT.
    initial_window
        Window at the start, in full packets; without it, the maximum window, 1.5 bandwidth-delay products.
    fair_increase
        Fast increase, fair increase and so on are scaled to the network; this many packets for each acknowledged
        window are the fair increase.
    alpha
        Gain of the proportional increase.
    eta
        Packets that the window grows by in each round trip, whatever the signals.
    fast_increase
        Share of an acknowledged byte by which fast increase lets the window grow.
    gamma
        Gain of the multiplicative decrease.
    max_cut
        Maximum share of the window that one decrease takes away.
    delay_gain
        Gain of the mean delay.
    qa_gate
        Quick adapt acts if less than the maximum window / 2^this came back in a round trip.
    qa_trigger
        When a NACK's trigger of quick adapt ends.
    """
    return table(
        {
            "name": "nscc",
            "target_delay": target_delay,
            "initial_window": initial_window,
            "fair_increase": fair_increase,
            "alpha": alpha,
            "eta": eta,
            "fast_increase": fast_increase,
            "gamma": gamma,
            "max_cut": max_cut,
            "delay_gain": delay_gain,
            "qa_gate": qa_gate,
            "qa_trigger": qa_trigger,
        }
    )


def rccc(
    *,
    pull_rate: float | None = None,
    pull_quanta: int | None = None,
    oversubscription: float | None = None,
) -> Table:
    """RCCC: Ultra Ethernet's credits from receivers.

    Parameters
    ----------
    pull_rate
        Share of the receiver's link that PULLs grant.
    pull_quanta
        Quanta of 256 B that a PULL brings at most.
    oversubscription
        The ratio of hosts' rates to uplinks of their switch. Above 1, the receiver slows its PULLs by marks and
        trimmed packets, down to 0.9 / this.
    """
    return table(
        {
            "name": "rccc",
            "pull_rate": pull_rate,
            "pull_quanta": pull_quanta,
            "oversubscription": oversubscription,
        }
    )


def nscc_rccc(
    *,
    nscc: Mapping[str, object] | None = None,
    rccc: Mapping[str, object] | None = None,
) -> Table:
    """NSCC and RCCC together.

    Parameters
    ----------
    nscc
        The sender's window, as in scheme `nscc`.
    rccc
        The receiver's credit, as in scheme `rccc`.
    """
    return table(
        {
            "name": "nscc_rccc",
            "nscc": nscc,
            "rccc": rccc,
        }
    )
