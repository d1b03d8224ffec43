"""What the page to explore a run holds of its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xoff.analysis.columns import as_numpy
from xoff.analysis.explain.missing import WANTED
from xoff.report.explore.pack import Pack
from xoff.text import count_text, name_text, name_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pyarrow as pa

    from xoff.runs.results import Run

    Numbers = npt.NDArray[Any]

WHOLE = 255
"""Stands in place of a priority for all of a port."""

_NAME = 80
"""Maximum length of a name on the page."""


@dataclass(frozen=True)
class Limits:
    """Bounds on how much of a run the page holds."""

    rows: int = 4_000_000
    """Rows of each sampled table; with more, each series keeps the smallest and the largest of each stretch."""
    flows: int = 200_000
    """The first messages; the totals of a port are not affected."""
    spans: int = 1_000_000
    """Pauses, and congestion roots: the longest."""


def run_pack(run: Run, label: str, limits: Limits | None = None) -> Pack:
    """The tables of `run` as a block for the page, where it is called `label`."""
    limits = limits or Limits()
    notes: list[str] = []
    about: dict[str, Any] = {"label": name_text(label, _NAME), "notes": notes, **_about(run)}
    pack = Pack(about)
    ports, nodes = _Names(), _Names()
    _flows(pack, about, run, nodes, limits, notes)
    _sampled(pack, run, "queues", ("bytes", "max_bytes"), ports, limits, notes)
    _sampled(pack, run, "utilization", ("utilization",), ports, limits, notes)
    rates = ("sent_bps", "goodput_bps", "rate_bps", "window_bytes")
    _sampled(pack, run, "rates", rates, None, limits, notes)
    _variables(pack, about, run, limits, notes)
    _spans(pack, run, "pauses", ("priority", "frames"), ports, limits, notes)
    _spans(pack, run, "roots", ("priority", "max_bytes"), ports, limits, notes)
    _breakdown(pack, about, run, ports)
    _ports(pack, run, ports)
    about["ports"] = ports.shown()
    about["nodes"] = nodes.shown()
    return pack


def _about(run: Run) -> dict[str, Any]:
    manifest = run.manifest
    record = manifest["scenario"].get("record", {})
    asked = {name: record.get(name, name == "pauses") not in (None, False, "none", []) for name, _, _ in WANTED}
    asked["variables"] = record.get("variables") not in (None, False)
    asked["utilization"] = bool(record.get("utilization")) and asked["queues"]
    return {
        "scheme": name_text(run.scheme, _NAME),
        "seed": manifest.get("seed"),
        "complete": run.complete,
        "end_ps": max(int(manifest.get("sim_time_ps") or 0), 1),
        "interval_ps": int(manifest.get("sample_interval_ps") or 0),
        "recorded": asked,
    }


class _Names:
    """Names by number, in the order in which tables name them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, column: pa.ChunkedArray) -> Numbers:
        """The numbers of a column of names; 0 for null."""
        import pyarrow as pa

        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        if not len(column):
            return np.zeros(0, dtype=np.int64)
        chunk = column.unify_dictionaries().combine_chunks()
        used = as_numpy(chunk.indices, 0).astype(np.int64)
        names = chunk.dictionary.to_pylist()
        known = np.zeros(max(len(names), 1), dtype=np.int64)
        for place in np.unique(used) if names else ():
            known[place] = self._numbers.setdefault(names[place], len(self._numbers))
        found: Numbers = known[used]
        return found

    def shown(self) -> list[str]:
        """The names by number."""
        return name_texts(self._numbers, _NAME)


def _numbers(table: pa.Table, name: str) -> Numbers:
    """A column as numbers, `NaN` for null."""
    column = table[name]
    if column.null_count:
        return as_numpy(column.cast("float64"))
    return as_numpy(column)


_FLOW_NUMBERS = ("size_bytes", "slowdown", "paused_ps", "cnps", "marked_ce", "retransmitted_bytes", "connection")


def _flows(pack: Pack, about: dict[str, Any], run: Run, nodes: _Names, limits: Limits, notes: list[str]) -> None:
    table = run.table("flows")
    if table.num_rows > limits.flows:
        notes.append(f"Of {count_text(table.num_rows, 'message')} the page holds the first {limits.flows:,}.")
        table = table.slice(0, limits.flows)
    labels, paths = _Names(), _Names()
    for name in ("id", "priority"):
        pack.add(f"flows.{name}", _numbers(table, name))
    pack.add("flows.label", labels.of(table["label"]))
    pack.add("flows.src", nodes.of(table["src"]))
    pack.add("flows.dst", nodes.of(table["dst"]))
    pack.add("flows.path", paths.of(table["path"]))
    pack.add_times("flows.start_ps", _numbers(table, "start_ps"))
    # Times of completion are no multiples of anything, and null if there is none.
    pack.add("flows.fct_ps", _numbers(table, "fct_ps"))
    for name in _FLOW_NUMBERS:
        if name in table.column_names:
            pack.add(f"flows.{name}", _numbers(table, name))
    about["labels"] = labels.shown()
    about["paths"] = paths.shown() if any(table["path"].is_valid().to_pylist()[:1]) else []


def _sampled(
    pack: Pack,
    run: Run,
    name: str,
    columns: Sequence[str],
    ports: _Names | None,
    limits: Limits,
    notes: list[str],
) -> None:
    """A table of samples by series: of a port and priority, or, without `ports`, of a flow."""
    table = run.table(name)
    subject = ports.of(table["port"]) if ports else _numbers(table, "flow").astype(np.int64)
    split = "priority" in table.column_names
    # A row without a priority is of all of the port.
    whole = np.full(len(subject), WHOLE, dtype=np.int64)
    priority = np.nan_to_num(_numbers(table, "priority"), nan=WHOLE).astype(np.int64) if split else whole
    time = _numbers(table, "time_ps").astype(np.uint64)
    values = {column: _numbers(table, column) for column in columns}
    _series(pack, name, (subject, priority, time), values, limits, notes)


def _series(
    pack: Pack,
    name: str,
    keys: tuple[Numbers, Numbers, Numbers],
    columns: dict[str, Numbers],
    limits: Limits,
    notes: list[str],
) -> None:
    """Add samples by series; `keys` are the subject, the priority or what else tells series apart, and the time."""
    subject, priority, time = keys
    order = np.lexsort((time, priority, subject))
    subject, priority, time = subject[order], priority[order], time[order]
    values = [each[order] for each in columns.values()]
    first = np.flatnonzero((np.diff(subject, prepend=-1) != 0) | (np.diff(priority, prepend=-1) != 0))
    if len(subject) > limits.rows:
        kept = _thinned(values[-1 if name == "queues" else 0], first, limits.rows)
        notes.append(
            f"Of {count_text(len(subject), 'row')} of the table {name} the page holds {len(kept):,}: of each stretch "
            "of a series the smallest and the largest. Numbers of the whole run are exact."
        )
        subject, priority, time = subject[kept], priority[kept], time[kept]
        values = [each[kept] for each in values]
        first = np.flatnonzero((np.diff(subject, prepend=-1) != 0) | (np.diff(priority, prepend=-1) != 0))
    pack.add(f"{name}.first", np.append(first, len(subject)))
    pack.add(f"{name}.subject", subject[first])
    pack.add(f"{name}.priority", priority[first])
    pack.add_times(f"{name}.time_ps", time)
    for column, each in zip(columns, values, strict=True):
        pack.add(f"{name}.{column}", each)


def _variables(pack: Pack, about: dict[str, Any], run: Run, limits: Limits, notes: list[str]) -> None:
    """Schemes' own variables: a series for each flow and name."""
    names = _Names()
    table = run.table("variables")
    if table.num_columns:  # Runs of earlier versions have none.
        numbers = names.of(table["name"])
        subject, time = _numbers(table, "flow").astype(np.int64), _numbers(table, "time_ps").astype(np.uint64)
        _series(pack, "variables", (subject, numbers, time), {"value": _numbers(table, "value")}, limits, notes)
    about["variables"] = names.shown()


def _thinned(values: Numbers, first: Numbers, rows: int) -> Numbers:
    """Places of the smallest and the largest of each stretch of each series, at most about `rows` of them."""
    stretch = max(2, -(-2 * len(values) // rows))
    number = np.arange(len(values)) - np.repeat(first, np.diff(np.append(first, len(values))))
    series = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(values))))
    group = np.cumsum((np.diff(series, prepend=-1) != 0) | (number % stretch == 0)) - 1
    order = np.lexsort((np.nan_to_num(values), group))
    begins = np.flatnonzero(np.diff(group[order], prepend=-1))
    ends = np.append(begins[1:], len(values)) - 1
    return np.unique(np.concatenate([order[begins], order[ends]]))


def _spans(
    pack: Pack, run: Run, name: str, columns: Sequence[str], ports: _Names, limits: Limits, notes: list[str]
) -> None:
    table = run.table(name)
    port, start, length = ports.of(table["port"]), _numbers(table, "start_ps"), _numbers(table, "length_ps")
    kept = np.arange(len(port))
    if len(kept) > limits.spans:
        notes.append(
            f"Of {count_text(len(kept), 'row')} of the table {name} the page holds the longest {limits.spans:,}."
        )
        kept = np.sort(np.argsort(length, kind="stable")[-limits.spans :])
    kept = kept[np.argsort(start[kept], kind="stable")]
    pack.add(f"{name}.port", port[kept])
    pack.add_times(f"{name}.start_ps", start[kept])
    pack.add(f"{name}.length_ps", length[kept])
    for column in columns:
        if column in table.column_names:
            pack.add(f"{name}.{column}", _numbers(table, column)[kept])


def _breakdown(pack: Pack, about: dict[str, Any], run: Run, ports: _Names) -> None:
    table = run.table("breakdown")
    legs, parts = _Names(), _Names()
    flow = _numbers(table, "flow").astype(np.int64)
    order = np.argsort(flow, kind="stable")
    pack.add("breakdown.flow", flow[order])
    pack.add("breakdown.leg", legs.of(table["leg"])[order])
    pack.add("breakdown.part", parts.of(table["part"])[order])
    pack.add("breakdown.port", ports.of(table["port"])[order])
    pack.add("breakdown.time_ps", _numbers(table, "time_ps")[order])
    about["legs"], about["parts"] = legs.shown(), parts.shown()


def _ports(pack: Pack, run: Run, ports: _Names) -> None:
    table = run.table("ports")
    pack.add("ports.port", ports.of(table["port"]))
    for name in ("utilization", "max_queue_bytes", "pause_frames_sent", "paused_ps", "dropped"):
        pack.add(f"ports.{name}", _numbers(table, name))
