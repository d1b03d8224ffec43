"""Plain tables of a scenario, and tables inside others: `red_at_rate`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Bytes, Rate, Table, table

__all__ = ["red_at_rate"]


def red_at_rate(
    *,
    rate: Rate,
    k_min: Bytes,
    k_max: Bytes,
    p_max: float | None = None,
) -> Table:
    """RED's thresholds at ports of one rate.

    Parameters
    ----------
    rate
        The port's rate, in bits a second.
    k_min
        Queue length up to which nothing is marked, in bytes.
    k_max
        Queue length above which everything is marked, in bytes.
    p_max
        Probability of a mark at `k_max`; `None` for the detector's.
    """
    return table(
        {
            "rate": rate,
            "k_min": k_min,
            "k_max": k_max,
            "p_max": p_max,
        }
    )
