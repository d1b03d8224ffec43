"""The smallest paper that leaves something open: three claims, of which one hangs on the reading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xoff.papers.paper import Paper, Rerun
from xoff.papers.rules import near, under
from xoff.papers.space import Alternative, Choice, Reading, Space
from xoff.papers.verdicts import VERDICTS, Claim, Finding
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job
from xoff.runs.results import Run

HERE = Path(__file__).parent
SCENARIO = "shared.toml"

SPACE = Space(
    (
        Choice(
            "rival",
            "Is the flow alone?",
            (
                Alternative("later", "another flow starts 10 ms later", "paper 1"),
                Alternative("meanwhile", "another flow starts with it", "none", {"all": {"traffic.1.start": "0ps"}}),
            ),
            default="later",
            why="Section 1 speaks of one flow.",
            interacts=("size",),
        ),
        Choice(
            "size",
            "Is a MB 10^6 B?",
            (
                Alternative("decimal", "1,000,000 B", "cited SI"),
                Alternative("binary", "1,048,576 B", "none", {"all": {"traffic.0.size": "1MiB"}}),
                # The same as the file has, in other words.
                Alternative("spelled", "1,000 KB", "none", {"all": {"traffic.0.size": "1000KB"}}),
            ),
            default="decimal",
            why="SI's prefix.",
        ),
    ),
    scopes=("all",),
)


def _experiments(_claims: Sequence[Claim], seeds: int, reading: Reading) -> list[Job]:
    return [Job(seed, HERE / SCENARIO, slowdown, reading.on({}, "all"), seed) for seed in range(1, seeds + 1)]


def slowdown(run: Run) -> float:
    """The slowdown of a run's first flow."""
    return float(run.flows["slowdown"][0].as_py())


def _find(claim: Claim, rerun: Rerun[int], note: str) -> Finding:
    checks = {
        "ideal": near("slowdown", rerun.own, 1.0, tolerance=1e-9),
        "bounded": under("slowdown", rerun.own, 10.0),
        "faster": under("slowdown", rerun.own, 1.0),
    }
    check = checks[claim.name]
    return Finding(claim, [check], {"slowdown": check.measured}, list(rerun.own), SCENARIO, note)


def _draw(_rerun: Rerun[int]) -> list[FigureFile]:
    return []


PAPER = Paper(
    title="A paper that leaves something open",
    lead=VERDICTS,
    folder=HERE,
    full=3,
    quick=2,
    experiments=_experiments,
    find=_find,
    draw=_draw,
    banner=lambda seeds: f"{seeds} seeds.",
    shortened=lambda seeds: f"Shortened by --quick: {seeds} seeds.",
    shortened_claim=lambda name, seeds: "",
    space=SPACE,
)
