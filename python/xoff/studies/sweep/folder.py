"""The folder of a sweep's or a tuning's runs, and the dataset over them."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from xoff.errors import UserError
from xoff.runs.files import (
    is_temporary,
    remove_leftovers,
    replace_folder,
    sync,
    temporary_folder,
    write_file,
)
from xoff.runs.folder import TABLES, ResultFolder, check_target
from xoff.runs.index import INDEX, is_sweep, text_of
from xoff.runs.manifest import MANIFEST, read_manifest
from xoff.runs.parquet import has_rows
from xoff.studies.sweep.plan import Planned

if TYPE_CHECKING:
    import polars as pl


RECORD = "study.json"
"""What a tuning has tried; a sweep has none."""

TOTALS = "runs.parquet"
"""A row for each run."""

_NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""What a dataset's folder calls a key without a value."""

_MAX_NAME = 150
"""Maximum characters of a value in the name of a dataset's folder."""

SUMMARY = (
    "flows",
    "completed",
    "slowdown_mean",
    "slowdown_p50",
    "slowdown_p95",
    "slowdown_p99",
    "pause_frames",
    "paused_ps",
    "hol_blocked",
    "max_queue_bytes",
    "dropped",
    "goodput_bps",
)
"""What `runs.parquet` has of each run, beside its keys."""


def summary_of(manifest: Mapping[str, Any]) -> dict[str, float | int | None]:
    """A run in numbers, by the names of `SUMMARY`."""
    of = dict(manifest["summary"])
    slowdown = of.pop("slowdown") or {}
    of.update({f"slowdown_{name}": value for name, value in slowdown.items()})
    of["goodput_bps"] = (of.pop("endless", None) or {}).get("goodput_bps")
    return {name: of.get(name) for name in SUMMARY}


class Folder:
    """A folder of runs, for one process at a time: a context manager."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.runs = self.path / "runs"
        self._place: ResultFolder | None = None
        self._whole: set[str] = set()

    def __enter__(self) -> Folder:
        if not is_sweep(self.path) and not _is_begun(self.path):
            check_target(self.path)
            if (self.path / MANIFEST).exists():
                raise UserError(f"{self.path}: is a run's folder; expected one for many runs; name another one")
        try:
            self._place = ResultFolder(self.path, force=True).__enter__()
            self.runs.mkdir(exist_ok=True)
            remove_leftovers(self.runs)
            if not is_sweep(self.path):
                self.write_index([], {})
        except OSError as error:
            self.__exit__()
            raise UserError(f"{self.path}: runs cannot go there: {error.strerror or error}") from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._place is not None:
            self._place.close()
            self._place = None

    def of(self, run: str) -> Path:
        """A run's folder."""
        return self.runs / run

    def has(self, run: str) -> bool:
        """Whether a run is complete, with every file as large as it was written."""
        if run not in self._whole and self._is_whole(run):
            self._whole.add(run)
        return run in self._whole

    def _is_whole(self, run: str) -> bool:
        try:
            _, checksums = read_manifest(self.of(run))
            sizes = {name: (self.of(run) / name).stat().st_size for name in checksums}
        except (OSError, UserError):
            return False
        return bool(sizes) and all(sizes[name] == checksum.bytes for name, checksum in checksums.items())

    def manifest(self, run: str) -> dict[str, Any]:
        """The manifest of a run that is there."""
        return read_manifest(self.of(run))[0]

    def failed(self) -> dict[str, str]:
        """Why runs failed when this folder was last written to, by their names."""
        try:
            return dict(self._index()["failed"])
        except (ValueError, KeyError, TypeError):
            return {}

    def lists_runs(self) -> bool:
        """Whether a sweep or a tuning has planned runs here."""
        return bool(self._index().get("points"))

    def _index(self) -> dict[str, Any]:
        try:
            found = json.loads((self.path / INDEX).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def take(self, run: str, files: Mapping[str, bytes]) -> None:
        """Write a run that was made elsewhere; it appears at once, and complete."""

        def fill(folder: Path) -> None:
            for name, data in files.items():
                (folder / name).write_bytes(data)
                sync(folder / name)

        with ResultFolder(self.of(run), force=True, tidy=False) as place:
            place.put(fill)

    def write_index(self, runs: Sequence[Planned], failed: Mapping[str, str], **more: Any) -> None:
        """Write which runs there are to be."""
        points = [{"run": run.run, "seed": run.seed, "settings": run.settings} for run in runs]
        about = {
            "format": 1,
            "version": runs[0].version if runs else None,
            "scenario": runs[0].origin if runs else None,
            **more,
            "points": points,
            "failed": dict(failed),
        }
        write_file(self.path / INDEX, json.dumps(about, indent=1, default=str) + "\n")

    def write_dataset(self, runs: Sequence[Planned], failed: Mapping[str, str]) -> None:
        """Lay every run's tables out as one dataset each, of links, and write `runs.parquet`, which comes last.

        Each of them is replaced in one step.
        """
        keys = keys_of([run.settings for run in runs])
        with temporary_folder(self.path) as staging:
            for run in runs:
                if self.has(run.run):
                    self._lay_out(run, keys, staging)
            for table in TABLES:
                if (staging / table).exists():
                    replace_folder(staging / table, self.path / table)
                elif (self.path / table).exists():
                    (self.path / table).rename(staging / table)
        self.write_table(totals(self.path, runs, failed, self), TOTALS)

    def write_table(self, table: pl.DataFrame, name: str) -> None:
        """Write a table over all runs, in one step."""
        # Of a full disk Polars says that a file is out of specification.
        data = io.BytesIO()
        table.write_parquet(data)
        write_file(self.path / name, data.getvalue())

    def _lay_out(self, run: Planned, keys: Sequence[str], dataset: Path) -> None:
        parts = [f"{quote(key, safe='.')}={_folder_name(run.settings, key)}" for key in keys]
        place = Path(*parts, f"run={run.run}")
        for table in TABLES:
            source = self.of(run.run) / f"{table}.parquet"
            if not has_rows(source):
                continue
            target = dataset / table / place
            target.mkdir(parents=True, exist_ok=True)
            try:
                (target / "0.parquet").hardlink_to(source)
            except OSError:
                # A file system without links.
                shutil.copyfile(source, target / "0.parquet")


def keys_of(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every key that one of the runs sets, in the order in which they come."""
    return list(dict.fromkeys(key for each in settings for key in each))


def totals(path: Path, runs: Sequence[Planned], failed: Mapping[str, str], folder: Folder) -> pl.DataFrame:
    """A row for each run: its keys, and what it came to."""
    import polars as pl

    keys = keys_of([run.settings for run in runs])
    rows = []
    for run in runs:
        done = folder.has(run.run)
        manifest = folder.manifest(run.run) if done else {}
        rows.append(
            {
                "run": run.run,
                **{key: run.settings.get(key) for key in keys},
                "seed": run.seed,
                "state": "done" if done else "failed" if run.run in failed else "missing",
                "error": failed.get(run.run),
                **(summary_of(manifest) if done else dict.fromkeys(SUMMARY)),
                "sim_time_ps": manifest.get("sim_time_ps"),
                "packet_hops": manifest.get("packet_hops"),
                "wall_s": manifest.get("wall_s"),
            }
        )
    columns = {name: column([row[name] for row in rows]) for name in rows[0]} if rows else {}
    floats = {name: pl.Float64 for name in SUMMARY if name.startswith("slowdown") or name == "goodput_bps"}
    counts = {name: pl.Int64 for name in (*SUMMARY, "sim_time_ps", "packet_hops") if name not in floats}
    types = {**floats, **counts, "error": pl.String, "wall_s": pl.Float64}
    return pl.DataFrame(columns, schema_overrides={name: kind for name, kind in types.items() if name in columns})


def column(values: Sequence[Any]) -> list[Any]:
    """Values of a column, all of one type: numbers, or else text."""
    there = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in there) or all(type(value) is int for value in there):
        return list(values)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in there):
        return [None if value is None else float(value) for value in values]
    return [None if value is None else text_of(value) for value in values]


def _folder_name(settings: Mapping[str, Any], key: str) -> str:
    value = settings.get(key)
    if value is None:
        return _NOTHING
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    name = quote(text_of(value), safe="") or _NOTHING
    # A name that no file system takes: `runs.parquet` has the value.
    return name if len(name) <= _MAX_NAME else hashlib.sha256(name.encode()).hexdigest()


def _is_begun(folder: Path) -> bool:
    """Whether `folder` has no more than a sweep that was killed at its very beginning leaves."""
    try:
        return {entry.name for entry in folder.iterdir() if not is_temporary(entry.name)} == {"runs"} and not any(
            (folder / "runs").iterdir()
        )
    except OSError:
        return False
