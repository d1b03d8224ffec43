"""SRCC: Sub-RTT Congestion Control for Lossless Datacenter Networks (Hu et al., IEEE TII 2024).

Scenarios, claims, and the figures and numbers that their runs give. Figs. 1, 3 and 4 are drawings; the testbed's Figs.
5 to 7 are simulated.
"""

from __future__ import annotations

from collections.abc import Sequence

from xoff.papers.paper import Paper, Rerun, groups_of
from xoff.papers.space import Reading
from xoff.papers.srcc import drawings, findings
from xoff.papers.srcc.experiments import FULL, HERE, QUICK, SURVEY, TESTBED, Scale, group_jobs
from xoff.papers.srcc.space import SPACE
from xoff.papers.verdicts import VERDICTS, Claim, Finding
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job

TITLE = "SRCC: Sub-RTT Congestion Control for Lossless Datacenter Networks, reproduced"
LEAD = (
    f"Hu et al., IEEE Transactions on Industrial Informatics 2024. {VERDICTS} The testbed's figures are simulated at "
    "its settings. What the paper leaves open, and how it is read here, stands below."
)


def _experiments(claims: Sequence[Claim], scale: Scale, reading: Reading) -> list[Job]:
    return [job for group in groups_of(claims, findings.GROUPS) for job in group_jobs(group, scale, reading)]


def _find(claim: Claim, rerun: Rerun[Scale], note: str) -> Finding:
    return findings.find(claim, rerun.own, note)


def _draw(rerun: Rerun[Scale]) -> list[FigureFile]:
    return drawings.draw(rerun.own, rerun.out)


def _lengths(scale: Scale) -> str:
    return (
        f"By default flows arrive for {scale.testbed_ms:g} ms in the testbed, in each of {scale.testbed_seeds} seeds, "
        f"and for {scale.large_ms:g} ms in the large simulation, in {scale.seeds}; a run ends with its last flow. "
        f"Loads {', '.join(f'{load:g}' for load in scale.loads)}; {scale.seeds} seeds of everything else."
    )


def _banner(scale: Scale) -> str:
    return f"Shortened by --quick. {_lengths(scale)} In full: {_lengths(FULL)}"


def _shortened(name: str, scale: Scale) -> str:
    if name in ("motivation", "incast"):
        return f"Shortened by --quick: {scale.seeds} seeds instead of {FULL.seeds}."
    if name.startswith("burst"):
        return f"Shortened by --quick: {scale.testbed_seeds} seeds instead of {FULL.testbed_seeds}."
    if findings.GROUPS[name][0] in TESTBED:
        window, full, seeds, all_seeds = scale.testbed_ms, FULL.testbed_ms, scale.testbed_seeds, FULL.testbed_seeds
    else:
        window, full, seeds, all_seeds = scale.large_ms, FULL.large_ms, scale.seeds, FULL.seeds
    return (
        f"Shortened by --quick: by default {window:g} ms of arrivals instead of {full:g} ms; {seeds} seeds instead of "
        f"{all_seeds}, loads {', '.join(f'{load:g}' for load in scale.loads)} only."
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
    shortened=_banner,
    shortened_claim=_shortened,
    space=SPACE,
    survey=(SURVEY, QUICK),
)
