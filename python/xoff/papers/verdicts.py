"""A paper's claims, what was measured, and the verdict, which is always computed.

A claim is broken into checks. A check either holds or not (an order, a sign, a bound), and if the paper prints a
figure it also has a size, which agrees when the measured one is within `TOLERANCE` of it.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from xoff.errors import UserError, nearest

TOLERANCE = 0.25
"""Relative difference up to which a measured figure counts as the paper's."""

VERDICTS = (
    "Every number and figure on this page was computed from runs of xoff; a verdict is `reproduced` where the relation "
    "holds and the size is within 25 % of the paper's, `direction` where only the relation holds, `contradicted` where "
    "it does not."
)
"""How to read a page's verdicts."""

Verdict = Literal["reproduced", "direction", "contradicted"]


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
class Check:
    """One comparison of a claim."""

    what: str
    """What is compared, with unit."""
    holds: bool
    """Whether the order, sign or bound is as claimed."""
    measured: float
    """The measured value."""
    claimed: float | None = None
    """The paper's value; `None` if it prints none."""

    @property
    def agrees(self) -> bool:
        """Whether the measured size is the paper's; true if the paper prints none."""
        return self.claimed is None or within(self.measured, self.claimed)


@dataclass(frozen=True)
class Finding:
    """A claim with its measurement."""

    claim: Claim
    checks: Sequence[Check]
    """Never empty."""
    measured: Mapping[str, float | None]
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
            "measured": dict(self.measured),
            "verdict": self.verdict,
            "seeds": list(self.seeds),
            "scenario": self.scenario,
            "note": self.note,
            "checks": [{**asdict(check), "agrees": check.agrees} for check in self.checks],
        }


def within(measured: float, claimed: float, tolerance: float = TOLERANCE) -> bool:
    """Whether `measured` differs from `claimed` by at most `tolerance` of it; never true of NaN."""
    # Allow for rounding: 0.3 * 1.25 is not exactly 0.375.
    return abs(measured - claimed) <= tolerance * abs(claimed) * (1 + 1e-12)


def verdict(checks: Sequence[Check]) -> Verdict:
    """`contradicted` if a check does not hold, `reproduced` if all hold and all sizes agree, else `direction`."""
    if not checks:
        raise ValueError("a verdict needs at least one check")
    if not all(check.holds for check in checks):
        return "contradicted"
    return "reproduced" if all(check.agrees for check in checks) else "direction"


def below(what: str, value: float, other: float) -> Check:
    """That `value` is less than `other`; the measured size is the share by which it is below."""
    return Check(f"{what}: below", value < other, reduction(value, other))


def reduced(what: str, value: float, reference: float, claimed: float) -> Check:
    """That `value` is less than `reference`, by the share `claimed`."""
    return Check(f"{what}: reduction", value < reference, reduction(value, reference), claimed)


def reduction(value: float, reference: float) -> float:
    """The share by which `value` is below `reference`; NaN without a reference above 0."""
    return 1 - value / reference if reference > 0 else math.nan


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
    (folder / "claims.json").write_text(listed + "\n", encoding="utf-8")
    lines = ["| claim | where | relation | measured | verdict |", "|---|---|---|---|---|"]
    for finding in findings:
        claim = finding.claim
        cells = (claim.id, claim.where, claim.relation, measured_text(finding), f"**{finding.verdict}**")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    notes = [f"- `{finding.claim.id}`: {finding.note}" for finding in findings if finding.note]
    text = "\n".join([*lines, "", "Notes", "", *notes]) + "\n"
    (folder / "claims.md").write_text(text, encoding="utf-8")


def measured_text(finding: Finding) -> str:
    """The measured numbers in a line."""
    return "; ".join(f"{name} {number_text(value)}" for name, value in finding.measured.items())


def number_text(value: float | None) -> str:
    """Four significant digits; `never` for an event that did not happen."""
    if value is None or math.isnan(value):
        return "never"
    return f"{value:.4g}"


def _finite(value: Any) -> Any:
    # JSON has no NaN.
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
