"""The commands of lists: `xoff schemes`, `xoff topologies`, `xoff workloads` and `xoff schema`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from xoff.cli.console import echo
from xoff.cli.options import AsJson, Name, print_table


def schemes(name: Name = None, as_json: AsJson = False) -> None:
    """List congestion-control schemes, or show one with parameters, defaults, units and source.

    Example: xoff schemes hpcc
    """
    _show("schemes", name, as_json)


def topologies(name: Name = None, as_json: AsJson = False) -> None:
    """List topologies, or show one with parameters, defaults, units and source.

    Example: xoff topologies fat_tree
    """
    _show("topologies", name, as_json)


def workloads(name: Name = None, as_json: AsJson = False) -> None:
    """List flow-size distributions, or show one with its points and source.

    Example: xoff workloads websearch
    """
    _show("workloads", name, as_json)


def schema(
    keys: Annotated[
        bool, typer.Option("--keys", help="Print every key with type, default and meaning instead.")
    ] = False,
) -> None:
    """Print the JSON schema of a scenario, for editors and other programs.

    Example: xoff schema > scenario.schema.json
    """
    from xoff import _xoff

    echo(json.dumps(json.loads(_xoff.keys() if keys else _xoff.schema()), indent=2, ensure_ascii=False))


def _show(plural: str, name: str | None, as_json: bool) -> None:
    from xoff.cli.tables import detail, listing
    from xoff.runs.catalogue import catalogue, entry

    if as_json:
        shown = catalogue()[plural] if name is None else entry(plural, name)
        echo(json.dumps(shown, indent=2, ensure_ascii=False))
    elif name is None:
        print_table(listing(plural))
    else:
        print_table(detail(plural, name))
