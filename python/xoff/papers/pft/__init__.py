"""PFT: a congestion avoidance method based on Proactive Flow Throttling at endpoints (Qi et al.).

Scenario, claims and what is drawn and computed from its runs.
"""

from __future__ import annotations

from pathlib import Path

from xoff.papers.pft import drawings, readings
from xoff.papers.pft.experiments import FULL, HERE, QUICK, Scale, jobs, merged, points
from xoff.papers.pft.findings import find
from xoff.papers.reproduction import VERDICTS, begin
from xoff.runs.jobs import run_jobs

TITLE = "PFT: Proactive Flow Throttling at endpoints, reproduced"
LEAD = f"Qi et al. {VERDICTS} F_C is bandwidth over delay relative to the same without PFT."
READINGS_LEAD = (
    "What the paper leaves open is set otherwise, one thing at a time, and F_C of its best setting is computed anew."
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
    names = {each.name for each in claims}
    scale = QUICK if quick else FULL
    wanted = jobs(merged(points(name, scale) for name in sorted(names)), scale)
    if "control-factor" in names:
        wanted += readings.further(scale)
    results = run_jobs(wanted, "PFT")

    short = _shortened(scale) if quick else ""
    findings = [find(each, results, short) for each in claims]
    making.keep(findings)
    figures = drawings.draw(results, out, names)
    tables = []
    if "control-factor" in names:
        found = readings.table(results)
        found.write_csv(out / "readings.csv")
        tables.append(("Other readings", f"{READINGS_LEAD} Numbers: readings.csv.", *readings.overview(found)))
    return making.publish(
        title=TITLE,
        lead=LEAD,
        banner=short or _lengths(scale),
        findings=findings,
        figures=figures,
        tables=tables,
    )


def _lengths(scale: Scale) -> str:
    return (
        f"{len(scale.grid)} settings; the distributions are of {scale.drawn_seeds} seeds, everything else of "
        f"{scale.seeds}. The tests are shorter than GPCNeT's: see the scenario."
    )


def _shortened(scale: Scale) -> str:
    return (
        f"Shortened by --quick: {len(scale.grid)} settings instead of {len(FULL.grid)}, {scale.drawn_seeds} seed "
        f"instead of {FULL.drawn_seeds}, the outer values of a few readings alone."
    )
