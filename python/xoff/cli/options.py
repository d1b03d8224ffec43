"""What the commands share: arguments and options, and how these are read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xoff.errors import UserError

if TYPE_CHECKING:
    from xoff.runs.scenario import Scenario

MISTAKE, BROKEN, INTERRUPTED = 2, 1, 130
"""Exit statuses."""

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="A scenario file (TOML), or a run's folder or manifest.")
]
OutFolder = Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="The folder for the results.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the scenario; may be given several times."),
]
SchemeFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--scheme",
        metavar="FILE:CLASS",
        help="A scheme in Python, such as mine.py:Mine, for the scenario to run.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, metavar="N", help="Number of processes; default: number of cores.")
]
ClusterAddress = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="A running Dask scheduler, such as tcp://10.0.0.1:8786."),
]
Force = Annotated[bool, typer.Option("--force", help="Write into a folder that holds other files.")]
AnyName = Annotated[str | None, typer.Argument(metavar="[NAME]", help="A name that a scenario may use.")]
Name = Annotated[str | None, typer.Argument(help="Only this one, with its parameters.")]


def read_scenario(scenario: Path, sets: list[str] | None, schemes: list[str] | None) -> Scenario:
    """The scenario with what the command line sets, and with schemes in Python."""
    from xoff.runs.scenario import overrides_of, read

    overrides = overrides_of(sets or [])
    if not schemes:
        return read(scenario, overrides)
    from xoff.scheme.load import read_specs

    return read(scenario, overrides, read_specs(schemes))


def refuse_unused(scenario: Scenario, resolved: str) -> None:
    """Refuse a scheme that is given and not run."""
    name = json.loads(resolved)["scheme"]["name"] if scenario.schemes else ""
    for scheme in scenario.schemes:
        if scheme.name != name:
            raise UserError(f"--scheme: `{scheme.name}` is given, and the scenario runs `{name}`: expected one of them")


def thread_text(text: str) -> str:
    """What `--threads` says, if it is a number of threads or `auto`."""
    from xoff.runs.execution import thread_count

    try:
        thread_count(text)
    except UserError as error:
        raise UserError(f"--{error}") from None
    return text


def print_table(table: object) -> None:
    """Print what rich can show."""
    from rich.console import Console

    # A pipe has no width: use that of a wide terminal.
    Console(width=None if sys.stdout.isatty() else 140, highlight=False).print(table)
