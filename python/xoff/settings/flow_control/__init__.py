"""Flow control between neighbours.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from xoff.settings.flow_control.bfc import bfc
from xoff.settings.flow_control.cbfc import cbfc
from xoff.settings.flow_control.credit import credit
from xoff.settings.flow_control.none import none
from xoff.settings.flow_control.pfc import pfc
from xoff.settings.flow_control.ue_cbfc import ue_cbfc

__all__ = [
    "bfc",
    "cbfc",
    "credit",
    "none",
    "pfc",
    "ue_cbfc",
]
