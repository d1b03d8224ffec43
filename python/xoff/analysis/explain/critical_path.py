"""The critical path of a parallel program: from its last operation back through what each one waited for.

No table says which operation waited for which. What a rank waited for is taken to be what ended at the very picosecond
at which the rank went on, or a known overhead before: a computation of its own, a message to its host, or the last ACK
of a message of its own. If nothing did, it is the last that ended at its host before, and the time between is of
the kind `between`: messages within a host, and latencies that no key states. What comes before is not sure then.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from xoff.analysis.explain.program import Program, Rank
from xoff.analysis.explain.quantities import quantity
from xoff.analysis.operations import RECEIVES, SENDS, transfer_ps

Kind = Literal["compute", "message", "local", "between"]
"""What a part of the path is: a computation, a message between hosts, one within a host, or what no table has."""

_OVERHEAD, _COMPUTE, _ARRIVAL, _OTHER_PLACE, _ACK, _LOCAL = range(6)
"""Which of several things that ended together is taken, the first one first.

A message of a rank of another place on its host comes after one of the same place: ranks of equal place as a rule have
to do with each other.
"""

_EVENT = ("owner", "owner_host", "end_ps", "choice", "start_ps", "kind", "process", "host", "kernel", "flow", "acked")


@dataclass(frozen=True)
class Segment:
    """A part of a critical path."""

    kind: Kind
    rank: Rank
    """Who computes or sends."""
    kernel: str
    start_ps: int
    end_ps: int
    flow: int | None = None
    """The message between hosts."""
    acked: bool = False
    """Whether its last ACK was waited for, and not its arrival."""
    sure: bool = True
    """Whether all that comes behind it on the path began when something ended."""

    @property
    def time_ps(self) -> int:
        """Its length."""
        return self.end_ps - self.start_ps


def critical_path(program: Program) -> list[Segment]:
    """The path to the end of the program's last operation, from its beginning; empty if arrivals are not known."""
    if program.operations.is_empty() or program.messages["arrived_ps"].null_count():
        return []
    found: list[Segment] = []
    for each in _Walk(program).back():
        last = found[-1] if found else None
        if last is not None and last.kind == each.kind == "between" and last.rank == each.rank:
            found[-1] = replace(last, start_ps=each.start_ps)
        else:
            found.append(each)
    return found[::-1]


class _Walk:
    """What ended when, by rank and by host."""

    def __init__(self, program: Program) -> None:
        self.delays = program.delays_ps
        self.begin = int(program.operations["start_ps"].min())  # type: ignore[arg-type]
        last = program.operations.sort("end_ps", "process", "host", descending=[True, False, False]).row(0, named=True)
        self.last = Rank(last["process"], last["host"]), int(last["end_ps"])
        events = _events(program).sort("end_ps", "choice", "start_ps", "process", "flow")
        self.by_rank = {
            Rank(*key): _Ended(part) for key, part in events.partition_by("owner", "owner_host", as_dict=True).items()
        }
        self.by_host = {host: _Ended(part) for (host,), part in events.partition_by("owner_host", as_dict=True).items()}

    def back(self) -> Iterator[Segment]:
        """The path from its end."""
        rank, now = self.last
        # Ranks that the path has passed at this moment: messages within a host may take no time.
        passed, sure = {rank}, True
        while now > self.begin:
            event = self.waited_for(rank, now, passed)
            if event is None:
                event = self.last_before(rank, now, passed)
                sure = sure and event is not None and event["end_ps"] == now
            since = self.begin if event is None else max(int(event["end_ps"]), self.begin)
            if since < now:
                yield Segment("between", rank, "", since, now, sure=sure)
            if event is None or since == self.begin:
                return
            rank, start = Rank(event["process"], event["host"]), max(int(event["start_ps"]), self.begin)
            if start < since:
                flow, acked = event["flow"], bool(event["acked"])
                yield Segment(event["kind"], rank, event["kernel"], start, since, flow, acked, sure)
            passed = passed | {rank} if start == now else {rank}
            now = start

    def waited_for(self, rank: Rank, now: int, passed: set[Rank]) -> dict[str, Any] | None:
        """What a rank waited for that goes on at a moment; `None` if no table has it."""
        own = self.by_rank.get(rank)
        for delay in self.delays:
            if own is not None and (found := own.at(now - delay, now, passed)) is not None:
                return found
        return None

    def last_before(self, rank: Rank, now: int, passed: set[Rank]) -> dict[str, Any] | None:
        """What ended last at a rank's host before a moment; `None` if nothing had."""
        return self.by_host[rank.host].until(now, passed) if rank.host in self.by_host else None


class _Ended:
    """What has ended, in the order of time."""

    def __init__(self, events: pl.DataFrame) -> None:
        self.events = events
        self.ends: list[int] = events["end_ps"].to_list()

    def at(self, moment: int, now: int, passed: set[Rank]) -> dict[str, Any] | None:
        """What ended at a moment."""
        places = range(bisect_left(self.ends, moment), bisect_right(self.ends, moment))
        return next((each for place in places if not _is_circle(each := self._event(place), now, passed)), None)

    def until(self, now: int, passed: set[Rank]) -> dict[str, Any] | None:
        """What ended last, at the latest now."""
        places = range(bisect_right(self.ends, now) - 1, -1, -1)
        return next((each for place in places if not _is_circle(each := self._event(place), now, passed)), None)

    def _event(self, place: int) -> dict[str, Any]:
        return self.events.row(place, named=True)


def _is_circle(event: dict[str, Any], now: int, passed: set[Rank]) -> bool:
    return event["start_ps"] == now and Rank(event["process"], event["host"]) in passed


def _events(program: Program) -> pl.DataFrame:
    """Everything that a rank, the `owner`, may have waited for."""
    parts = [_computations(program), _arrivals(program), _acks(program), _together(program)]
    parts += [*_overheads(program), *_local_messages(program)]
    return pl.concat(part.select(_EVENT) for part in parts)


def _row(kind: Kind, choice: int, *, acked: bool = False) -> dict[str, pl.Expr]:
    return {"kind": pl.lit(kind), "choice": pl.lit(choice, pl.Int32), "acked": pl.lit(acked)}


def _computations(program: Program) -> pl.DataFrame:
    found = program.computations.filter(pl.col("end_ps") > pl.col("start_ps"))
    return found.with_columns(
        owner="process", owner_host="host", flow=pl.lit(None, pl.Int64), **_row("compute", _COMPUTE)
    )


def _arrivals(program: Program) -> pl.DataFrame:
    """Messages to a rank's host, which may be for any rank of the host."""
    senders = program.places.rename({"host": "src", "place": "src_place"})
    owners = program.places.select("place", owner="process", owner_host="host")
    found = program.messages.join(senders, on=["process", "src"]).join(owners, left_on="dst", right_on="owner_host")
    same = pl.col("place") == pl.col("src_place")
    choice = pl.when(same).then(_ARRIVAL).otherwise(_OTHER_PLACE).cast(pl.Int32)
    return found.with_columns(
        owner_host="dst", host="src", end_ps="arrived_ps", flow="id", **(_row("message", _ARRIVAL) | {"choice": choice})
    )


def _acks(program: Program) -> pl.DataFrame:
    return program.messages.with_columns(
        owner="process", owner_host="src", host="src", end_ps="acked_ps", flow="id", **_row("message", _ACK, acked=True)
    )


def _together(program: Program) -> pl.DataFrame:
    """Sums of a training job over ranks of one host: each waits for the rank that began last."""
    found = program.sums_within_hosts.with_columns(owner="process", owner_host="host")
    return found.with_columns(process="starter", flow=pl.lit(None, pl.Int64), **_row("local", _ARRIVAL))


def _overheads(program: Program) -> Iterator[pl.DataFrame]:
    """What sends of a schedule take of their rank's processor at their begin, and receives at their end."""
    for pattern in program.patterns:
        overhead = quantity(pattern.get("overhead")) or 0
        if pattern.get("pattern") == "goal" and overhead:
            sends = program.operations.filter(pl.col("word") == SENDS)
            sends = sends.with_columns(end_ps=pl.col("start_ps") + overhead)
            receives = program.operations.filter(pl.col("word") == RECEIVES)
            receives = receives.with_columns(start_ps=pl.col("end_ps") - overhead)
            yield pl.concat([sends, receives]).with_columns(
                owner="process", owner_host="host", flow=pl.lit(None, pl.Int64), **_row("between", _OVERHEAD)
            )


def _local_messages(program: Program) -> Iterator[pl.DataFrame]:
    """Messages within a host of schedules and traces: sends that have no flow. Each may be for any rank of the host."""
    for pattern in program.patterns:
        if pattern.get("pattern") not in ("goal", "chakra"):
            continue
        sends = program.operations.filter(pl.col("word") == SENDS)
        keys = {"left_on": ["process", "host", "iteration"], "right_on": ["process", "src", "iteration"]}
        sends = sends.join(program.messages, how="anti", **keys)  # type: ignore[arg-type]
        rate, delay = quantity(pattern.get("local_rate")), quantity(pattern.get("local_delay")) or 0
        # Only receivers of a trace have an overhead.
        overhead = (quantity(pattern.get("overhead")) or 0) if pattern["pattern"] == "goal" else 0
        most = program.facts.sim_time_ps
        taken = transfer_ps(sends["bytes"].cast(pl.Int64).to_numpy(), rate, delay + overhead, most)
        sends = sends.with_columns(end_ps=pl.col("start_ps") + pl.Series(taken))
        owners = program.places.select("host", owner="process")
        yield sends.join(owners, on="host").with_columns(
            owner_host="host", flow=pl.lit(None, pl.Int64), **_row("local", _LOCAL)
        )
