"""What is known of a run that goes on: its rows so far, and how fast it is."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

from xoff.runs.folder import COLUMNS
from xoff.runs.results import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from xoff.runs.execution import Look

_WHOLE = frozenset(("flows",))
"""Tables that each look brings whole; of the others it brings what is new."""

_SPEED_S = 5.0
"""The time over which speed is measured, in seconds."""

_MOST_ROWS = 8_000_000
"""Rows of a table that are kept for the page; when there are more, the oldest half goes."""


class SoFar:
    """A run as far as looks have shown it."""

    def __init__(self, resolved: dict[str, Any], label: str, version: str) -> None:
        self.label = label
        self.version = 0
        """The number of looks taken."""
        self._resolved, self._program = resolved, version
        self._tables: dict[str, list[pa.Table]] = {}
        self._began = time.monotonic()
        self._recent: deque[tuple[float, int, float]] = deque()
        self._last: Look | None = None
        self._forgotten: set[str] = set()
        self._where: str | None = None
        self._records = True

    def take(self, look: Look) -> None:
        """Take in a look."""
        import pyarrow as pa

        self._last = look
        now = look.at_s
        self._recent.append((now, look.events, look.progress.fraction))
        while len(self._recent) > 2 and now - self._recent[0][0] > _SPEED_S:
            self._recent.popleft()
        self._records = look.tables is not None
        for name, native in (look.tables or {}).items():
            table = pa.table(native)
            parts = self._tables.setdefault(name, [])
            if name in _WHOLE:
                parts.clear()
            if table.num_rows or not parts:
                parts.append(table)
            if sum(part.num_rows for part in parts) > _MOST_ROWS:
                del parts[: max(1, len(parts) // 2)]
                self._forgotten.add(name)

    def at(self, version: int, where: str | None) -> None:
        """All looks up to this version are taken; `where` is the folder of the results if the run has ended."""
        self.version, self._where = version, where

    def about(self) -> dict[str, Any]:
        """How far the run is and how fast: what the page shows above its figures."""
        look, now = self._last, self._recent[-1][0] if self._recent else time.monotonic()
        seconds = now - self._began
        (then, events_then, share_then), *_ = [*self._recent, (self._began, 0, 0.0)]
        events, share = (look.events, look.progress.fraction) if look else (0, 0.0)
        passed = max(now - then, 1e-3)
        speed = (share - share_then) / passed
        return {
            "version": self.version,
            "share": share,
            "events": events,
            "events_per_s": (events - events_then) / passed,
            "seconds": seconds,
            "left_s": (1 - share) / speed if speed > 1e-9 else None,
            "flows_done": look.progress.flows_done if look else 0,
            "flows": look.progress.flows_total if look else 0,
            "recorded": self._records,
            "where": self._where,
            "forgotten": sorted(self._forgotten),
        }

    def run(self) -> Run:
        """What is known as a run, with tables that lack what only its end tells."""
        import pyarrow as pa

        tables = {name: pa.concat_tables(parts, promote_options="default") for name, parts in self._tables.items()}
        for name in ("flows", "queues", "rates", "utilization", "pauses", "roots", "breakdown", "variables", "ports"):
            if name not in tables:
                tables[name] = _empty(name)
        flows = tables["flows"]
        for column in ("path", "paused_ps"):
            if column not in flows.column_names:
                kind = pa.string() if column == "path" else pa.float64()
                flows = flows.append_column(column, pa.nulls(flows.num_rows, kind))
        tables["flows"] = flows
        look = self._last
        manifest = {
            "scenario": self._resolved,
            "seed": self._resolved.get("seed"),
            "version": self._program,
            "complete": False,
            "sim_time_ps": look.progress.sim_time_ps if look else 0,
        }
        return Run(manifest, tables)


def _empty(name: str) -> pa.Table:
    import pyarrow as pa

    kinds = {"number": pa.float64(), "name": pa.string(), "flag": pa.bool_()}
    return pa.table({column: pa.array([], kinds[about["holds"]]) for column, about in COLUMNS[name].items()})
