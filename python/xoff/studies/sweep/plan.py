"""Which runs a scenario stands for, and what each of them is called."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xoff import _xoff
from xoff.errors import ScenarioError, UserError
from xoff.runs.index import text_of
from xoff.runs.scenario import Override, Scenario
from xoff.scheme.load import SchemeFile
from xoff.text import count_text

_MAX_WARNINGS = 10
"""Warnings of many runs that are shown."""


@dataclass(frozen=True)
class Planned:
    """A run that is to be made: all that it takes, on whatever machine."""

    run: str
    """Its name: a hash of the resolved scenario, with its seed, of the files that it names, and of xoff's version."""
    settings: dict[str, Any]
    """Its own keys and values."""
    seed: int
    """Its seed."""
    text: str
    """The scenario file."""
    origin: str
    """The scenario file's name, for messages."""
    overrides: tuple[Override, ...]
    """What is set on top of the file."""
    files: dict[str, str | Path]
    """The files that the scenario names: a text, or the path of a file that may be large."""
    version: str
    """The version of xoff that is to make it."""
    scheme: str = ""
    """The name of its scheme."""
    needs_bytes: int = 0
    """The memory that it takes at its peak, by an estimate."""
    warnings: tuple[str, ...] = ()
    """What is allowed in it but probably not meant."""
    schemes: tuple[SchemeFile, ...] = ()
    """The schemes in Python: a run of another one needs them too, as the scenario's sweep may name their parameters."""

    @property
    def label(self) -> str:
        """Its settings on one line."""
        return ", ".join(f"{key} = {text_of(value)}" for key, value in self.settings.items()) or "the scenario itself"


def plan(scenario: Scenario) -> list[Planned]:
    """The runs of the scenario's sweep, each once, in the order of the sweep.

    Raises
    ------
    ScenarioError
        The scenario is wrong, by itself or with the settings of one of the runs.
    UserError
        It has no sweep.
    """
    points = scenario.prepare().points
    if points == [[]]:
        raise UserError(
            f'{scenario.origin}: no sweep in it; expected a table such as [sweep] with "scheme.name" = ["hpcc", "fncc"]'
        )
    runs: dict[str, Planned] = {}
    for point in points:
        planned = plan_point(scenario, point)
        runs.setdefault(planned.run, planned)
    unused = {scheme.name: scheme for scheme in files_of(scenario)}
    for planned in runs.values():
        unused.pop(planned.scheme, None)
    for scheme in unused.values():
        raise UserError(f"--scheme {scheme.file}:{scheme.cls}: no run of the sweep has scheme.name = {scheme.name}")
    return list(runs.values())


def files_of(scenario: Scenario) -> tuple[SchemeFile, ...]:
    """The scenario's schemes in Python, which must be in files that other processes can read."""
    for scheme in scenario.schemes:
        if not isinstance(scheme, SchemeFile):
            raise UserError(f"scheme {scheme.name}: expected a class in a file, which each process of a sweep can read")
    return tuple(scheme for scheme in scenario.schemes if isinstance(scheme, SchemeFile))


def plan_point(scenario: Scenario, point: Sequence[Override]) -> Planned:
    """The run of a scenario with some keys set, given as TOML; raises `ScenarioError` if that is wrong."""
    overrides = [*scenario.given, *point]
    settings = {key: value_of(text) for key, text in point}
    try:
        prepared = _xoff.prepare(
            scenario.text, scenario.origin, overrides, scenario.base_dir, schemes=scenario.described()
        ).alone()
    except ScenarioError as error:
        raise ScenarioError(f"{error}\n\nin the run with {', '.join('='.join(each) for each in point)}") from None
    resolved, files = json.loads(prepared.resolved), prepared.files
    name = str(resolved["scheme"]["name"])
    schemes = files_of(scenario)
    what = {
        "scenario": resolved,
        "files": {name: _digest(content) for name, content in files.items()},
        "version": _xoff.__version__,
    }
    for scheme in (each for each in schemes if each.name == name):
        what["scheme_file"] = hashlib.sha256(scheme.text.encode()).hexdigest()
    digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()
    return Planned(
        run=digest[:16],
        settings=settings,
        seed=int(resolved["seed"]),
        text=scenario.text,
        origin=scenario.origin,
        overrides=tuple(overrides),
        files=files,
        version=_xoff.__version__,
        scheme=name,
        needs_bytes=prepared.needs,
        warnings=tuple(prepared.warnings),
        schemes=schemes,
    )


def warnings_of(runs: Sequence[Planned]) -> list[str]:
    """Each warning of the runs once, with how many of them it concerns; the most frequent ones, if there are many."""
    counts = Counter(warning for run in runs for warning in run.warnings)
    all_runs = count_text(len(runs), "run")
    shown = [f"{count:,} of {all_runs}: {warning}" for warning, count in counts.most_common(_MAX_WARNINGS)]
    more = len(counts) - len(shown)
    return [*shown, f"and {count_text(more, 'more warning')}"] if more else shown


def value_of(text: str) -> Any:
    """The value of a text that is TOML; any other text is the value itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _digest(content: str | Path) -> str:
    if isinstance(content, str):
        return hashlib.sha256(content.encode()).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
