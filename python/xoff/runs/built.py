"""A scenario built in Python: `xoff.Scenario`."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xoff.errors import UserError, nearest
from xoff.runs.files import write_file
from xoff.runs.scenario import read, text_of
from xoff.text import name_text

if TYPE_CHECKING:
    from xoff.runs.results import Run
    from xoff.scheme import Scheme
    from xoff.settings.table import Table


class Scenario(Mapping[str, object]):
    """A scenario: a mapping with its tables, which `xoff.run` and `xoff.check` take.

    The functions of `xoff.settings` give the tables, with a typed parameter for each key; a plain dict does as well.
    A scenario does not change: `also` gives another one.

    >>> from xoff import Scenario, settings
    >>> incast = Scenario(
    ...     topology=settings.topology.star(hosts=5),
    ...     scheme=settings.scheme.hpcc(eta=0.9),
    ...     traffic=[settings.traffic.incast(senders=4, receiver="host0", size="64KB")],
    ... )
    >>> incast["scheme"]
    {'name': 'hpcc', 'eta': 0.9}
    >>> incast.also({"scheme.eta": 0.95})["scheme"]
    {'name': 'hpcc', 'eta': 0.95}
    """

    def __init__(
        self,
        *,
        title: str | None = None,
        seed: int | None = None,
        lossy: bool | None = None,
        run: Mapping[str, object] | None = None,
        topology: Mapping[str, object],
        routing: Mapping[str, object] | None = None,
        scheme: Mapping[str, object],
        detector: Mapping[str, object] | None = None,
        throttle: Mapping[str, object] | None = None,
        packets: Mapping[str, object] | None = None,
        host: Mapping[str, object] | None = None,
        switch: Mapping[str, object] | None = None,
        flow_control: Mapping[str, object] | None = None,
        link: Mapping[str, object] | None = None,
        quirks: Mapping[str, object] | None = None,
        traffic: Sequence[Mapping[str, object]] | None = None,
        job: Sequence[Mapping[str, object]] | None = None,
        event: Sequence[Mapping[str, object]] | None = None,
        record: Mapping[str, object] | None = None,
        sweep: Mapping[str, object] | None = None,
        tune: Mapping[str, object] | None = None,
    ) -> None:
        given = locals()
        self._tables: Table = copy.deepcopy({key: given[key] for key in KEYS if given[key] is not None})

    @classmethod
    def of(cls, tables: Mapping[str, object]) -> Scenario:
        """The scenario of a mapping, such as a manifest's `scenario`; a `UserError` for a key that no scenario has."""
        for key in tables:
            if key not in KEYS:
                expected = nearest(str(key), KEYS) or f"; expected one of {', '.join(KEYS)}"
                raise UserError(f"a scenario has no `{name_text(str(key))}`{expected}")
        missing = [key for key in ("topology", "scheme", "traffic") if tables.get(key) is None]
        if missing and not (missing == ["traffic"] and tables.get("job")):
            raise UserError(f"the scenario lacks `{missing[0]}`")
        return cls(**cast("dict[str, Any]", dict(tables)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """The scenario of a TOML file, or of a run's folder or manifest, with every default.

        Files that it names are looked for in the current folder when it is run.
        """
        import tomllib

        source = read(path)
        try:
            return cls.of(tomllib.loads(source.text))
        except tomllib.TOMLDecodeError as error:
            raise UserError(f"{source.origin}: not TOML: {error}") from None
        except UserError as error:
            raise UserError(f"{source.origin}: {error}") from None

    def __getitem__(self, key: str) -> object:
        return copy.deepcopy(self._tables[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def also(self, sets: Mapping[str, object]) -> Scenario:
        """The same scenario with these settings on top, by dotted key as in `{"traffic.0.size": "2MB"}`.

        Elements of lists go by number, from 0. A table that is not there is made. `UserError` if a key leads nowhere.
        """
        tables: Table = copy.deepcopy(self._tables)
        for key, value in sets.items():
            _set(tables, key, copy.deepcopy(value))
        return Scenario.of(tables)

    def run(
        self,
        *,
        seed: int | None = None,
        threads: int | str = "auto",
        schemes: Mapping[str, type[Scheme]] | None = None,
    ) -> Run:
        """Run the scenario, as `xoff.run` does."""
        from xoff.runs.library import run

        return run(self, seed=seed, threads=threads, schemes=schemes)

    def check(self, *, schemes: Mapping[str, type[Scheme]] | None = None) -> Scenario:
        """The resolved scenario, every default included; raises and warns as `xoff.check` does."""
        from xoff.runs.library import check

        return Scenario.of({key: value for key, value in check(self, schemes=schemes).items() if value is not None})

    def to_toml(self) -> str:
        """The scenario as the text of a TOML file, with a section for each table."""
        values = {key: value for key, value in self._tables.items() if not _is_section(value)}
        parts = [text_of(values)] if values else []
        for key, value in self._tables.items():
            if isinstance(value, Mapping):
                parts.append(f"[{key}]\n{text_of(value)}")
            elif _is_section(value):
                parts += [f"[[{key}]]\n{text_of(each)}" for each in cast("Sequence[Table]", value)]
        return "\n".join(parts)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the scenario to a TOML file, which is replaced if it is there; `OSError` if it cannot be written."""
        write_file(Path(path), self.to_toml())
        return Path(path)

    def __repr__(self) -> str:
        return f"Scenario({', '.join(f'{key}={value!r}' for key, value in self._tables.items())})"

    def _repr_html_(self) -> str:
        """The scenario in a table, for notebooks."""
        left = 'style="text-align: left"'
        rows = (
            f"<tr><th {left}>{key}</th><td {left}>{escape(name_text(_short(value), 400))}</td></tr>"
            for key, value in self._tables.items()
        )
        return f"<table>{''.join(rows)}</table>"


def _is_section(value: object) -> bool:
    """Whether a value is a table, or a list of tables."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(each, Mapping) for each in value)
    return isinstance(value, Mapping)


KEYS = tuple(inspect.signature(Scenario).parameters)
"""The keys of a scenario, in the order in which it is written."""


def _short(value: object) -> str:
    """A table on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_short(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(_short(inner) for inner in value)
    return str(value)


def _set(tables: Table, key: str, value: object) -> None:
    """Put a value at a dotted key."""
    *path, last = key.split(".")
    place: object = tables
    for part in path:
        if isinstance(place, dict) and part not in place:
            place[part] = {}
        place = _inside(place, part, key)
    if isinstance(place, list):
        place[_index(place, last, key)] = value
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise UserError(f"{name_text(key)}: `{name_text('.'.join(path))}` is a value; expected a table or a list")


def _inside(place: object, part: str, key: str) -> object:
    if isinstance(place, list):
        return place[_index(place, part, key)]
    if isinstance(place, dict):
        return place[part]
    raise UserError(f"{name_text(key)}: leads into a value; expected a table or a list")


def _index(place: Sequence[object], part: str, key: str) -> int:
    if not part.isascii() or not part.isdigit() or int(part) >= len(place):
        raise UserError(f"{name_text(key)}: `{name_text(part)}` is no element; expected a number below {len(place)}")
    return int(part)
