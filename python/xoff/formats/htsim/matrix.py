"""Connection matrices of htsim (`.cm`): flows that start at a time or by a trigger, triggers, and failed links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from xoff.errors import UserError, nearest
from xoff.formats.lines import Line, quoted, read_lines

_HEAD = ("Nodes", "Connections", "Triggers", "Failures")
_CONNECTION = ("start", "size", "id", "trigger", "send_done_trigger", "recv_done_trigger", "prio")
_TRIGGER = ("oneshot", "multishot", "barrier")
_FAILURE = ("switch_type", "switch_id", "link_id")

LARGEST = 10**12
"""Bytes of a flow."""

LATEST = 10**18
"""ps: 11 days."""

Warn = Callable[[str], None]


@dataclass(frozen=True)
class Flow:
    """A connection."""

    line: Line
    src: int
    dst: int
    size: int
    start: int
    """ps; 0 if a trigger starts it."""
    number: int | None
    """Its `id`."""
    trigger: int | None
    """What starts it."""
    sent: int | None
    """The trigger that its last ACK fires."""
    received: int | None
    """The trigger that the arrival of its last byte fires."""


@dataclass(frozen=True)
class Failure:
    """A failed link: an aggregation switch, and which of its uplinks."""

    line: Line
    switch: int
    link: int


@dataclass
class Trigger:
    """A trigger: what fires it, and what it starts."""

    number: int
    line: Line
    """The line that describes it, or else the first that names it."""
    kind: str | None = None
    count: int | None = None
    fired_by: list[tuple[Flow, str]] = field(default_factory=list)
    """Flows, and `sent` or `received`."""
    starts: list[Flow] = field(default_factory=list)


@dataclass(frozen=True)
class Matrix:
    """A connection matrix."""

    file: Path
    nodes: int
    flows: list[Flow]
    triggers: dict[int, Trigger]
    failures: list[Failure]


def read_matrix(file: Path, warn: Warn) -> Matrix:
    """The connection matrix in a file.

    Raises
    ------
    UserError
        The file cannot be read, is malformed, or has something that xoff does not model.
    """
    lines = read_lines(file, "connection matrix")
    head: dict[str, tuple[int, Line]] = {}
    flows: list[Flow] = []
    described: dict[int, Trigger] = {}
    failures: list[Failure] = []
    priorities: dict[str, Line] = {}
    for line in lines:
        first = line.words[0]
        if "->" in first:
            flows.append(_connection(line, _nodes(line, head), priorities))
        elif first == "trigger":
            trigger = _trigger(line)
            if trigger.number in described:
                other = described[trigger.number].line.number
                raise line.wrong(f"trigger {trigger.number} again, beside line {other}", "each once")
            described[trigger.number] = trigger
        elif first == "failure":
            failures.append(_failure(line))
        elif first in _HEAD:
            line.has(f"{first} N")
            if first in head:
                raise line.wrong(f"`{first}` again, beside line {head[first][1].number}", "it once")
            head[first] = (line.count(1, f"`{first}`", 2 if first == "Nodes" else 0), line)
        else:
            known = (*_HEAD, "trigger", "failure")
            expected = f"`SRC->DST ...`, or one of {', '.join(known)}{nearest(first, known)}"
            raise line.wrong(f"the unknown word {quoted(first)}", expected)
    if "Nodes" not in head:
        raise UserError(f"{file}: it has no `Nodes N`: expected it in the first line")
    if not flows:
        raise UserError(f"{file}: it has no connection: expected lines `SRC->DST start PS size BYTES`")
    counts = {"Connections": len(flows), "Triggers": len(described), "Failures": len(failures)}
    for name, count in counts.items():
        stated, line = head.get(name, (0, lines[0]))
        if name in head and stated != count:
            warn(f"{line.file}:{line.number}: `{name}` says {stated}, and {count} follow")
    if priorities:
        warn(f"{file}:{next(iter(priorities.values())).number}: `prio`, the same for all, has no effect")
    _check_numbers(flows)
    return Matrix(file, head["Nodes"][0], flows, _wired(flows, described, warn), failures)


def _nodes(line: Line, head: dict[str, tuple[int, Line]]) -> int:
    if "Nodes" not in head:
        raise line.wrong("a connection", "`Nodes N` before it")
    return head["Nodes"][0]


def _pairs(line: Line, known: tuple[str, ...]) -> dict[str, tuple[int, str]]:
    """Keys behind the first word, each with the place and the text of its value."""
    found: dict[str, tuple[int, str]] = {}
    place = 1
    while place < len(line.words):
        key = line.words[place]
        if key not in known:
            raise line.wrong(f"the unknown word {quoted(key)}", f"one of {', '.join(known)}{nearest(key, known)}")
        if key in found:
            raise line.wrong(f"`{key}` twice", "it once")
        if place + 1 == len(line.words):
            raise line.wrong(f"`{key}` without a value", "one behind it")
        found[key] = (place + 1, line.words[place + 1])
        place += 2
    return found


def _number(line: Line, pairs: dict[str, tuple[int, str]], key: str, minimum: int, maximum: int) -> int | None:
    return line.count(pairs[key][0], f"`{key}`", minimum, maximum) if key in pairs else None


def _connection(line: Line, nodes: int, priorities: dict[str, Line]) -> Flow:
    src, dst = (_node(line, word, nodes) for word in line.words[0].split("->", 1))
    if src == dst:
        raise line.wrong(f"a connection from node {src} to itself", "two nodes")
    pairs = _pairs(line, _CONNECTION)
    numbers = {key: _number(line, pairs, key, 1, 2**32 - 1) for key in _CONNECTION[2:6]}
    size = _number(line, pairs, "size", 1, LARGEST)
    if size is None:
        raise line.wrong("a connection without `size`", "`size BYTES`")
    if ("start" in pairs) == ("trigger" in pairs):
        both = "both `start` and `trigger`" if "start" in pairs else "neither `start` nor `trigger`"
        raise line.wrong(f"a connection with {both}", "one of them")
    start = 0
    if "start" in pairs:
        # Some files have `1.5e6`; fractions of a ps are cut off, as in htsim.
        start = int(Fraction(line.real(pairs["start"][0], "`start`", "ps")))
        if start > LATEST:
            raise line.wrong(f"`start` is {quoted(pairs['start'][1])}", f"at most {LATEST} ps")
    if "prio" in pairs:
        _priority(line, pairs, priorities)
    return Flow(line, src, dst, size, start, *(numbers[key] for key in ("id", "trigger", *_CONNECTION[4:6])))


def _priority(line: Line, pairs: dict[str, tuple[int, str]], seen: dict[str, Line]) -> None:
    """Refuse priorities that differ."""
    value = str(_number(line, pairs, "prio", 0, 2**32 - 1))
    seen.setdefault(value, line)
    if len(seen) > 1:
        other, first = next(iter(seen.items()))
        what = f"`prio` is {value}, and {other} in line {first.number}: by it receivers there order what they pull"
        raise line.wrong(f"{what}, which is not modelled", "the same for all")


def _node(line: Line, word: str, nodes: int) -> int:
    node = int(word) if word.isascii() and word.isdigit() and len(word) <= 10 else -1
    if not 0 <= node < nodes:
        raise line.wrong(f"the unknown node {quoted(word)}", f"a number from 0 to {nodes - 1}, as in `0->1`")
    return node


def _trigger(line: Line) -> Trigger:
    kinds = [word for word in line.words[1:] if word in _TRIGGER]
    if len(kinds) != 1:
        what = f"{len(kinds)} kinds of trigger" if kinds else "no kind of trigger"
        raise line.wrong(what, f"one of {', '.join(_TRIGGER)}")
    bare = Line(line.file, line.number, tuple(word for word in line.words if word not in _TRIGGER))
    pairs = _pairs(bare, ("id", "count"))
    number, count = _number(bare, pairs, "id", 1, 2**32 - 1), _number(bare, pairs, "count", 1, 2**32 - 1)
    if number is None:
        raise line.wrong("a trigger without `id`", "`trigger id T oneshot`")
    if (count is not None) != (kinds[0] == "barrier"):
        what = "a barrier without `count`" if count is None else f"`count` of a trigger that is {kinds[0]}"
        raise line.wrong(what, "`count N` with `barrier` alone")
    return Trigger(number, line, kinds[0], count)


def _failure(line: Line) -> Failure:
    pairs = _pairs(line, _FAILURE)
    for key in _FAILURE:
        if key not in pairs:
            raise line.wrong(f"a failure without `{key}`", "`failure switch_type AGG switch_id N link_id N`")
    kind = pairs["switch_type"][1]
    if kind != "AGG":
        if kind in ("TOR", "CORE"):
            what = f"a failure at a {kind} switch, which that simulator does not carry out either"
            raise line.wrong(what, "`switch_type AGG`, whose uplinks may fail")
        raise line.wrong(f"`switch_type` is {quoted(kind)}", f"AGG{nearest(kind, ['AGG'])}")
    switch, link = (_number(line, pairs, key, 0, 10**6) or 0 for key in _FAILURE[1:])
    return Failure(line, switch, link)


def _check_numbers(flows: list[Flow]) -> None:
    seen: dict[int, Line] = {}
    for flow in flows:
        if flow.number is None:
            continue
        if flow.number in seen:
            raise flow.line.wrong(f"`id` {flow.number} again, beside line {seen[flow.number].number}", "each once")
        seen[flow.number] = flow.line


def _wired(flows: list[Flow], triggers: dict[int, Trigger], warn: Warn) -> dict[int, Trigger]:
    """The triggers with what fires them and what they start; refuses those whose time is unknown in advance."""
    bare: list[Trigger] = []

    def of(number: int, flow: Flow) -> Trigger:
        if number not in triggers:
            triggers[number] = Trigger(number, flow.line)
            bare.append(triggers[number])
        return triggers[number]

    for flow in flows:
        for number, end in ((flow.sent, "sent"), (flow.received, "received")):
            if number is not None:
                of(number, flow).fired_by.append((flow, end))
        if flow.trigger is not None:
            of(flow.trigger, flow).starts.append(flow)
    for trigger in triggers.values():
        _check_trigger(trigger)
    if bare:
        line = bare[0].line
        others = f" and {len(bare) - 1} others are" if len(bare) > 1 else " is"
        warn(f"{line.file}:{line.number}: trigger {bare[0].number}{others} not described; taken as oneshot")
    return triggers


def _check_trigger(trigger: Trigger) -> None:
    line, firers = trigger.line, len(trigger.fired_by)
    name = f"trigger {trigger.number}"
    if not trigger.starts:
        raise line.wrong(f"{name} starts nothing", f"a connection with `trigger {trigger.number}`")
    if not firers:
        raise line.wrong(f"nothing fires {name}", "a connection with it as `send_done_trigger` or `recv_done_trigger`")
    if trigger.kind == "barrier" and trigger.count != firers:
        what = f"{name} takes {trigger.count} connections, and {firers} fire it"
        raise line.wrong(what, "as many, since which come first is not known before the run")
    if trigger.kind in (None, "oneshot") and firers > 1:
        second = trigger.fired_by[1][0].line.number
        what = f"{name} is fired by {firers} connections, the second in line {second}"
        raise line.wrong(what, "one, as a oneshot fires once; or `barrier count N`")
    if trigger.kind == "multishot" and (firers > 1 or len(trigger.starts) > 1):
        what = f"{name} starts one of {len(trigger.starts)} connections with each of {firers} that fire it"
        raise line.wrong(what, "one of each, since which come first is not known before the run")
