"""The smallest paper, one claim that one run checks: the example of CONTRIBUTING.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xoff.papers.paper import Paper, Rerun
from xoff.papers.rules import near
from xoff.papers.space import Reading
from xoff.papers.verdicts import VERDICTS, Claim, Finding
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job
from xoff.runs.results import Run

HERE = Path(__file__).parent
SCENARIO = "alone.toml"


def _experiments(_claims: Sequence[Claim], seeds: int, _reading: Reading) -> list[Job]:
    return [Job(seed, HERE / SCENARIO, slowdown, seed=seed) for seed in range(1, seeds + 1)]


def slowdown(run: Run) -> float:
    """The slowdown of a run's first flow."""
    return float(run.flows["slowdown"][0].as_py())


def _find(claim: Claim, rerun: Rerun[int], note: str) -> Finding:
    check = near("slowdown", rerun.own, 1.0, tolerance=1e-9)
    return Finding(claim, [check], {"slowdown": check.measured}, list(rerun.own), SCENARIO, note)


def _draw(_rerun: Rerun[int]) -> list[FigureFile]:
    return []


PAPER = Paper(
    title="A paper of one claim, reproduced",
    lead=VERDICTS,
    folder=HERE,
    full=2,
    quick=1,
    experiments=_experiments,
    find=_find,
    draw=_draw,
    banner=lambda seeds: f"{seeds} seeds.",
    shortened=lambda seeds: f"Shortened by --quick: {seeds} seed.",
    shortened_claim=lambda name, seeds: "",
)
