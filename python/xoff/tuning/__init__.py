"""Searching for good values of a scenario's keys: `xoff tune`."""

from xoff.tuning.best import Trial, best
from xoff.tuning.run import Tuned, tune

__all__ = ["Trial", "Tuned", "best", "tune"]
