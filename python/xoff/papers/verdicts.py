"""A paper's claims, what was measured, and the verdict, which is always computed.

A claim is broken into checks, which `xoff.papers.rules` judges: a relation holds, fails or is open, and where the paper
prints a figure there is also a size.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xoff.analysis.student import CONFIDENCE
from xoff.errors import UserError, nearest
from xoff.papers.rules import Check, Estimate, Verdict, number_text, verdict
from xoff.runs.files import write_file

VERDICTS = (
    "Every number and figure on this page was computed from runs of xoff. A number has its mean over n seeds and, in "
    f"brackets, its {CONFIDENCE:.0%} t-interval, of paired differences where two things are compared. A verdict is "
    "`reproduced` where the relation holds over the whole interval and the interval of the size lies within 25 % of "
    "the paper's, `direction` where only the relation holds, `contradicted` where the relation fails over the whole "
    "interval, `undecided` where the interval covers both."
)
"""How to read a page's verdicts."""

Measured = Mapping[str, float | Estimate | None]
"""Numbers by name with unit."""


@dataclass(frozen=True)
class Claim:
    """What a paper says, from `claims.toml`."""

    id: str
    """`paper.name`."""
    where: str
    """Section and figure."""
    setting: str
    """The experiment."""
    metric: str
    """What is measured."""
    relation: str
    """What the paper says of it."""
    figures: str = ""
    """Numbers that the paper prints beside the relation."""

    @property
    def name(self) -> str:
        """The part of `id` after the paper."""
        return self.id.partition(".")[2]


@dataclass(frozen=True)
class Finding:
    """A claim with its measurement."""

    claim: Claim
    checks: Sequence[Check]
    """Never empty."""
    measured: Measured
    """Numbers behind the checks, by name with unit."""
    seeds: Sequence[int]
    """Seeds averaged over."""
    scenario: str
    """The scenario file."""
    note: str = ""
    """Readings, and what a reader must know."""
    verdict: Verdict = field(init=False)
    """Computed from `checks`."""

    def __post_init__(self) -> None:
        """Compute the verdict."""
        object.__setattr__(self, "verdict", verdict(self.checks))

    def to_json(self) -> dict[str, Any]:
        """The entry of `claims.json`."""
        return {
            "id": self.claim.id,
            "relation": self.claim.relation,
            "claimed": self.claim.figures or self.claim.relation,
            "measured": {name: _bare(value) for name, value in self.measured.items()},
            "verdict": self.verdict,
            "seeds": list(self.seeds),
            "scenario": self.scenario,
            "note": self.note,
            "checks": [{**asdict(check), "size": check.size} for check in self.checks],
        }


def load(file: Path) -> dict[str, Claim]:
    """The claims of a `claims.toml`, by name."""
    with file.open("rb") as stream:
        claims = [Claim(**entry) for entry in tomllib.load(stream)["claim"]]
    return {claim.name: claim for claim in claims}


def choose(claims: Mapping[str, Claim], wanted: str | None) -> list[Claim]:
    """All claims, or the one called `wanted`, with or without its paper."""
    if wanted is None:
        return list(claims.values())
    for claim in claims.values():
        if wanted in (claim.name, claim.id):
            return [claim]
    hint = nearest(wanted, claims) or f"; there are {', '.join(claims)}"
    raise UserError(f"no claim `{wanted}`{hint}")


def write(findings: Sequence[Finding], folder: Path) -> None:
    """Write `claims.json` and `claims.md` into `folder`."""
    listed = json.dumps([_finite(finding.to_json()) for finding in findings], indent=2, ensure_ascii=False)
    write_file(folder / "claims.json", listed + "\n")
    lines = ["| claim | where | relation | measured | verdict |", "|---|---|---|---|---|"]
    for finding in findings:
        claim = finding.claim
        lines.append(_row(claim.id, claim.where, claim.relation, measured_text(finding), f"**{finding.verdict}**"))
    lines += ["", "Checks", "", "| claim | check | measured | paper | relation | size |", "|---|---|---|---|---|---|"]
    for finding in findings:
        lines += [_row(finding.claim.id, *cells) for cells in check_rows(finding)]
    notes = [f"- `{finding.claim.id}`: {finding.note}" for finding in findings if finding.note]
    text = "\n".join([*lines, "", "Notes", "", *notes]) + "\n"
    write_file(folder / "claims.md", text)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def check_rows(finding: Finding) -> list[tuple[str, str, str, str, str]]:
    """What is compared, the estimate, the paper's size, and the outcomes of relation and size, check by check."""
    return [
        (
            check.what,
            check.measured.text,
            "" if check.claimed is None else number_text(check.claimed),
            check.outcome,
            "" if check.claimed is None else check.size,
        )
        for check in finding.checks
    ]


def measured_text(finding: Finding) -> str:
    """The measured numbers in a line."""
    return "; ".join(f"{name} {value_text(value)}" for name, value in finding.measured.items())


def value_text(value: float | Estimate | None) -> str:
    """A number, with its interval if there is one."""
    return value.text if isinstance(value, Estimate) else number_text(value)


def _bare(value: float | Estimate | None) -> Any:
    return asdict(value) if isinstance(value, Estimate) else value


def _finite(value: Any) -> Any:
    # JSON has no NaN.
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
