"""xoff: a packet-level simulator for congestion control in lossless networks.

>>> import xoff
>>> run = xoff.run("scenarios/dumbbell.toml", seed=1, sets={"scheme.name": "fncc"})  # doctest: +SKIP
>>> run.flows  # a pyarrow.Table; polars.from_arrow(run.flows) for polars  # doctest: +SKIP
>>> run.write("out/dumbbell")  # doctest: +SKIP
"""

from __future__ import annotations

# Not from `typing`, whose import takes longer than the rest of this module.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from xoff import fluid as fluid
    from xoff import settings as settings
    from xoff.errors import RunError as RunError
    from xoff.errors import ScenarioError as ScenarioError
    from xoff.errors import UserError as UserError
    from xoff.report import axes as plot
    from xoff.runs.built import Scenario as Scenario
    from xoff.runs.library import check as check
    from xoff.runs.library import run as run
    from xoff.runs.results import Run as Run
    from xoff.runs.results import load as load
    from xoff.runs.session import Session as Session
    from xoff.runs.session import SessionEvent as SessionEvent
    from xoff.scheme import Ack as Ack
    from xoff.scheme import Cnp as Cnp
    from xoff.scheme import Flow as Flow
    from xoff.scheme import Hop as Hop
    from xoff.scheme import HopChange as HopChange
    from xoff.scheme import Scheme as Scheme
    from xoff.scheme import Sent as Sent
    from xoff.scheme import Signals as Signals
    from xoff.studies.sweep.loaded import Sweep as Sweep
    from xoff.studies.sweep.loaded import load_sweep as load_sweep

__all__ = [
    "Ack",
    "Cnp",
    "Flow",
    "Hop",
    "HopChange",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Scheme",
    "Sent",
    "Session",
    "SessionEvent",
    "Signals",
    "Sweep",
    "UserError",
    "check",
    "fluid",
    "load",
    "load_sweep",
    "plot",
    "run",
    "settings",
]

# What is imported when first used: importing xoff alone stays quick.
_LAZY = {
    "run": "xoff.runs.library",
    "check": "xoff.runs.library",
    "Run": "xoff.runs.results",
    "load": "xoff.runs.results",
    "Scenario": "xoff.runs.built",
    **dict.fromkeys(("Sweep", "load_sweep"), "xoff.studies.sweep.loaded"),
    **dict.fromkeys(("Session", "SessionEvent"), "xoff.runs.session"),
    **dict.fromkeys(("RunError", "ScenarioError", "UserError"), "xoff.errors"),
    **dict.fromkeys(("Ack", "Cnp", "Flow", "Hop", "HopChange", "Scheme", "Sent", "Signals"), "xoff.scheme"),
}

_MODULES = {"fluid": "xoff.fluid", "settings": "xoff.settings", "plot": "xoff.report.axes"}


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name == "__version__":
        from xoff import _xoff

        return _xoff.__version__
    raise AttributeError(f"module `xoff` has no attribute `{name}`")
