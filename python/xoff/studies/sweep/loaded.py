"""A sweep's results in Python as one dataset: `xoff.load_sweep`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.errors import UserError, nearest
from xoff.runs.folder import TABLES
from xoff.runs.index import INDEX, is_sweep, settings_text, text_of
from xoff.runs.manifest import MANIFEST
from xoff.runs.parquet import read_table
from xoff.runs.results import Run, load
from xoff.studies.sweep.folder import TOTALS, column, keys_of
from xoff.text import name_text

if TYPE_CHECKING:
    import pyarrow as pa


class Sweep(Mapping[str, Run]):
    """The finished runs of a sweep or a tuning, by their IDs.

    Each table of all runs together is an attribute (`sweep.flows`, `sweep.ports`, ...), with the swept keys, `seed` and
    `run` as columns beside its own. `sweep.runs` has a row for each run.
    """

    def __init__(self, folder: Path, points: Mapping[str, tuple[int, dict[str, Any]]]) -> None:
        self.folder = folder
        """Where it is stored."""
        self._points = dict(points)
        self._loaded: dict[str, Run] = {}

    def __getitem__(self, run: str) -> Run:
        if run not in self._points:
            raise KeyError(run)
        if run not in self._loaded:
            self._loaded[run] = load(self.folder / "runs" / run)
        return self._loaded[run]

    def __iter__(self) -> Iterator[str]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)

    def __getattr__(self, name: str) -> pa.Table:
        # Python calls this for attributes that are not set: the tables.
        if name not in TABLES:
            raise AttributeError(f"a sweep has no `{name}`; its tables are {', '.join(TABLES)}")
        return self.table(name)

    def __dir__(self) -> list[str]:
        """The tables, and what else a sweep offers."""
        own = {name for name in super().__dir__() if not name.startswith("_")}
        return sorted(own | set(TABLES))

    @property
    def keys_swept(self) -> list[str]:
        """The swept keys, in the scenario's order."""
        return keys_of([settings for _, settings in self._points.values()])

    def settings(self, run: str) -> dict[str, Any]:
        """The settings of a run, by swept key."""
        return dict(self._points[run][1])

    def seed(self, run: str) -> int:
        """The seed of a run."""
        return self._points[run][0]

    @property
    def runs(self) -> pa.Table:
        """A row for each run: its ID, swept keys, seed, and what it came to."""
        import pyarrow.compute as pc

        table = read_table(self.folder / TOTALS)
        return table.filter(pc.field("run").isin(list(self)))

    def table(self, name: str) -> pa.Table:
        """The table called `name` of all runs, one after the other; a `UserError` if there is no such table.

        It is in memory as a whole: datasets that are larger stay readable in the sweep's folder, by polars or duckdb.
        """
        import pyarrow as pa

        if name not in TABLES:
            raise UserError(f"a sweep has no `{name}`; its tables are {', '.join(TABLES)}{nearest(name, TABLES)}")
        keys = [key for key in self.keys_swept if key != "seed"]
        values = {key: column([settings.get(key) for _, settings in self._points.values()]) for key in keys}
        tables = []
        for number, run in enumerate(self):
            table = self[run].table(name)
            own = {"run": run, "seed": self.seed(run), **{key: values[key][number] for key in keys}}
            for place, (key, value) in enumerate(own.items()):
                # A swept key that is called as a column of the table has its own name already: keys have dots.
                table = table.add_column(place, key, pa.repeat(pa.scalar(value), table.num_rows))
            tables.append(table)
        return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})

    def where(self, settings: Mapping[str, object]) -> Sweep:
        """The runs with these settings, as in `{"scheme.name": "hpcc"}`; `seed` is one too.

        `UserError` if the sweep does not have a key, or no run has the value.
        """
        points = self._points
        for key, value in settings.items():
            if key not in (known := list(dict.fromkeys([*self.keys_swept, "seed"]))):
                raise UserError(f"the sweep has no key `{key}`; it has {', '.join(known)}{nearest(key, known)}")
            kept = {run: each for run, each in points.items() if text_of(_setting(each, key)) == text_of(value)}
            if not kept:
                found = list(dict.fromkeys(text_of(_setting(each, key)) for each in points.values()))
                hint = nearest(text_of(value), found)
                raise UserError(f"no run has {key} = {text_of(value)}; there are {', '.join(found)}{hint}")
            points = kept
        return Sweep(self.folder, points)

    def by(self, *keys: str) -> dict[str, list[Run]]:
        """The runs in groups of equal settings of `keys`, all seeds together, named by these settings.

        Without keys, groups are of all settings. `xoff.plot` draws such groups with bands over seeds.
        """
        wanted = keys or tuple(key for key in self.keys_swept if key != "seed")
        for key in wanted:
            if key not in self.keys_swept:
                raise UserError(f"the sweep has no key `{key}`{nearest(key, self.keys_swept)}")
        groups: dict[str, list[Run]] = {}
        for run, (_, settings) in self._points.items():
            of = {key: settings.get(key) for key in wanted}
            name = text_of(of[wanted[0]]) if len(wanted) == 1 else settings_text(of)
            groups.setdefault(name, []).append(self[run])
        return groups

    def __repr__(self) -> str:
        return f"Sweep({len(self)} runs over {', '.join(self.keys_swept) or 'no keys'})"

    def _repr_html_(self) -> str:
        """The runs in a table, for notebooks."""
        table = self.runs
        shown = [name for name in table.column_names if name not in ("error", "packet_hops", "wall_s", "sim_time_ps")]
        left = 'style="text-align: left"'
        head = "".join(f"<th {left}>{escape(name_text(name))}</th>" for name in shown)
        rows = (
            "".join(f"<td {left}>{escape(name_text(_cell(row[name])))}</td>" for name in shown)
            for row in table.slice(0, 20).to_pylist()
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = f"<p>... and {table.num_rows - 20} more</p>" if table.num_rows > 20 else ""
        return f"<table><tr>{head}</tr>{body}</table>{more}"


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _setting(point: tuple[int, dict[str, Any]], key: str) -> Any:
    return point[0] if key == "seed" else point[1].get(key)


def load_sweep(folder: str | os.PathLike[str]) -> Sweep:
    """The sweep or tuning stored in `folder`, with the runs that are finished; their tables are read when first used.

    `UserError` if there is no such folder, or it holds no sweep.
    """
    path = Path(folder)
    if not path.is_dir():
        raise UserError(f"{path}: {'is a file' if path.exists() else 'no such folder'}; expected a sweep's folder")
    if not is_sweep(path):
        hint = "; it holds one run: `xoff.load` reads it" if (path / MANIFEST).exists() else ""
        raise UserError(f"{path}: no sweep: it has no {INDEX}{hint}")
    try:
        points = json.loads((path / INDEX).read_text(encoding="utf-8"))["points"]
        found = {str(each["run"]): (int(each["seed"]), dict(each["settings"])) for each in points}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise UserError(f"{path / INDEX}: cannot be read; make the sweep again, which keeps its runs") from None
    whole = {run: each for run, each in found.items() if Path(run).name == run and _is_there(path, run)}
    return Sweep(path, whole)


def _is_there(path: Path, run: str) -> bool:
    return (path / "runs" / run / MANIFEST).is_file()
