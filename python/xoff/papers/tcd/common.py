"""What the experiments on Ethernet and on InfiniBand share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xoff.papers.tcd.measures import Fct, Mct, Victims

HERE = Path(__file__).parent

BEGAN_US = 100.0
"""When the bursts begin in the scenarios of Fig. 2, in us."""
CHAIN_TIME = {"run.duration": "15ms"}
"""Until P3 has served all bursts, however they come: 63 rounds of 15 x 64 KB are 12.1 ms of 40 Gbps."""
UNCONTROLLED = "scheme .* cannot act: every message of `f[02]`"
"""A warning that the experiments are meant to give: f0 and f2 are constant."""

Settings = dict[str, object]
Results = Mapping[Any, Any]
"""By group, kind of marking, what else distinguishes a run, and the seed."""


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    chain_seeds: int
    """Seeds of the scenarios of Fig. 2, of the testbed and of the fairness: only marks are random there."""
    window_ms: float
    """Time in which flows arrive in the victims' scenario."""
    seeds: int
    """Seeds of the victims' scenario."""
    bursts_ms: float
    """Time in which flows arrive in the sweeps of burst sizes."""
    bursts_seeds: int
    """Seeds of these sweeps."""
    flows: Mapping[str, int]
    """Approximate flows of each fat-tree run on Ethernet, by workload."""
    fat_tree_seeds: int
    """Seeds of every fat-tree."""
    testbed_ms: float
    """Length of an interval of the testbed's run, a tenth of it."""
    messages: int
    """Approximate messages of each fat-tree run on InfiniBand."""


FULL = Scale(
    chain_seeds=3,
    window_ms=200,
    seeds=10,
    bursts_ms=100,
    bursts_seeds=5,
    flows={"hadoop": 41_000, "websearch": 41_000},
    fat_tree_seeds=3,
    testbed_ms=100,
    messages=82_000,
)
QUICK = Scale(
    chain_seeds=3,
    window_ms=50,
    seeds=3,
    bursts_ms=25,
    bursts_seeds=3,
    flows={"hadoop": 4_000, "websearch": 600},
    fat_tree_seeds=3,
    testbed_ms=10,
    messages=4_000,
)
SURVEY = Scale(
    chain_seeds=3,
    window_ms=100,
    seeds=5,
    bursts_ms=50,
    bursts_seeds=3,
    flows={"hadoop": 41_000, "websearch": 4_000},
    fat_tree_seeds=3,
    testbed_ms=10,
    messages=20_000,
)
"""How much is run under each reading."""


def seeded(results: Results, *key: object) -> dict[int, Any]:
    """The runs of a group, kind and whatever else, by seed."""
    return {each[-1]: run for each, run in results.items() if each[:-1] == key}


def first(results: Results, *key: object) -> Any:
    """The run of the first seed, for figures over time."""
    return results[(*key, 1)]


def together(runs: Iterable[Victims]) -> Victims:
    """The victims of several runs."""
    every = list(runs)
    return Victims(
        flows=sum(run.flows for run in every),
        marked_ce=sum(run.marked_ce for run in every),
        marked_ue=sum(run.marked_ue for run in every),
        packets_ce=sum(run.packets_ce for run in every),
        packets=sum(run.packets for run in every),
        mismarked=sum(run.mismarked for run in every),
        packets_mismarked=sum(run.packets_mismarked for run in every),
        size_bytes=np.concatenate([run.size_bytes for run in every]),
        fct_us=np.concatenate([run.fct_us for run in every]),
    )


def pooled_slowdowns(runs: Iterable[Fct], low_kb: float, high_kb: float) -> Any:
    """Slowdowns of flows of more than `low_kb` up to `high_kb`, of all seeds."""
    return np.concatenate([slowdowns(run, low_kb, high_kb) for run in runs])


def slowdowns(found: Fct, low_kb: float, high_kb: float) -> Any:
    """Slowdowns of flows of more than `low_kb` up to `high_kb`."""
    return found.slowdown[(found.size_bytes > low_kb * 1e3) & (found.size_bytes <= high_kb * 1e3)]


def mean_us(found: Mct | Victims, kilobytes: float | None = None) -> float:
    """Mean completion time, of messages of one size or of all; NaN if there are none."""
    times = found.mct_us if isinstance(found, Mct) else found.fct_us
    chosen = times if kilobytes is None else times[found.size_bytes == kilobytes * 1_000]
    return float(np.mean(chosen)) if len(chosen) else float("nan")


def by_size(found: Victims, edges_kb: Sequence[float]) -> tuple[list[float], list[int]]:
    """Mean FCT in us, and number, of the victims in each bin; NaN if a bin is empty."""
    place = np.searchsorted(np.array(edges_kb) * 1e3, found.size_bytes, side="left")
    inside = [found.fct_us[place == index] for index in range(len(edges_kb))]
    return [float(each.mean()) if len(each) else float("nan") for each in inside], [len(each) for each in inside]
