"""Flow control between neighbours: `bfc`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Table, Time, table

__all__ = ["bfc"]


def bfc(
    *,
    queues: int | None = None,
    virtual_flows: int | None = None,
    period: Time | None = None,
    resumes: int | None = None,
) -> Table:
    """Backpressure Flow Control, by flow.

    Parameters
    ----------
    queues
        Queues of a port and priority of a switch: flows have one each while there are free ones.
    virtual_flows
        Virtual flows: connections share one if their numbers are equal modulo this.
    period
        Time between two lists of paused flows; without it, half of the round-trip time of the slowest link.
    resumes
        Flows of a queue that may go on in a period.
    """
    return table(
        {
            "name": "bfc",
            "queues": queues,
            "virtual_flows": virtual_flows,
            "period": period,
            "resumes": resumes,
        }
    )
