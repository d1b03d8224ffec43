"""`xoff collective`: one collective operation over a range of sizes, in the columns of nccl-tests.

`plan` says which runs that takes, `measure` reads time and bandwidth from a run's operations, and `show` prints them.
"""

from xoff.studies.collective.measure import Measured
from xoff.studies.collective.plan import KINDS, Request, plan
from xoff.studies.collective.run import Results, measure_all

__all__ = ["KINDS", "Measured", "Request", "Results", "measure_all", "plan"]
