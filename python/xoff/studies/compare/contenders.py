"""Who takes part in a survey: every scheme of the catalogue that the scenarios accept, alone or with something else.

A contender is called `SCHEME`, followed by what replaces the scheme's own and the scenarios' defaults: `+DETECTOR`,
`~THROTTLE`, `/FLOW_CONTROL`. So `hpcc/cbfc` is HPCC over InfiniBand's flow control, and `none~pft/credit` is PFT over
link credits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xoff.errors import ScenarioError, UserError
from xoff.runs.catalogue import catalogue, entry
from xoff.runs.scenario import overrides_from, read
from xoff.scheme.load import SchemeFile

DETECTED = "dcqcn"
"""The scheme that every detector is tried with, as the papers that propose detectors do."""

BY_FLOW = "none/bfc"
"""Back-pressure by flow, which stands in place of a scheme."""


@dataclass(frozen=True)
class Contender:
    """A scheme, alone or with a detector in place of its own."""

    name: str
    """`SCHEME`, with `+DETECTOR`, `~THROTTLE` and `/FLOW_CONTROL` if it has them, in this order."""

    @property
    def sets(self) -> dict[str, object]:
        """The settings that make a scenario one of this contender's."""
        parts = _parts(self.name)
        # Each with its defaults; the scenarios' own PFC stays as it is.
        tables = {"detector": parts.detector, "throttle": parts.throttle}
        named: dict[str, object] = {f"{key}.name": name for key, name in tables.items() if name}
        if parts.flow_control and parts.flow_control != "pfc":
            named["flow_control"] = {"name": parts.flow_control}
        return {"scheme.name": parts.scheme, **named}


@dataclass(frozen=True)
class _Parts:
    scheme: str
    detector: str
    throttle: str
    flow_control: str


def _parts(name: str) -> _Parts:
    """The parts of a contender's name; empty if it has none."""
    found = re.fullmatch(r"(?P<s>[^+~/]*)(?:\+(?P<d>[^+~/]+))?(?:~(?P<t>[^+~/]+))?(?:/(?P<f>[^+~/]+))?", name)
    if found is None:
        raise UserError(
            f"--schemes: `{name}` is not SCHEME, SCHEME+DETECTOR, SCHEME~THROTTLE or SCHEME/FLOW_CONTROL; "
            "expected parts in this order, such as `ib_cc+tcd/cbfc`"
        )
    return _Parts(*(found[group] or "" for group in "sdtf"))


@dataclass(frozen=True)
class Field:
    """The contenders, and who was left out."""

    contenders: list[Contender]
    absent: dict[str, str]
    """Schemes that the scenarios refuse, with the reason."""
    own: tuple[SchemeFile, ...] = ()
    """Schemes in Python."""

    def own_of(self, contender: Contender) -> tuple[SchemeFile, ...]:
        """The scheme in Python that a contender runs, if it runs one."""
        return _own_of(contender, self.own)


def field(names: str | None, scenarios: Sequence[Path], own: Sequence[SchemeFile] = ()) -> Field:
    """The contenders called `names`, separated by commas; without them all that the scenarios accept.

    Schemes in Python come in addition, unless `names` have them already, with a detector or alone.

    Raises
    ------
    UserError
        There is no such scheme or detector, one is named twice, or a scenario refuses one that was asked for.
    """
    if names is None:
        contenders = [Contender(each["name"]) for each in catalogue()["schemes"]]
        usual = _detector(Contender(DETECTED), scenarios[0])
        others = [each["name"] for each in catalogue()["detectors"] if each["name"] != usual]
        contenders += [Contender(f"{DETECTED}+{name}") for name in others]
        contenders.append(Contender(BY_FLOW))
        absent = {each.name: reason for each in contenders if (reason := _refusal(each, scenarios))}
        contenders = [each for each in contenders if each.name not in absent]
        return Field([*contenders, *_entering(own, [], scenarios)], absent, tuple(own))
    asked = [name.strip() for name in names.split(",")]
    for name in asked:
        parts = _parts(name)
        if parts.scheme not in {each.name for each in own}:
            entry("schemes", parts.scheme)
        if parts.detector:
            entry("detectors", parts.detector)
        if parts.throttle:
            entry("throttles", parts.throttle)
        if asked.count(name) > 1:
            raise UserError(f"--schemes {names}: {name} twice: expected each once")
        if reason := _refusal(Contender(name), scenarios, own):
            raise UserError(f"--schemes {names}: {name} cannot take part: {reason}")
    contenders = [Contender(name) for name in asked]
    return Field([*contenders, *_entering(own, contenders, scenarios)], {}, tuple(own))


def _entering(own: Sequence[SchemeFile], named: Sequence[Contender], scenarios: Sequence[Path]) -> list[Contender]:
    """The schemes in Python that no contender of `named` runs."""
    found = [Contender(each.name) for each in own if not any(_own_of(one, [each]) for one in named)]
    for each, contender in ((each, one) for one in found for each in _own_of(one, own)):
        if reason := _refusal(contender, scenarios, own):
            raise UserError(f"--scheme {each.file}:{each.cls}: cannot take part: {reason}")
    return found


def _own_of(contender: Contender, own: Sequence[SchemeFile]) -> tuple[SchemeFile, ...]:
    return tuple(each for each in own if each.name == _parts(contender.name).scheme)


def _refusal(contender: Contender, scenarios: Sequence[Path], own: Sequence[SchemeFile] = ()) -> str:
    """Why one of the scenarios cannot be this contender's; nothing if all can."""
    for file in scenarios:
        try:
            read(file, overrides_from(contender.sets), _own_of(contender, own)).check()
        except ScenarioError as error:
            return f"{file.stem}: {' '.join(str(error).split())}"
    return ""


def _detector(contender: Contender, scenario: Path) -> str:
    resolved, _ = read(scenario, overrides_from(contender.sets)).check()
    return str((resolved.get("detector") or {}).get("name", ""))
