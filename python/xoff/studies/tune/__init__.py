"""Searching for good values of a scenario's keys: `xoff tune`."""

from xoff.studies.tune.best import Trial, best
from xoff.studies.tune.run import Tuned, tune

__all__ = ["Trial", "Tuned", "best", "tune"]
