"""The configuration file: a key and its value a line.

That simulator skips unknown keys, and takes a default for missing ones. Here an unknown key is an
error, and each default that is taken is reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xoff.errors import UserError, nearest
from xoff.formats.lines import Line, quoted, read_lines
from xoff.formats.ns3_hpcc.quantity import rate_bps


@dataclass(frozen=True)
class Key:
    """What a key takes."""

    kind: str
    """`flag` (0 or 1), `count`, `real` (kept as text, which is exact), `rate`, `text`, `down` (a link going down),
    `counts` or `reals` (a value for each rate)."""
    default: Any = None
    """What that simulator takes without the key, as `Config.get` gives it; `None` if it needs the key."""
    unused: str = "of another CC_MODE"
    """Why a scenario may have no use for the key."""


_LOSS = "for lost packets alone"
_TABLES = "`xoff export ns3-hpcc` writes such files of a run"
_TRACE = "`xoff run` traces packets with --pcap PORT or --perfetto"
_QUEUES = "`record.queues` samples queues"
_NOTHING = "without effect in that simulator"
_PINT = "of CC_MODE 10"

KEYS = {
    "ENABLE_QCN": Key("flag", True),
    "USE_DYNAMIC_PFC_THRESHOLD": Key("flag", True),
    "PAUSE_TIME": Key("real", "5", unused=f"{_NOTHING}, where a PAUSE does not expire"),
    "DATA_RATE": Key("text", "", unused=_NOTHING),
    "LINK_DELAY": Key("text", "", unused=_NOTHING),
    "PACKET_PAYLOAD_SIZE": Key("count", 1000),
    "TOPOLOGY_FILE": Key("text"),
    "FLOW_FILE": Key("text"),
    "TRACE_FILE": Key("text", "", unused=_TRACE),
    "TRACE_OUTPUT_FILE": Key("text", "", unused=_TRACE),
    "FCT_OUTPUT_FILE": Key("text", "fct.txt", unused=_TABLES),
    "PFC_OUTPUT_FILE": Key("text", "pfc.txt", unused=_TABLES),
    "SIMULATOR_STOP_TIME": Key("real", "3.01"),
    "CC_MODE": Key("count", 1),
    "ALPHA_RESUME_INTERVAL": Key("real", "55"),
    "RATE_DECREASE_INTERVAL": Key("real", "4"),
    "CLAMP_TARGET_RATE": Key("flag", False),
    "RP_TIMER": Key("real"),
    "EWMA_GAIN": Key("real"),
    "FAST_RECOVERY_TIMES": Key("count", 5),
    "RATE_AI": Key("rate"),
    "RATE_HAI": Key("rate"),
    "MIN_RATE": Key("rate", 100 * 10**6),
    "DCTCP_RATE_AI": Key("rate", 10**9),
    "ERROR_RATE_PER_LINK": Key("real", "0"),
    "L2_CHUNK_SIZE": Key("count", 0, unused=_LOSS),
    "L2_ACK_INTERVAL": Key("count", 0),
    "L2_BACK_TO_ZERO": Key("flag", False, unused=_LOSS),
    "HAS_WIN": Key("flag", True),
    "GLOBAL_T": Key("flag", True),
    "VAR_WIN": Key("flag", False),
    "FAST_REACT": Key("flag", True),
    "U_TARGET": Key("real", "0.95"),
    "MI_THRESH": Key("count", 5),
    "INT_MULTI": Key("count", 1),
    "MULTI_RATE": Key("flag", True),
    "SAMPLE_FEEDBACK": Key("flag", False),
    "PINT_LOG_BASE": Key("real", "1.05", unused=_PINT),
    "PINT_PROB": Key("real", "1.0", unused=_PINT),
    "RATE_BOUND": Key("flag", True),
    "ACK_HIGH_PRIO": Key("flag", False),
    "LINK_DOWN": Key("down", (0, 0, 0)),
    "ENABLE_TRACE": Key("flag", True, unused=_TRACE),
    "KMAX_MAP": Key("counts"),
    "KMIN_MAP": Key("counts"),
    "PMAX_MAP": Key("reals"),
    "BUFFER_SIZE": Key("count", 16),
    "QLEN_MON_FILE": Key("text", "", unused=_QUEUES),
    "QLEN_MON_START": Key("count", 2 * 10**9, unused=_QUEUES),
    "QLEN_MON_END": Key("count", 21 * 10**8, unused=_QUEUES),
}
"""Every key that the family's main program reads."""


class Config:
    """A configuration file that was read. It remembers which keys are read, so that no key is ignored silently."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._given: dict[str, tuple[Line, Any]] = {}
        self._used: set[str] = set()
        for line in read_lines(file, "configuration file"):
            name = line.words[0]
            if name not in KEYS:
                near = nearest(name, KEYS)
                known = near or f"; the keys are {', '.join(KEYS)}"
                raise UserError(f"{file}:{line.number}: unknown key {quoted(name)}{known}")
            if name in self._given:
                first = self._given[name][0].number
                raise line.wrong(f"{name} once more", f"each key once, and line {first} has it")
            self._given[name] = (line, _value(line, KEYS[name].kind))
        if not self._given:
            raise UserError(
                f"{file}: it has no key: expected lines such as `CC_MODE 3` and `TOPOLOGY_FILE topology.txt`"
            )

    def get(self, name: str) -> Any:
        """The value of a key: true or false, a number, bit/s, text or, for a map, a dict by bit/s."""
        self._used.add(name)
        if name in self._given:
            return self._given[name][1]
        default = KEYS[name].default
        if default is None:
            takes = _TAKES[KEYS[name].kind]
            raise UserError(f"{self.file}: it has no {name}, which that simulator needs: expected `{name}` and {takes}")
        return default

    def at(self, name: str) -> str:
        """Where a key is, for messages and comments."""
        given = self._given.get(name)
        return f"{self.file}:{given[0].number}: {' '.join(given[0].words)}" if given else f"{self.file}: no {name}"

    def refuse(self, name: str, why: str, expected: str) -> UserError:
        """The error that says why the value of a key cannot be."""
        default = "" if name in self._given else ", whose default there"
        return UserError(f"{self.at(name)}{default} {why}: expected {expected}")

    def defaulted(self) -> list[str]:
        """The keys that were looked at and are not in the file, each with the value that was taken."""
        missing = (name for name in KEYS if name in self._used and name not in self._given)
        return [f"{name} {_as_written(KEYS[name].default)}" for name in missing]

    def unused(self) -> dict[str, list[str]]:
        """The keys in the file that were not looked at, by the reason."""
        reasons: dict[str, list[str]] = {}
        for name in self._given:
            if name not in self._used:
                reasons.setdefault(KEYS[name].unused, []).append(name)
        return reasons


_TAKES = {
    "flag": "0 or 1",
    "count": "a whole number",
    "real": "a number",
    "rate": "a rate such as `40Mb/s`",
    "text": "the name of a file",
    "down": "a time and two nodes",
    "counts": "how many rates, and for each the rate in bit/s and a size in KB",
    "reals": "how many rates, and for each the rate in bit/s and a probability",
}


def _value(line: Line, kind: str) -> Any:
    name, *words = line.words
    if kind in ("counts", "reals"):
        return _map(line, kind)
    if kind == "down":
        line.has("LINK_DOWN TIME NODE NODE")
        return tuple(line.count(index, "a number of LINK_DOWN", maximum=2**64 - 1) for index in (1, 2, 3))
    if len(words) != 1:
        raise line.wrong(f"{name} has {len(words)} values", _TAKES[kind])
    if kind == "flag":
        if words[0] not in ("0", "1"):
            raise line.wrong(f"{name} is {quoted(words[0])}", "0 or 1")
        return words[0] == "1"
    if kind == "count":
        return line.count(1, name)
    if kind == "real":
        return line.real(1, name)
    if kind == "rate":
        rate = rate_bps(words[0])
        if not rate:
            raise line.wrong(f"{name} is {quoted(words[0])}", _TAKES[kind])
        return rate
    return words[0]


def _map(line: Line, kind: str) -> dict[int, Any]:
    if len(line.words) < 2:
        raise line.wrong(f"{line.words[0]} has no value", _TAKES[kind])
    name, count = line.words[0], line.count(1, f"the number of rates of {line.words[0]}", maximum=10_000)
    if len(line.words) != 2 + 2 * count:
        raise line.wrong(
            f"{name} {count} has {len(line.words) - 2} values", f"{2 * count}, a rate and a value for each of {count}"
        )
    found: dict[int, Any] = {}
    for index in range(2, len(line.words), 2):
        rate = line.count(index, f"a rate of {name}", 1, 2**64 - 1)
        if rate in found:
            raise line.wrong(f"{name} has the rate {rate} twice", "each once")
        found[rate] = (
            line.count(index + 1, f"a value of {name}")
            if kind == "counts"
            else line.real(index + 1, f"a value of {name}")
        )
    return found


def _as_written(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def listed(names: Iterable[str]) -> str:
    """`A, B and C`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
