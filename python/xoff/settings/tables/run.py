"""Plain tables of a scenario, and tables inside others: `run`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from xoff.settings.table import Table, Time, table

__all__ = ["run"]

Expect = Literal["deadlock", "unfinished"]
Stop = Literal["flows", "time"]


def run(
    *,
    duration: Time | None = None,
    stop: Stop | None = None,
    max_events: int | None = None,
    expect: Expect | None = None,
    fast_forward: Mapping[str, object] | None = None,
) -> Table:
    """When a run ends.

    Parameters
    ----------
    duration
        The latest end in simulated time; without it, the run ends when the last flow is complete.
    stop
        What ends the run.
    max_events
        A run of more events than this is broken off with an error.
    expect
        An outcome that would otherwise be an error: with `"deadlock"`, a run that ends in one keeps its results and
        its exit status of 0; with `"unfinished"`, so does a run whose last flows an `[[event]]` keeps from
        completing.
    fast_forward
        Carries time forward over steady states, `{ tolerance = 0.01 }`; without it, every packet is simulated. The
        run then has one thread, and records flows, totals and samples only.
    """
    return table(
        {
            "duration": duration,
            "stop": stop,
            "max_events": max_events,
            "expect": expect,
            "fast_forward": fast_forward,
        }
    )
