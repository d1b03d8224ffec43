"""Reading a scenario file, with the settings of a command line on top."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff import _xoff
from xoff.errors import UserError, nearest_file
from xoff.runs.by_label import ByLabel, Override, by_label
from xoff.runs.index import is_sweep
from xoff.runs.manifest import MANIFEST, is_manifest
from xoff.runs.toml import toml
from xoff.text import printable

if TYPE_CHECKING:
    from xoff._xoff import Prepared
    from xoff.scheme.describe import Described
    from xoff.scheme.load import SchemeClass, SchemeFile

__all__ = ["Override", "Scenario", "of_mapping", "overrides_from", "overrides_of", "read"]


@dataclass(frozen=True)
class Scenario:
    """A scenario's text, where it came from, and the settings given on top of it."""

    text: str
    """TOML."""
    origin: str
    """The file's name, for messages."""
    base_dir: str
    """The folder from which the scenario's own file names are taken."""
    overrides: list[Override] = field(default_factory=list)
    """Dotted key and value, in the order given."""
    schemes: tuple[SchemeFile | SchemeClass, ...] = ()
    """Schemes in Python that it may name beside the built-in ones."""
    of_session: bool = False
    """Whether it is that of a session's results: a program sent the messages."""

    @cached_property
    def by_label(self) -> ByLabel | None:
        """A tuning's measures if one of them is of a label; raises `UserError` if such a measure is wrong."""
        return by_label(self.text, self.overrides, self.origin)

    @property
    def given(self) -> list[Override]:
        """What the scenario's parser is given on top of the text."""
        return [*self.overrides, *(self.by_label.overrides if self.by_label else [])]

    def described(self) -> list[Described]:
        """The scenario's schemes in Python, checked; raises `UserError` if one cannot work."""
        return [scheme.describe() for scheme in self.schemes]

    def prepare(self, seed: int | None = None) -> Prepared:
        """Validate, and make all that a run needs; `seed` in place of the scenario's own.

        Raises
        ------
        ScenarioError
            The scenario or an override is wrong.
        UserError
            A scheme in Python cannot work, or a tuning's measure is of a label that no traffic has.
        """
        self._check_traffic()
        seed = whole("seed", seed)
        prepared = _xoff.prepare(self.text, self.origin, self.given, self.base_dir, seed, schemes=self.described())
        if self.by_label is not None:
            self.by_label.applied(json.loads(prepared.resolved))
        return prepared

    def _check_traffic(self) -> None:
        if self.of_session and not any(key.split(".")[0] in ("traffic", "job") for key, _ in self.overrides):
            raise UserError(
                f"{self.origin}: of a session, to which a program gave its messages, and without [[traffic]]; expected "
                "a scenario with [[traffic]], or `xoff.Session` for a session of the same network"
            )

    def also(self, sets: Mapping[str, object]) -> Scenario:
        """The same with these settings on top."""
        return replace(self, overrides=[*self.overrides, *overrides_from(sets)])

    def check(self) -> tuple[dict[str, Any], list[str]]:
        """Validate without a run, within about a second; a warning says what was counted and not made.

        Returns
        -------
        The resolved scenario with every default, and warnings.

        Raises
        ------
        ScenarioError
            The scenario or an override is wrong.
        """
        self._check_traffic()
        text, warnings = _xoff.check(self.text, self.origin, self.given, self.base_dir, self.described())
        resolved = json.loads(text)
        return (self.by_label.applied(resolved) if self.by_label else resolved), warnings


def read(
    path: str | os.PathLike[str],
    overrides: Iterable[Override] = (),
    schemes: Sequence[SchemeFile | SchemeClass] = (),
) -> Scenario:
    """Read the scenario file at `path`; raises `UserError` if it is not one.

    A run's folder or its manifest stands for the scenario of that run, with every default. The scenario runs a single
    scheme, unless the overrides say otherwise; among several, the scenario chooses.
    """
    file = Path(path)
    try:
        if (file / MANIFEST).is_file():
            file = file / MANIFEST
        if file.is_dir():
            inside = sorted(entry.name for entry in file.glob("*.toml"))
            hint = f"; it holds {', '.join(inside[:5])}" if inside else ""
            if is_sweep(file):
                hint = "; it holds many runs: name one of the folders in its folder `runs`"
            raise UserError(f"{file}: is a folder; expected a scenario file (TOML), or a run's folder{hint}")
        if file.exists() and not file.is_file():
            # A device or a pipe might never begin, or end.
            raise UserError(f"{file}: is a device or a pipe; expected a scenario file (TOML)")
        if file.exists() and (size := file.stat().st_size) > _xoff.MAX_SCENARIO_BYTES:
            most = _xoff.MAX_SCENARIO_BYTES / 1e6
            raise UserError(f"{file}: has {size / 1e6:.1f} MB; expected a scenario of at most {most:.0f} MB")
        raw = file.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{file}: no such scenario file{nearest_file(file)}") from None
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(f"{file}: cannot be read: {reason}") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not a text file (byte {error.start} is not UTF-8); a scenario is TOML") from None
    if "\0" in text:
        raise UserError(f"{file}: not a text file (it holds a NUL byte); a scenario is TOML")
    of_session = False
    if file.suffix == ".json":
        try:
            text, of_session = _of_manifest(file, text, bool(schemes))
        except RecursionError:
            raise UserError(f"{file}: nested too deeply; expected a run's manifest") from None
    scenario = _scenario(text, str(file), str(file.parent), overrides, schemes)
    return replace(scenario, of_session=of_session)


def of_mapping(
    scenario: Mapping[str, object],
    overrides: Iterable[Override] = (),
    schemes: Sequence[SchemeFile | SchemeClass] = (),
) -> Scenario:
    """A scenario given as a dict; files that it names are looked for in the current folder."""
    return _scenario(text_of(scenario), "the scenario", ".", overrides, schemes)


def _scenario(
    text: str, origin: str, base_dir: str, overrides: Iterable[Override], schemes: Sequence[SchemeFile | SchemeClass]
) -> Scenario:
    if schemes:
        from xoff.scheme.load import selected

        overrides = selected(schemes, overrides)
    return Scenario(text, printable(origin), base_dir, list(overrides), tuple(schemes))


def _of_manifest(file: Path, text: str, has_schemes: bool) -> tuple[str, bool]:
    """The scenario in a run's manifest, or in what `xoff check --json` prints, as TOML.

    And whether it is that of a session without traffic of its own.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UserError(f"{file}: not JSON ({error}); expected a scenario (TOML), or a run's manifest") from None
    is_session = False
    if is_manifest(found):
        is_session = isinstance(found.get("session"), dict)
        if isinstance(found.get("scheme_origin"), dict) and not has_schemes:
            name = found["scenario"].get("scheme", {}).get("name")
            raise UserError(f"{file}: a run of `{name}`, a scheme of one's own; expected --scheme FILE:CLASS as well")
        found = found["scenario"]
    if not isinstance(found, dict) or "topology" not in found:
        raise UserError(f"{file}: not a run's manifest, and not a scenario that `xoff check --json` printed")
    return text_of(found), is_session and not (found.get("traffic") or found.get("job"))


def text_of(scenario: Mapping[str, object]) -> str:
    """A scenario as TOML, with a line for each table; keys without a value are left out."""
    return "".join(
        f"{toml(str(key))} = {toml(_given(value))}\n" for key, value in scenario.items() if value is not None
    )


def _given(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _given(inner) for key, inner in value.items() if inner is not None}
    return [_given(inner) for inner in value] if isinstance(value, list | tuple) else value


def whole(what: str, value: object, most: int = 2**64 - 1) -> int | None:
    """A whole number from 0 to `most`, or `None`; a `UserError` that names `what` if it is something else."""
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise UserError(f"`{what}` is {value!r}: expected a whole number")
    number = int(value.__index__())
    if not 0 <= number <= most:
        raise UserError(f"`{what}` is {number}: expected a number from 0 to {most}")
    return number


def overrides_of(settings: Iterable[str]) -> list[Override]:
    """Split `key=value` strings, as `--set` takes them."""
    pairs = []
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise UserError(
                f"--set {setting}: expected key=value, as in --set scheme.name=hpcc (`xoff schema` lists the keys)"
            )
        pairs.append((key.strip(), value.strip()))
    return _texts(pairs)


def overrides_from(sets: Mapping[str, object] | None) -> list[Override]:
    """Overrides from Python values: strings stay as they are, the rest is written as TOML."""
    return _texts([(key, value if isinstance(value, str) else toml(value)) for key, value in (sets or {}).items()])


def _texts(pairs: list[Override]) -> list[Override]:
    for key, value in pairs:
        if any("\ud800" <= each <= "\udfff" for each in f"{key}{value}"):
            raise UserError(f"--set {printable(f'{key}={value}')}: not UTF-8; expected text")
    return pairs
