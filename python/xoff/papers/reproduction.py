"""The driver of every re-run: a paper's claims, runs, findings, figures and page; and of its readings."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from xoff.errors import UserError
from xoff.papers import verdicts
from xoff.papers.paper import Paper, Rerun
from xoff.papers.readings_map import LEGEND_TEXT, claims_of, draw, map_table, markdown, open_table, summary
from xoff.papers.space import Reading, Space
from xoff.papers.survey import survey
from xoff.papers.verdicts import Claim, Finding
from xoff.report.article import ClaimRow, Table, write_page
from xoff.runs.executor import RunExecutor
from xoff.runs.files import write_file
from xoff.runs.jobs import run_jobs
from xoff.runs.kept import Kept, resumed

TRIALS, QUICK_TRIALS = 24, 8
"""Readings that the search tries, in full and with `--quick`."""


def reproduce(
    paper: Paper[Any],
    out: Path,
    claim: str | None,
    quick: bool,
    readings: Sequence[str] = (),
    executor: RunExecutor | None = None,
) -> int:
    """Re-run what `claim` of the paper needs, or everything, into the folder `out`; 0 if all runs are finished.

    Writes `claims.json` and `claims.md`, `index.html`, and each figure as PNG, SVG and CSV. `readings` are
    `choice=alternative` texts, the reading under which the paper is re-run. A re-run that was interrupted is continued.

    Raises
    ------
    UserError
        There is no such claim or alternative, or another process is writing there.
    RunError
        A run broke.
    """
    claims = verdicts.choose(verdicts.load(paper.folder / "claims.toml"), claim)
    reading = paper.space.parse(readings)
    with resumed(out) as kept:
        _reproduce(paper, out, claims, quick, reading, executor, kept)
    return 0


def _reproduce(
    paper: Paper[Any],
    out: Path,
    claims: Sequence[Claim],
    quick: bool,
    reading: Reading,
    executor: RunExecutor | None,
    kept: Kept,
) -> None:
    began = time.monotonic()
    scale = paper.quick if quick else paper.full
    results = run_jobs(paper.experiments(claims, scale, reading), paper.name.upper(), executor, kept)
    rerun = Rerun(claims, scale, results, out, reading)

    findings = [paper.find(each, rerun, paper.shortened_claim(each.name, scale) if quick else "") for each in claims]
    # Written before the figures, so that a failure there keeps the findings.
    verdicts.write(findings, out)
    figures = paper.draw(rerun)
    page = out / "index.html"
    banner = paper.shortened(scale) if quick else paper.banner(scale)
    write_page(
        page,
        title=paper.title,
        lead=paper.lead,
        banner=f"Reading: {reading.name}. {banner}" if reading.chosen else banner,
        claims=[_row(finding) for finding in findings],
        figures=figures,
        tables=_open(paper.space),
    )
    width = max(len(finding.claim.id) for finding in findings)
    for finding in findings:
        print(f"{finding.verdict:<13} {finding.claim.id:<{width}} {verdicts.measured_text(finding)}")
    print(f"{page} in {time.monotonic() - began:.0f} s", file=sys.stderr)


def survey_readings(
    paper: Paper[Any],
    out: Path,
    claim: str | None,
    quick: bool,
    trials: int | None,
    executor: Callable[[], RunExecutor] | None = None,
) -> int:
    """Judge `claim` of the paper, or every claim, under each reading of its space, into `out`; 0 if all is finished.

    Writes `readings.csv`, the map of claims by readings (`readings-map.png`, `.svg` and `.csv`), and as tables
    `readings.md` and `index.html`.

    Raises
    ------
    UserError
        There is no such claim, the paper declares no readings, or a search is asked for without Optuna.
    RunError
        A run broke.
    """
    claims = verdicts.choose(verdicts.load(paper.folder / "claims.toml"), claim)
    if not paper.space.choices:
        raise UserError(
            f"{paper.name}: declares no choices that the paper leaves open, so there are no readings to try"
        )
    with resumed(out) as kept:
        _survey_readings(paper, out, claims, quick, trials, executor, kept)
    return 0


def _survey_readings(
    paper: Paper[Any],
    out: Path,
    claims: Sequence[Claim],
    quick: bool,
    trials: int | None,
    executor: Callable[[], RunExecutor] | None,
    kept: Kept,
) -> None:
    began = time.monotonic()
    full, short = paper.survey or (paper.full, paper.quick)
    scale = short if quick else full
    wanted = (QUICK_TRIALS if quick else TRIALS) if trials is None else trials
    found = survey(paper, claims, scale, out, wanted, executor, kept)
    write_file(out / "readings.csv", found.table().write_csv())
    lines = summary(found)
    write_file(out / "readings.md", markdown(found, paper.title, lines))
    page = out / "index.html"
    write_page(
        page,
        title=f"{paper.title}: the claims under {len(found.findings)} readings",
        lead=" ".join(lines),
        banner=paper.shortened(scale) if quick else paper.banner(scale),
        figures=[draw(found, out, paper.name.upper())],
        tables=[claims_of(found), ("Verdicts", LEGEND_TEXT, *map_table(found)), *_open(paper.space)],
    )
    print("\n".join(lines))
    print(f"{page} in {time.monotonic() - began:.0f} s", file=sys.stderr)


def _open(space: Space) -> list[Table]:
    return [open_table(space)] if space.choices else []


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
