"""Detectors: what marks packets: `red`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xoff.settings.table import Bytes, Table, table

__all__ = ["red"]


def red(
    *,
    k_min: Bytes | None = None,
    k_max: Bytes | None = None,
    p_max: float | None = None,
    rates: Sequence[Mapping[str, object]] | None = None,
    step: Bytes | None = None,
    spares_hosts: bool | None = None,
) -> Table:
    """Random early detection on the queue's length.

    Parameters
    ----------
    k_min
        Queue length up to which nothing is marked, in bytes. Given together with `k_max`. Default 100 KB for each 25
        Gb/s of the port (production values, after HPCC's authors).
    k_max
        Queue length above which everything is marked, in bytes. Given together with `k_min`. Default 400 KB for each
        25 Gb/s of the port (production values, after HPCC's authors).
    p_max
        Probability of a mark at `k_max`, towards which it rises linearly from `k_min`; without unit, from 0 to 1.
        Default 0.2 (production value, after HPCC's authors).
    rates
        Thresholds by the port's rate, in place of `k_min` and `k_max`; the rate of every switch port must be listed.
    step
        Queue length for each 10 Gb/s of the port up to which nothing is marked, and above which everything is, in
        bytes: DCTCP's K, in place of `k_min`, `k_max` and `rates`. Default: none, but 30 KB under `dctcp` if the
        scenario names no detector (HPCC's authors).
    spares_hosts
        Ports that lead to hosts mark nothing, as where receivers grant credit for them.
    """
    return table(
        {
            "name": "red",
            "k_min": k_min,
            "k_max": k_max,
            "p_max": p_max,
            "rates": rates,
            "step": step,
            "spares_hosts": spares_hosts,
        }
    )
