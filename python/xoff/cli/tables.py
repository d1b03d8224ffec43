"""Tables of the catalogue for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xoff.runs.catalogue import KINDS, Entry, article, catalogue, one_line, parameters
from xoff.text import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType


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


def everything() -> RenderableType:
    """A table of all entries of all lists."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("kind", no_wrap=True, style="dim")
    table.add_column("name", no_wrap=True, style="bold cyan")
    table.add_column("what", ratio=1)
    for plural, entries in catalogue().items():
        for number, item in enumerate(entries):
            table.add_row(KINDS[plural][0] if number == 0 else "", Text(item["name"]), Text(one_line(item["title"])))
    return table


def details(found: Sequence[tuple[str, Entry]]) -> RenderableType:
    """Entries with their lists, each with its parameters; a workload with its points."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for number, (plural, item) in enumerate(found):
        parts += [Text()] if number else []
        parts += _detail(plural, item)
    return Group(*parts)


def _detail(plural: str, item: Entry) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    chosen = f'{article(plural)}: {KINDS[plural][1]} = "{item["name"]}"'
    head = Text.assemble((item["name"], "bold cyan"), f"  {one_line(item['title'])}\n", (chosen, "dim"))
    if item.get("source"):
        head.append(f"\n{item['source']}", "dim")
    table = Table(box=None, pad_edge=False, header_style="bold")
    if "points" in item:
        table.add_column("flow size", justify="right")
        table.add_column("share of flows up to it", justify="right")
        for size, share in item["points"]:
            table.add_row(size_text(size), f"{share:.4g}")
        return [head, Text(f"mean {size_text(item['mean_bytes'])}\n"), table]
    rows = parameters(item)
    if not rows:
        return [head, Text("It has no parameters.")]
    for column in ("parameter", "default", "takes"):
        table.add_column(column, no_wrap=column != "takes", max_width=28)
    table.add_column("meaning", ratio=1)
    for row in rows:
        default = "required" if row.required else row.default
        table.add_row(Text(row.name), Text(default), Text(row.kind), Text(row.doc))
    return [head, Text(), table]
