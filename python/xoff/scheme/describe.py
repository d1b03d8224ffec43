"""Examining a scheme's class before a run, and reporting mistakes in it."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xoff.errors import UserError, nearest
from xoff.scheme.base import ASKED, CALLS, RECORDED, Scheme, Signals

NEEDS_ACKS = ("int", "timestamp", "flow_count")
"""Signals that come with ACKs alone."""


class ParameterError(ValueError):
    """A parameter that is missing or has a wrong value."""

    def __init__(self, key: str, found: str | None = None, expected: str | None = None) -> None:
        super().__init__(key, found, expected)
        self.key = key
        self.found = found
        """What is wrong; `None` if the parameter is missing."""
        self.expected = expected
        """What would be right; `None` if the parameter is missing."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a scheme."""

    kind: Any
    """Its annotation, or `inspect.Parameter.empty`."""
    default: Any
    """Its default, or `inspect.Parameter.empty`."""


@dataclass(frozen=True)
class Described:
    """A scheme's class, checked, as the native module takes it."""

    name: str
    """The scheme's name in scenarios."""
    cls: type[Scheme]
    """The class."""
    parameters: dict[str, Parameter]
    """Its parameters."""
    hooks: list[str]
    """The methods that it overrides."""
    declared: Signals
    """What it needs on the wire."""
    origin: str
    """Class, file and hash of its source, as JSON for the manifest."""

    @property
    def label(self) -> str:
        """What messages call the class."""
        return self.cls.__qualname__

    @property
    def signals(self) -> dict[str, object]:
        """Every signal, with whether the scheme needs it."""
        unset = {"ecn": False, "cnps": False, "int": None, "timestamp": False, "flow_count": False}
        return {**unset, **dict(self.declared)}

    @property
    def keys(self) -> list[str]:
        """The names of its parameters."""
        return list(self.parameters)

    def bind(self, given: str) -> tuple[dict[str, Any], str]:
        """The constructor's keywords for what a scenario has, as JSON, and all parameters with their defaults.

        Raises
        ------
        ParameterError
            One is missing, or of another type than its annotation says.
        """
        values: dict[str, Any] = json.loads(given)
        for key, parameter in self.parameters.items():
            if key not in values:
                if parameter.default is inspect.Parameter.empty:
                    raise ParameterError(key)
                values[key] = parameter.default
            elif not _fits(values[key], parameter.kind):
                raise ParameterError(key, f"{json.dumps(values[key])} in the scenario", _kind_text(parameter.kind))
        ordered = {key: values[key] for key in self.parameters}
        return ordered, json.dumps(ordered)


def describe(name: str, cls: object, *, file: str | None = None, source: str | None = None) -> Described:
    """Check a class that is to be the scheme `name`; `file` and `source` if it was read from a file.

    Raises
    ------
    UserError
        It is not a class derived from `xoff.Scheme`, or it cannot work.
    """
    if not isinstance(cls, type):
        shown = f"an object of {type(cls).__name__}" if not callable(cls) else repr(cls)
        raise UserError(f"scheme {name}: {shown} is not a class: expected one derived from xoff.Scheme")
    where = f"{file}: " if file else ""
    if not issubclass(cls, Scheme) or cls is Scheme:
        raise UserError(f"{where}{cls.__qualname__}: expected a class derived from xoff.Scheme")
    try:
        hooks = _hooks(cls)
        signals = _signals(cls)
        _agree(hooks, signals)
        parameters = _parameters(cls)
    except UserError as error:
        raise UserError(f"{where}{cls.__qualname__}: {error}") from None
    return Described(name, cls, parameters, hooks, signals, _origin(cls, file, source))


def _hooks(cls: type[Scheme]) -> list[str]:
    known = (*CALLS, *ASKED, *RECORDED)
    for name in dir(cls):
        if name.startswith("on_") and name not in CALLS:
            raise UserError(
                f"the method {name} is never called: expected one of {', '.join(CALLS)}{nearest(name, CALLS)}"
            )
    for name in known:
        if not callable(getattr(cls, name)):
            raise UserError(f"{name} is {getattr(cls, name)!r}: expected a method")
    return [name for name in known if getattr(cls, name) is not getattr(Scheme, name)]


def _signals(cls: type[Scheme]) -> Signals:
    declared: object = cls.signals
    if not isinstance(declared, Mapping):
        raise UserError(f'signals is {declared!r}: expected a dict such as {{"ecn": True}}')
    known = tuple(Signals.__annotations__)
    for key, value in declared.items():
        if key not in known:
            raise UserError(
                f"signals has the unknown key {key!r}: expected one of {', '.join(known)}{_near(key, known)}"
            )
        fits = value in ("data", "ack") if key == "int" else isinstance(value, bool)
        if not fits:
            expected = '"data" or "ack"' if key == "int" else "True or False"
            raise UserError(f'signals["{key}"] is {value!r}: expected {expected}')
    signals = typing.cast("Signals", dict(declared))
    if signals.get("cnps"):
        if signals.get("ecn") is False:
            raise UserError('signals["ecn"] is False, and signals["cnps"] needs marks: expected "ecn" to be left out')
        signals["ecn"] = True
    return signals


def _near(key: object, known: tuple[str, ...]) -> str:
    return nearest(key, known) if isinstance(key, str) else ""


def _agree(hooks: list[str], signals: Signals) -> None:
    """Refuse what would have no effect."""
    if "rate" not in hooks and "window" not in hooks:
        raise UserError("it states neither a rate nor a window: expected a method rate or window, or both")
    if "on_cnp" in hooks and not signals.get("cnps"):
        raise UserError('on_cnp is never called: expected signals = {"cnps": True}')
    if signals.get("cnps") and "on_cnp" not in hooks:
        raise UserError('signals["cnps"] has no effect: expected a method on_cnp')
    if ("on_timer" in hooks) != ("next_timer" in hooks):
        there, missing = ("on_timer", "next_timer") if "on_timer" in hooks else ("next_timer", "on_timer")
        raise UserError(f"{there} has no effect without {missing}: expected both, or neither")
    if "on_ack" not in hooks:
        unseen = [key for key in NEEDS_ACKS if signals.get(key)]
        if signals.get("ecn") and not signals.get("cnps"):
            unseen.append("ecn")
        if unseen:
            raise UserError(f'signals["{unseen[0]}"] has no effect: expected a method on_ack, which sees it')


_STARS: dict[Any, str] = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}


def _parameters(cls: type[Scheme]) -> dict[str, Parameter]:
    try:
        signature = inspect.signature(cls.__init__, eval_str=True)
    except NameError:
        # An annotation whose name is imported for type checkers only.
        signature = inspect.signature(cls.__init__)
    _, *listed = signature.parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not listed or listed[0].kind not in positional:
        raise UserError("its constructor takes no flow: expected def __init__(self, flow, *, ...)")
    found = {}
    for parameter in listed[1:]:
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            star = _STARS.get(parameter.kind, "")
            raise UserError(
                f"its constructor takes {star}{parameter.name}: expected parameters by name after a `*`, "
                "as in def __init__(self, flow, *, step=1500)"
            )
        if parameter.name == "name":
            raise UserError("its constructor takes `name`, which in [scheme] is the scheme's: expected another word")
        if parameter.default is not inspect.Parameter.empty:
            _check_default(parameter.name, parameter.default)
        found[parameter.name] = Parameter(parameter.annotation, parameter.default)
    return found


def _check_default(name: str, default: object) -> None:
    try:
        same = json.loads(json.dumps(default, allow_nan=False)) == default
    except (TypeError, ValueError):
        same = False
    if not same:
        raise UserError(
            f"the default of {name} is {default!r}: expected what a scenario can hold: a number, text, True or False, "
            "None, or a list or dict of these"
        )


def _fits(value: object, kind: Any) -> bool:
    """Whether a value is of the kind that an annotation names; other annotations fit everything."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        return any(_fits(value, each) for each in typing.get_args(kind))
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind in (bool, str, list, dict):
        return isinstance(value, kind)
    if kind is types.NoneType:
        return value is None
    return True


_KINDS = {float: "a number", int: "a whole number", bool: "true or false", str: "text", list: "a list", dict: "a table"}


def _kind_text(kind: Any) -> str:
    each = [part for part in typing.get_args(kind) or (kind,) if part is not types.NoneType]
    return " or ".join(_KINDS.get(part, str(part)) for part in each)


def _origin(cls: type[Scheme], file: str | None, source: str | None) -> str:
    if file is None:
        try:
            file = inspect.getsourcefile(cls)
        except (OSError, TypeError):
            file = None  # typed in
    if source is None:
        source = _source(cls, file)
    digest = None if source is None else hashlib.sha256(source.encode()).hexdigest()
    return json.dumps({"language": "python", "class": cls.__qualname__, "file": file, "sha256": digest})


def _source(cls: type[Scheme], file: str | None) -> str | None:
    """The text of the class's file, or of the class alone where a notebook has it; `None` if neither is there."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if file:
            return Path(file).read_text("utf-8")
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        return None
