"""The state of every port over time, as change points: what the tables say, no more than that.

*Paused* comes from `pauses` and *congested root* from `roots`, both exact; *undetermined* from the detector's `states`;
*sending* and *idle* from samples of utilization, each for the interval that it covers. Priorities of a port count
together. If several states hold at a time, the last one of `STATES` counts. A detector looks at packets that leave, and
reports what held at the last one: a port whose utilization was sampled is undetermined only while it also sends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xoff.analysis.columns import as_numpy

if TYPE_CHECKING:
    import numpy.typing as npt

    from xoff.runs.results import Run

    Numbers = npt.NDArray[np.int64]

UNKNOWN, IDLE, SLOW, SENDING, UNDETERMINED, PAUSED, ROOT = range(7)

STATES = ("not recorded", "idle", "sending slowly", "sending", "undetermined", "paused", "congested root")
"""Names of the states, the weakest first."""

SLOW_BELOW = 0.1
"""Share of the line rate below which a port counts as sending slowly: ACKs alone take some 4 %."""

_STEPS_PS = tuple(factor * 10**power for power in range(3, 15) for factor in (1, 2, 5))


@dataclass(frozen=True)
class Spans:
    """Times for which ports were in a state; those of one port may overlap."""

    port: Numbers
    state: Numbers
    start_ps: Numbers
    end_ps: Numbers


@dataclass(frozen=True)
class Changes:
    """Since when each port is in which state, by port and then time; before its first one a port is `UNKNOWN`."""

    port: Numbers
    time_ps: Numbers
    state: Numbers
    step_ps: int
    """0: exact. Otherwise times are multiples of it, and between two of them a port has the strongest of its states."""


def port_numbers(run: Run, table: str, numbers: dict[str, int]) -> Numbers:
    """The column `port` of a table as numbers."""
    import pyarrow as pa

    column = run.table(table)["port"]
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if not len(column):
        return np.zeros(0, dtype=np.int64)
    column = column.unify_dictionaries().combine_chunks()
    known = np.array([numbers[name] for name in column.dictionary.to_pylist()], dtype=np.int64)
    found: Numbers = known[as_numpy(column.indices).astype(np.int64)]
    return found


def spans(run: Run, numbers: dict[str, int]) -> Spans:
    """Every time for which a table says in which state a port was, up to the end of the run."""
    end = int(run.manifest["sim_time_ps"])
    parts = [_sampled(run, numbers), _undetermined(run, numbers, end)]
    for table, state in (("pauses", PAUSED), ("roots", ROOT)):
        if run.table(table).num_rows:
            start = _column(run, table, "start_ps")
            length = _column(run, table, "length_ps")
            port = port_numbers(run, table, numbers)
            parts.append(Spans(port, np.full(len(port), state), start, start + length))
    joined = [np.concatenate([getattr(part, name) for part in parts]) for name in Spans.__dataclass_fields__]
    return Spans(*joined)


def changes(found: Spans, step_ps: int = 0) -> Changes:
    """The change points of `found`; with `step_ps` each time is stretched to multiples of it."""
    start, end = found.start_ps, found.end_ps
    if step_ps:
        start, end = start // step_ps * step_ps, -(-end // step_ps) * step_ps
    lasting = start < end
    port = np.concatenate([found.port[lasting]] * 2)
    state = np.concatenate([found.state[lasting]] * 2)
    time = np.concatenate([start[lasting], end[lasting]])
    sign = np.repeat(np.array([1, -1], dtype=np.int64), np.count_nonzero(lasting))
    order = np.lexsort((time, port))
    port, time, state, sign = port[order], time[order], state[order], sign[order]
    # Of several changes at one moment only the last counts.
    last = np.ones(len(port), dtype=bool)
    last[:-1] = (port[1:] != port[:-1]) | (time[1:] != time[:-1])
    held = np.zeros(np.count_nonzero(last), dtype=np.int64)
    idle, sends = np.zeros(len(held), dtype=bool), np.zeros(len(held), dtype=bool)
    for each in range(1, len(STATES)):
        # What has begun at a port has also ended there, so that the sum is 0 where the next port begins.
        active = np.cumsum(np.where(state == each, sign, 0))[last] > 0
        held[active] = each
        idle |= active & (each == IDLE)
        sends |= active & (each in (SLOW, SENDING))
    if not step_ps:
        sampled = np.isin(port[last], np.unique(port[np.isin(state, (IDLE, SLOW, SENDING))]))
        stale = (held == UNDETERMINED) & sampled & ~sends
        held[stale] = np.where(idle[stale], IDLE, UNKNOWN)
    port, time = port[last], time[last]
    kept = np.ones(len(port), dtype=bool)
    kept[1:] = (port[1:] != port[:-1]) | (held[1:] != held[:-1])
    return Changes(port[kept], time[kept], held[kept], step_ps)


def changes_within(found: Spans, most: int) -> Changes:
    """The exact change points where there are no more than `most`, else those of the shortest step that leaves as many.

    If no step does, those of the longest step.
    """
    exact = made = changes(found)
    for step in _STEPS_PS:
        if len(made.time_ps) <= most:
            break
        # A step below the mean time between two changes of a port could not join many of them.
        if step * len(made.time_ps) < _busy_ps(made) / 100:
            continue
        made = changes(_apart(exact), step)
    return made


def ports_by_state(made: Changes, state: int) -> tuple[Numbers, Numbers]:
    """How many ports are in `state`, at each moment at which that changes."""
    now = (made.state == state).astype(np.int64)
    before = np.zeros(len(now), dtype=np.int64)
    before[1:] = np.where(made.port[1:] == made.port[:-1], now[:-1], 0)
    moved = np.flatnonzero(now != before)
    moments, place = np.unique(made.time_ps[moved], return_inverse=True)
    change = np.bincount(place, weights=(now - before)[moved], minlength=len(moments))
    count = np.cumsum(change).astype(np.int64)
    differs = np.diff(count, prepend=0) != 0
    return moments[differs], count[differs]


def _apart(made: Changes) -> Spans:
    """The spans of known states between change points, of which no two overlap."""
    known = np.flatnonzero(made.state != UNKNOWN)
    # Every span of a table ends, so that the last change of a port leaves its state unknown.
    return Spans(made.port[known], made.state[known], made.time_ps[known], made.time_ps[known + 1])


def _busy_ps(made: Changes) -> int:
    """Time between the first and the last change of each port, over all ports."""
    first = np.flatnonzero(np.diff(made.port, prepend=-1))
    last = np.append(first[1:], len(made.port)) - 1
    return int((made.time_ps[last] - made.time_ps[first]).sum())


def _sampled(run: Run, numbers: dict[str, int]) -> Spans:
    """Idle and sending, by samples of utilization; samples alike that follow each other make one span."""
    interval = int(run.manifest.get("sample_interval_ps") or 0)
    if not interval or not run.table("utilization").num_rows:
        return _none()
    port = port_numbers(run, "utilization", numbers)
    end = _column(run, "utilization", "time_ps")
    share = as_numpy(run.table("utilization")["utilization"])
    state = np.where(share <= 0, IDLE, np.where(share < SLOW_BELOW, SLOW, SENDING))
    order = np.lexsort((end, port))
    port, end, state = port[order], end[order], state[order]
    begins = np.ones(len(port), dtype=bool)
    begins[1:] = (port[1:] != port[:-1]) | (state[1:] != state[:-1]) | (end[1:] != end[:-1] + interval)
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(port)) - 1
    return Spans(port[first], state[first], end[first] - interval, end[last])


def _undetermined(run: Run, numbers: dict[str, int], sim_time_ps: int) -> Spans:
    """Queues that the detector called undetermined, each until the next row of the same queue."""
    table = run.table("states")
    if not table.num_rows:
        return _none()
    port, time = port_numbers(run, "states", numbers), _column(run, "states", "time_ps")
    priority = _column(run, "states", "priority")
    names = table["state"].to_pylist()
    here = np.array([name == "undetermined" for name in names])
    order = np.lexsort((time, priority, port))
    port, priority, time, here = port[order], priority[order], time[order], here[order]
    same = (port[1:] == port[:-1]) & (priority[1:] == priority[:-1])
    end = np.append(np.where(same, time[1:], sim_time_ps), sim_time_ps)
    return Spans(port[here], np.full(np.count_nonzero(here), UNDETERMINED), time[here], end[here])


def _column(run: Run, table: str, name: str) -> Numbers:
    return as_numpy(run.table(table)[name]).astype(np.int64)


def _none() -> Spans:
    empty = np.zeros(0, dtype=np.int64)
    return Spans(empty, empty, empty, empty)
