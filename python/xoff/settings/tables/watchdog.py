"""Plain tables of a scenario, and tables inside others: `watchdog`.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from typing import Literal

from xoff.settings.table import Table, Time, table

__all__ = ["watchdog"]

WatchdogAction = Literal["drop", "forward"]


def watchdog(
    *,
    detection: Time | None = None,
    restoration: Time | None = None,
    action: WatchdogAction | None = None,
) -> Table:
    """The PFC watchdog of a switch's egress queues, with SONiC's defaults.

    Parameters
    ----------
    detection
        A queue that holds packets and is stopped for so long is in a storm.
    restoration
        A queue in a storm that is not stopped for so long obeys PAUSE again.
    action
        What becomes of the packets of a queue in a storm.
    """
    return table(
        {
            "detection": detection,
            "restoration": restoration,
            "action": action,
        }
    )
