"""Congestion control: `rocc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["rocc"]


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
