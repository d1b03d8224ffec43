"""A run's flows by traffic label and by size, and its load: a mean over all flows hides what each part came to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.analysis.tables import slowdown_statistics
from xoff.errors import UserError
from xoff.runs.manifest import MANIFEST, read_manifest
from xoff.runs.parquet import read_table
from xoff.studies.sweep.measures import Measure

if TYPE_CHECKING:
    import polars as pl

MAX_LABELS = 12
"""Maximum labels that are told apart; `flows` has all."""

BINS = ((10_000, "up to 10 KB"), (100_000, "10 to 100 KB"), (1_000_000, "100 KB to 1 MB"), (math.inf, "above 1 MB"))
"""Sizes of messages: the largest of each bin in bytes, and its name."""

_STATISTICS = (("mean", "Mean FCT slowdown"), ("p99", "99th percentile of FCT slowdown"))


@dataclass(frozen=True)
class Load:
    """The load of a part of the traffic, as shares of the hosts' links."""

    label: str
    """Of the traffic."""
    asked: float
    """What the scenario says."""
    offered: float
    """What was drawn: arrivals are random, and few flows may be far from the mean."""


@dataclass(frozen=True)
class Part:
    """What a run came to in parts."""

    values: dict[str, float] = field(default_factory=dict)
    """By measure."""
    labels: tuple[str, ...] = ()
    """In the order of the flows."""
    loads: tuple[Load, ...] = ()


def part_of(run: Path) -> Part:
    """Those of the run in a folder; empty if the folder is not there.

    Raises
    ------
    UserError
        The manifest or the table of flows is damaged.
    """
    if not (run / MANIFEST).exists():
        return Part()
    loads = read_manifest(run)[0].get("loads", [])
    pairs = [(str(each.get("label", "")), each.get("asked"), each.get("offered")) for each in loads]
    found = tuple(Load(label, float(a), float(b)) for label, a, b in pairs if a is not None and b is not None)
    flows = _flows(run / "flows.parquet")
    if flows is None:
        return Part(loads=found)
    labels = tuple(str(each) for each in flows["label"].unique(maintain_order=True) if each)
    values = {}
    for label in labels[:MAX_LABELS]:
        values.update(_numbers(f"label {label}", flows.filter(flows["label"] == label)["slowdown"]))
    low = 0.0
    for high, name in BINS:
        inside = (flows["size_bytes"] > low) & (flows["size_bytes"] <= high)
        values.update(_numbers(f"size {name}", flows.filter(inside)["slowdown"]))
        low = high
    return Part(values, labels, found)


def by_label(flows: Path, label: str) -> dict[str, float]:
    """Statistics of slowdown of the flows of a label, by name, and how many flows did not complete."""
    found = _flows(flows)
    if found is None:
        return {}
    own = found.filter(found["label"] == label)
    done = own["slowdown"].drop_nulls().to_numpy()
    values = {f"slowdown_{name}": value for name, value in slowdown_statistics(done).items()} if len(done) else {}
    if len(own):
        values["incomplete"] = float(own["fct_ps"].null_count())
    return values


def part_measures(parts: Iterable[Part]) -> tuple[list[Measure], list[Measure]]:
    """The measures by label and those by size that runs have, in their order; empty if they tell nothing apart."""
    names: dict[str, None] = {}
    labels: dict[str, None] = {}
    for part in parts:
        names.update(dict.fromkeys(part.values))
        labels.update(dict.fromkeys(part.labels))
    of_labels = _measures("label", list(labels), names)
    of_sizes = _measures("size", [name for _, name in BINS], names)
    return tuple(found if len({each.part for each in found}) > 1 else [] for found in (of_labels, of_sizes))  # type: ignore[return-value]


def mean_loads(loads: Sequence[Sequence[Load]]) -> list[Load]:
    """The loads of one scenario, as means over its seeds."""
    labels = dict.fromkeys(each.label for of in loads for each in of)
    found = []
    for label in labels:
        own = [each for of in loads for each in of if each.label == label]
        asked, offered = (math.fsum(values) / len(own) for values in ([e.asked for e in own], [e.offered for e in own]))
        found.append(Load(label, asked, offered))
    return found


def load_text(loads: Sequence[Load]) -> str:
    """`0.5 / 0.79`: the load that the scenario asks for and the one offered; of several labels each with its name."""
    return ", ".join(
        f"{each.label + ': ' if len(loads) > 1 and each.label else ''}{each.asked:.3g} / {each.offered:.3g}"
        for each in loads
    )


def _measures(kind: str, parts: Sequence[str], names: dict[str, None]) -> list[Measure]:
    pairs = [(part, name, title) for name, title in _STATISTICS for part in parts]
    return [
        Measure(f"{kind} {part} {name}", title, "", part=part)
        for part, name, title in pairs
        if f"{kind} {part} {name}" in names
    ]


def _numbers(of: str, slowdown: Any) -> dict[str, float]:
    done = slowdown.drop_nulls().to_numpy()
    if not len(done):
        return {}
    found = slowdown_statistics(done)
    return {f"{of} {name}": found[name] for name, _ in _STATISTICS}


def _flows(file: Path) -> pl.DataFrame | None:
    import polars as pl

    if not file.exists():
        return None
    read = read_table(file)
    wanted = ["label", "size_bytes", "slowdown", "fct_ps"]
    if read.num_rows == 0 or not set(wanted) <= set(read.column_names):
        return None
    try:
        return pl.DataFrame(read.select(wanted)).with_columns(
            pl.col("label").cast(pl.String), pl.col("slowdown").cast(pl.Float64), pl.col("size_bytes").cast(pl.Int64)
        )
    except pl.exceptions.PolarsError as error:
        raise UserError(f"{file}: not a table of flows that xoff wrote: {error}") from None
