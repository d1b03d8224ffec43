"""Many runs around one scenario: planned, made on this machine or a cluster, kept as one dataset.

A folder of runs has

- `runs/ID`, a run's folder each, named by what fixes its results; it appears complete,
- `sweep.json`, which runs there are to be, and what failed,
- `runs.parquet`, a row for each run: its keys, and what it came to,
- `flows`, `ports` and the other tables, each a dataset of all runs, partitioned by the swept keys.

A run that is complete in `runs` is never made again, whatever ended the sweep before.
"""

from xoff.runs.executor import Cluster, Local, RunExecutor
from xoff.studies.sweep.folder import Folder
from xoff.studies.sweep.make import make_all
from xoff.studies.sweep.plan import Planned, plan, plan_point
from xoff.studies.sweep.run import Swept, sweep

__all__ = ["Cluster", "Folder", "Local", "Planned", "RunExecutor", "Swept", "make_all", "plan", "plan_point", "sweep"]
