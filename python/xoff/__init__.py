"""xoff: a packet-level simulator for congestion control in lossless networks.

>>> import xoff
>>> run = xoff.run("scenarios/dumbbell.toml", seed=1, sets={"scheme.name": "fncc"})  # doctest: +SKIP
>>> run.flows  # a pyarrow.Table; polars.from_arrow(run.flows) for polars  # doctest: +SKIP
>>> run.write("out/dumbbell")  # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xoff import plot as plot
    from xoff.errors import RunError as RunError
    from xoff.errors import ScenarioError as ScenarioError
    from xoff.errors import UserError as UserError
    from xoff.results import Run as Run
    from xoff.results import load as load

__all__ = ["Run", "RunError", "ScenarioError", "UserError", "check", "load", "plot", "run"]

# What is imported when first used: importing xoff alone stays quick.
_LAZY = {
    "Run": "xoff.results",
    "load": "xoff.results",
    "RunError": "xoff.errors",
    "ScenarioError": "xoff.errors",
    "UserError": "xoff.errors",
}


def run(
    scenario: str | os.PathLike[str],
    *,
    seed: int | None = None,
    sets: Mapping[str, object] | None = None,
    threads: int | str = 1,
) -> Run:
    """Run the scenario file and return its results.

    Parameters
    ----------
    scenario
        A TOML file.
    seed
        In place of the scenario's own.
    sets
        Settings by dotted key on top of the file, as in ``{"scheme.name": "hpcc"}``.
    threads
        Threads to use, or ``"auto"`` for as many as make the run fastest; the results do not depend on it.

    Raises
    ------
    UserError, ScenarioError
        The file cannot be read, or the scenario is wrong.
    RunError
        The run broke: a lossless network lost a packet.

    Warns
    -----
    RuntimeWarning
        The record is full, and the results end there: `complete` of the run is false. Or congestors had made all their
        iterations before the run was over.
    """
    import warnings

    from xoff.results import Run
    from xoff.running import execute
    from xoff.scenario import overrides_from, read

    prepared = read(scenario, overrides_from(sets)).prepare(seed)
    outcome = execute(prepared, threads=threads)
    if outcome.interrupted:
        raise KeyboardInterrupt
    result = Run.from_output(outcome.output)
    for warning in result.manifest.get("warnings", []):
        if warning not in prepared.warnings:
            warnings.warn(warning, RuntimeWarning, stacklevel=2)
    if not result.complete:
        warnings.warn(result.manifest["stop_reason"], RuntimeWarning, stacklevel=2)
    return result


def check(scenario: str | os.PathLike[str], *, sets: Mapping[str, object] | None = None) -> dict[str, Any]:
    """The resolved scenario, every default included, without running it; raises as `run` does."""
    from xoff.scenario import overrides_from, read

    return read(scenario, overrides_from(sets)).check()[0]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name == "plot":
        return importlib.import_module("xoff.plot")
    if name == "__version__":
        from xoff import _xoff

        return _xoff.__version__
    raise AttributeError(f"module `xoff` has no attribute `{name}`")
