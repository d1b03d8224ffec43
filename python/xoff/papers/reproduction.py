"""What a re-run of any paper begins and ends with."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xoff.papers import verdicts
from xoff.papers.verdicts import Claim, Finding
from xoff.report.article import ClaimRow, write_page
from xoff.report.figures import FigureFile

VERDICTS = (
    "Every number and figure on this page was computed from runs of xoff; a verdict is `reproduced` where the relation "
    "holds and the size is within 25 % of the paper's, `direction` where only the relation holds, `contradicted` where "
    "it does not."
)
"""How to read a page's verdicts."""


@dataclass(frozen=True)
class Reproduction:
    """A re-run on its way."""

    claims: list[Claim]
    """What it is about."""
    out: Path
    """The folder that it fills."""
    began: float = field(default_factory=time.monotonic)
    """When, by the monotonic clock in s."""

    def keep(self, findings: Sequence[Finding]) -> None:
        """Write `claims.json` and `claims.md`, before anything that may fail."""
        verdicts.write(findings, self.out)

    def publish(
        self,
        *,
        title: str,
        lead: str,
        banner: str,
        findings: Sequence[Finding],
        figures: Sequence[FigureFile],
        tables: Sequence[tuple[str, str, Sequence[str], Sequence[Sequence[str]]]] = (),
    ) -> int:
        """Write `index.html` and say what was found; the exit status, 0.

        `tables` are further ones: heading, explanation, column names and rows.
        """
        page = self.out / "index.html"
        rows = [_row(finding) for finding in findings]
        write_page(page, title=title, lead=lead, banner=banner, claims=rows, figures=figures, tables=tables)
        width = max(len(finding.claim.id) for finding in findings)
        for finding in findings:
            print(f"{finding.verdict:<13} {finding.claim.id:<{width}} {verdicts.measured_text(finding)}")
        print(f"{page} in {time.monotonic() - self.began:.0f} s", file=sys.stderr)
        return 0


def _row(finding: Finding) -> ClaimRow:
    claim = finding.claim
    return ClaimRow(
        claim.name,
        claim.where,
        f"{claim.metric}: {claim.relation}",
        claim.figures,
        [f"{name}: {verdicts.number_text(value)}" for name, value in finding.measured.items()],
        finding.verdict,
        finding.note,
    )


def begin(package: Path, claim: str | None, out: Path) -> Reproduction:
    """A re-run of `claim` of the `claims.toml` in `package`, or of all of them, into the folder `out`.

    Raises
    ------
    UserError
        There is no such claim.
    """
    chosen = verdicts.choose(verdicts.load(package / "claims.toml"), claim)
    out.mkdir(parents=True, exist_ok=True)
    return Reproduction(chosen, out)
