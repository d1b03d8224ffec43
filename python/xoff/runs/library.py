"""Running and checking a scenario from Python: `xoff.run` and `xoff.check`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xoff.runs import execution
from xoff.runs.manifest import deadlock_of
from xoff.runs.results import Run
from xoff.runs.scenario import Scenario, of_mapping, overrides_from, read

if TYPE_CHECKING:
    from xoff._xoff import Prepared
    from xoff.scheme import Scheme
    from xoff.scheme.load import SchemeClass, SchemeFile


def run(
    scenario: str | os.PathLike[str] | Mapping[str, object],
    *,
    seed: int | None = None,
    sets: Mapping[str, object] | None = None,
    threads: int | str = "auto",
    schemes: Mapping[str, type[Scheme]] | None = None,
) -> Run:
    """Run the scenario and return its results.

    Parameters
    ----------
    scenario
        A TOML file; a run's folder or manifest, whose scenario is run again; or a dict with the scenario's tables.
    seed
        Replaces the scenario's own seed.
    sets
        Settings by dotted key on top of the file, as in ``{"scheme.name": "hpcc"}``.
    threads
        Threads to use, or ``"auto"`` for as many as make the run fastest; the results do not depend on it.
    schemes
        Classes derived from `xoff.Scheme` by the names that they have in the scenario. The scenario runs a single one,
        unless `sets` say otherwise.

    Raises
    ------
    UserError, ScenarioError
        The file cannot be read, the scenario is wrong, or a class of `schemes` cannot work.
    RunError
        The run broke: a lossless network lost a packet, or a class of `schemes` raised an exception, which is the
        error's cause.

    Warns
    -----
    RuntimeWarning
        What is allowed but probably not meant, before the run. Afterwards: the record is full, and the results end
        there: `complete` of the run is false. Or the run is in a deadlock and its scenario does not expect one, or
        congestors had finished all their iterations before the run was over.
    """
    prepared = _read(scenario, sets, schemes).prepare(seed)
    for warning in prepared.warnings:
        warnings.warn(warning, RuntimeWarning, stacklevel=2)
    return _execute(prepared, threads)


def run_as_meant(
    scenario: str | os.PathLike[str],
    *,
    seed: int | None = None,
    sets: Mapping[str, object] | None = None,
    schemes: Sequence[SchemeFile] = (),
) -> Run:
    """Run the scenario of an experiment, whose settings are all meant: as `run`, without warnings before the run."""
    return _execute(read(scenario, overrides_from(sets), schemes).prepare(seed), 1)


def _execute(prepared: Prepared, threads: int | str) -> Run:
    outcome = execution.execute(prepared, threads=threads)
    if outcome.interrupted:
        raise KeyboardInterrupt
    result = Run.from_output(outcome.output)
    found = [warning for warning in result.manifest.get("warnings", []) if warning not in prepared.warnings]
    if stuck := deadlock_of(result.manifest):
        found.append(stuck)
    if not result.complete:
        found.append(result.manifest["stop_reason"])
    for warning in found:
        # Of the caller of `run`.
        warnings.warn(warning, RuntimeWarning, stacklevel=3)
    return result


def check(
    scenario: str | os.PathLike[str] | Mapping[str, object],
    *,
    sets: Mapping[str, object] | None = None,
    schemes: Mapping[str, type[Scheme]] | None = None,
) -> dict[str, Any]:
    """The resolved scenario, every default included; raises and warns as `run` does before it runs the scenario."""
    resolved, found = _read(scenario, sets, schemes).check()
    for warning in found:
        warnings.warn(warning, RuntimeWarning, stacklevel=2)
    return resolved


def _read(
    scenario: str | os.PathLike[str] | Mapping[str, object],
    sets: Mapping[str, object] | None,
    schemes: Mapping[str, type[Scheme]] | None,
) -> Scenario:
    own: Sequence[SchemeClass] = ()
    if schemes:
        from xoff.scheme.load import classes

        own = classes(schemes)
    if isinstance(scenario, Mapping):
        return of_mapping(scenario, overrides_from(sets), own)
    return read(scenario, overrides_from(sets), own)
