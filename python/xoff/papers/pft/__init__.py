"""PFT: a congestion avoidance method based on Proactive Flow Throttling at endpoints (Qi et al.).

The scenario, the claims, and the figures and numbers that its runs give.
"""

from __future__ import annotations

from collections.abc import Sequence

from xoff.papers.paper import Paper, Rerun
from xoff.papers.pft import drawings, findings
from xoff.papers.pft.experiments import FULL, HERE, QUICK, QUICK_SURVEY, SURVEY, Scale, jobs
from xoff.papers.pft.space import SPACE
from xoff.papers.space import Reading
from xoff.papers.verdicts import VERDICTS, Claim, Finding
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job

TITLE = "PFT: Proactive Flow Throttling at endpoints, reproduced"
LEAD = (
    f"Qi et al. {VERDICTS} F_C is bandwidth over delay relative to the same seed without PFT. What the paper leaves "
    "open, and how it is read here, stands below."
)


def _experiments(claims: Sequence[Claim], scale: Scale, reading: Reading) -> list[Job]:
    return jobs([claim.name for claim in claims], scale, reading)


def _find(claim: Claim, rerun: Rerun[Scale], note: str) -> Finding:
    return findings.find(claim, rerun.own, rerun.reading, note)


def _draw(rerun: Rerun[Scale]) -> list[FigureFile]:
    return drawings.draw(rerun.own, rerun.reading, rerun.out, rerun.names)


def _lengths(scale: Scale) -> str:
    return (
        f"{len(scale.grid)} settings, {scale.seeds} seeds of each. The tests are shorter than GPCNeT's: see the choice "
        "`tests`."
    )


def _shortened(scale: Scale) -> str:
    return f"Shortened by --quick. {_lengths(scale)} In full: {_lengths(FULL)}"


def _shortened_claim(name: str, scale: Scale) -> str:
    if name == "injection-rate":
        return ""
    return (
        f"Shortened by --quick: {len(scale.grid)} settings instead of {len(FULL.grid)}, {scale.seeds} seeds instead of "
        f"{FULL.seeds}."
    )


PAPER = Paper(
    title=TITLE,
    lead=LEAD,
    folder=HERE,
    full=FULL,
    quick=QUICK,
    experiments=_experiments,
    find=_find,
    draw=_draw,
    banner=_lengths,
    shortened=_shortened,
    shortened_claim=_shortened_claim,
    space=SPACE,
    survey=(SURVEY, QUICK_SURVEY),
)
