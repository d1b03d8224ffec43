"""What breaks during a run.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from xoff.settings.event.bit_errors import bit_errors
from xoff.settings.event.degrade import degrade
from xoff.settings.event.link_down import link_down
from xoff.settings.event.pause_storm import pause_storm
from xoff.settings.event.receiver_slow import receiver_slow
from xoff.settings.event.receiver_stop import receiver_stop
from xoff.settings.event.switch_reboot import switch_reboot

__all__ = [
    "bit_errors",
    "degrade",
    "link_down",
    "pause_storm",
    "receiver_slow",
    "receiver_stop",
    "switch_reboot",
]
