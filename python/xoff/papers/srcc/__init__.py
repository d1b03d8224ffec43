"""SRCC: Sub-RTT Congestion Control for Lossless Datacenter Networks (Hu et al., IEEE TII 2024).

Scenarios, claims, and the figures and numbers that their runs give. Figs. 1, 3 and 4 are drawings; the testbed's Figs.
5 to 7 are simulated.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from xoff.papers.paper import Paper, Readings, Rerun, groups_of
from xoff.papers.space import Reading
from xoff.papers.srcc import drawings, findings, readings
from xoff.papers.srcc.experiments import FULL, HERE, QUICK, Scale, group_jobs
from xoff.papers.verdicts import VERDICTS, Claim, Finding
from xoff.report.article import Table
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job

TITLE = "SRCC: Sub-RTT Congestion Control for Lossless Datacenter Networks, reproduced"
LEAD = (
    f"Hu et al., IEEE Transactions on Industrial Informatics 2024. {VERDICTS} The testbed's figures are simulated at "
    "its settings."
)
READINGS_LEAD = "What the paper leaves open is set otherwise, and everything that it touches is run again."


def _experiments(claims: Sequence[Claim], scale: Scale, _reading: Reading) -> list[Job]:
    return [job for group in groups_of(claims, findings.GROUPS) for job in group_jobs(group, scale)]


def _further(claims: Sequence[Claim], scale: Scale) -> list[Job]:
    return readings.jobs(groups_of(claims, findings.GROUPS), scale)


def _find(claim: Claim, rerun: Rerun[Scale], note: str) -> Finding:
    return findings.find(claim, rerun.own, note)


def _draw(rerun: Rerun[Scale]) -> list[FigureFile]:
    return drawings.draw(rerun.own, rerun.out)


def _read(rerun: Rerun[Scale]) -> Readings:
    tables: list[Table] = []
    figures = []
    found = []
    groups = groups_of(rerun.claims, findings.GROUPS)
    for group, at, quantity, unit, what, more in (
        ("web-server", rerun.scale.loads[-1], "afct_us", "us", "average FCT of the web server workload", False),
        ("websearch", rerun.scale.loads[-1], "afct_us", "us", "average FCT of the web search workload", False),
        ("hadoop", rerun.scale.loads[-1], "afct_us", "us", "average FCT of the Hadoop workload", False),
        ("incast", 160.0, "goodput_gbps", "Gbps", "goodput of the incast from 160 servers", True),
    ):
        if group in groups:
            rows = readings.table(rerun.own, rerun.further, group, at)
            found.append(rows.with_columns(group=pl.lit(group)))
            if group == "web-server":
                figures.append(drawings.sensitivity(rows, rerun.out))
            tables.append((f"Other readings: {what}", READINGS_LEAD, *readings.overview(rows, quantity, unit, more)))
    return Readings(pl.concat(found) if found else None, tables, figures)


def _window(scale: Scale) -> str:
    return (
        f"Flows arrive for {scale.testbed_ms:g} ms in the testbed and for {scale.large_ms:g} ms in the large "
        f"simulation, in "
        f"each of {scale.seeds} seeds, and a run goes on until the last one is complete."
    )


def _banner(scale: Scale) -> str:
    return (
        f"Shortened by --quick: flows arrive for {scale.testbed_ms:g} ms instead of {FULL.testbed_ms:g} ms in "
        f"the testbed, "
        f"for {scale.large_ms:g} ms instead of {FULL.large_ms:g} ms in the large simulation; {scale.seeds} "
        f"seed instead of "
        f"{FULL.seeds}; loads {', '.join(f'{load:g}' for load in scale.loads)} only."
    )


def _shortened(name: str, scale: Scale) -> str:
    if name in ("motivation", "incast"):
        return ""
    if name.startswith("burst"):
        return f"Shortened by --quick: {scale.seeds} seed instead of {FULL.seeds}."
    testbed = name in ("web-server", "cache-follower")
    window, full = (scale.testbed_ms, FULL.testbed_ms) if testbed else (scale.large_ms, FULL.large_ms)
    return (
        f"Shortened by --quick: {window:g} ms of arrivals instead of {full:g} ms, {scale.seeds} seed instead of "
        f"{FULL.seeds}, {len(scale.loads)} loads instead of {len(FULL.loads)}."
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
    banner=_window,
    shortened=_banner,
    shortened_claim=_shortened,
)
