"""Congestion control.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from xoff.settings.scheme.bolt import bolt
from xoff.settings.scheme.dcqcn import dcqcn
from xoff.settings.scheme.dctcp import dctcp
from xoff.settings.scheme.expresspass import expresspass
from xoff.settings.scheme.fncc import fncc
from xoff.settings.scheme.hpcc import hpcc
from xoff.settings.scheme.ib_cc import ib_cc
from xoff.settings.scheme.none import none
from xoff.settings.scheme.nscc import nscc
from xoff.settings.scheme.nscc_rccc import nscc_rccc
from xoff.settings.scheme.patched_timely import patched_timely
from xoff.settings.scheme.pcn import pcn
from xoff.settings.scheme.powertcp import powertcp
from xoff.settings.scheme.rccc import rccc
from xoff.settings.scheme.rocc import rocc
from xoff.settings.scheme.sqcc import sqcc
from xoff.settings.scheme.srcc import srcc
from xoff.settings.scheme.swift import swift
from xoff.settings.scheme.theta_powertcp import theta_powertcp
from xoff.settings.scheme.timely import timely

__all__ = [
    "bolt",
    "dcqcn",
    "dctcp",
    "expresspass",
    "fncc",
    "hpcc",
    "ib_cc",
    "none",
    "nscc",
    "nscc_rccc",
    "patched_timely",
    "pcn",
    "powertcp",
    "rccc",
    "rocc",
    "sqcc",
    "srcc",
    "swift",
    "theta_powertcp",
    "timely",
]
