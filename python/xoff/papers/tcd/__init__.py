"""TCD: Congestion Detection in Lossless Networks (Zhang et al., SIGCOMM 2021), its experiments.

Scenarios, claims, and the figures and numbers of their runs, on Ethernet and (`infiniband*`) on InfiniBand. Figs.
1, 2, 5 to 7, 9 and 10 are drawings.
"""

from __future__ import annotations

from collections.abc import Sequence

from xoff.papers.paper import Paper, Rerun, groups_of
from xoff.papers.space import Reading
from xoff.papers.tcd import drawings, findings, infiniband_drawings
from xoff.papers.tcd.common import FULL, HERE, QUICK, Scale
from xoff.papers.tcd.experiments import group_jobs
from xoff.papers.verdicts import VERDICTS, Claim, Finding
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job

TITLE = "TCD: Congestion Detection in Lossless Networks, reproduced on Ethernet and InfiniBand"
LEAD = (
    f"Zhang et al., SIGCOMM 2021. {VERDICTS} Verdicts rest on the paper's rules and numbers (`paper`); those of the "
    "simulator of Ethernet that its authors released (`code`) are run too. On InfiniBand (CBFC) FECN is read in two "
    "ways, and verdicts rest on the paper's words."
)


def _experiments(claims: Sequence[Claim], scale: Scale, _reading: Reading) -> list[Job]:
    return [job for group in groups_of(claims, findings.GROUPS) for job in group_jobs(group, scale)]


def _find(claim: Claim, rerun: Rerun[Scale], note: str) -> Finding:
    return findings.find(claim, rerun.own, rerun.scale, note)


def _draw(rerun: Rerun[Scale]) -> list[FigureFile]:
    figures = [*drawings.draw(rerun.own, rerun.out), *infiniband_drawings.draw(rerun.own, rerun.out)]
    return sorted(figures, key=lambda each: each.name)


def _banner(scale: Scale) -> str:
    return (
        f"Shortened by --quick: the victims' flows arrive for {scale.window_ms:g} ms instead of {FULL.window_ms:g} ms "
        f"in {scale.seeds} seeds instead of {FULL.seeds}, for {scale.bursts_ms:g} ms instead of {FULL.bursts_ms:g} ms "
        f"in the sweeps; fat-trees have about {_flows(scale)} flows instead of {_flows(FULL)}; the testbed's intervals "
        f"last {scale.testbed_ms:g} ms instead of {FULL.testbed_ms:g} ms; InfiniBand's fat-tree has {scale.messages:,} "
        f"messages instead of {FULL.messages:,}, and fewer settings."
    )


def _flows(scale: Scale) -> str:
    return " and ".join(f"{count:,} ({workload})" for workload, count in scale.flows.items())


def _shortened(name: str, scale: Scale) -> str:
    if name.endswith(("hadoop", "websearch", "realistic")):
        return f"Shortened by --quick: about {_flows(scale)} flows instead of {_flows(FULL)}."
    if name.endswith("victims") or name == "epsilon":
        return f"Shortened by --quick: {scale.window_ms:g} ms of arrivals instead of {FULL.window_ms:g} ms."
    if name == "ibcc":
        return (
            f"Shortened by --quick: {scale.messages:,} messages instead of {FULL.messages:,}, {scale.window_ms:g} ms "
            f"of victims' arrivals instead of {FULL.window_ms:g} ms."
        )
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
    banner=lambda scale: "",
    shortened=_banner,
    shortened_claim=_shortened,
)
