"""Names on consoles: shown as they are, whatever markup or control characters they hold, and cut if they are long."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
from rich.console import Console

import hostile
import xoff
from conftest import Command
from xoff.analysis.explain import explain
from xoff.analysis.explain.text import explanation_text
from xoff.cli import console
from xoff.runs import bench
from xoff.runs.progress import RunsBar

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def test_a_run_says_names_as_they_are(command: Command, tmp_path: Path) -> None:
    (tmp_path / "hostile.toml").write_text(hostile.scenario(), "utf-8")
    for arguments in (("check", "hostile.toml"), ("run", "hostile.toml", "-o", "out"), ("explain", "out")):
        done = command(*arguments)
        assert done.returncode == 0, done.stderr
        assert not CONTROL.search(done.stdout + done.stderr), arguments
    told = " ".join(done.stdout.split())
    for name in (r"\u202egnorw\u2066->switch", "[bold]x[/] [link=https://example.com]y[/link] [/nothing]->switch"):
        assert name in told


def test_a_mistake_says_names_as_they_are(command: Command, tmp_path: Path) -> None:
    for name in (hostile.RICH, hostile.TURNED, hostile.WIPED, hostile.LONG):
        text = hostile.scenario(hosts=["a", "b"]).replace('src = "b"', f"src = {hostile.quoted(name)}")
        (tmp_path / "wrong.toml").write_text(text, "utf-8")
        done = command("check", "wrong.toml")
        assert done.returncode == 2
        assert not CONTROL.search(done.stderr)
        assert len(done.stderr) < 11_000
    # An option's value that is refused.
    done = command("check", "wrong.toml", "--set", "[bold]x[/nothing]=1")
    assert done.returncode == 2
    assert "[bold]x[/nothing]" in done.stderr


@pytest.mark.parametrize("name", [hostile.TURNED, hostile.WIPED, hostile.LONG[:20_000]])
def test_a_mistake_on_the_command_line_says_it_as_it_is(command: Command, name: str) -> None:
    # A command, an option, its value, and an argument that are not expected.
    for wrong in ([name], ["run", f"--{name}"], ["run", "x.toml", name], ["sweep", "x.toml", f"--workers={name}"]):
        done = command(*wrong)
        assert done.returncode == 2
        assert not CONTROL.search(done.stderr), wrong
        assert len(done.stderr) < 3_000


def test_long_names_are_cut_in_an_explanation(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(hostile.scenario(hosts=[hostile.LONG[:100_000] + end for end in "abc"]))
    text = explanation_text(explain(xoff.run(tmp_path / "long.toml")))
    assert len(text) < 11_000
    assert max(map(len, text.splitlines())) <= 200


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def written(thing: object) -> str:
    out = Terminal()
    Console(file=out, width=300, color_system=None).print(thing)
    return out.getvalue()


def test_bars_and_tables_take_no_name_for_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hostile.RICH in written(console._bar(hostile.RICH).get_renderable())
    monkeypatch.setattr(sys, "stderr", Terminal())
    with RunsBar(hostile.RICH, count=2) as runs:
        assert hostile.RICH in written(runs._bar.get_renderable())
    with console.status_line() as show:
        assert show is not None
        show(hostile.RICH)
    figures = dict.fromkeys(("packet_hops_per_s", "packet_hops", "events_per_hop", "process_s", "wall_s", "setup_s"))
    memory = dict.fromkeys(("peak_rss_bytes", "bytes_per_host", "bytes_per_flow", "bytes_per_packet"))
    assert hostile.RICH in written(bench.render([{"name": hostile.RICH, "threads": 1, **figures, **memory}]))
