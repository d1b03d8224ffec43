"""Scenarios built in Python: `xoff.Scenario` and the typed tables of `xoff.settings`."""

from __future__ import annotations

import doctest
import inspect
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import xoff
from conftest import ROOT
from xoff import Scenario, _xoff, settings
from xoff.cli import settings_writer
from xoff.runs import built

INCAST = Scenario(
    title="Four to one",
    topology=settings.topology.star(hosts=5, rate="100Gbps"),
    scheme=settings.scheme.hpcc(eta=0.9),
    flow_control=settings.flow_control.pfc(xoff="100KB"),
    traffic=[settings.traffic.incast(senders=4, receiver="host0", size="64KB")],
    record=settings.record(queues="switches"),
)


def test_the_package_is_what_the_schema_says() -> None:
    folder = ROOT / "python" / "xoff" / "settings"
    written = settings_writer.modules()
    assert {file.relative_to(folder).as_posix() for file in folder.rglob("*.py")} == set(written)
    for name, text in written.items():
        assert (folder / name).read_text("utf-8") == text, f"{name}: run `make docs`"


def test_a_scenario_has_the_keys_of_the_schema() -> None:
    schema = json.loads(_xoff.schema())
    assert tuple(schema["properties"]) == built.KEYS
    parameters = inspect.signature(Scenario).parameters
    assert set(parameters) == set(built.KEYS)
    required = {name for name, each in parameters.items() if each.default is inspect.Parameter.empty}
    assert required == set(schema["required"])


def test_a_built_scenario_is_the_file_s(tmp_path: Path) -> None:
    text = """
title = "Four to one"
[topology]
name = "star"
hosts = 5
rate = "100Gbps"
[scheme]
name = "hpcc"
eta = 0.9
[flow_control]
name = "pfc"
xoff = "100KB"
[[traffic]]
pattern = "incast"
senders = 4
receiver = "host0"
size = "64KB"
[record]
queues = "switches"
"""
    (tmp_path / "incast.toml").write_text(text)
    assert xoff.check(INCAST) == xoff.check(tmp_path / "incast.toml")
    saved = INCAST.save(tmp_path / "saved.toml")
    assert tomllib.loads(saved.read_text()) == tomllib.loads(text)
    assert Scenario.load(saved) == INCAST
    runs = [INCAST.run(seed=3), xoff.run(INCAST, seed=3), xoff.run(saved, seed=3)]
    assert len({run.manifest["fingerprint"] for run in runs}) == 1
    assert "[[traffic]]" in saved.read_text()


def test_what_is_not_given_is_left_to_its_default() -> None:
    assert settings.scheme.hpcc() == {"name": "hpcc"}
    assert settings.event.link_down(link="a->b", for_="1ms") == {"kind": "link_down", "link": "a->b", "for": "1ms"}
    assert settings.traffic.flow(src="a", dst="b", size="1MB")["pattern"] == "flow"
    resolved = INCAST.check()
    assert resolved["scheme"] != INCAST["scheme"]
    assert isinstance(resolved, Scenario)


def test_also_makes_another_one() -> None:
    changed = INCAST.also({"scheme.eta": 0.95, "traffic.0.size": "1MB", "run.duration": "1ms"})
    assert changed["scheme"] == {"name": "hpcc", "eta": 0.95}
    assert changed["run"] == {"duration": "1ms"}
    assert INCAST["scheme"] == {"name": "hpcc", "eta": 0.9}
    # What it gives is a copy: the scenario stays as it is.
    given = INCAST["scheme"]
    assert isinstance(given, dict)
    given["eta"] = 2
    assert INCAST["scheme"] == {"name": "hpcc", "eta": 0.9}


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("traffic.1.size", "traffic.1.size: `1` is no element; expected a number below 1"),
        ("traffic.size.x", "traffic.size.x: `size` is no element"),
        ("scheme.eta.x", "scheme.eta.x: `scheme.eta` is a value; expected a table or a list"),
        ("scheme.eta.x.y", "leads into a value"),
        ("schem.eta", "a scenario has no `schem`; did you mean `scheme`"),
    ],
)
def test_a_key_that_leads_nowhere(key: str, message: str) -> None:
    with pytest.raises(xoff.UserError) as caught:
        INCAST.also({key: "1MB"})
    assert message in str(caught.value)


def test_wrong_values_are_the_scenario_s_errors() -> None:
    with pytest.raises(xoff.ScenarioError, match="eta"):
        INCAST.also({"scheme.etta": 0.5}).check()
    with pytest.raises(xoff.UserError, match="lacks `topology`"):
        Scenario.of({"scheme": {}, "traffic": []})


def test_type_checkers_refuse_unknown_keys_and_words(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from xoff import settings\n"
        "settings.scheme.hpcc(etta=0.5)\n"
        "settings.switch(scheduling='fair')\n"
        "settings.topology.star(hosts='five')\n"
        "settings.topology.star(hosts=5)\n"
    )
    # With what the check of this repository's types knows of all imports, it takes a twentieth of the time.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(wrong)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    lines = [line.split(":")[1] for line in done.stdout.splitlines() if " error: " in line]
    assert lines == ["2", "3", "4"], done.stdout + done.stderr


def test_it_shows_itself() -> None:
    assert eval(repr(INCAST), {"Scenario": Scenario}) == INCAST
    html = INCAST.also({"title": "<b>"})._repr_html_()
    assert "&lt;b&gt;" in html
    assert "name = hpcc, eta = 0.9" in html


def test_the_examples_of_its_documentation() -> None:
    assert doctest.testmod(built).failed == 0
