"""The commands of lists: `xoff schemes`, `xoff topologies`, `xoff workloads` and `xoff schema`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from xoff.cli.options import AsJson, Name, print_table
from xoff.runs.catalogue import catalogue, entry, parameters, size_text

if TYPE_CHECKING:
    from rich.console import RenderableType


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
    keys: Annotated[bool, typer.Option("--keys", help="Every key with type, default and meaning instead.")] = False,
) -> None:
    """Print the JSON schema of a scenario, for editors and other programs.

    Example: xoff schema > scenario.schema.json
    """
    from xoff import _xoff

    typer.echo(json.dumps(json.loads(_xoff.keys() if keys else _xoff.schema()), indent=2, ensure_ascii=False))


def _show(plural: str, name: str | None, as_json: bool) -> None:
    if as_json:
        shown = catalogue()[plural] if name is None else entry(plural, name)
        typer.echo(json.dumps(shown, indent=2, ensure_ascii=False))
    elif name is None:
        print_table(listing(plural))
    else:
        print_table(detail(plural, name))


def listing(plural: str) -> RenderableType:
    """A table of all entries."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True, style="bold cyan")
    table.add_column("what", ratio=3)
    if plural == "workloads":
        table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("source", ratio=2, style="dim")
    for item in catalogue()[plural]:
        mean = [size_text(item["mean_bytes"])] if plural == "workloads" else []
        cells = [item["name"], item["title"], *mean, item["source"]]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def detail(plural: str, name: str) -> RenderableType:
    """One entry with its parameters, or a workload with its points."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    item = entry(plural, name)
    head = Text.assemble((item["name"], "bold cyan"), f"  {item['title']}\n", (item["source"], "dim"))
    table = Table(box=None, pad_edge=False, header_style="bold")
    if "points" in item:
        table.add_column("flow size", justify="right")
        table.add_column("share of flows up to it", justify="right")
        for size, share in item["points"]:
            table.add_row(size_text(size), f"{share:.4g}")
        return Group(head, Text(f"mean {size_text(item['mean_bytes'])}\n"), table)
    rows = parameters(item)
    if not rows:
        return Group(head, Text("It has no parameters."))
    for column in ("parameter", "default", "takes"):
        table.add_column(column, no_wrap=column != "takes", max_width=28)
    table.add_column("meaning", ratio=1)
    for row in rows:
        default = "required" if row.required else row.default
        table.add_row(Text(row.name), Text(default), Text(row.kind), Text(row.doc))
    return Group(head, Text(), table)
