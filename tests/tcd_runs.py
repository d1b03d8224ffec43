"""What the tests of TCD's re-run share: short experiments through the simulator, and victims made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from xoff.papers import verdicts
from xoff.papers.rules import Outcome
from xoff.papers.tcd.common import HERE, Scale
from xoff.papers.tcd.experiments import group_jobs
from xoff.papers.tcd.findings import find
from xoff.papers.tcd.measures import Victims
from xoff.papers.tcd.space import SPACE

SHORT = Scale(
    chain_seeds=2,
    window_ms=5,
    seeds=2,
    bursts_ms=5,
    bursts_seeds=2,
    flows={"hadoop": 500, "websearch": 100},
    fat_tree_seeds=1,
    testbed_ms=4,
    messages=300,
)

CLAIMS = verdicts.load(HERE / "claims.toml")


def measured(group: str, *answers: str) -> dict[Any, Any]:
    import xoff

    jobs = group_jobs(group, SHORT, SPACE.parse(answers))
    return {job.key: job.measure(xoff.run(job.scenario, seed=job.seed, sets=job.sets)) for job in jobs}


def outcomes(name: str, results: dict[Any, Any]) -> dict[str, Outcome]:
    return {check.what: check.outcome for check in find(CLAIMS[name], results, "").checks}


def victims_by_hand(sizes: list[float], marked: int = 0, slower: float = 1.0) -> Victims:
    times = np.array(sizes) / 100 * slower
    return Victims(len(sizes), marked, 0, marked, 10, marked, marked, np.array(sizes), times)
