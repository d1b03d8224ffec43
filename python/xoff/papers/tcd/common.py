"""What the experiments on Ethernet and on InfiniBand share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xoff.papers.tcd.measures import Victims

HERE = Path(__file__).parent

BEGAN_US = 100.0
"""When the bursts begin in the scenarios of Fig. 2, in us."""
P3_LOADS = (0.45, 0.6, 0.75, 0.9)
"""Loads of P3 at which the victims' verdicts are tried, s1's 30 % included; the first runs at `PAPERS_LOAD`."""
PAPERS_LOAD = 0.6

Settings = dict[str, object]
Results = Mapping[Any, Any]


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    window_ms: float
    """Time in which flows arrive in the victims' scenario."""
    seeds: int
    """Seeds of the victims' scenario."""
    bursts_ms: float
    """The same in the sweeps of burst sizes, epsilon and load."""
    flows: Mapping[str, int]
    """Approximate flows of each fat-tree run on Ethernet, by workload."""
    testbed_ms: float
    """Length of an interval of the testbed's run, a tenth of it."""
    messages: int
    """Approximate messages of each fat-tree run on InfiniBand."""
    fat_tree_variants: tuple[str, ...]
    """Variants of the fat-tree on InfiniBand that are run."""


FULL = Scale(
    window_ms=200,
    seeds=3,
    bursts_ms=100,
    flows={"hadoop": 41_000, "websearch": 41_000},
    testbed_ms=100,
    messages=82_000,
    fat_tree_variants=("60 %", "30 %", "120 %", "240 %", "timer 90 us", "step 1", "index by SL"),
)
QUICK = Scale(
    window_ms=50,
    seeds=2,
    bursts_ms=25,
    flows={"hadoop": 4_000, "websearch": 600},
    testbed_ms=10,
    messages=4_000,
    fat_tree_variants=("60 %", "240 %", "step 1", "index by SL"),
)


def together(runs: Sequence[Victims]) -> Victims:
    """The victims of several runs."""
    return Victims(
        flows=sum(run.flows for run in runs),
        marked_ce=sum(run.marked_ce for run in runs),
        marked_ue=sum(run.marked_ue for run in runs),
        packets_ce=sum(run.packets_ce for run in runs),
        packets=sum(run.packets for run in runs),
        mismarked=sum(run.mismarked for run in runs),
        packets_mismarked=sum(run.packets_mismarked for run in runs),
        size_bytes=np.concatenate([run.size_bytes for run in runs]),
        fct_us=np.concatenate([run.fct_us for run in runs]),
    )
