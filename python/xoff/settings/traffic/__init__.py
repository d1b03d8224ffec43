"""Traffic patterns.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from xoff.settings.traffic.all_to_all import all_to_all
from xoff.settings.traffic.all_to_all_collective import all_to_all_collective
from xoff.settings.traffic.allreduce import allreduce
from xoff.settings.traffic.burst import burst
from xoff.settings.traffic.chakra import chakra
from xoff.settings.traffic.collective import collective
from xoff.settings.traffic.flow import flow
from xoff.settings.traffic.goal import goal
from xoff.settings.traffic.gpcnet import gpcnet
from xoff.settings.traffic.incast import incast
from xoff.settings.traffic.list_ import list_
from xoff.settings.traffic.mpi_io import mpi_io
from xoff.settings.traffic.permutation import permutation
from xoff.settings.traffic.poisson import poisson
from xoff.settings.traffic.training import training

__all__ = [
    "all_to_all",
    "all_to_all_collective",
    "allreduce",
    "burst",
    "chakra",
    "collective",
    "flow",
    "goal",
    "gpcnet",
    "incast",
    "list_",
    "mpi_io",
    "permutation",
    "poisson",
    "training",
]
