"""TCD: Congestion Detection in Lossless Networks (Zhang et al., SIGCOMM 2021), its experiments.

Scenarios, claims and what is drawn and computed from their runs, on Ethernet and (`infiniband*`) on InfiniBand. Figs.
1, 2, 5 to 7, 9 and 10 are drawings.
"""

from __future__ import annotations

from pathlib import Path

from xoff.papers.reproduction import VERDICTS, begin
from xoff.papers.tcd import drawings, infiniband_drawings
from xoff.papers.tcd.common import FULL, HERE, QUICK, Scale
from xoff.papers.tcd.experiments import group_jobs
from xoff.papers.tcd.findings import GROUPS, find
from xoff.runs.jobs import run_jobs

TITLE = "TCD: Congestion Detection in Lossless Networks, reproduced on Ethernet and InfiniBand"
LEAD = (
    f"Zhang et al., SIGCOMM 2021. {VERDICTS} Verdicts rest on the paper's rules and numbers (`paper`); those of the "
    "simulator of Ethernet that its authors released (`code`) are run too. On InfiniBand (CBFC) FECN is read in two "
    "ways, and verdicts rest on the paper's words."
)


def reproduce(out: Path, claim: str | None, quick: bool) -> int:
    """Re-run what `claim` needs, or everything, into the folder `out`; 0 when all runs came to their end.

    Writes `claims.json`, `claims.md`, `index.html`, and each figure as PNG, SVG and CSV.

    Raises
    ------
    UserError
        There is no such claim.
    RunError
        A run broke.
    """
    making = begin(HERE, claim, out)
    claims = making.claims
    scale = QUICK if quick else FULL
    groups = list(dict.fromkeys(group for each in claims for group in GROUPS[each.name]))
    results = run_jobs([job for group in groups for job in group_jobs(group, scale)], "TCD")
    findings = [find(each, results, scale, _shortened(each.name, scale) if quick else "") for each in claims]
    making.keep(findings)
    figures = sorted(
        [*drawings.draw(results, out), *infiniband_drawings.draw(results, out)], key=lambda each: each.name
    )
    return making.publish(
        title=TITLE,
        lead=LEAD,
        banner=_banner(scale) if quick else "",
        findings=findings,
        figures=figures,
    )


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
