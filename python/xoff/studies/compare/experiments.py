"""The survey's scenarios, what is measured in each, and its runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xoff.runs.jobs import Job
from xoff.studies.compare import measures
from xoff.studies.compare.contenders import Field
from xoff.studies.compare.measures import Measured

if TYPE_CHECKING:
    from xoff.runs.results import Run

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Metric:
    """A number of a run."""

    key: str
    """Its name in tables."""
    title: str
    """What it is called, with its unit."""
    unit: str
    """The unit alone."""
    best: str
    """`low` or `high`."""
    digits: int
    """Digits behind the decimal point."""


@dataclass(frozen=True)
class Experiment:
    """A scenario and what is measured in it."""

    name: str
    """Name of the experiment, and of its file."""
    title: str
    what: str
    """What happens and what to look at, in a sentence or two."""
    metrics: tuple[Metric, ...]
    measure: Callable[[Run], Measured]

    @property
    def file(self) -> Path:
        """The scenario."""
        return HERE / f"{self.name}.toml"


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    sets: Mapping[str, Mapping[str, object]]
    """Settings of each scenario."""
    seeds: int
    """Runs of each scenario that draws: their numbers are averaged."""
    note: str
    """What it is, in words."""


def _pauses() -> Metric:
    return Metric("pauses", "PAUSE frames", "", "low", 0)


def _stopped() -> Metric:
    return Metric("stopped_ms", "stopped, ms of all ports", "ms", "low", 2)


def _queue(key: str, which: str) -> Metric:
    return Metric(key, f"{which} queue, KB", "KB", "low", 1)


def _slowdown(key: str, which: str) -> Metric:
    return Metric(key, f"{which} slowdown", "", "low", 2)


_INCOMPLETE = Metric("incomplete", "flows not complete", "", "low", 0)

EXPERIMENTS = (
    Experiment(
        "dumbbell",
        "Four long flows",
        "Four endless flows join each 0.3 ms and meet at one link of 100 Gbps. The mean queue, utilization and Jain's "
        "index of the flows' goodput are those of the run's second half, the greatest queue is the whole run's.",
        (
            Metric("utilization", "utilization", "", "high", 3),
            _queue("queue_mean", "mean"),
            _queue("queue_max", "greatest"),
            Metric("jain", "Jain's index", "", "high", 3),
            _pauses(),
            _stopped(),
        ),
        measures.dumbbell,
    ),
    Experiment(
        "incast",
        "Incast of thirty-two",
        "Thirty-two hosts send equal messages to one at the same moment. With fair shares all end late; the last one's "
        "completion says whether the link was kept busy.",
        (
            _slowdown("slowdown_mean", "mean"),
            _slowdown("slowdown_p99", "p99"),
            Metric("last_ms", "last complete, ms", "ms", "low", 3),
            _queue("queue_mean", "mean"),
            _queue("queue_max", "greatest"),
            Metric("jain", "Jain's index", "", "high", 3),
            _pauses(),
            _stopped(),
            _INCOMPLETE,
        ),
        measures.incast,
    ),
    Experiment(
        "victim",
        "Victims of head-of-line blocking",
        "Bursts of twelve hosts congest one receiver's link; messages to another receiver share nothing with them but "
        "a link between switches that carries all senders at full rate. Only PAUSE can slow those victims down.",
        (
            _slowdown("victim_mean", "victims' mean"),
            _slowdown("victim_p99", "victims' p99"),
            _slowdown("burst_mean", "bursts' mean"),
            _slowdown("burst_p99", "bursts' p99"),
            Metric("trunk_paused", "link paused, share of time", "", "low", 3),
            _queue("queue_max", "greatest"),
            _pauses(),
            _stopped(),
            _INCOMPLETE,
        ),
        measures.victim,
    ),
    Experiment(
        "fat_tree",
        "Web search on a fat-tree",
        "Web search traffic at 50 % load between all hosts of a fat-tree. Small flows are those up to 100 KB, large "
        "ones those from 1 MB.",
        (
            _slowdown("slowdown_mean", "mean"),
            _slowdown("slowdown_p99", "p99"),
            _slowdown("small_p99", "small flows' p99"),
            _slowdown("large_mean", "large flows' mean"),
            _queue("queue_max", "greatest"),
            _pauses(),
            _stopped(),
            _INCOMPLETE,
        ),
        measures.fat_tree,
    ),
)

DRAWN = ("victim", "fat_tree")
"""The experiments whose traffic is drawn at random, which are run with several seeds."""

FULL = Scale(
    sets={},
    seeds=3,
    note="Runs of 10 ms (dumbbell, victims), 1 MB a sender (incast), 2 ms of arrivals on 128 hosts (fat-tree).",
)
QUICK = Scale(
    sets={
        "dumbbell": {"run.duration": "4ms"},
        "incast": {"traffic.0.size": "250KB"},
        "victim": {"traffic.0.stop": "3ms", "traffic.1.stop": "3ms"},
        "fat_tree": {"topology.k": 4, "traffic.0.stop": "1ms"},
    },
    seeds=1,
    note="Shortened by --quick: 4 ms instead of 10 ms (dumbbell), 250 KB instead of 1 MB a sender (incast), 3 ms "
    "instead of 10 ms (victims), 1 ms on 16 hosts instead of 2 ms on 128 (fat-tree), and one seed instead of three.",
)

COSTS = {"dumbbell": 1.0, "incast": 1.0, "victim": 2.0, "fat_tree": 20.0}
"""How long runs take, about."""


def jobs(field: Field, scale: Scale) -> list[Job]:
    """All runs, by (experiment, contender, seed)."""
    return [
        Job(
            key=(experiment.name, contender.name, seed),
            scenario=experiment.file,
            measure=experiment.measure,
            sets={**scale.sets.get(experiment.name, {}), **contender.sets},
            seed=seed,
            cost=COSTS[experiment.name],
            schemes=field.own_of(contender),
        )
        for experiment in EXPERIMENTS
        for contender in field.contenders
        for seed in range(1, (scale.seeds if experiment.name in DRAWN else 1) + 1)
    ]


def averaged(results: Mapping[tuple[str, str, int], Measured], experiment: str, contender: str) -> dict[str, float]:
    """The numbers of a contender in an experiment, each over the seeds that have one; NaN if none has."""
    runs = [measured.values for (name, who, _), measured in results.items() if (name, who) == (experiment, contender)]
    found = {key: [values[key] for values in runs if not math.isnan(values[key])] for key in runs[0]}
    return {key: float(np.mean(values)) if values else float("nan") for key, values in found.items()}
