"""What a sweep came to: paired differences by hand, parts of the traffic, loads, colours of many settings, its page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import SMALL, Command
from test_sweep import GRID, scenario, swept
from xoff.errors import UserError
from xoff.report.palette import SERIES
from xoff.report.plots.style import colour_of, dash_of, symbol_of
from xoff.studies.sweep import plan
from xoff.studies.sweep.aggregate import Case, of_cases, results
from xoff.studies.sweep.measures import estimate
from xoff.studies.sweep.page import render
from xoff.studies.sweep.paired import baselines, default_baseline, paired, partner, read_baseline
from xoff.studies.sweep.panels import layout
from xoff.studies.sweep.parts import Load, load_text, mean_loads
from xoff.studies.sweep.words import difference_text
from xoff.text import quantity_text


def test_a_paired_difference_by_hand() -> None:
    # Differences by seed: 0.2, 0.3, 0.4. Their mean is 0.3, their standard deviation 0.1, the standard error
    # 0.1 / sqrt(3) = 0.057735, and Student's t of 2 degrees of freedom is 4.302653: half the interval is 0.248414.
    found = paired({1: 5.2, 2: 9.3, 3: 1.4, 4: 7.0}, {3: 1.0, 2: 9.0, 1: 5.0, 5: 2.0})
    assert found is not None
    assert found.mean == pytest.approx(0.3)
    assert found.half == pytest.approx(0.248414, abs=1e-6)
    assert found.seeds == 3
    # The baseline's mean over those seeds is 5.
    assert found.share == pytest.approx(0.06)
    assert found.differs
    assert difference_text(found) == ("+0.3 ± 0.25 (+6 %)", "more")
    # The intervals of the means themselves overlap by far: their halves are above 9.
    assert all((estimate(values).half or 0) > 9 for values in ([5.2, 9.3, 1.4], [5.0, 9.0, 1.0]))


def test_a_difference_that_may_be_chance_is_not_marked() -> None:
    # -1 and 3: the mean 1, the standard error 2, t of 1 degree of freedom 12.706.
    found = paired({1: 0.0, 2: 3.0}, {1: 1.0, 2: 0.0})
    assert found is not None
    assert found.mean == 1
    assert found.half == pytest.approx(25.4124, abs=1e-3)
    assert not found.differs
    one = paired({1: 4.0}, {1: 2.0, 2: 9.0})
    assert one is not None
    assert (one.mean, one.half, one.differs) == (2.0, None, False)
    assert paired({1: 4.0}, {2: 4.0}) is None
    assert difference_text(None) == ("\N{EN DASH}", "")
    without = paired({1: 4.0, 2: 1.0}, {1: 0.0, 2: 0.0})
    assert without is not None
    assert without.share is None


def case(**settings: Any) -> Case:
    return Case({key.replace("_", "."): value for key, value in settings.items()}, [1, 2], {})


def test_each_case_has_its_counterpart() -> None:
    grid = [case(scheme_name=name, load=load) for name in ("hpcc", "dcqcn") for load in (0.3, 0.5)]
    assert partner(grid[0], {"scheme.name": "dcqcn"}, grid) is grid[2]
    assert partner(grid[1], {"scheme.name": "dcqcn"}, grid) is grid[3]
    assert partner(grid[2], {"scheme.name": "dcqcn"}, grid) is None  # it is of the baseline itself
    assert partner(grid[3], {"scheme.name": "hpcc", "load": 0.3}, grid) is grid[0]
    # Settings that belong together: `eta` comes with HPCC alone.
    listed = [case(scheme_name="hpcc", eta=0.9), case(scheme_name="dcqcn"), case(scheme_name="hpcc", eta=0.95)]
    assert partner(listed[0], {"scheme.name": "dcqcn"}, listed) is listed[1]
    # Two are as close: neither is the counterpart.
    assert partner(listed[1], {"scheme.name": "hpcc"}, listed) is None


def test_a_baseline_is_chosen() -> None:
    found = of_cases([case(load=load, scheme_name=name) for name in ("hpcc", "dcqcn") for load in (0.3, 0.5)])
    assert default_baseline(found) == {"scheme.name": "hpcc"}
    assert baselines(found) == [{"load": 0.3}, {"load": 0.5}, {"scheme.name": "hpcc"}, {"scheme.name": "dcqcn"}]
    assert read_baseline(["scheme.name=dcqcn", "load = 0.30"], found) == {"scheme.name": "dcqcn", "load": 0.3}
    for text, message in (
        ("scheme.nme=hpcc", "this sweep varies load, scheme.name; did you mean `scheme.name`?"),
        ("scheme.name=hpc", "no such value of scheme.name; expected one of hpcc, dcqcn; did you mean `hpcc`?"),
        ("hpcc", "expected KEY=VALUE, as in --baseline scheme.name=dcqcn"),
    ):
        with pytest.raises(UserError, match=re.escape(message)):
            read_baseline([text], found)


def test_loads_stand_beside_each_other() -> None:
    one = [Load("web", 0.5, 0.7), Load("incast", 0.1, 0.1)]
    other = [Load("web", 0.5, 0.5), Load("incast", 0.1, 0.2)]
    found = mean_loads([one, other])
    assert [(each.asked, round(each.offered, 9)) for each in found] == [(0.5, 0.6), (0.1, 0.15)]
    assert load_text(found) == "web: 0.5 / 0.6, incast: 0.1 / 0.15"
    assert load_text(found[:1]) == "0.5 / 0.6"
    assert load_text([]) == ""


TWO = """
label = "large"

[[traffic]]
pattern = "poisson"
label = "small"
size = "5KB"
load = 0.2
stop = "20us"

[sweep]
"scheme.name" = ["none", "dcqcn"]
seed = [1, 2]
"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labels") / "out"
    swept(TWO, folder)
    return folder


def test_results_by_label_and_by_size(two: Path) -> None:
    found = results(two)
    assert [each.part for each in found.labels] == ["large", "small", "large", "small"]
    # 1 MB and 5 KB: the bins are the labels here, so that the numbers are the same.
    assert [each.part for each in found.sizes] == ["up to 10 KB", "100 KB to 1 MB"] * 2
    for each in found.cases:
        assert each.values["label small mean"] == each.values["size up to 10 KB mean"]
        assert each.values["label large p99"] == each.values["size 100 KB to 1 MB p99"]
        # One message of 1 MB that shares its link with little else, and small ones behind it.
        assert all(value < 1.5 for value in each.values["label large mean"].values())
        [load] = each.loads
        assert (load.label, load.asked) == ("small", 0.2)
        assert load.offered != 0.2
    text = render(found)
    for part in ("By traffic label", "By size of the messages", "asked / offered", "Differences to a baseline"):
        assert part in text
    assert 'id="sweep-label-0"' in text


def test_the_console_says_it_too(two: Path, command: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(SMALL + TWO)
    done = command("sweep", "two.toml", "-o", "out")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "differences to scheme.name = none, by seed" in words
    assert "load asked / offered" in words
    assert "p99, large" in words
    other = command("sweep", "two.toml", "-o", "out", "--baseline", "scheme.name=dcqcn")
    assert "differences to scheme.name = dcqcn, by seed" in " ".join(other.stdout.split())
    # What is wrong is said before any run is made.
    wrong = command("sweep", "two.toml", "-o", "new", "--baseline", "scheme.name=dcqc")
    assert wrong.returncode == 2
    assert "did you mean `dcqcn`?" in wrong.stderr
    assert not (tmp_path / "new").exists()
    page = command("report", "out", "--baseline", "scheme.name=dcqcn")
    assert page.returncode == 0, page.stderr
    text = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert text.index(">scheme.name = dcqcn</option>") < text.index(">scheme.name = none</option>")


def test_more_than_seven_settings_look_different() -> None:
    assert len(set(SERIES)) == 14
    assert len({colour_of(index) for index in range(14)}) == 14
    assert len({(colour_of(index), symbol_of(index)) for index in range(56)}) == 56
    assert len({(colour_of(index), dash_of(index)) for index in range(28)}) == 28

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    # WCAG's contrast with a card of a light page, #f6f8fa, and of a dark one, #151b23.
    for colour in SERIES:
        assert (luminance("#f6f8fa") + 0.05) / (luminance(colour) + 0.05) > 2
        assert (luminance(colour) + 0.05) / (luminance("#151b23") + 0.05) > 2
    many = of_cases([case(scheme_name=f"s{index}", load=load) for index in range(16) for load in (0.3, 0.5)])
    assert layout(many).colour == "scheme.name"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1962001635bps", "1.962 Gbps"),
        ("1962001635123bps", "1.962 Tbps"),
        ("103115B", "103.1 KB"),
        ("100KB", "100 KB"),
        ("1500ns", "1.5 us"),
        ("0.5", "0.5"),
        ("dcqcn", "dcqcn"),
        ("25KBit", "25KBit"),
    ],
)
def test_quantities_have_units_for_people(value: str, text: str) -> None:
    assert quantity_text(value) == text


def test_a_sweep_has_a_page_of_small_multiples(tmp_path: Path) -> None:
    tail = GRID + '"packets.mtu" = ["1000B", "1518B"]\n'
    swept(tail, tmp_path / "out")
    found = results(tmp_path / "out")
    shown = layout(found)
    assert (shown.x, shown.colour, shown.panels) == ("flow_control.xoff", "scheme.name", ["packets.mtu"])
    assert [len(case.seeds) for case in found.cases] == [2] * 12
    # 1, 2 and 3 have the mean 2 and a standard error of 1/sqrt(3); Student's t of 2 degrees of freedom is 4.303.
    assert estimate([1, 2, 3]).mean == 2
    assert estimate([1, 2, 3]).half == pytest.approx(4.302653 / 3**0.5)
    assert estimate([5]).half is None
    text = render(found)
    assert "24 runs: 12 combinations of scheme.name, flow_control.xoff and packets.mtu, 2 seeds each" in text
    for name in ("sweep-slowdown_mean", "sweep-max_queue_bytes"):
        assert f'id="{name}"' in text
    assert "Zero in all runs: PAUSE frames" in text


def test_a_sample_is_drawn_and_has_a_panel_a_key(tmp_path: Path) -> None:
    tail = '[sweep]\nsample = 4\nseed = [1, 2]\n"flow_control.xoff" = { from = "20KB", to = "200KB", log = true }'
    done = swept(tail, tmp_path / "out")
    assert done.made == 8
    sizes = {run.settings["flow_control.xoff"] for run in done.runs}
    assert len(sizes) == 4
    longer = {run.run for run in plan(scenario(tail.replace("sample = 4", "sample = 6")))}
    assert {run.run for run in done.runs} < longer
    found = results(tmp_path / "out")
    assert layout(found).scattered
    assert 'id="sweep-slowdown_mean"' in render(found)
    index = json.loads((tmp_path / "out" / "sweep.json").read_text("utf-8"))
    assert index["sampled"] is True
    assert len(index["points"]) == 8
