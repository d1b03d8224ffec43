"""Detectors: what marks packets.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from xoff.settings.detector.fecn import fecn
from xoff.settings.detector.np_ecn import np_ecn
from xoff.settings.detector.red import red
from xoff.settings.detector.tcd import tcd

__all__ = [
    "fecn",
    "np_ecn",
    "red",
    "tcd",
]
