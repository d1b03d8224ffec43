"""Congestion control: `dcqcn`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["dcqcn"]

Np = Literal["immediate", "periodic"]
Undetermined = Literal["hold", "ignore"]
Variant = Literal["paper", "mellanox"]


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
