"""The commands of lists: `xoff describe`, `xoff schemes`, `xoff topologies`, `xoff workloads` and `xoff schema`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from xoff.cli.console import echo
from xoff.cli.options import AnyName, AsJson, Name, print_table

if TYPE_CHECKING:
    from xoff.runs.catalogue import Entry


def describe(name: AnyName = None, as_json: AsJson = False) -> None:
    """Say what a name stands for: a scheme, detector, flow control, routing, traffic pattern or anything else.

    Without NAME, list every name by kind.

    Example: xoff describe tcd
    """
    from xoff.cli.tables import details, everything
    from xoff.runs.catalogue import catalogue, described

    if name is None:
        if as_json:
            echo(json.dumps(catalogue(), indent=2, ensure_ascii=False))
        else:
            print_table(everything())
        return
    found = described(name)
    if as_json:
        _print_found(found)
    else:
        print_table(details(found))


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
    from xoff.cli.tables import details, listing
    from xoff.runs.catalogue import catalogue, entry, find

    if name is None:
        if as_json:
            echo(json.dumps(catalogue()[plural], indent=2, ensure_ascii=False))
        else:
            print_table(listing(plural))
        return
    found = find(name)
    named = [(where, item) for where, item in found if where == plural]
    if not as_json and found:
        print_table(details(named or found))
    elif named or not found:
        echo(json.dumps(entry(plural, name), indent=2, ensure_ascii=False))
    else:
        # A name of other lists gets the answer of `xoff describe`, which says the lists.
        _print_found(found)


def _print_found(found: list[tuple[str, Entry]]) -> None:
    echo(json.dumps([{"list": plural, **item} for plural, item in found], indent=2, ensure_ascii=False))
