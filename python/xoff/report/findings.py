"""What rules found in runs, as a section of their report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from xoff.analysis.explain import explain
from xoff.analysis.explain.findings import SEVERITIES, Explanation, Finding, Missing
from xoff.errors import UserError
from xoff.report.plots.style import Labelled
from xoff.text import count_text

OPEN = 4
"""Runs up to which each one's findings stand open."""


def findings_section(runs: Sequence[Labelled]) -> str:
    """Each run's findings, worst first; what each rests on and what to try opens with a click."""
    told = [_told(each) for each in runs]
    lacking = {each.missing for each in told if isinstance(each, Explanation)}
    alike = len(lacking) == 1
    cards = [_card(each, of, len(runs) > OPEN, not alike) for each, of in zip(runs, told, strict=True)]
    return "\n".join([*cards, *(map(_missing, lacking) if alike else ())])


def _told(each: Labelled) -> Explanation | str:
    """What there is to say of a run, or why there is nothing, where its other tables can still be shown."""
    try:
        return explain(each.run, flows=0, name=each.label)
    except UserError as error:
        return str(error)


def _card(each: Labelled, told: Explanation | str, folded: bool, with_missing: bool) -> str:
    head = f'<span class="swatch" style="background:{each.colour}"></span>{escape(each.label)}'
    if isinstance(told, str):
        return f'<div class="card"><h3>{head}</h3><p class="note absent">{escape(told)}</p></div>'
    if told.settings:
        head += f' <span class="muted">{escape(told.settings)}</span>'
    body = "".join(map(_finding, told.findings)) or '<p class="note">No rule found anything.</p>'
    body += _missing(told.missing) if with_missing else ""
    if folded:
        return f'<details class="card"><summary>{head}: {_counts(told.findings)}</summary>{body}</details>'
    return f'<div class="card"><h3>{head}</h3>{body}</div>'


def _counts(findings: Sequence[Finding]) -> str:
    by = Counter(finding.severity for finding in findings)
    return ", ".join(count_text(by[each], each) for each in SEVERITIES if by[each]) or "nothing"


def _finding(finding: Finding) -> str:
    rows = (("Seen", finding.evidence), ("Threshold", (finding.threshold,)), ("Try", finding.advice))
    told = "".join(_row(name, texts) for name, texts in rows if texts)
    badge = f'<span class="badge {finding.severity}">{finding.severity}</span>'
    return f'<details class="finding"><summary>{badge} {escape(finding.title)}</summary><dl>{told}</dl></details>'


def _row(name: str, texts: Iterable[str]) -> str:
    return f"<dt>{name}</dt>" + "".join(f"<dd>{escape(text)}</dd>" for text in texts)


def _missing(missing: Sequence[Missing]) -> str:
    if not missing:
        return ""
    told = "; ".join(f"<code>{escape(each.key)}</code>: {escape(each.tells)}" for each in missing)
    asked = "Not recorded; given to <code>xoff run</code> with <code>--set</code> it would tell"
    return f'<p class="note">{asked}: {told}</p>'
