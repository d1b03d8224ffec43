"""The driver of every re-run: a paper's claims, runs, findings, figures and page."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from xoff.papers import verdicts
from xoff.papers.paper import Paper, Rerun
from xoff.papers.verdicts import Finding
from xoff.report.article import ClaimRow, write_page
from xoff.runs.jobs import run_jobs


def reproduce(paper: Paper[Any], out: Path, claim: str | None, quick: bool) -> int:
    """Re-run what `claim` of the paper needs, or everything, into the folder `out`; 0 if all runs are finished.

    Writes `claims.json` and `claims.md`, `index.html`, each figure as PNG, SVG and CSV, and `readings.csv` if there are
    other readings.

    Raises
    ------
    UserError
        There is no such claim.
    RunError
        A run broke.
    """
    began = time.monotonic()
    claims = verdicts.choose(verdicts.load(paper.folder / "claims.toml"), claim)
    out.mkdir(parents=True, exist_ok=True)
    scale = paper.quick if quick else paper.full
    main = paper.experiments(claims, scale)
    results = run_jobs([*main, *paper.further(claims, scale)], paper.name.upper())
    keys = {job.key for job in main}
    own = {key: value for key, value in results.items() if key in keys}
    further = {key: value for key, value in results.items() if key not in keys}
    rerun = Rerun(claims, scale, own, further, out)

    findings = [paper.find(each, rerun, paper.shortened_claim(each.name, scale) if quick else "") for each in claims]
    # Written before the figures, so that a failure there keeps the findings.
    verdicts.write(findings, out)
    figures = paper.draw(rerun)
    readings = paper.read(rerun)
    if readings.frame is not None:
        readings.frame.write_csv(out / "readings.csv")
    page = out / "index.html"
    write_page(
        page,
        title=paper.title,
        lead=paper.lead,
        banner=paper.shortened(scale) if quick else paper.banner(scale),
        claims=[_row(finding) for finding in findings],
        figures=[*figures, *readings.figures],
        tables=readings.tables,
    )
    width = max(len(finding.claim.id) for finding in findings)
    for finding in findings:
        print(f"{finding.verdict:<13} {finding.claim.id:<{width}} {verdicts.measured_text(finding)}")
    print(f"{page} in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 0


def _row(finding: Finding) -> ClaimRow:
    claim = finding.claim
    return ClaimRow(
        claim.name,
        claim.where,
        f"{claim.metric}: {claim.relation}",
        claim.figures,
        [f"{name}: {verdicts.value_text(value)}" for name, value in finding.measured.items()],
        finding.verdict,
        finding.note,
        verdicts.check_rows(finding),
    )
