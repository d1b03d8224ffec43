"""Who takes part in a survey: every scheme of the catalogue that the scenarios accept, with a detector or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xoff.catalogue import catalogue, entry
from xoff.errors import ScenarioError, UserError
from xoff.scenario import overrides_from, read

DETECTED = "dcqcn"
"""The scheme that every detector is tried with, as the papers that propose detectors do."""


@dataclass(frozen=True)
class Entrant:
    """A scheme, alone or with a detector in place of its own."""

    name: str
    """`SCHEME` or `SCHEME+DETECTOR`."""

    @property
    def sets(self) -> dict[str, object]:
        """The settings that make a scenario one of this entrant's."""
        scheme, _, detector = self.name.partition("+")
        return {"scheme.name": scheme, **({"detector.name": detector} if detector else {})}


@dataclass(frozen=True)
class Field:
    """The entrants, and who was left out."""

    entrants: list[Entrant]
    absent: dict[str, str]
    """Schemes that the scenarios refuse, with the reason."""


def field(names: str | None, scenarios: Sequence[Path]) -> Field:
    """The entrants called `names`, separated by commas; without them all that the scenarios accept.

    Raises
    ------
    UserError
        There is no such scheme or detector, one is named twice, or a scenario refuses one that was asked for.
    """
    if names is None:
        entrants = [Entrant(each["name"]) for each in catalogue()["schemes"]]
        own = _detector(Entrant(DETECTED), scenarios[0])
        others = [each["name"] for each in catalogue()["detectors"] if each["name"] != own]
        entrants += [Entrant(f"{DETECTED}+{name}") for name in others]
        absent = {each.name: reason for each in entrants if (reason := _refusal(each, scenarios))}
        return Field([each for each in entrants if each.name not in absent], absent)
    asked = [name.strip() for name in names.split(",")]
    for name in asked:
        scheme, plus, detector = name.partition("+")
        entry("schemes", scheme)
        if plus:
            entry("detectors", detector)
        if asked.count(name) > 1:
            raise UserError(f"--schemes {names}: {name} twice: expected each once")
        if reason := _refusal(Entrant(name), scenarios):
            raise UserError(f"--schemes {names}: {name} cannot take part: {reason}")
    return Field([Entrant(name) for name in asked], {})


def _refusal(entrant: Entrant, scenarios: Sequence[Path]) -> str:
    """Why one of the scenarios cannot be this entrant's; nothing where all can."""
    for file in scenarios:
        try:
            read(file, overrides_from(entrant.sets)).check()
        except ScenarioError as error:
            return f"{file.stem}: {' '.join(str(error).split())}"
    return ""


def _detector(entrant: Entrant, scenario: Path) -> str:
    resolved, _ = read(scenario, overrides_from(entrant.sets)).check()
    return str((resolved.get("detector") or {}).get("name", ""))
