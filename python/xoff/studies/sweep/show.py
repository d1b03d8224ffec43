"""What `xoff sweep` prints: a table of its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.runs.index import text_of
from xoff.runs.parquet import read_table
from xoff.studies.sweep.aggregate import Case, of_cases, results
from xoff.studies.sweep.folder import TOTALS, keys_of
from xoff.studies.sweep.paired import default_baseline, read_baseline
from xoff.studies.sweep.plan import Planned, plan
from xoff.studies.sweep.show_results import differences_table, means_table
from xoff.text import name_text, rate_text, size_text, time_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType

    from xoff.runs.scenario import Scenario

MAX_SHOWN = 50
"""Runs that are printed."""

_MEASURES: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("completed", "flows done", lambda count: f"{count:,}"),
    ("slowdown_mean", "slowdown", lambda value: f"{value:.2f}"),
    ("slowdown_p99", "p99", lambda value: f"{value:.2f}"),
    ("goodput_bps", "goodput", rate_text),
    ("pause_frames", "PAUSE", lambda count: f"{count:,}"),
    ("paused_ps", "paused", time_text),
    ("max_queue_bytes", "longest queue", size_text),
    ("hol_blocked", "blocked", lambda count: f"{count:,}"),
    ("dropped", "drops", lambda count: f"{count:,}"),
)
"""Columns: name in `runs.parquet`, title, and how a value is written."""
_NEWS = ("completed", "goodput_bps", "hol_blocked", "dropped")
"""Columns that are left out if they say nothing of any run."""


def runs_table(out: Path, runs: Sequence[Planned]) -> RenderableType:
    """A row for each of the first runs of the sweep in `out`: the keys that differ, and what the run came to."""
    import polars as pl
    from rich.table import Table
    from rich.text import Text

    def plain(text: str) -> Text:
        # A scenario's own words are no markup, and nothing that a terminal obeys.
        return Text(name_text(text))

    # Polars opens no file whose path is not UTF-8.
    rows = {row["run"]: row for row in pl.DataFrame(read_table(out / TOTALS)).iter_rows(named=True)}
    keys = [key for key in keys_of([run.settings for run in runs]) if _differs(key, runs)]
    shown = [(name, title, text) for name, title, text in _MEASURES if _tells(name, rows)]
    table = Table(box=None, pad_edge=False, header_style="bold", caption_justify="left")
    for key in keys:
        table.add_column(plain(key))
    for _, title, _ in shown:
        table.add_column(title, justify="right", no_wrap=True)
    for run in runs[:MAX_SHOWN]:
        row = rows.get(run.run, {})
        cells = [plain(text_of(run.settings[key])) if key in run.settings else Text() for key in keys]
        if row.get("state") == "done":
            table.add_row(*cells, *(_cell(row, name, text) for name, _, text in shown))
        else:
            table.add_row(*cells, str(row.get("state", "missing")))
    if len(runs) > MAX_SHOWN:
        table.caption = Text(f"and {len(runs) - MAX_SHOWN:,} more: {name_text(str(out / TOTALS))} has all")
    return table


def results_tables(out: Path, baseline: Sequence[str]) -> list[RenderableType]:
    """What the runs of the sweep in `out` came to over their seeds, and against a baseline, as far as it tells more."""
    found = results(out)
    chosen = read_baseline(baseline, found) if baseline else default_baseline(found)
    tables = [means_table(found), differences_table(found, chosen) if chosen else None]
    return [table for table in tables if table is not None]


def check_baseline(baseline: Sequence[str], scenario: Scenario) -> None:
    """Refuse what `--baseline` says before any run is made; raises `UserError`."""
    cases = [Case(run.settings, [run.seed], {}) for run in plan(scenario)]
    read_baseline(baseline, of_cases(cases))


def _differs(key: str, runs: Sequence[Planned]) -> bool:
    return len({text_of(run.settings.get(key)) for run in runs}) > 1 or len(runs) == 1


def _tells(name: str, rows: Mapping[str, Mapping[str, Any]]) -> bool:
    values = [row.get("flows" if name == "completed" else name) for row in rows.values()]
    return any(values) if name in _NEWS else any(value is not None for value in values)


def _cell(row: Mapping[str, Any], name: str, text: Callable[[Any], str]) -> str:
    value = row.get(name)
    if value is None:
        return "\N{EN DASH}"
    return f"{value:,} of {row['flows']:,}" if name == "completed" else text(value)
