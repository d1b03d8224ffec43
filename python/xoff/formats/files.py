"""Writing the files of an import: they are checked first, and replace only files that an import wrote."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from xoff.errors import ScenarioError, UserError
from xoff.formats.networks import MARK, Network
from xoff.formats.toml import Lines
from xoff.runs.files import write_file
from xoff.runs.scenario import Scenario
from xoff.text import line_text

GOAL_MARK = "/* Imported by xoff from "
"""First line of a schedule that an import wrote, by which it is recognized, as other files by `MARK`."""


@dataclass(frozen=True)
class Imported:
    """What an import made."""

    files: list[Path]
    """The scenario, and what it names."""
    hosts: int
    switches: int | None
    """`None` if the topology is one of xoff's own."""
    flows: int
    warnings: list[str]


def write_network(source: Path, network: Network, out: Path, format_name: str, *, force: bool) -> list[Path]:
    """Write a file for `[topology]` of a scenario: `name = "graph"` and this `file`.

    Raises
    ------
    UserError
        The network cannot be run, or the file cannot be written; then no file is left.
    """
    text = Lines()
    text.raw(f"{MARK}{line_text(source.name)}, {format_name}.")
    network.list_into(text)
    lone = Lines()
    lone.table("[topology]")
    lone.put("name", "graph")
    lone.put("file", out.name)
    lone.table("[scheme]")
    lone.put("name", "none")
    lone.table("[[traffic]]")
    lone.put("pattern", "permutation")
    lone.put("size", "1KB")
    scenario = f"{out.name}.scenario"
    _check_target(out, network.inputs, force)
    _check(source, {scenario: lone.text(), out.name: text.text()})
    _write(out, {out: text.text()})
    return [out]


def write_scenario(
    source: Path,
    files: Mapping[Path, str],
    inputs: Iterable[Path],
    *,
    force: bool,
    beside: Mapping[str, str] | None = None,
    checked: str | None = None,
) -> None:
    """Write the scenario that stands first in `files`, and the files that it names.

    Parameters
    ----------
    source
        The file that was imported, for messages.
    files
        Their texts by path, all in one folder.
    inputs
        Files that are never written over.
    force
        Overwrite files that no import wrote.
    beside
        Texts by name of files that it names and that stay as they are.
    checked
        The scenario as it is to be checked, in another folder; `None` if it names no files by a path.

    Raises
    ------
    UserError
        The scenario cannot be run, or a file cannot be written; then no file is left.
    """
    kept = list(inputs)
    out = next(iter(files))
    for file in files:
        _check_target(file, kept, force)
    texts = {file.name: text for file, text in files.items()}
    if checked is not None:
        texts[out.name] = checked
    _check(source, {**texts, **(beside or {})})
    _write(out, files)


def _write(out: Path, files: Mapping[Path, str]) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        # The scenario comes last: if it is there, all files that it names are there.
        for file, text in reversed(list(files.items())):
            write_file(file, text)
    except (OSError, ValueError) as error:
        raise UserError(f"{out}: cannot be written: {_reason(error)}") from None


def _check(source: Path, files: Mapping[str, str]) -> None:
    """Refuse, before anything is written, what `xoff check` would refuse."""
    scenario, *_ = files
    with tempfile.TemporaryDirectory() as work:
        try:
            for file, text in files.items():
                (Path(work) / file).write_text(text, encoding="utf-8")
            Scenario(files[scenario], scenario, work).check()
        except ScenarioError as error:
            found = str(error).replace(f"{work}{os.sep}", "").removeprefix("error: ")
            raise UserError(f"{source}: makes a scenario that cannot be run: {found}") from None
        except (OSError, ValueError) as error:
            raise UserError(f"{scenario}: cannot be written: {_reason(error)}") from None


def _check_target(file: Path, inputs: Iterable[Path], force: bool) -> None:
    """Refuse to overwrite an input, and without `force` anything that no import wrote."""
    try:
        wrong = _taken(file, inputs, force)
    except (OSError, ValueError) as error:
        wrong = f"cannot be written: {_reason(error)}"
    if wrong:
        raise UserError(f"{file}: {wrong}")


def _taken(file: Path, inputs: Iterable[Path], force: bool) -> str:
    if file.is_dir() or not file.name:
        return "is a folder; expected a file for the scenario"
    if not file.exists() and not file.is_symlink():
        return ""
    if file.exists() and not file.is_file():
        return "is a device or a pipe; expected a file for the scenario"
    if any(source.exists() and source.samefile(file) for source in inputs):
        return "an input of the import; name another file"
    with file.open("rb") as opened:
        begin = opened.read(len(GOAL_MARK))
    ours = begin.startswith((MARK.encode(), GOAL_MARK.encode()))
    return "" if ours or force else "exists already, and no import wrote it; name another file, or give --force"


def _reason(error: OSError | ValueError) -> str:
    return str(error.strerror) if isinstance(error, OSError) else str(error)
