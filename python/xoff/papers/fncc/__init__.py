"""FNCC: Fast Notification Congestion Control in Data Center Networks (Xu et al., arXiv 2024).

Scenarios, claims and what is drawn and computed from their runs. Fig. 1a is hardware trend data and no experiment;
Figs. 2, 4 to 8 and 10 to 12 are drawings.
"""

from __future__ import annotations

from pathlib import Path

from xoff.papers.fncc import drawings, readings
from xoff.papers.fncc.experiments import FULL, HERE, QUICK, Scale, group_jobs
from xoff.papers.fncc.findings import GROUPS, find
from xoff.papers.reproduction import VERDICTS, begin
from xoff.runs.jobs import run_jobs

TITLE = "FNCC: Fast Notification Congestion Control in Data Center Networks, reproduced"
LEAD = f"Xu et al., arXiv 2024. {VERDICTS} Fig. 1a is hardware trend data and no experiment."
READINGS_LEAD = (
    "What the paper leaves open is set otherwise, everything that it touches is run again, and the verdicts are "
    "computed anew."
)


def reproduce(out: Path, claim: str | None, quick: bool) -> int:
    """Re-run what `claim` needs, or everything, into the folder `out`; 0 when all runs came to their end.

    Writes `claims.json`, `claims.md`, `index.html`, each figure as PNG, SVG and CSV, and `readings.csv`.

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
    results = run_jobs([*main, *readings.jobs(groups, scale)], "FNCC")
    keys = {job.key for job in main}
    own = {key: value for key, value in results.items() if key in keys}
    further = {key: value for key, value in results.items() if key not in keys}

    findings = [find(each, own, scale, _shortened(each.name, scale) if quick else "") for each in claims]
    making.keep(findings)
    figures = drawings.draw(own, out)
    table = readings.table(claims, own, further, scale)
    table.write_csv(out / "readings.csv")
    columns, rows = readings.overview(table)
    return making.publish(
        title=TITLE,
        lead=LEAD,
        banner=_banner(scale) if quick else _window(scale),
        findings=findings,
        figures=figures,
        tables=[("Other readings", f"{READINGS_LEAD} Numbers: readings.csv.", columns, rows)],
    )


def _window(scale: Scale) -> str:
    return (
        f"Fat-tree: flows arrive for {scale.window_ms:g} ms in each of {scale.seeds} seeds, and the run goes on until "
        f"the last one is complete; the two-flow runs are repeated {scale.repetitions} times with flow1 joining 0.1 us "
        "later each time."
    )


def _banner(scale: Scale) -> str:
    return (
        f"Shortened by --quick: flows arrive in the fat-tree for {scale.window_ms:g} ms instead of "
        f"{FULL.window_ms:g} ms, in {scale.seeds} seeds instead of {FULL.seeds}; a flow joins each "
        f"{scale.interval_ms:g} ms instead of {FULL.interval_ms:g} ms in Fig. 13e; {scale.repetitions} repetitions "
        f"instead of {FULL.repetitions} elsewhere; no fat-tree under other readings."
    )


def _shortened(name: str, scale: Scale) -> str:
    if name in ("websearch", "hadoop"):
        return (
            f"Shortened by --quick: {scale.window_ms:g} ms of arrivals instead of {FULL.window_ms:g} ms, "
            f"{scale.seeds} seeds instead of {FULL.seeds}."
        )
    if name == "fairness":
        return f"Shortened by --quick: a change each {scale.interval_ms:g} ms instead of {FULL.interval_ms:g} ms."
    return f"Shortened by --quick: {scale.repetitions} repetitions instead of {FULL.repetitions}."
