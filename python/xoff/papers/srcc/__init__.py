"""SRCC: Sub-RTT Congestion Control for Lossless Datacenter Networks (Hu et al., IEEE TII 2024).

Scenarios, claims and what is drawn and computed from their runs. Figs. 1, 3 and 4 are drawings; the testbed's Figs. 5
to 7 are simulated.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from xoff.papers.reproduction import VERDICTS, begin
from xoff.papers.srcc import drawings, readings
from xoff.papers.srcc.experiments import FULL, HERE, QUICK, Scale, group_jobs
from xoff.papers.srcc.findings import GROUPS, find
from xoff.runs.jobs import run_jobs

TITLE = "SRCC: Sub-RTT Congestion Control for Lossless Datacenter Networks, reproduced"
LEAD = (
    f"Hu et al., IEEE Transactions on Industrial Informatics 2024. {VERDICTS} The testbed's figures are simulated at "
    "its settings."
)
READINGS_LEAD = "What the paper leaves open is set otherwise, and everything that it touches is run again."


def reproduce(out: Path, claim: str | None, quick: bool) -> int:
    """Re-run what `claim` needs, or everything, into the folder `out`; 0 when all runs came to their end.

    Writes `claims.json`, `claims.md`, `index.html`, each figure as PNG, SVG and CSV, and `readings.csv` where there are
    other readings.

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
    main = [job for group in groups for job in group_jobs(group, scale)]
    results = run_jobs([*main, *readings.jobs(groups, scale)], "SRCC")
    keys = {job.key for job in main}
    own = {key: value for key, value in results.items() if key in keys}
    further = {key: value for key, value in results.items() if key not in keys}

    findings = [find(each, own, _shortened(each.name, scale) if quick else "") for each in claims]
    making.keep(findings)
    figures = drawings.draw(own, out)
    tables = []
    found = []
    for group, at, quantity, unit, what, more in (
        ("web-server", scale.loads[-1], "afct_us", "us", "average FCT of the web server workload", False),
        ("websearch", scale.loads[-1], "afct_us", "us", "average FCT of the web search workload", False),
        ("hadoop", scale.loads[-1], "afct_us", "us", "average FCT of the Hadoop workload", False),
        ("incast", 160.0, "goodput_gbps", "Gbps", "goodput of the incast from 160 servers", True),
    ):
        if group in groups:
            rows = readings.table(own, further, group, at)
            found.append(rows.with_columns(group=pl.lit(group)))
            if group == "web-server":
                figures.append(drawings.sensitivity(rows, out))
            tables.append((f"Other readings: {what}", READINGS_LEAD, *readings.overview(rows, quantity, unit, more)))
    if found:
        pl.concat(found).write_csv(out / "readings.csv")
    return making.publish(
        title=TITLE,
        lead=LEAD,
        banner=_banner(scale) if quick else _window(scale),
        findings=findings,
        figures=figures,
        tables=tables,
    )


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
