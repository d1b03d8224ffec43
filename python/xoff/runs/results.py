"""A run's results: tables and manifest, in memory and as a folder.

A folder holds one Parquet file a table and `manifest.json`, which has the checksums of the others: if it is there, the
folder is complete. Each column's meaning and unit stand in the Parquet file's field metadata as `doc` and `unit`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.errors import UserError
from xoff.runs.captures import SNAP_LENGTH, Captures, write_pcapng, write_perfetto
from xoff.runs.files import sync
from xoff.runs.folder import COLUMNS, TABLES, ResultFolder
from xoff.runs.index import point_of, settings_text, text_of
from xoff.runs.manifest import MANIFEST, Checksum, manifest_text, read_manifest
from xoff.runs.parquet import read_table
from xoff.text import count_text, name_text, size_text, time_text

if TYPE_CHECKING:
    import pyarrow as pa

    from xoff._xoff import RunOutput


_READ: dict[str, tuple[str, ...]] = {
    "flows": (
        "id",
        "src",
        "dst",
        "size_bytes",
        "label",
        "priority",
        "start_ps",
        "fct_ps",
        "slowdown",
        "path",
        "paused_ps",
        "hol_blocked",
    ),
    "queues": ("time_ps", "port", "bytes", "max_bytes"),
    "rates": ("time_ps", "interval_ps", "flow", "sent_bps", "goodput_bps", "rate_bps"),
    "utilization": ("time_ps", "port", "utilization"),
    "pauses": ("port", "by", "priority", "start_ps", "length_ps"),
    "roots": ("port", "priority", "start_ps", "length_ps", "max_bytes"),
    "notifications": ("time_ps",),
    "marks": ("time_ps", "port", "flow", "mark"),
    "states": ("time_ps", "port", "priority", "state"),
    "operations": ("label", "kernel", "process", "ring", "iteration", "bytes", "start_ps", "end_ps"),
    "throttles": ("time_ps", "port", "state"),
    "breakdown": ("flow", "leg", "part", "port", "time_ps"),
    "reordering": ("connection", "packets", "reordered", "max_extent", "buffer_bytes"),
    "packets": ("time_ps", "port", "direction", "kind", "flow"),
    "events": ("id", "kind", "target", "start_ps", "end_ps", "lost_packets", "lost_bytes", "flows"),
    "drops": ("cause", "id", "port", "flow", "data", "packets", "lost_bytes", "first_ps"),
    "watchdog": (
        "port",
        "by",
        "priority",
        "stopped_ps",
        "detected_ps",
        "restored_ps",
        "dropped_packets",
        "dropped_bytes",
    ),
    "retries": ("port", "frames", "corrupt", "discarded", "replayed", "replayed_bytes", "timeouts", "full_ps"),
    "variables": ("time_ps", "flow", "name", "value"),
    "ports": ("port", "node", "peer", "utilization", "max_queue_bytes", "pause_frames_sent", "paused_ps", "dropped"),
}
"""The columns that the report and the figures read of a stored table."""

_LATER = {
    "events": "failures",
    "drops": "failures",
    "watchdog": "failures",
    "retries": "link_retry",
    "variables": "scenario.record.variables",
}
"""Tables that runs of earlier versions do not have, each with the key of the manifest that came with it, dotted."""


class Run:
    """A finished run: `manifest`, and its tables as attributes (`run.flows`, `run.queues`, ...).

    Tables are `pyarrow.Table`; `polars.from_arrow(run.flows)` and `run.flows.to_pandas()` convert them.
    """

    flows: pa.Table
    """One row a flow: who, when, how large, completion time and slowdown."""
    events: pa.Table
    """One row for each time that something broke: what, when, and what it cost."""
    drops: pa.Table
    """Lost packets by cause, port and flow."""
    watchdog: pa.Table
    """One row for each storm that a PFC watchdog found."""
    retries: pa.Table
    """What the link-level retry of each port did."""
    queues: pa.Table
    """Samples of egress queues."""
    rates: pa.Table
    """Samples of flows' rates and windows."""
    utilization: pa.Table
    """Samples of ports' transmission."""
    pauses: pa.Table
    """One row for each time a port was stopped by PAUSE."""
    roots: pa.Table
    """One row for each time an egress queue was a congestion root."""
    notifications: pa.Table
    """Each CNP and CNM."""
    marks: pa.Table
    """Each mark that a packet was given."""
    states: pa.Table
    """Each change of a queue's state, as its detector tells it."""
    operations: pa.Table
    """Each iteration of a process of a closed loop: when it began and ended."""
    throttles: pa.Table
    """Each change of a throttle's state."""
    breakdown: pa.Table
    """Where each flow's time went, in parts that sum to its completion time."""
    reordering: pa.Table
    """The order in which each connection's packets came."""
    packets: pa.Table
    """Each packet at the ports that were asked for, as it left or came in."""
    variables: pa.Table
    """Samples of schemes' own variables."""
    ports: pa.Table
    """Totals of each port."""

    def __init__(
        self,
        manifest: dict[str, Any],
        tables: Mapping[str, pa.Table] | None = None,
        folder: Path | None = None,
        output: RunOutput | None = None,
        checksums: Mapping[str, Checksum] | None = None,
    ) -> None:
        self.manifest = manifest
        """Version, seed, resolved scenario, wall time, counts and fingerprint."""
        self.folder = folder
        """Where it is stored, if it is."""
        self._tables: dict[str, pa.Table] = dict(tables or {})
        self._output = output
        self._checksums = dict(checksums or {})

    @classmethod
    def from_output(cls, output: RunOutput) -> Run:
        """Take over what the native module returned."""
        return cls(json.loads(output.manifest), output=output)

    def __getattr__(self, name: str) -> pa.Table:
        # Python calls this for attributes that are not set: the tables, read on first use.
        if name not in TABLES:
            raise AttributeError(_no_table(name))
        return self.table(name)

    def __dir__(self) -> list[str]:
        """The tables, and what else a run offers."""
        own = {name for name in super().__dir__() if not name.startswith("_")}
        return sorted((own - {"from_output", "write_into"}) | set(TABLES))

    def _repr_html_(self) -> str | None:
        """The run in a small table, for notebooks; `None`, and so `repr`, for a run of another version of xoff."""
        from html import escape

        from xoff.runs.summary import Summary

        if "summary" not in self.manifest:
            return None
        summary = Summary.of(self.manifest)
        title = str(self.manifest.get("scenario", {}).get("title") or "")
        slowdown = ", ".join(f"{name} {value:.2f}" for name, value in (summary.slowdown or {}).items())
        cells = {
            "scenario": name_text(title),
            "scheme": f"{name_text(self.scheme)}, seed {self.manifest.get('seed')}"
            + ("" if self.complete else ", incomplete"),
            "flows": summary.flows_text,
            "goodput": summary.endless.goodput_text if summary.endless else "",
            "slowdown": slowdown,
            "PAUSE": count_text(summary.pause_frames, "frame"),
            "longest queue": size_text(summary.max_queue_bytes),
            "simulated": time_text(int(self.manifest.get("sim_time_ps", 0))),
            "folder": name_text(str(self.folder or ""), 200),
        }
        left = 'style="text-align: left"'
        rows = (
            f"<tr><th {left}>{name}</th><td {left}>{escape(text)}</td></tr>" for name, text in cells.items() if text
        )
        return f"<table>{''.join(rows)}</table>"

    def __repr__(self) -> str:
        state = "" if self.complete else ", incomplete"
        return f"Run({self.scheme}, seed {self.manifest.get('seed')}{state})"

    def table(self, name: str) -> pa.Table:
        """The table called `name`, without rows if the run recorded none; a `UserError` if there is no such table."""
        if name not in self._tables:
            if name not in TABLES:
                raise UserError(_no_table(name))
            self._tables[name] = self._read(name)
        return self._tables[name]

    @property
    def tables(self) -> dict[str, pa.Table]:
        """Every table by name."""
        return {name: self.table(name) for name in TABLES}

    @property
    def complete(self) -> bool:
        """Whether the run reached its own end, without Ctrl-C or a full record."""
        return bool(self.manifest.get("complete", True))

    @property
    def scheme(self) -> str:
        """The name of its congestion control."""
        scheme = self.manifest.get("scenario", {}).get("scheme", {})
        return str(scheme.get("name", "?") if isinstance(scheme, dict) else scheme)

    def write(self, folder: str | os.PathLike[str], *, force: bool = False, captures: Captures | None = None) -> Path:
        """Write the tables, `captures` and the manifest into `folder`; see `check_target` for what is refused.

        An earlier run there is replaced in one step: whatever ends the process or the machine, the folder has the
        earlier run or this one. `ResultFolder.put` says where that is not possible.

        Raises
        ------
        UserError
            Results should not go there, or another process is writing there.
        OSError
            The disk is full, or a file cannot be written; see `ResultFolder.put` for what is there then.
        """
        with ResultFolder(folder, force=force) as place:
            return self.write_into(place, captures)

    def write_into(self, place: ResultFolder, captures: Captures | None = None) -> Path:
        """Write as `write` does, into a folder that this process has already."""

        def fill(folder: Path) -> None:
            self._write_tables(folder)
            if captures is not None and self._output is not None:
                for file in captures.write(self._output, folder):
                    sync(file)
            text = manifest_text(self.manifest, folder.iterdir())
            (folder / MANIFEST).write_text(text, encoding="utf-8")
            sync(folder / MANIFEST)

        place.put(fill)
        self.folder = place.path
        return place.path

    def report(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write the HTML report of this run to `path` (else `report.html` in its folder); see `xoff.report`."""
        from xoff.report.page import write_report

        if path is None:
            if self.folder is None:
                raise UserError("say where to write the report: the run has no folder yet")
            path = self.folder / "report.html"
        return write_report([self], path)

    def write_pcapng(self, path: str | os.PathLike[str], *, snap_length: int = SNAP_LENGTH) -> Path:
        """Write the packets that `record.packets` asked for to `path`, for Wireshark.

        The capture has at most `snap_length` bytes of each packet. Raises `UserError` if no packets were recorded, the
        network is not Ethernet, or the run was read from its folder.
        """
        return write_pcapng(self._output, path, snap_length)

    def write_perfetto(self, path: str | os.PathLike[str]) -> Path:
        """Write packets, pauses and samples to `path`, for ui.perfetto.dev.

        Raises `UserError` if no packets were recorded, or the run was read from its folder.
        """
        return write_perfetto(self._output, path)

    def _write_tables(self, folder: Path) -> None:
        # The native module writes without pyarrow, whose import takes longer than a short run.
        if self._output is not None:
            self._output.write_tables(folder)
            return
        import pyarrow.parquet as pq

        for name, table in self.tables.items():
            pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
            sync(folder / f"{name}.parquet")

    def _read(self, name: str) -> pa.Table:
        import pyarrow as pa

        if self._output is not None:
            return pa.table(self._output.tables()[name])
        if self.folder is None:
            return pa.table({})
        file = self.folder / f"{name}.parquet"
        expected = self._checksums.get(file.name)
        try:
            if expected is not None and file.is_file() and Checksum.of(file) != expected:
                raise UserError(
                    f"{file}: changed or torn since xoff wrote it: its checksum is not that in {MANIFEST}; "
                    "make the run again"
                )
            table = read_table(file)
        except FileNotFoundError:
            if name in _LATER and not _has(self.manifest, _LATER[name]):
                return pa.table({})
            raise UserError(f"{self.folder}: the table {file.name} is missing") from None
        except OSError as error:
            raise UserError(f"{file}: cannot be read: {error.strerror or error}") from None
        _check_columns(file, table, name)
        return table


def _check_columns(file: Path, table: pa.Table, name: str) -> None:
    """Refuse a table without a column that is read, or with another kind of value in it than xoff writes."""
    import pyarrow.types as kinds

    if name in _LATER and table.num_columns == 0:
        return  # of a run of an earlier version that was written again
    for column in _READ[name]:
        holds = COLUMNS[name][column]["holds"]
        if table.column_names.count(column) != 1:
            has = ", ".join(table.column_names) or "none"
            raise UserError(
                f"{file}: no column `{column}`, so not a table that this version of xoff wrote; its columns are {has}"
            )
        found = table.schema.field(column).type
        plain = found.value_type if kinds.is_dictionary(found) else found
        numeric = kinds.is_integer(found) or kinds.is_floating(found)
        text = kinds.is_string(plain) or kinds.is_large_string(plain) or kinds.is_string_view(plain)
        fits = {"number": numeric, "name": text, "flag": kinds.is_boolean(found)}[holds]
        if not fits:
            raise UserError(f"{file}: the column `{column}` is of type {found}; expected {holds}s")


def _has(manifest: Any, key: str) -> bool:
    """Whether a manifest has a key, dotted."""
    for part in key.split("."):
        if not isinstance(manifest, dict) or part not in manifest:
            return False
        manifest = manifest[part]
    return True


def _no_table(name: str) -> str:
    return f"a run has no `{name}`; its tables are {', '.join(TABLES)}"


def load(folder: str | os.PathLike[str]) -> Run:
    """The run stored in `folder`; its tables are read when first used."""
    path = Path(folder)
    if not path.exists():
        raise UserError(f"{path}: no such folder")
    if not path.is_dir():
        raise UserError(f"{path}: is a file; expected a run's folder")
    manifest, checksums = read_manifest(path)
    return Run(manifest, folder=path, checksums=checksums)


def labels(runs: Sequence[Run]) -> list[str]:
    """A short name for each run: its settings in its sweep, or the end of its folder's path."""
    points = [point_of(run.folder, run.manifest.get("seed")) if run.folder else None for run in runs]
    if all(points):
        names = _names_of([point or {} for point in points])
        if len(set(names)) == len(names):
            return names
    return _ends_of_paths(runs)


def _names_of(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """The settings of each run that differ among the runs; all settings if none differs."""
    keys = dict.fromkeys(key for point in points for key in point)
    apart = [key for key in keys if len({text_of(point.get(key)) for point in points}) > 1] or list(keys)
    return [settings_text({key: point[key] for key in apart if key in point}) for point in points]


def _ends_of_paths(runs: Sequence[Run]) -> list[str]:
    """The shortest end of each run's path that differs from the others."""
    parts = [run.folder.resolve().parts if run.folder else (run.scheme,) for run in runs]
    for depth in range(1, max(len(part) for part in parts) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({number})" for number, name in enumerate(names, 1)]
