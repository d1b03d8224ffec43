"""`xoff compare`: who takes part, what is measured, and what is written."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgb

from conftest import ROOT, Command
from made_up import made_up_run
from xoff.errors import UserError
from xoff.papers.readings_map import FILLS
from xoff.runs.catalogue import catalogue
from xoff.scheme.load import read_specs
from xoff.studies.compare import compare, measures, table
from xoff.studies.compare.contenders import field
from xoff.studies.compare.experiments import EXPERIMENTS, Metric, Scale, averaged
from xoff.studies.compare.heat import STOPS, colour, ratios, shade
from xoff.studies.compare.table import Row, best, shown

FILES = [each.file for each in EXPERIMENTS]

TINY = Scale(
    sets={
        "dumbbell": {"run.duration": "1.5ms"},
        "incast": {"topology.hosts": 5, "traffic.0.senders": 4, "traffic.0.size": "20KB"},
        "victim": {"traffic.0.stop": "250us", "traffic.1.stop": "250us"},
        "fat_tree": {"topology.k": 4, "traffic.0.stop": "300us"},
    },
    seeds=2,
    note="Tiny.",
)


def _contrast(one: Any, other: Any) -> float:
    """WCAG 2.2's contrast ratio of two colours."""

    def luminance(colour: Any) -> float:
        linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _on_dark_page(colour: Any) -> Any:
    """A figure's colour after `invert(1) hue-rotate(180deg)` and `screen` on #0d1117, as article.css has it.

    Filter Effects Module Level 1: with cos = -1 and sin = 0, hue-rotate takes each channel from its value to twice the
    luminance 0.213 R + 0.715 G + 0.072 B less the value.
    """
    turned = 1 - colour
    turned = np.clip(2 * float(turned @ [0.213, 0.715, 0.072]) - turned, 0, 1)
    return 1 - (1 - turned) * (1 - np.array([0x0D, 0x11, 0x17]) / 255)


def test_text_stands_out_from_its_cell_on_light_and_dark_pages() -> None:
    cells = [(colour(place / 100), "black") for place in range(101)]
    for fill, ink in (*cells, *FILLS.values()):
        cell, text = np.array(to_rgb(fill)), np.array(to_rgb(ink))
        assert _contrast(cell, text) >= 4.5, fill
        assert _contrast(_on_dark_page(cell), _on_dark_page(text)) >= 4.5, fill


LOW, HIGH = Metric("x", "x", "", "low", 1), Metric("x", "x", "", "high", 3)


def test_a_cells_colour_says_by_how_much_it_is_worse_than_the_best() -> None:
    # Twice as much is half of the scale, which ends at four times as much: 1 = 4^0, 2 = 4^0.5, 4 = 4^1.
    assert ratios(LOW, [10.0, 20.0, 40.0, 400.0, math.nan])[:4] == [1, 2, 4, 40]
    assert [shade(each) for each in (1, 2, 4, 40)] == [0, 0.5, 1, 1]
    assert math.isnan(ratios(LOW, [10.0, math.nan])[1])
    # What is close looks alike, however small the column's range: 0.733 / 0.673 = 1.089, a sixteenth of the scale.
    close = ratios(HIGH, [0.733, 0.673])
    assert close == [1, pytest.approx(1.0892, abs=1e-4)]
    assert shade(close[1]) == pytest.approx(0.0616, abs=1e-4)
    # No best number is zero: it counts as one in its last digit, so that 0.3 is three times 0.0.
    assert ratios(LOW, [0.0, 0.3]) == [1, pytest.approx(3)]
    assert ratios(LOW, [0.0, 0.04]) == [1, 1]
    # A queue below a packet of 1.5 KB is none: 0.9 KB is no worse than 0.0 KB, and 6 KB are four packets.
    assert ratios(Metric("x", "x", "KB", "low", 1), [0.0, 0.9, 6.0]) == [1, 1, 4]
    assert ratios(LOW, [math.nan]) == [pytest.approx(math.nan, nan_ok=True)]
    assert [colour(place / 4) for place in range(5)] == list(STOPS)
    assert colour(0.125) == "#FFF9CE"  # half way from #FFFFE5 to #FFF3B8: (FF+F3)/2 = F9, (E5+B8)/2 = CE.8, to even


OWN = read_specs([f"{ROOT / 'tests' / 'own_schemes.py'}:Aimd"])


def test_schemes_of_ones_own_take_part() -> None:
    alone = field("hpcc", FILES, OWN)
    assert [each.name for each in alone.contenders] == ["hpcc", "aimd"]
    assert [alone.own_of(each) for each in alone.contenders] == [(), OWN]
    # With a detector, where it is named that way.
    named = field("aimd+red,hpcc", FILES, OWN)
    assert [each.name for each in named.contenders] == ["aimd+red", "hpcc"]
    assert field(None, FILES, OWN).contenders[-1].name == "aimd"
    with pytest.raises(UserError, match="no detector `tdc`; did you mean `tcd`"):
        field("aimd+tdc", FILES, OWN)


def test_the_field_comes_from_the_catalogue() -> None:
    found = field(None, FILES)
    names = [contender.name for contender in found.contenders]
    schemes = [each["name"] for each in catalogue()["schemes"]]
    assert set(schemes) <= {*names, *found.absent}
    # DCQCN's own detector is RED; each other one is tried with it.
    others = [each["name"] for each in catalogue()["detectors"] if each["name"] != "red"]
    assert {f"dcqcn+{name}" for name in others} <= {*names, *found.absent}
    assert {"none", "dcqcn", "hpcc", "fncc", "rocc", "dctcp", "swift", "expresspass", "none/bfc"} <= set(names)


def test_some_schemes_can_be_named_with_detectors() -> None:
    found = field("hpcc, dcqcn+red", FILES)
    assert [contender.sets for contender in found.contenders] == [
        {"scheme.name": "hpcc"},
        {"scheme.name": "dcqcn", "detector.name": "red"},
    ]


def test_contenders_cross_schemes_with_flow_control_and_throttles() -> None:
    found = field("hpcc/cbfc, ib_cc+tcd/cbfc, none~pft/credit, none~pft/pfc", FILES)
    assert [contender.sets for contender in found.contenders] == [
        {"scheme.name": "hpcc", "flow_control": {"name": "cbfc"}},
        {"scheme.name": "ib_cc", "detector.name": "tcd", "flow_control": {"name": "cbfc"}},
        {"scheme.name": "none", "throttle.name": "pft", "flow_control": {"name": "credit"}},
        {"scheme.name": "none", "throttle.name": "pft"},
    ]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("none~pfc", "no throttle `pfc`, which is a flow control"),
        ("none~pfd", "no throttle `pfd`; did you mean `pft`?"),
        ("none/cbcf", "none/cbcf cannot take part: dumbbell: .* did you mean `cbfc`"),
        ("hpcc/cbfc+red", "`hpcc/cbfc[+]red` is not SCHEME, .*; expected parts in this order"),
        ("hpc", "no scheme `hpc`; did you mean `hpcc`?"),
        ("dcqcn+rde", "no detector `rde`; did you mean `red`?"),
        ("hpcc,hpcc", "hpcc twice: expected each once"),
        ("hpcc+red", "hpcc[+]red cannot take part: dumbbell: .* marks packets, which scheme `hpcc` does not look at"),
    ],
)
def test_who_cannot_take_part_is_refused(names: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        field(names, FILES)


def test_a_survey_writes_its_tables_figures_and_page(tmp_path: Path) -> None:
    assert compare(tmp_path / "out", "none,dctcp", scale=TINY, own=OWN) == 0
    out = tmp_path / "out"
    written = json.loads((out / "survey.json").read_text())
    rows = {(row["experiment"], row["scheme"], row["metric"]): row for row in written["rows"]}
    assert {key[1] for key in rows} == {"none", "dctcp", "aimd"}
    assert {key[0] for key in rows} == {"dumbbell", "incast", "victim", "fat_tree"}
    assert all(row["value"] is not None for row in rows.values())
    # A step at 300 KB holds the queue there; without a scheme only PAUSE does, at 500 KB for each ingress port.
    kept, grown = (rows["dumbbell", name, "queue_mean"]["value"] for name in ("dctcp", "none"))
    assert kept < 350 < grown
    # The scheme of one's own, AIMD, keeps it a little shorter.
    assert rows["dumbbell", "aimd", "queue_mean"]["best"]
    assert not rows["dumbbell", "none", "queue_mean"]["best"]
    assert rows["victim", "none", "incomplete"]["value"] == 0
    frame = pl.read_parquet(out / "survey.parquet")
    assert frame.rows() == [tuple(row.values()) for row in written["rows"]]
    text = (out / "survey.md").read_text()
    assert "### Victims of head-of-line blocking" in text
    assert "| dctcp |" in text
    assert "xoff compare -o" in text
    assert "--schemes none,dctcp" in text
    assert "Tiny." in text
    page = (out / "index.html").read_text()
    # The overview is a table.
    assert page.count("data:image/svg+xml;base64,") == 6
    assert page.count('class="heat"') == 1
    assert "own_schemes.py:Aimd" in text
    assert "http" not in page.replace("http-equiv", "")
    for name in ("overview", "trade", "dumbbell_queue", "dumbbell_rates", "incast_queue", "victims", "fat_tree_sizes"):
        assert (out / f"{name}.png").stat().st_size > 5_000
        assert len(pl.read_csv(out / f"{name}.csv")) > 0


def test_a_mistake_leaves_nothing_behind(command: Command, tmp_path: Path) -> None:
    done = command("compare", "-o", "out", "--schemes", "nome")
    assert done.returncode == 2
    assert "no scheme `nome`; did you mean `none`?" in done.stderr
    assert not (tmp_path / "out").exists()


def test_jain_is_1_for_equal_shares_and_1_over_n_for_one_of_n() -> None:
    assert measures.jain(np.array([25.0, 25.0, 25.0, 25.0])) == 1.0
    assert measures.jain(np.array([100.0, 0.0, 0.0, 0.0])) == 0.25
    # (1 + 3)^2 / (2 (1 + 9)) = 0.8
    assert measures.jain(np.array([1.0, 3.0])) == pytest.approx(0.8)
    assert math.isnan(measures.jain(np.zeros(3)))


def test_a_percentile_of_nothing_is_not_a_number() -> None:
    assert math.isnan(measures.percentile(np.zeros(0), 99))
    assert measures.percentile(np.array([1.0, 2.0, 3.0]), 50) == 2.0


def test_an_incast_that_does_not_end_has_no_end() -> None:
    run = made_up_run((1000, 1000), (2.0, None), fcts=(2 * 10**6, None), queues=[(10**6, "a->b", 500)])
    tables = dict(run.tables.items())
    queues = tables["queues"].drop_columns("max_bytes")
    tables["queues"] = queues.append_column("max_bytes", queues["bytes"])
    values = measures.incast(type(run)(run.manifest, tables)).values
    assert values["incomplete"] == 1.0
    assert math.isnan(values["last_ms"])
    assert (values["slowdown_mean"], values["queue_max"]) == (2.0, 0.5)


def rows(*values: float) -> list[Row]:
    return [Row("e", f"s{index}", {"x": value}) for index, value in enumerate(values)]


def test_the_best_is_the_best_as_printed() -> None:
    assert best(LOW, rows(1.0, 2.0, 1.04)) == {"s0", "s2"}
    assert best(Metric("x", "x", "", "high", 1), rows(1.0, 2.0)) == {"s1"}
    assert best(LOW, rows(1.0, 1.0)) == set()  # nobody is best where all are equal
    assert best(LOW, rows(1.0, float("nan"), 2.0)) == {"s0"}


def test_numbers_are_shown_with_their_digits() -> None:
    assert [shown(LOW, value) for value in (1234.56, float("nan"))] == ["1,234.6", "-"]


def test_incomplete_flows_are_shown_where_there_are_any() -> None:
    incast = next(each for each in EXPERIMENTS if each.name == "incast")
    values = {metric.key: 0.0 for metric in incast.metrics}
    complete = [Row("incast", "a", values)]
    assert "flows not complete" not in table.cells(incast, complete, "{}")[0]
    lacking = [Row("incast", "a", {**values, "incomplete": 2.0})]
    columns, lines = table.cells(incast, lacking, "{}")
    assert columns[-1] == "flows not complete"
    assert lines[0][-1] == "2"


def test_numbers_are_averaged_over_the_seeds_that_have_them() -> None:
    nan = float("nan")
    seeds = [{"a": 1.0, "b": nan, "c": nan}, {"a": 3.0, "b": 5.0, "c": nan}]
    results = {("e", "s", seed): measures.Measured(values) for seed, values in enumerate(seeds)}
    found = averaged(results, "e", "s")
    assert (found["a"], found["b"]) == (2.0, 5.0)
    assert math.isnan(found["c"])
