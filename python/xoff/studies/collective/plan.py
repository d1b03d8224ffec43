"""Which runs measure a collective: one for each size, algorithm and setting."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xoff import _xoff
from xoff.errors import UserError, nearest
from xoff.runs.scenario import Override, Scenario
from xoff.runs.toml import toml
from xoff.studies.sweep import Planned, plan_point
from xoff.text import shown

MAX_RUNS = 10_000
"""Maximum number of runs of one command."""

MAX_SIZE = 10**12
"""Maximum size in bytes: that of the pattern."""

ALGORITHM = "algorithm"
"""What a run's settings call its algorithm."""

SIZE = "size"
"""What a run's settings call its size."""

KINDS = {
    "all_reduce": (
        "ring",
        "double_binary_tree",
        "tree",
        "halving_doubling",
        "recursive_doubling",
        "direct",
        "hierarchical",
    ),
    "all_gather": ("ring", "recursive_doubling", "bruck", "direct", "hierarchical"),
    "reduce_scatter": ("ring", "halving_doubling", "direct", "hierarchical"),
    "broadcast": ("ring", "tree", "hierarchical"),
    "reduce": ("ring", "tree", "hierarchical"),
    "all_to_all": ("spread", "pairwise", "bruck", "hierarchical"),
    "all_to_all_v": ("spread", "pairwise"),
    "scatter": ("direct", "tree"),
    "gather": ("direct", "tree"),
}
"""The operations that have a size, with their algorithms, the default first."""


@dataclass(frozen=True)
class Request:
    """What a user asks for."""

    kind: str | None = None
    """The operation; `None` for the scenario's own, or an all-reduce."""
    algorithms: tuple[str, ...] = ()
    """The algorithms; none for the scenario's own, or the operation's first one."""
    smallest: str = "1MB"
    """The smallest size, with unit."""
    largest: str = "64MB"
    """The largest size, with unit."""
    factor: float | None = None
    """From a size to the next one; `None` with `step`."""
    step: str | None = None
    """From a size to the next one, added."""
    keys: tuple[Override, ...] = ()
    """Keys of the pattern with their values, such as `channels`."""
    vary: tuple[str, ...] = ()
    """Keys of the scenario, each with values to compare, as `scheme.name=hpcc,dcqcn`."""


@dataclass(frozen=True)
class Plan:
    """The runs, and what they measure."""

    kind: str
    """The operation."""
    runs: list[Planned]
    """By size, and at each size in the order of algorithms and settings."""
    place: int
    """The place of the collective among the scenario's traffic."""
    replaced: int
    """Number of the scenario's own patterns that the collective stands in place of."""
    keys: list[str] = field(default_factory=list)
    """What tells the runs of one size apart."""


def plan(scenario: Scenario, request: Request) -> Plan:
    """The runs that `request` stands for.

    A scenario with a pattern `collective` keeps all its traffic, and the first such pattern is measured; otherwise the
    collective stands in place of the scenario's traffic.

    Raises
    ------
    UserError
        An option cannot be.
    ScenarioError
        The scenario is wrong, by itself or with the options.
    """
    traffic = _traffic(scenario)
    place = next((i for i, each in enumerate(traffic) if _is_collective(each)), None)
    sizes = sizes_of(request)
    known = dict(traffic[place]) if place is not None else {}
    kind = request.kind or str(known.get("kind", "all_reduce"))
    if kind not in KINDS:
        raise UserError(
            f"--kind {shown(kind)}: not an operation with a size; "
            f"expected one of {', '.join(KINDS)}{nearest(kind, KINDS)}"
        )
    own = known.get("algorithm") if request.kind in (None, known.get("kind")) else None
    algorithms = _algorithms(request, kind, own)
    base = [*request.keys]
    if place is None:
        first = {"pattern": "collective", "kind": kind, "size": f"{sizes[0]}B"}
        scenario = replace(scenario, overrides=[("traffic", f"[{toml(first)}]"), *scenario.overrides])
    else:
        base.insert(0, ("kind", kind))
    at = f"traffic.{place or 0}"
    varied = [_values(each) for each in request.vary]
    count = len(sizes) * len(algorithms)
    for _, values in varied:
        count *= len(values)
    if count > MAX_RUNS:
        raise UserError(f"these are {count:,} runs; expected at most {MAX_RUNS:,}: fewer sizes, algorithms or settings")
    pairs = [[(key, value) for value in values] for key, values in varied]
    runs = []
    for size, algorithm, others in itertools.product(sizes, algorithms, list(itertools.product(*pairs))):
        point = [(f"{at}.{key}", value) for key, value in base]
        point += [(f"{at}.algorithm", algorithm), (f"{at}.size", f"{size}B"), *others]
        settings: dict[str, Any] = {SIZE: size, ALGORITHM: algorithm, **dict(others)}
        runs.append(replace(plan_point(scenario, point), settings=settings))
    keys = [ALGORITHM, *[key for key, _ in varied]]
    return Plan(kind, runs, place or 0, 0 if place is not None else len(traffic), keys)


def _traffic(scenario: Scenario) -> list[Any]:
    try:
        tables = tomllib.loads(scenario.text)
    except tomllib.TOMLDecodeError:
        # The parser of scenarios says better what is wrong, and where.
        scenario.check()
        raise
    if "job" in tables and not any(_is_collective(each) for each in tables.get("traffic", [])):
        # The operation runs in place of all traffic, jobs included.
        scenario.overrides.insert(0, ("job", "[]"))
    if "sweep" in tables:
        raise UserError(
            f"{scenario.origin}: has a table [sweep]; expected a scenario of one run, and --vary KEY=A,B for several"
        )
    traffic = tables.get("traffic", [])
    return traffic if isinstance(traffic, list) else []


def _is_collective(pattern: object) -> bool:
    return isinstance(pattern, dict) and pattern.get("pattern") == "collective"


def _algorithms(request: Request, kind: str, own: object) -> list[str]:
    known = KINDS[kind]
    algorithms = list(dict.fromkeys(request.algorithms)) or [own if isinstance(own, str) else known[0]]
    for algorithm in algorithms:
        if algorithm not in known:
            raise UserError(
                f"--algorithm {shown(algorithm)}: not one for {kind}; "
                f"expected one of {', '.join(known)}{nearest(algorithm, known)}"
            )
    return algorithms


def _values(text: str) -> tuple[str, list[str]]:
    key, equals, values = text.partition("=")
    found = [value.strip() for value in values.split(",") if value.strip()]
    if not equals or not key.strip() or not found:
        raise UserError(f"--vary {shown(text)}: expected KEY=A,B as in --vary scheme.name=hpcc,dcqcn")
    return key.strip(), list(dict.fromkeys(found))


def _bytes(option: str, text: str) -> int:
    size = _xoff.read_size(text)
    if size is None:
        raise UserError(f"{option} {shown(text)}: not a size; expected one with a unit, as 1MB, 64KiB or 512B")
    if not 1 <= size <= MAX_SIZE:
        raise UserError(f"{option} {shown(text)}: expected a size from 1B to 1TB")
    return size


def sizes_of(request: Request) -> Sequence[int]:
    """The sizes in bytes: from the smallest on by a factor or a step, none above the largest."""
    smallest, largest = _bytes("--min", request.smallest), _bytes("--max", request.largest)
    if smallest > largest:
        raise UserError(f"--min {shown(request.smallest)}: is above --max {shown(request.largest)}")
    if request.factor is not None and request.step is not None:
        raise UserError("--factor and --step: expected one of them")
    sizes = [smallest]
    if request.step is not None:
        step = _bytes("--step", request.step)
        if (largest - smallest) // step >= MAX_RUNS:
            raise UserError(f"--step {shown(request.step)}: gives more than {MAX_RUNS:,} sizes; expected a longer step")
        return range(smallest, largest + 1, step)
    factor = 2.0 if request.factor is None else request.factor
    if not 1.0 < factor <= 1e12:
        raise UserError(f"--factor {factor:g}: expected a number above 1, up to 1e12")
    while (size := int(sizes[-1] * factor)) <= largest:
        if size <= sizes[-1] or len(sizes) >= MAX_RUNS:
            raise UserError(f"--factor {factor:g}: gives more than {MAX_RUNS:,} sizes; expected a larger factor")
        sizes.append(size)
    return sizes
