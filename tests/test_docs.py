"""The documents: the reference is what the program says of itself, and every command, block and link holds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import xoff
from conftest import ROOT
from xoff.cli import reference as docs
from xoff.runs import bench
from xoff.runs.catalogue import catalogue
from xoff.runs.scenario import Scenario


@pytest.mark.parametrize("name", ["scenario.md", "schemes.md", "topologies.md", "workloads.md", "results.md"])
def test_the_reference_is_up_to_date(name: str) -> None:
    committed = (ROOT / "docs" / "reference" / name).read_text("utf-8")
    assert committed == docs.pages()[name], "run `make docs`"


def test_the_reference_has_a_picture_of_each_topology() -> None:
    folder = ROOT / "docs" / "reference"
    for name, text in docs.drawings().items():
        assert (folder / name).read_text("utf-8") == text, "run `make docs`"
    assert len(list((folder / "topologies").iterdir())) == len(docs.drawings())
    names = [entry["name"] for entry in catalogue()["topologies"]]
    assert [name for name in names if f"topologies/{name}.svg" not in docs.drawings()] == ["graph"]


# Sweeps and tunings are valid scenarios too, of which a single run says that it makes one run.
@pytest.mark.filterwarnings("ignore:a single run takes the scenario as it stands:RuntimeWarning")
@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").rglob("*.toml")), ids=lambda file: file.stem)
def test_ready_scenarios_are_valid(file: Path) -> None:
    assert xoff.check(file)["topology"]


@pytest.mark.parametrize(("name", "text"), bench.scenarios(large=True).items())
def test_benchmarks_are_valid(name: str, text: str) -> None:
    resolved, warnings = Scenario(text, f"{name}.toml", ".").check()
    assert resolved["seed"] == 1
    assert warnings == []


DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]

LANGUAGES = ("sh", "python", "toml", "text")
"""What a block may be: a shell's commands and Python, which are run; a scenario; anything that is not to be run."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    language: str
    text: str
    line: int


def blocks(document: Path) -> list[Block]:
    found, language, start, lines = [], "", 0, list[str]()
    for number, line in enumerate(document.read_text("utf-8").splitlines(), 1):
        fence = re.fullmatch(r" *```(.*)", line)
        if fence and start:
            found.append(Block(language, "\n".join(lines) + "\n", start))
            start, lines = 0, []
        elif fence:
            language, start = fence[1], number
        elif start:
            lines.append(line)
    assert not start, f"{document.name}:{start}: the block has no end"
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_every_block_says_what_it_is(document: Path) -> None:
    for block in blocks(document):
        assert block.language in LANGUAGES, f"{document.name}:{block.line}: expected one of {LANGUAGES}"
        if block.language == "sh":
            for command in block.text.splitlines():
                assert command.startswith("xoff "), (
                    f"{document.name}:{block.line}: `{command}` belongs into a text block"
                )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_every_block_runs(document: Path, tmp_path: Path) -> None:
    """In order, in a folder where `scenarios` is as in the repository's."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "xoff").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m xoff "$@"\n')
    (programs / "xoff").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "MPLBACKEND": "Agg"}
    for block in blocks(document):
        if block.language == "toml":
            name = re.match(r"# (\S+\.toml)\n", block.text)
            assert name, (
                f"{document.name}:{block.line}: expected the file's name in the first line, as in `# first.toml`"
            )
            (tmp_path / name[1]).write_text(block.text)
            continue
        if block.language == "text":
            continue
        module = re.match(r"# (\S+\.py)\n", block.text)
        if block.language == "python" and module:
            # A file for a reader to save; running it shows that it can be imported.
            (tmp_path / module[1]).write_text(block.text)
        command = ["bash", "-euo", "pipefail", "-c"] if block.language == "sh" else [sys.executable, "-c"]
        done = subprocess.run(
            [*command, block.text],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{document.name}:{block.line}: {done.stderr}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8")):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = document.parent / path if path else document
        assert file.exists(), f"{document.name}: {target}"
        if anchor:
            titles = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
            assert anchor in anchors, f"{document.name}: {target}"


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for document in DOCUMENTS:
        commands = "\n".join(re.findall(r"`[^`\n]+`", document.read_text("utf-8")))
        commands += "".join(block.text for block in blocks(document) if block.language == "text")
        for named in re.findall(r"\bmake ([a-z-]+)", commands):
            assert named in targets, f"{document.name}: make {named}"


def test_every_command_is_documented() -> None:
    from xoff.cli.app import app

    readme = (ROOT / "README.md").read_text("utf-8")
    for command in app().registered_commands:
        assert command.callback
        assert f"`xoff {command.name or command.callback.__name__}" in readme
    for group in app().registered_groups:
        assert group.typer_instance
        for command in group.typer_instance.registered_commands:
            assert f"`xoff {group.typer_instance.info.name} {command.name}" in readme


def test_every_scheme_and_scenario_is_documented() -> None:
    from xoff.runs.catalogue import catalogue

    readme = (ROOT / "README.md").read_text("utf-8")
    guide = (ROOT / "docs" / "guide.md").read_text("utf-8")
    for scheme in catalogue()["schemes"]:
        assert f"| `{scheme['name']}` |" in readme
    for file in (ROOT / "scenarios").glob("*.toml"):
        assert f"(../scenarios/{file.name})" in guide
