"""xoff: a packet-level simulator for congestion control in lossless networks.

>>> import xoff
>>> run = xoff.run("scenarios/dumbbell.toml", seed=1, sets={"scheme.name": "fncc"})  # doctest: +SKIP
>>> run.flows  # a pyarrow.Table; polars.from_arrow(run.flows) for polars  # doctest: +SKIP
>>> run.write("out/dumbbell")  # doctest: +SKIP
"""

from __future__ import annotations

# As `typing` has it, whose import takes longer than all else here.
TYPE_CHECKING = False

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Any

    from xoff import plot as plot
    from xoff.errors import RunError as RunError
    from xoff.errors import ScenarioError as ScenarioError
    from xoff.errors import UserError as UserError
    from xoff.own_scheme import Ack as Ack
    from xoff.own_scheme import Cnp as Cnp
    from xoff.own_scheme import Flow as Flow
    from xoff.own_scheme import Hop as Hop
    from xoff.own_scheme import HopChange as HopChange
    from xoff.own_scheme import Scheme as Scheme
    from xoff.own_scheme import Sent as Sent
    from xoff.own_scheme import Signals as Signals
    from xoff.results import Run as Run
    from xoff.results import load as load
    from xoff.scenario import Scenario

__all__ = [
    "Ack",
    "Cnp",
    "Flow",
    "Hop",
    "HopChange",
    "Run",
    "RunError",
    "ScenarioError",
    "Scheme",
    "Sent",
    "Signals",
    "UserError",
    "check",
    "load",
    "plot",
    "run",
]

# What is imported when first used: importing xoff alone stays quick.
_LAZY = {
    "Run": "xoff.results",
    "load": "xoff.results",
    "RunError": "xoff.errors",
    "ScenarioError": "xoff.errors",
    "UserError": "xoff.errors",
    **dict.fromkeys(("Ack", "Cnp", "Flow", "Hop", "HopChange", "Scheme", "Sent", "Signals"), "xoff.own_scheme"),
}


def run(
    scenario: str | os.PathLike[str],
    *,
    seed: int | None = None,
    sets: Mapping[str, object] | None = None,
    threads: int | str = 1,
    schemes: Mapping[str, type[Scheme]] | None = None,
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
    schemes
        Classes derived from `xoff.Scheme` by the names that they have in the scenario. One alone is what it runs,
        unless `sets` say otherwise.

    Raises
    ------
    UserError, ScenarioError
        The file cannot be read, the scenario is wrong, or a class of `schemes` is none that can work.
    RunError
        The run broke: a lossless network lost a packet, or a class of `schemes` raised an exception, which is the
        error's cause.

    Warns
    -----
    RuntimeWarning
        The record is full, and the results end there: `complete` of the run is false. Or congestors had made all their
        iterations before the run was over.
    """
    import warnings

    from xoff.results import Run
    from xoff.running import execute

    prepared = _read(scenario, sets, schemes).prepare(seed)
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


def check(
    scenario: str | os.PathLike[str],
    *,
    sets: Mapping[str, object] | None = None,
    schemes: Mapping[str, type[Scheme]] | None = None,
) -> dict[str, Any]:
    """The resolved scenario, every default included, without running it; raises as `run` does."""
    return _read(scenario, sets, schemes).check()[0]


def _read(
    scenario: str | os.PathLike[str], sets: Mapping[str, object] | None, schemes: Mapping[str, type[Scheme]] | None
) -> Scenario:
    from xoff.scenario import overrides_from, read

    if not schemes:
        return read(scenario, overrides_from(sets))
    from xoff.own_scheme.load import classes

    return read(scenario, overrides_from(sets), classes(schemes))


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
