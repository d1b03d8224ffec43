"""What `xoff sweep` prints below its runs: means by traffic label, and differences to a baseline by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xoff.runs.index import text_of
from xoff.studies.sweep.aggregate import Case, Results
from xoff.studies.sweep.measures import Measure
from xoff.studies.sweep.paired import paired, partner
from xoff.studies.sweep.parts import load_text
from xoff.studies.sweep.words import difference_text, number_text
from xoff.text import name_text, quantity_text

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_SHOWN = 30
"""Combinations that are printed."""

_NAMES = {
    "slowdown_mean": "slowdown",
    "slowdown_p99": "p99",
    "goodput_bps": "goodput, Gbps",
    "pause_frames": "PAUSE",
    "max_queue_bytes": "longest queue, KB",
}
"""Columns of the differences: measure and title."""


def means_table(found: Results) -> RenderableType | None:
    """A row for each combination: its load, and slowdown by traffic label; `None` if a run's row says as much."""
    measures = found.labels
    if not measures and not any(case.loads for case in found.cases):
        return None
    heads = [(f"{_statistic(each)}, {each.part}", each) for each in measures]
    table = _table(found, "means over the seeds, with their 95 % intervals")
    table.add_column("load asked / offered", justify="right")
    for title, _ in heads:
        table.add_column(_plain(title), justify="right")
    for case in found.cases[:MAX_SHOWN]:
        numbers = [number_text(case.measures.get(each.name)) for _, each in heads]
        table.add_row(*_settings(case, found), _plain(load_text(case.loads) or "\N{EN DASH}"), *numbers)
    return table  # type: ignore[no-any-return]


def differences_table(found: Results, baseline: Mapping[str, Any]) -> RenderableType | None:
    """A row for each combination that has a counterpart in the baseline; `None` if none has, or all have one seed."""
    pairs = [(case, partner(case, baseline, found.cases)) for case in found.cases]
    rows = [(case, other) for case, other in pairs if other is not None]
    if not rows or not any(len(set(case.seeds) & set(other.seeds)) > 1 for case, other in rows):
        return None
    measures = [each for each in found.every if each.part == "" and each.name in _NAMES]
    measures += [each for each in found.labels if each.name.endswith("p99")]
    name = ", ".join(f"{key} = {text_of(value)}" for key, value in baseline.items())
    table = _table(found, f"differences to {name}, by seed, with their 95 % intervals; * if an interval leaves out 0")
    for each in measures:
        title = f"{_statistic(each)}, {each.part}" if each.part else _NAMES[each.name]
        table.add_column(_plain(title), justify="right")
    for case, other in rows[:MAX_SHOWN]:
        table.add_row(*_settings(case, found), *(_cell(case, other, each) for each in measures))
    return table  # type: ignore[no-any-return]


def _cell(case: Case, other: Case, measure: Measure) -> str:
    found = paired(case.values.get(measure.name, {}), other.values.get(measure.name, {}))
    text, way = difference_text(found, share=False)
    return text + (" *" if way else "")


def _statistic(measure: Measure) -> str:
    return "p99" if measure.name.endswith("p99") else "slowdown"


def _table(found: Results, title: str) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", title=_plain(title), title_justify="left")
    for key in found.keys:
        table.add_column(_plain(key))
    return table


def _settings(case: Case, found: Results) -> Sequence[Any]:
    return [
        _plain(quantity_text(text_of(case.settings[key]))) if key in case.settings else _plain("") for key in found.keys
    ]


def _plain(text: str) -> Any:
    from rich.text import Text

    # A scenario's own words are no markup, and nothing that a terminal obeys.
    return Text(name_text(text, 200))
