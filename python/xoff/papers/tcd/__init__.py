"""TCD: Congestion Detection in Lossless Networks (Zhang et al., SIGCOMM 2021), its experiments.

Scenarios, claims, and the figures and numbers of their runs, on Ethernet and (`infiniband*`) on InfiniBand. Figs.
1, 2, 5 to 7, 9 and 10 are drawings.
"""

from __future__ import annotations

from collections.abc import Sequence

from xoff.papers.paper import Paper, Rerun, groups_of
from xoff.papers.space import Reading
from xoff.papers.tcd import drawings, findings, infiniband_drawings
from xoff.papers.tcd.common import FULL, HERE, QUICK, SURVEY, Scale
from xoff.papers.tcd.experiments import group_jobs
from xoff.papers.tcd.space import SPACE
from xoff.papers.verdicts import VERDICTS, Claim, Finding
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job

TITLE = "TCD: Congestion Detection in Lossless Networks, reproduced on Ethernet and InfiniBand"
LEAD = f"Zhang et al., SIGCOMM 2021. {VERDICTS} What the paper leaves open, and how it is read here, stands below."


def _experiments(claims: Sequence[Claim], scale: Scale, reading: Reading) -> list[Job]:
    return [job for group in groups_of(claims, findings.GROUPS) for job in group_jobs(group, scale, reading)]


def _find(claim: Claim, rerun: Rerun[Scale], note: str) -> Finding:
    return findings.find(claim, rerun.own, note)


def _draw(rerun: Rerun[Scale]) -> list[FigureFile]:
    figures = [*drawings.draw(rerun.own, rerun.out), *infiniband_drawings.draw(rerun.own, rerun.out)]
    return sorted(figures, key=lambda each: each.name)


def _lengths(scale: Scale) -> str:
    return (
        f"{scale.chain_seeds} seeds of the scenarios of Fig. 2; victims' flows arrive for {scale.window_ms:g} ms in "
        f"{scale.seeds} seeds, for {scale.bursts_ms:g} ms in {scale.bursts_seeds} in the sweeps of burst sizes; "
        f"fat-trees have about {_flows(scale)} flows, and {scale.messages:,} messages on InfiniBand, in "
        f"{scale.fat_tree_seeds} seeds; the testbed's intervals last {scale.testbed_ms:g} ms."
    )


def _flows(scale: Scale) -> str:
    return " and ".join(f"{count:,} ({workload})" for workload, count in scale.flows.items())


def _banner(scale: Scale) -> str:
    return f"Shortened by --quick. {_lengths(scale)} In full: {_lengths(FULL)}"


def _shortened(name: str, scale: Scale) -> str:
    if name.endswith(("hadoop", "websearch", "realistic")):
        return f"Shortened by --quick: about {_flows(scale)} flows instead of {_flows(FULL)}."
    if "victims" in name:
        return f"Shortened by --quick: {scale.window_ms:g} ms of arrivals instead of {FULL.window_ms:g} ms."
    if name.endswith("bursts"):
        return f"Shortened by --quick: {scale.bursts_ms:g} ms of arrivals instead of {FULL.bursts_ms:g} ms."
    if name == "ibcc":
        return f"Shortened by --quick: {scale.messages:,} messages instead of {FULL.messages:,}."
    if name == "testbed":
        return f"Shortened by --quick: intervals of {scale.testbed_ms:g} ms instead of {FULL.testbed_ms:g} ms."
    return ""


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
