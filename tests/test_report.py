"""The report's page, without a browser: what it says, and that it needs nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import escape
from pathlib import Path

import pytest

import xoff
from conftest import ROOT, Command
from made_up import made_up_run, seal
from xoff.analysis.explain import explain
from xoff.errors import UserError
from xoff.report import page as report
from xoff.report.palette import COLOURS
from xoff.report.plots import sections
from xoff.report.plots.style import Plot, labelled, log_ticks


def plots(*runs: object) -> dict[str, Plot]:
    shown = labelled(runs, [f"run{number}" for number in range(len(runs))])  # type: ignore[arg-type]
    return {plot.name: plot for _, several in sections(shown) for plot in several}


def test_empty_tables_say_why_there_is_no_plot() -> None:
    empty = plots(made_up_run([1000], [None]))
    assert all(plot.figure is None for plot in empty.values())
    assert empty["pauses"].note == "No PAUSE frame was sent."
    assert not empty["queues"].recorded
    assert "No flow completed" in empty["fct-by-size"].note


def test_a_run_keeps_its_colour_in_every_figure() -> None:
    runs = [
        made_up_run(
            pauses=[("a", 0, 10)],
            queues=[(0, "a", 5), (1, "a", 6)],
            rates=[(1, 1, 0, 1e9), (2, 1, 0, 2e9)],
        )
        for _ in range(2)
    ]
    for plot in plots(*runs).values():
        if plot.figure is None:
            continue
        for trace in plot.figure.data:
            run = 0 if "run0" in (trace.hovertemplate or "") else 1
            colour = trace.marker.color if trace.type == "bar" else trace.line.color
            assert colour == COLOURS[run], plot.name


def test_a_report_loads_no_library_of_which_it_has_no_use(command: Command, tmp_path: Path) -> None:
    # With a congestion tree, which Bokeh's script draws; and of a sweep over seeds, which has intervals.
    text = (ROOT / "scenarios" / "incast.toml").read_text("utf-8")
    (tmp_path / "incast.toml").write_text(text + "[sweep]\nseed = [1, 2]\n")
    assert command("run", "incast.toml", "-o", "run", "--set", "record.queues=switches").returncode == 0
    assert command("sweep", "incast.toml", "-o", "swept").returncode == 0
    # Samples by priority, and the operations of a job.
    assert command("run", ROOT / "scenarios" / "two_priorities.toml", "-o", "priorities").returncode == 0
    assert command("run", ROOT / "scenarios" / "training.toml", "-o", "job").returncode == 0
    code = "import sys; from xoff.cli.app import main; main(sys.argv[1:]); print(*sys.modules)"
    loaded: set[str] = set()
    for made, folder in [*(("report", name) for name in ("run", "swept", "priorities", "job")), ("explore", "run")]:
        line = [sys.executable, "-c", code, made, folder]
        loaded |= {*subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()}
    assert {"plotly", "scipy.special"} < loaded
    # Each of them takes a good part of the time in which a small report is made.
    assert not {"pandas._libs", "scipy.stats", "bokeh", "matplotlib"} & loaded
    assert '"bokeh"' in (tmp_path / "run" / "report.html").read_text("utf-8")


def test_axes_have_names_with_units() -> None:
    found = plots(made_up_run(queues=[(0, "a", 5000), (10**6, "a", 6000)], rates=[(1, 1, 0, 5e9)]))
    queues = found["queues"].figure
    assert queues is not None
    assert queues.layout.xaxis.title.text == "time (us)"
    assert queues.layout.yaxis.title.text == "queue (KB)"
    # 6,000 B after 1 us.
    assert (queues.data[0].x[1], queues.data[0].y[1]) == (1.0, 6.0)
    rates = found["rates"].figure
    assert rates is not None
    assert rates.data[0].y[0] == 5.0


def test_unfinished_flows_are_mentioned() -> None:
    note = plots(made_up_run([1000, 2000], [1.0, None]))["fct-by-size"].note
    assert "did not complete: 1 of run0" in note
    # A flow that was told to stop has completed, but has no ideal to compare with.
    note = plots(made_up_run([1000, 2000], [1.0, None], fcts=[10, 20]))["fct-by-size"].note
    assert "did not complete" not in note
    assert "stopped before they had sent their size: 1 of run0" in note


@pytest.mark.parametrize("name", ["manifest.json", "flows.parquet", "thesis.html"])
def test_only_a_page_of_its_own_is_replaced(tmp_path: Path, name: str) -> None:
    run = made_up_run()
    run.write(tmp_path / "r")
    (tmp_path / "r" / "thesis.html").write_text("<!doctype html><title>mine</title>")
    before = (tmp_path / "r" / name).read_bytes()
    with pytest.raises(UserError, match="name another file"):
        report.write_report([run], tmp_path / "r" / name)
    assert (tmp_path / "r" / name).read_bytes() == before
    page = report.write_report([run], tmp_path / "r" / "page.html")
    page.write_text(page.read_text("utf-8") + "<!-- old -->", "utf-8")
    assert "old" not in report.write_report([run], page).read_text("utf-8")[-20:]


def test_a_link_or_device_is_no_page(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "null").symlink_to("/dev/null")
    for name in ("dangling", "null"):
        with pytest.raises(UserError, match="name another file"):
            report.write_report([made_up_run()], tmp_path / name)
        assert (tmp_path / name).is_symlink()


def test_differences_between_scenarios_are_marked() -> None:
    page = report.render_report([made_up_run(scheme="hpcc"), made_up_run(scheme="fncc")])
    assert re.search(r'<tr class="differs"><td class="key">scheme.name</td>', page)
    assert "1 setting differs" in page


def test_columns_of_any_run_are_listed_with_their_units() -> None:
    # The second run has none of the first one's column, which stays in the list.
    fast, plain = made_up_run(), made_up_run()
    fast.manifest["table_docs"] = {"flows": {"size_bytes": "Payload.", "skipped_ps": "Time not simulated."}}
    page = report.render_report([fast, plain])
    assert '<td class="key">skipped_ps</td><td>ps</td><td>Time not simulated.</td>' in page
    assert '<td class="key">size_bytes</td><td>B</td>' in page


def test_names_are_escaped() -> None:
    page = report.render_report([made_up_run(scheme="<script>alert(1)</script>")])
    assert "<script>alert(1)" not in page


def test_the_page_refers_to_nothing_outside_itself() -> None:
    page = report.render_report([made_up_run()])
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#part-)""", page)
    assert len(page) < 5_000_000


def test_what_rules_find_is_told() -> None:
    # 16 hosts send to one at once without congestion control: PAUSE does all the work, and holds the senders back.
    run = xoff.run(ROOT / "scenarios" / "incast.toml")
    page = report.render_report([run])
    assert re.search(r'<span class="badge warning">warning</span> a PAUSE storm: host\d+-&gt;switch1 stood still', page)
    (storm, *_) = explain(run).findings
    for text in (*storm.evidence, storm.threshold, *storm.advice):
        assert f"<dd>{escape(text)}</dd>" in page
    assert page.count('<td class="key">record.roots=true</td>') == 1
    # What it did not record has no place of its own besides that.
    assert page.count('<td class="key">record.breakdown=true</td>') == 1
    assert "Where the worst flows" not in page
    assert "It was not recorded" not in page


def test_many_runs_findings_are_folded() -> None:
    run = xoff.run(ROOT / "scenarios" / "incast.toml")
    page = report.render_report([run] * 5)
    assert page.count('<details class="card">') == 5
    assert page.count("1 warning, 1 note") == 5
    # What all of them lack is said once.
    assert page.count('<td class="key">record.roots=true</td>') == 1


def test_a_run_that_cannot_be_explained_says_why(tmp_path: Path) -> None:
    page = report.render_report([made_up_run()])
    assert "the table ports.parquet has no column `rate_bps`" in page
    folder = xoff.run(ROOT / "scenarios" / "incast.toml").write(tmp_path / "edited")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    for key, value in (("base_rtt_ps", "soon"), ("wire", {"frame_bytes": None})):
        seal(folder, {**manifest, key: value})
        edited = xoff.load(folder)
        with pytest.raises(UserError, match="its manifest or a table is not as xoff writes it"):
            explain(edited)
        assert "its manifest or a table is not as xoff writes it" in report.render_report([edited])


def test_flattening_keeps_every_value() -> None:
    scenario = {"seed": 1, "scheme": {"name": "x"}, "traffic": [{"load": 0.5}], "ports": ["a", "b"], "none": {}}
    assert report.flatten(scenario) == {
        "seed": "1",
        "scheme.name": '"x"',
        "traffic.0.load": "0.5",
        "ports": '["a", "b"]',
        "none": "{}",
    }


def test_a_folder_of_runs_stands_for_its_runs(tmp_path: Path) -> None:
    for name in ("b", "a"):
        made_up_run().write(tmp_path / name)
    runs = report.find_runs([tmp_path, tmp_path / "a"])
    assert [run.folder for run in runs] == [tmp_path / "a", tmp_path / "b"]
    assert report.default_page(runs) == tmp_path / "report.html"
    assert report.default_page(runs[:1]) == tmp_path / "a" / "report.html"


def test_a_page_cannot_replace_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a folder"):
        report.write_report([made_up_run()], tmp_path)
    with pytest.raises(UserError, match="at least one run"):
        report.render_report([])


def test_log_ticks() -> None:
    assert [tick for tick in log_ticks(1.0, 10.0) if tick <= 10] == [1, 2, 5, 10]
