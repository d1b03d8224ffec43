"""SQCC: Stable Queue Congestion Control (Tang et al.).

The scenario, the claims, and the figures and numbers that its runs give.
"""

from __future__ import annotations

from collections.abc import Sequence

from xoff.papers.paper import Paper, Readings, Rerun
from xoff.papers.space import Reading
from xoff.papers.sqcc import drawings, findings, readings
from xoff.papers.sqcc.experiments import FULL, GROUPS, HERE, QUICK, Scale, jobs
from xoff.papers.verdicts import VERDICTS, Claim, Finding
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job

TITLE = "SQCC: Stable Queue Congestion Control, reproduced"
LEAD = f"Tang et al. {VERDICTS} A packet of queue is a frame of 1000 B."
READINGS_LEAD = (
    "What the paper leaves open is set otherwise, runs are made again with one seed, and the verdicts are computed "
    "anew."
)


def _experiments(claims: Sequence[Claim], scale: Scale, _reading: Reading) -> list[Job]:
    return jobs([point for claim in claims for point in GROUPS[claim.name]], scale)


def _find(claim: Claim, rerun: Rerun[Scale], note: str) -> Finding:
    return findings.find(claim, rerun.own, note)


def _draw(rerun: Rerun[Scale]) -> list[FigureFile]:
    return drawings.draw(rerun.own, readings.by_reading(rerun.own, rerun.further), rerun.out)


def _read(rerun: Rerun[Scale]) -> Readings:
    table = readings.table(rerun.claims, readings.by_reading(rerun.own, rerun.further))
    lead = f"{READINGS_LEAD} Numbers: readings.csv."
    return Readings(table, [("Other readings", lead, *readings.overview(table))])


def _lengths(scale: Scale) -> str:
    return (
        f"Each run is {scale.duration_s:g} s, {scale.seeds} times with flows at other phases; the second half is the "
        f"steady state. Under other readings {scale.readings_s:g} s, once, and {scale.start_s:g} s where flows start "
        "otherwise."
    )


def _shortened(scale: Scale) -> str:
    return (
        f"Shortened by --quick: runs of {scale.duration_s:g} s instead of {FULL.duration_s:g} s, {scale.seeds} seed "
        f"instead of {FULL.seeds}; other readings of Table II alone."
    )


PAPER = Paper(
    title=TITLE,
    lead=LEAD,
    folder=HERE,
    full=FULL,
    quick=QUICK,
    experiments=_experiments,
    further=readings.further,
    find=_find,
    draw=_draw,
    read=_read,
    banner=_lengths,
    shortened=_shortened,
    shortened_claim=lambda name, scale: _shortened(scale),
)
