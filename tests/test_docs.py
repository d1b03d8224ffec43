"""The committed reference is what the program says of itself, and the ready scenarios are valid."""

from __future__ import annotations

from pathlib import Path

import pytest

import xoff
from conftest import ROOT
from xoff import bench, docs
from xoff.scenario import Scenario


@pytest.mark.parametrize("name", ["scenario.md", "schemes.md", "topologies.md", "workloads.md", "results.md"])
def test_the_reference_is_up_to_date(name: str) -> None:
    committed = (ROOT / "docs" / "reference" / name).read_text("utf-8")
    assert committed == docs.pages()[name], "run `make docs`"


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").rglob("*.toml")), ids=lambda file: file.stem)
def test_ready_scenarios_are_valid(file: Path) -> None:
    assert xoff.check(file)["topology"]


@pytest.mark.parametrize(("name", "text"), bench.scenarios().items())
def test_benchmarks_are_valid(name: str, text: str) -> None:
    resolved, warnings = Scenario(text, f"{name}.toml", ".").check()
    assert resolved["seed"] == 1
    assert warnings == []
