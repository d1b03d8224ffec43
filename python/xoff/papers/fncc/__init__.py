"""FNCC: Fast Notification Congestion Control in Data Center Networks (Xu et al., arXiv 2024).

Scenarios, claims, and the figures and numbers that their runs give. Fig. 1a is hardware trend data and no experiment;
Figs. 2, 4 to 8 and 10 to 12 are drawings.
"""

from __future__ import annotations

from collections.abc import Sequence

from xoff.papers.fncc import drawings, findings
from xoff.papers.fncc.experiments import FULL, HERE, QUICK, SURVEY, WORKLOADS, Scale, group_jobs
from xoff.papers.fncc.space import SPACE
from xoff.papers.paper import Paper, Rerun, groups_of
from xoff.papers.space import Reading
from xoff.papers.verdicts import VERDICTS, Claim, Finding
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job

TITLE = "FNCC: Fast Notification Congestion Control in Data Center Networks, reproduced"
LEAD = f"Xu et al., arXiv 2024. {VERDICTS} Fig. 1a is hardware trend data and no experiment."


def _experiments(claims: Sequence[Claim], scale: Scale, reading: Reading) -> list[Job]:
    return [job for group in groups_of(claims, findings.GROUPS) for job in group_jobs(group, scale, reading)]


def _find(claim: Claim, rerun: Rerun[Scale], note: str) -> Finding:
    return findings.find(claim, rerun.own, rerun.reading, note)


def _draw(rerun: Rerun[Scale]) -> list[FigureFile]:
    return drawings.draw(rerun.own, rerun.out)


def _window(scale: Scale) -> str:
    return (
        f"Fat-tree: flows arrive for {scale.window_ms:g} ms in each of {scale.seeds} seeds, and the run goes on until "
        f"the last one is complete; the two-flow runs are repeated {scale.repetitions} times with flow1 joining at "
        "moments that are spread over 41 us."
    )


def _banner(scale: Scale) -> str:
    return (
        f"Shortened by --quick: flows arrive in the fat-tree for {scale.window_ms:g} ms instead of "
        f"{FULL.window_ms:g} ms, in {scale.seeds} seeds instead of {FULL.seeds}; a flow joins each "
        f"{scale.interval_ms:g} ms instead of {FULL.interval_ms:g} ms in Fig. 13e; {scale.repetitions} repetitions "
        f"instead of {FULL.repetitions} elsewhere."
    )


def _shortened(name: str, scale: Scale) -> str:
    if findings.GROUPS[name][0] in WORKLOADS:
        return (
            f"Shortened by --quick: {scale.window_ms:g} ms of arrivals instead of {FULL.window_ms:g} ms, "
            f"{scale.seeds} seeds instead of {FULL.seeds}."
        )
    if name == "fairness":
        return f"Shortened by --quick: a change each {scale.interval_ms:g} ms instead of {FULL.interval_ms:g} ms."
    return f"Shortened by --quick: {scale.repetitions} repetitions instead of {FULL.repetitions}."


PAPER = Paper(
    title=TITLE,
    lead=LEAD,
    folder=HERE,
    full=FULL,
    quick=QUICK,
    experiments=_experiments,
    find=_find,
    draw=_draw,
    banner=_window,
    shortened=_banner,
    shortened_claim=_shortened,
    space=SPACE,
    survey=(SURVEY, QUICK),
)
