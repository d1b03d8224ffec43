"""SQCC: Stable Queue Congestion Control (Tang et al.).

Scenario, claims and what is drawn and computed from its runs.
"""

from __future__ import annotations

from pathlib import Path

from xoff.papers.reproduction import VERDICTS, begin
from xoff.papers.sqcc import drawings, readings
from xoff.papers.sqcc.experiments import FULL, GROUPS, HERE, QUICK, Scale, jobs
from xoff.papers.sqcc.findings import find
from xoff.runs.jobs import run_jobs

TITLE = "SQCC: Stable Queue Congestion Control, reproduced"
LEAD = f"Tang et al. {VERDICTS} A packet of queue is a frame of 1000 B."
READINGS_LEAD = (
    "What the paper leaves open is set otherwise, runs are made again with one seed, and the verdicts are computed "
    "anew."
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
    main = jobs([point for each in claims for point in GROUPS[each.name]], scale)
    results = run_jobs([*main, *readings.further(claims, scale)], "SQCC")
    keys = {job.key for job in main}
    own = {key: value for key, value in results.items() if key in keys}
    others = readings.by_reading(own, {key: value for key, value in results.items() if key not in keys})

    short = _shortened(scale) if quick else ""
    findings = [find(each, own, short) for each in claims]
    making.keep(findings)
    figures = drawings.draw(own, others, out)
    table = readings.table(claims, others)
    table.write_csv(out / "readings.csv")
    columns, rows = readings.overview(table)
    return making.publish(
        title=TITLE,
        lead=LEAD,
        banner=short or _lengths(scale),
        findings=findings,
        figures=figures,
        tables=[("Other readings", f"{READINGS_LEAD} Numbers: readings.csv.", columns, rows)],
    )


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
