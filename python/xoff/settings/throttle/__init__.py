"""Throttles: what holds back the hosts' NIC ports by their used credits.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from xoff.settings.throttle.pft import pft

__all__ = [
    "pft",
]
