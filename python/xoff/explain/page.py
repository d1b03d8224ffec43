"""What rules found in runs, as a section of their report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from xoff.errors import UserError
from xoff.explain import explain
from xoff.explain.findings import Explanation, Finding, Missing
from xoff.plots.style import Labelled


def findings_section(runs: Sequence[Labelled]) -> str:
    """Each run's findings, worst first; what each rests on and what to try opens with a click."""
    return "\n".join(
        f'<div class="card"><h3><span class="swatch" style="background:{each.colour}"></span>'
        f"{escape(each.label)}</h3>{_findings(each)}</div>"
        for each in runs
    )


def _findings(each: Labelled) -> str:
    try:
        told = explain(each.run, flows=0)
    except UserError as error:
        # A run of an earlier version, whose other tables can still be shown.
        return f'<p class="note absent">{escape(str(error))}</p>'
    return "".join(_finding(finding) for finding in told.findings) + _closing(told)


def _finding(finding: Finding) -> str:
    rows = (("Seen", finding.evidence), ("Threshold", (finding.threshold,)), ("Try", finding.advice))
    told = "".join(_row(name, texts) for name, texts in rows if texts)
    badge = f'<span class="badge {finding.severity}">{finding.severity}</span>'
    return f'<details class="finding"><summary>{badge} {escape(finding.title)}</summary><dl>{told}</dl></details>'


def _row(name: str, texts: Iterable[str]) -> str:
    return f"<dt>{name}</dt>" + "".join(f"<dd>{escape(text)}</dd>" for text in texts)


def _closing(told: Explanation) -> str:
    nothing = "" if told.findings else '<p class="note">No rule found anything.</p>'
    return nothing + (_missing(told.missing) if told.missing else "")


def _missing(missing: Sequence[Missing]) -> str:
    told = "; ".join(f"<code>{escape(each.key)}</code>: {escape(each.tells)}" for each in missing)
    asked = "Not recorded; given to <code>xoff run</code> with <code>--set</code> it would tell"
    return f'<p class="note">{asked}: {told}</p>'
