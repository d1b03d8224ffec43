"""PFT: a congestion avoidance method based on Proactive Flow Throttling at endpoints (Qi et al.).

The scenario, the claims, and the figures and numbers that its runs give.
"""

from __future__ import annotations

from collections.abc import Sequence

from xoff.papers.paper import Paper, Readings, Rerun
from xoff.papers.pft import drawings, findings, readings
from xoff.papers.pft.experiments import FULL, HERE, QUICK, Scale, jobs, merged, points
from xoff.papers.space import Reading
from xoff.papers.verdicts import VERDICTS, Claim, Finding
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job

TITLE = "PFT: Proactive Flow Throttling at endpoints, reproduced"
LEAD = f"Qi et al. {VERDICTS} F_C is bandwidth over delay relative to the same without PFT."
READINGS_LEAD = (
    "What the paper leaves open is set otherwise, one thing at a time, and F_C of its best setting is computed anew."
)


READ = "control-factor"
"""The claim that is checked under other readings."""


def _experiments(claims: Sequence[Claim], scale: Scale, _reading: Reading) -> list[Job]:
    return jobs(merged(points(name, scale) for name in sorted({claim.name for claim in claims})), scale)


def _further(claims: Sequence[Claim], scale: Scale) -> list[Job]:
    return readings.further(scale) if any(claim.name == READ for claim in claims) else []


def _find(claim: Claim, rerun: Rerun[Scale], note: str) -> Finding:
    return findings.find(claim, rerun.results, note)


def _draw(rerun: Rerun[Scale]) -> list[FigureFile]:
    return drawings.draw(rerun.results, rerun.out, rerun.names)


def _read(rerun: Rerun[Scale]) -> Readings:
    if READ not in rerun.names:
        return Readings()
    table = readings.table(rerun.results)
    lead = f"{READINGS_LEAD} Numbers: readings.csv."
    return Readings(table, [("Other readings", lead, *readings.overview(table))])


def _lengths(scale: Scale) -> str:
    return (
        f"{len(scale.grid)} settings; the distributions are of {scale.drawn_seeds} seeds, everything else of "
        f"{scale.seeds}. The tests are shorter than GPCNeT's: see the scenario."
    )


def _shortened(scale: Scale) -> str:
    return (
        f"Shortened by --quick: {len(scale.grid)} settings instead of {len(FULL.grid)}, {scale.drawn_seeds} seed "
        f"instead of {FULL.drawn_seeds}, the outer values of a few readings alone."
    )


PAPER = Paper(
    title=TITLE,
    lead=LEAD,
    folder=HERE,
    full=FULL,
    quick=QUICK,
    experiments=_experiments,
    further=_further,
    find=_find,
    draw=_draw,
    read=_read,
    banner=_lengths,
    shortened=_shortened,
    shortened_claim=lambda name, scale: _shortened(scale),
)
