"""SQCC: Stable Queue Congestion Control (Tang et al.).

The scenario, the claims, and the figures and numbers that its runs give.
"""

from __future__ import annotations

from collections.abc import Sequence

from xoff.papers.paper import Paper, Rerun
from xoff.papers.space import Reading
from xoff.papers.sqcc import drawings, findings
from xoff.papers.sqcc.experiments import FULL, GROUPS, HERE, QUICK, SURVEY, Scale, jobs
from xoff.papers.sqcc.space import SPACE
from xoff.papers.verdicts import VERDICTS, Claim, Finding
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job

TITLE = "SQCC: Stable Queue Congestion Control, reproduced"
LEAD = f"Tang et al. {VERDICTS} A packet of queue is a frame of 1000 B."


def _experiments(claims: Sequence[Claim], scale: Scale, reading: Reading) -> list[Job]:
    return jobs([point for claim in claims for point in GROUPS[claim.name]], scale, reading)


def _find(claim: Claim, rerun: Rerun[Scale], note: str) -> Finding:
    return findings.find(claim, rerun.own, note)


def _draw(rerun: Rerun[Scale]) -> list[FigureFile]:
    return drawings.draw(rerun.own, rerun.out)


def _lengths(scale: Scale) -> str:
    return (
        f"A run with up to 100 flows is {scale.duration_s:g} s, with more in proportion longer, {scale.seeds} times "
        "with flows at other phases; the second half is the steady state."
    )


def _shortened(scale: Scale) -> str:
    return (
        f"Shortened by --quick: {scale.duration_s:g} s instead of {FULL.duration_s:g} s with up to 100 flows, "
        f"{scale.seeds} seeds instead of {FULL.seeds}."
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
    shortened_claim=lambda name, scale: _shortened(scale),
    space=SPACE,
    survey=(SURVEY, QUICK),
)
