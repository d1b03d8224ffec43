"""What breaks during a run: `receiver_slow`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = ["receiver_slow"]


def receiver_slow(
    *,
    host: str,
    rate: Rate,
    buffer: Bytes | None = None,
    at: Time | None = None,
    for_: Time | None = None,
    every: Time | None = None,
    mean_time_between: Time | None = None,
    mean_for: Time | None = None,
    until: Time | None = None,
) -> Table:
    """A host takes data more slowly than its links carry it, as over a PCIe link or into memory that others use: ...

    A host takes data more slowly than its links carry it, as over a PCIe link or into memory that others use: its
    NICs keep what comes, and then pause their neighbours.

    Parameters
    ----------
    host
        The host; `"random"` for any host each time.
    rate
        The rate, in bits of frames a second, at which it takes what each of its NICs keeps, packet by packet.
    buffer
        As of `receiver_stop`.
    at
        When it comes; with `mean_time_between`, when the first interval begins.
    for_
        How long it lasts; without it and `mean_for`, to the end of the run.
    every
        Time from one to the next if it comes again and again.
    mean_time_between
        Mean time from the end of one to the next if it comes at random, with exponential intervals from the seed.
    mean_for
        Mean of the time that it lasts, which is exponential, in place of `for`.
    until
        The latest time at which it comes again; by default the run's duration.
    """
    return table(
        {
            "kind": "receiver_slow",
            "host": host,
            "rate": rate,
            "buffer": buffer,
            "at": at,
            "for": for_,
            "every": every,
            "mean_time_between": mean_time_between,
            "mean_for": mean_for,
            "until": until,
        }
    )
