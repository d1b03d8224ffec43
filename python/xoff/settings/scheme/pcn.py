"""Congestion control: `pcn`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Rate, Table, Time, table

__all__ = ["pcn"]

RateField = Literal["exact", "mbps16"]


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
