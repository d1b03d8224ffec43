"""Congestion control: `theta_powertcp`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Rate, Table, table

__all__ = ["theta_powertcp"]


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
