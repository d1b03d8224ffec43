"""A paper's readings as data: what the paper leaves open, the alternatives with their sources, and the default.

A default is chosen by source, never by the claim that it helps: what the paper says comes before what its authors
released, that before what a cited paper says, and that before a guess. `Space` refuses any other default. Alone an
alternative whose runs take too long may have a stronger source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product

from xoff.errors import UserError, nearest

SOURCES = ("paper", "authors", "cited", "none")
"""Kinds of sources, the strongest first: the paper, files that its authors released, a paper that it cites, none."""

Sets = Mapping[str, object]
"""Settings by dotted key; `None` removes one."""


class SpaceError(ValueError):
    """A space that cannot be: a defect of a paper's package."""


@dataclass(frozen=True)
class Alternative:
    """One answer to a question that a paper leaves open."""

    name: str
    """Short name."""
    what: str
    """What is set, in words."""
    source: str
    """A kind of `SOURCES` and the place, as in `paper 3.1.1` or `authors config/flow.txt`; `none` stands alone."""
    sets: Mapping[str, Sets] = field(default_factory=dict)
    """Settings by scope, which is a part of the paper's experiments; empty where the experiments have them already."""
    costly: str = ""
    """What a run takes, if that is too much for a default and for `--readings`; `--reading` alone takes it then."""

    @property
    def kind(self) -> str:
        """The kind of its source."""
        return self.source.partition(" ")[0]


@dataclass(frozen=True)
class Choice:
    """A question that a paper leaves open."""

    name: str
    """Short name."""
    question: str
    """What is open."""
    alternatives: tuple[Alternative, ...]
    """The answers, at least two."""
    default: str
    """The alternative on which verdicts rest."""
    why: str
    """Why, by source."""
    interacts: tuple[str, ...] = ()
    """Other choices whose effect may depend on this one: their alternatives are tried in pairs."""

    @property
    def tried(self) -> tuple[Alternative, ...]:
        """The alternatives that are not costly."""
        return tuple(each for each in self.alternatives if not each.costly)

    def alternative(self, name: str) -> Alternative:
        """The alternative called `name`; raises `UserError` if there is none."""
        for each in self.alternatives:
            if each.name == name:
                return each
        names = [each.name for each in self.alternatives]
        hint = nearest(name, names) or f"; there are {', '.join(names)}"
        raise UserError(f"choice `{self.name}`: no alternative `{name}`{hint}")


@dataclass(frozen=True)
class Reading:
    """One answer to each question; `chosen` has those that are not the default, in the order of the space."""

    space: Space = field(compare=False, repr=False)
    chosen: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The answers that are not the default."""
        return ", ".join(f"{choice}={name}" for choice, name in self.chosen) or "default"

    def answer(self, choice: str) -> str:
        """The alternative that is taken."""
        return dict(self.chosen).get(choice, self.space.choice(choice).default)

    def sets(self, *scopes: str) -> dict[str, object]:
        """The settings of some scopes."""
        for scope in scopes:
            if scope not in self.space.scopes:
                raise SpaceError(f"no scope `{scope}`{nearest(scope, self.space.scopes)}")
        found: dict[str, object] = {}
        for choice in self.space.choices:
            own = choice.alternative(self.answer(choice.name)).sets
            for scope in scopes:
                found |= own.get(scope, {})
        return found

    def on(self, base: Sets, *scopes: str) -> dict[str, object]:
        """`base` with the settings of some scopes on top; `None` removes one."""
        return {key: value for key, value in {**base, **self.sets(*scopes)}.items() if value is not None}


@dataclass(frozen=True)
class Space:
    """Everything that a paper leaves open."""

    choices: tuple[Choice, ...] = ()
    """The questions."""
    scopes: tuple[str, ...] = ()
    """Parts of the paper's experiments to which settings can go."""

    def __post_init__(self) -> None:
        """Check that the space is sound; raises `SpaceError` if it is not."""
        names = [choice.name for choice in self.choices]
        _unique("choices", names)
        for choice in self.choices:
            self._check(choice, names)
        for one, other in combinations(self.choices, 2):
            for key in sorted(_keys(one) & _keys(other)):
                raise SpaceError(f"choices `{one.name}` and `{other.name}` both set `{key[1]}` of `{key[0]}`")

    def _check(self, choice: Choice, names: list[str]) -> None:
        where = f"choice `{choice.name}`"
        known = [each.name for each in choice.alternatives]
        if len(known) < 2:
            raise SpaceError(f"{where}: expected at least two alternatives")
        _unique(f"{where}: alternatives", known)
        if choice.default not in known:
            hint = nearest(choice.default, known) or f"; there are {', '.join(known)}"
            raise SpaceError(f"{where}: the default `{choice.default}` is no alternative{hint}")
        for name in choice.interacts:
            if name not in names or name == choice.name:
                raise SpaceError(f"{where}: interacts with `{name}`, which is no other choice{nearest(name, names)}")
        for each in choice.alternatives:
            here = f"{where}, alternative `{each.name}`"
            kind, _, place = each.source.partition(" ")
            if kind not in SOURCES:
                hint = nearest(kind, SOURCES) or f"; expected one of {', '.join(SOURCES)}"
                raise SpaceError(f"{here}: unknown source `{each.source}`{hint}")
            if bool(place) is (kind == "none"):
                raise SpaceError(f"{here}: source `{each.source}`: expected a place after {kind}, or `none` alone")
            for scope in each.sets:
                if scope not in self.scopes:
                    raise SpaceError(f"{here}: unknown scope `{scope}`{nearest(scope, self.scopes)}")
        default = choice.alternative(choice.default)
        if default.costly:
            raise SpaceError(f"{where}: the default `{default.name}` is costly: {default.costly}")
        best = min(choice.tried, key=lambda each: SOURCES.index(each.kind))
        if SOURCES.index(best.kind) < SOURCES.index(default.kind):
            raise SpaceError(
                f"{where}: the default `{default.name}` has source `{default.source}`, weaker than `{best.source}` of "
                f"`{best.name}`"
            )

    def choice(self, name: str) -> Choice:
        """The choice called `name`; raises `UserError` if there is none."""
        for each in self.choices:
            if each.name == name:
                return each
        names = [each.name for each in self.choices]
        hint = nearest(name, names) or (f"; there are {', '.join(names)}" if names else "; nothing is declared open")
        raise UserError(f"no choice `{name}`{hint}")

    @property
    def default(self) -> Reading:
        """The reading on which verdicts rest."""
        return Reading(self)

    def reading(self, answers: Mapping[str, str]) -> Reading:
        """The reading with these answers; raises `UserError` for a name that is not known."""
        for name, answer in answers.items():
            self.choice(name).alternative(answer)
        chosen = [(c.name, answers[c.name]) for c in self.choices if answers.get(c.name, c.default) != c.default]
        return Reading(self, tuple(chosen))

    def parse(self, texts: Iterable[str]) -> Reading:
        """The reading of `choice=alternative` texts, as `--reading` takes them."""
        answers = {}
        for text in texts:
            name, equals, answer = text.partition("=")
            if not equals:
                raise UserError(f"--reading {text}: expected CHOICE=ALTERNATIVE")
            answers[name.strip()] = answer.strip()
        return self.reading(answers)

    def design(self) -> list[Reading]:
        """The default, each other alternative alone, and the pairs of those of choices that may interact.

        Costly alternatives are left out.
        """
        readings = [self.default]
        others = {c.name: [a.name for a in c.tried if a.name != c.default] for c in self.choices}
        readings += [self.reading({name: answer}) for name, answers in others.items() for answer in answers]
        for one, other in combinations(self.choices, 2):
            if other.name in one.interacts or one.name in other.interacts:
                readings += [
                    self.reading({one.name: first, other.name: second})
                    for first, second in product(others[one.name], others[other.name])
                ]
        return readings


def _unique(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise SpaceError(f"{what}: `{name}` stands twice")


def _keys(choice: Choice) -> set[tuple[str, str]]:
    return {(scope, key) for each in choice.alternatives for scope, sets in each.sets.items() for key in sets}
