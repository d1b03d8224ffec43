"""What breaks during a run: `link_down`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Table, Time, table

__all__ = ["link_down"]


def link_down(
    *,
    link: str,
    at: Time | None = None,
    for_: Time | None = None,
    every: Time | None = None,
    mean_time_between: Time | None = None,
    mean_for: Time | None = None,
    until: Time | None = None,
) -> Table:
    """A link goes down, in both directions.

    Parameters
    ----------
    link
        The link, by one of its ports such as `leaf0->spine1`; `"random"` for any link each time, `"random_trunk"` for
        any link between switches.
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
            "kind": "link_down",
            "link": link,
            "at": at,
            "for": for_,
            "every": every,
            "mean_time_between": mean_time_between,
            "mean_for": mean_for,
            "until": until,
        }
    )
