"""A command line of `htsim_uec`: its options, with that program's defaults."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from xoff.errors import UserError, nearest
from xoff.formats.lines import quoted

PROGRAM = "htsim_uec"

LOAD_BALANCING = ("oblivious", "bitmap", "reps", "reps_legacy", "mixed")
STRATEGIES = ("ecmp_host", "ecmp_ar")

_LARGEST = 10**9


@dataclass(frozen=True)
class Command:
    """What a command line says."""

    matrix: str
    topology: str | None = None
    tiers: int = 3
    end: int = 1000
    """us."""
    seed: int = 13
    nscc: bool = True
    rccc: bool = False
    load_balancing: str = "mixed"
    paths: int = 64
    strategy: str = "ecmp_host"
    mtu: int = 4150
    queue: int | None = None
    """Packets."""
    ecn: tuple[int, int] | None = None
    """Packets."""
    linkspeed: int = 100_000
    """Mbps."""
    hop_latency: Fraction = Fraction(1)
    """us."""
    switch_latency: Fraction = Fraction(0)
    """us."""
    trim_size: int = 64
    trims: bool = True
    failed: int = 0
    target_delay: Fraction | None = None
    """us."""
    qa_gate: int = 3
    window: int | None = None
    """Packets."""
    sack_threshold: int = 16_384
    accurate_rtt: bool = False
    nacks_lower_rtt: bool = True
    oversubscribed_cc: bool = True


def wrong(option: str, what: str, expected: str) -> UserError:
    """A refused option."""
    return UserError(f"`{option}` {what}: expected {expected}")


def _whole(option: str, value: str, minimum: int, maximum: int = _LARGEST) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 20 and minimum <= int(value) <= maximum):
        raise wrong(f"{option} {value}", "is no such number", f"a whole number from {minimum} to {maximum}")
    return int(value)


def _real(option: str, value: str, minimum: Fraction) -> Fraction:
    if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,12})?", value) or Fraction(value) < minimum:
        raise wrong(f"{option} {value}", "is no such number", f"a number from {minimum} on, as in `{option} 1.5`")
    return Fraction(value)


def _one_of(option: str, value: str, known: Sequence[str], refused: str) -> str:
    if value not in known:
        raise wrong(f"{option} {value}", refused, f"one of {', '.join(known)}{nearest(value, known)}")
    return value


_Read = Callable[[str, list[str]], dict[str, object]]


def _number(field: str, minimum: int, maximum: int = _LARGEST) -> tuple[int, _Read]:
    return 1, lambda option, words: {field: _whole(option, words[0], minimum, maximum)}


def _fraction(field: str, minimum: str = "0") -> tuple[int, _Read]:
    return 1, lambda option, words: {field: _real(option, words[0], Fraction(minimum))}


def _flag(**fields: object) -> tuple[int, _Read]:
    return 0, lambda option, words: dict(fields)


def _text(field: str) -> tuple[int, _Read]:
    return 1, lambda option, words: {field: words[0]}


def _choice(field: str, known: Sequence[str]) -> tuple[int, _Read]:
    return 1, lambda option, words: {field: _one_of(option, words[0], known, "is not modelled")}


def _paths(option: str, words: list[str]) -> dict[str, object]:
    paths = _whole(option, words[0], 1, 65_536)
    if paths & (paths - 1):
        what = "is no power of two, of which that simulator uses a part of the paths alone"
        raise wrong(f"{option} {paths}", what, "a power of two")
    return {"paths": paths}


def _ecn(option: str, words: list[str]) -> dict[str, object]:
    low, high = (_whole(option, word, 0, 10**6) for word in words)
    if low > high:
        raise wrong(f"{option} {low} {high}", "has its numbers the wrong way round", "the lower one first")
    return {"ecn": (low, high)}


_OPTIONS: dict[str, tuple[int, _Read]] = {
    "-tm": _text("matrix"),
    "-topo": _text("topology"),
    "-tiers": _number("tiers", 2, 3),
    "-end": _number("end", 1, 10**9),
    "-seed": _number("seed", 0, 2**31 - 1),
    "-sender_cc_algo": _choice("nscc", ("nscc",)),
    "-sender_cc": _flag(nscc=True),
    "-sender_cc_only": _flag(nscc=True, rccc=False),
    "-receiver_cc": _flag(rccc=True),
    "-receiver_cc_only": _flag(nscc=False, rccc=True),
    "-load_balancing_algo": _choice("load_balancing", LOAD_BALANCING),
    "-paths": (1, _paths),
    "-strat": _choice("strategy", STRATEGIES),
    "-ar_method": (1, lambda option, words: {"": _one_of(option, words[0], ("queue",), "is not modelled")}),
    "-mtu": _number("mtu", 128, 65_535),
    "-q": _number("queue", 1, 10**6),
    "-ecn": (2, _ecn),
    "-linkspeed": _number("linkspeed", 1, 10**8),
    "-hop_latency": _fraction("hop_latency"),
    "-switch_latency": _fraction("switch_latency"),
    "-trimsize": _number("trim_size", 1, 65_535),
    "-disable_trim": _flag(trims=False),
    "-failed": _number("failed", 0, 10**6),
    "-target_q_delay": _fraction("target_delay", "0.001"),
    "-qa_gate": _number("qa_gate", 0, 31),
    "-cwnd": _number("window", 1, 10**6),
    "-sack_threshold": _number("sack_threshold", 1, 10**9),
    "-enable_accurate_base_rtt": _flag(accurate_rtt=True),
    "-disable_base_rtt_update_on_nack": _flag(nacks_lower_rtt=False),
    "-force_disable_oversubscribed_cc": _flag(oversubscribed_cc=False),
    # What they say has no effect on the network.
    "-debug": _flag(),
    "-o": (1, lambda option, words: {}),
}

_REFUSED = {
    "-sleek": "loss inference without trimming is not modelled",
    "-conns": "flows are taken from the connection matrix",
    "-nodes": "the number of nodes is taken from the connection matrix",
}


def read_command(command: str | Sequence[str]) -> Command:
    """What a command line says; it may begin with the program's name.

    Raises
    ------
    UserError
        An option is unknown, malformed or not modelled.
    """
    words = _words(command)
    if words and words[0].rsplit("/", 1)[-1] == PROGRAM:
        words = words[1:]
    fields: dict[str, object] = {}
    place = 0
    while place < len(words):
        option = words[place]
        if option in _REFUSED:
            raise wrong(option, f"is not modelled: {_REFUSED[option]}", "a command line without it")
        if option not in _OPTIONS:
            _unknown(option)
        count, read = _OPTIONS[option]
        values = words[place + 1 : place + 1 + count]
        if len(values) < count:
            raise wrong(option, "has no value" if count == 1 else f"needs {count} values", f"`{option} ...`")
        fields |= read(option, values)
        place += 1 + count
    fields.pop("", None)
    if "nscc" in fields:
        fields["nscc"] = bool(fields["nscc"])
    if "matrix" not in fields:
        raise UserError(f"no connection matrix: expected `{PROGRAM} -tm FILE.cm ...`")
    if fields.get("strategy") == "ecmp_ar" and "-ar_method" not in words:
        raise wrong("-strat ecmp_ar", "stands alone", "`-ar_method queue` beside it")
    return Command(**fields)  # type: ignore[arg-type]


def _words(command: str | Sequence[str]) -> list[str]:
    text = command if isinstance(command, str) else command[0] if len(command) == 1 else None
    if text is None:
        return list(command)
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UserError(f"the command line {quoted(text)} cannot be read: {error}") from None


def _unknown(option: str) -> NoReturn:
    known = sorted(_OPTIONS)
    what = f"{quoted(option)} is no option of {PROGRAM} that is modelled"
    raise UserError(f"{what}: expected one of {', '.join(known)}{nearest(option, known)}")
