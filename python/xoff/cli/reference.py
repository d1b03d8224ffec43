"""Writes the reference pages from what the program itself knows: `python -m xoff.cli.reference [FOLDER]`.

Without FOLDER they go to `docs/reference`. A test compares the committed pages with what this writes.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xoff import _xoff
from xoff.cli import pictures
from xoff.runs.catalogue import Entry, catalogue, one_line, parameters, toml
from xoff.runs.folder import COLUMNS, columns_of_some_runs
from xoff.runs.manifest import MANIFEST
from xoff.text import size_text

_NOTE = "<!-- Written by `python -m xoff.cli.reference`; change the doc comments in the code instead. -->\n"


_PICTURES = "topologies"
"""The folder of pictures, beside the pages."""


def _picture_file(name: str) -> str:
    return f"{_PICTURES}/{name}.svg"


def pages() -> dict[str, str]:
    """The text of each page by file name."""
    lists = catalogue()
    return {
        "scenario.md": _scenario(),
        "schemes.md": _page(
            "Schemes",
            "Congestion control, chosen by `scheme.name`; the parameters stand beside it in `[scheme]`. What marks "
            "packets is chosen by `detector.name`, what holds back hosts' NIC ports by `throttle.name`.",
            "`xoff schemes NAME` shows the same.",
            [(None, lists["schemes"]), ("Detectors", lists["detectors"]), ("Throttles", lists["throttles"])],
        ),
        "topologies.md": _page(
            "Topologies",
            "The network, chosen by `topology.name`; the parameters stand beside it in `[topology]`.",
            "`xoff topologies NAME` shows the same.",
            [(None, lists["topologies"]), ("Routing", lists["routings"])],
        ),
        "workloads.md": _workloads(lists["workloads"], lists["patterns"]),
        "results.md": _results(),
    }


def drawings() -> dict[str, str]:
    """The pages' pictures by file name."""
    return {_picture_file(name): pictures.draw(name) for name in pictures.names()}


def write(folder: Path) -> None:
    """Write all pages into `folder`."""
    (folder / _PICTURES).mkdir(parents=True, exist_ok=True)
    for name, text in {**pages(), **drawings()}.items():
        (folder / name).write_text(text, encoding="utf-8")


def _scenario() -> str:
    keys: list[dict[str, Any]] = json.loads(_xoff.keys())
    parts = [
        "# Scenario\n",
        _NOTE,
        'A scenario is one TOML file. Times, rates and sizes are strings with a unit: `"1.5us"`, `"100Gbps"`, '
        '`"320KB"` (320,000 bytes) or `"320KiB"` (327,680 bytes). A key that does not exist, a missing unit or an '
        "impossible value is refused with its line and what was expected. `xoff check FILE --json` prints the "
        "scenario with every default filled in.\n",
    ]
    for table, inside in itertools.groupby(keys, key=lambda key: _table_of(key["path"])):
        parts.append(f"## {_heading(table)}\n")
        for form, several in itertools.groupby(inside, key=lambda key: key["of"]):
            if form:
                parts.append(f"### `{form}`\n")
            rows = [(f"`{key['path']}`", key["type"], _default(key), one_line(key["doc"])) for key in several]
            parts.append(_table(("key", "takes", "default", "meaning"), rows))
    return "\n".join(parts)


def _page(title: str, what: str, command: str, groups: Sequence[tuple[str | None, Sequence[Entry]]]) -> str:
    parts = [f"# {title}\n", _NOTE, f"{what} {command}\n"]
    for heading, entries in groups:
        if heading:
            parts.append(f"## {heading}\n")
        parts += [_entry(item, "###" if heading else "##") for item in entries]
    return "\n".join(parts)


def _entry(item: Entry, level: str) -> str:
    rows = [
        (f"`{row.name}`", row.kind, "**required**" if row.required else _code(row.default), row.doc)
        for row in parameters(item)
    ]
    table = _table(("parameter", "takes", "default", "meaning"), rows) if rows else "It has no parameters.\n"
    source = f"\n\nSource: {one_line(item['source'])}" if item.get("source") else ""
    return f"{level} {item['name']}\n\n{one_line(item['title'])}{source}\n{_picture(item['name'])}\n{table}"


def _picture(name: str) -> str:
    shown = pictures.caption(name)
    return f"\n![{name}: {shown}]({_picture_file(name)})\n" if shown else ""


def _workloads(workloads: Sequence[Entry], patterns: Sequence[Entry]) -> str:
    rows = [
        (f"`{item['name']}`", one_line(item["title"]), size_text(item["mean_bytes"]), one_line(item["source"]))
        for item in workloads
    ]
    return "\n".join(
        [
            "# Workloads\n",
            _NOTE,
            "## Flow sizes\n",
            "Distributions of flow sizes, for the key `workload` of a traffic pattern. `xoff workloads NAME` shows the "
            "points.\n",
            _table(("name", "what", "mean", "source"), rows),
            "## Traffic patterns\n",
            "What hosts send: each `[[traffic]]` is one of these, chosen by `pattern`.\n",
            *(_entry(item, "###") for item in patterns),
        ]
    )


def _results() -> str:
    parts = [
        "# Results\n",
        _NOTE,
        f"A run's folder holds one Parquet file a table, and `{MANIFEST}`, which has their checksums: where it stands, "
        "the folder is complete. Each column's meaning and unit also stand in the Parquet field metadata, as `doc` and "
        "`unit`. Times count from the start of the run.\n",
    ]
    some = columns_of_some_runs()
    for name, columns in COLUMNS.items():
        parts += [f"## {name}.parquet\n", _columns(columns)]
        for which, more in itertools.groupby(some.get(name, {}).items(), lambda column: column[1]["runs"]):
            parts += [f"A run {which} also has:\n", _columns(dict(more))]
    return "\n".join(parts)


def _columns(columns: Mapping[str, Mapping[str, str]]) -> str:
    rows = [(f"`{column}`", about["unit"], one_line(about["doc"])) for column, about in columns.items()]
    return _table(("column", "unit", "meaning"), rows)


def _table_of(path: str) -> str:
    return path.split(".", 1)[0] if "." in path else ""


def _heading(table: str) -> str:
    if not table:
        return "Top level"
    return f"`[[{table.removesuffix('[]')}]]`" if table.endswith("[]") else f"`[{table}]`"


def _default(key: dict[str, Any]) -> str:
    return "**required**" if key["required"] else _code(toml(key["default"]))


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/reference"))
