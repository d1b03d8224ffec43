"""Congestion control: `expresspass`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Bytes, Table, Time, table

__all__ = ["expresspass"]


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
