"""What rules found in runs, as a section of their report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from xoff.analysis.explain import explain
from xoff.analysis.explain.findings import SEVERITIES, Finding
from xoff.errors import UserError
from xoff.report.plots.style import Labelled
from xoff.report.template import render
from xoff.text import count_text

OPEN = 4
"""Maximum number of runs whose findings are shown unfolded."""


@dataclass(frozen=True)
class _Card:
    """What the page shows of a run."""

    run: Labelled
    problem: str = ""
    """Why there is nothing to say, while the run's other tables can still be shown."""
    settings: str | None = None
    findings: Sequence[Finding] = ()

    @property
    def counts(self) -> str:
        """How many findings there are of each severity."""
        by = Counter(finding.severity for finding in self.findings)
        return ", ".join(count_text(by[each], each) for each in SEVERITIES if by[each]) or "nothing"


def findings_section(runs: Sequence[Labelled]) -> Markup:
    """Each run's findings, worst first; a click opens the evidence and the advice."""
    return render("findings.html", cards=[_card(each) for each in runs], folded=len(runs) > OPEN)


def _card(each: Labelled) -> _Card:
    try:
        told = explain(each.run, flows=0, name=each.label)
    except UserError as error:
        return _Card(each, problem=str(error))
    settings = None if told.settings and told.settings in each.label else told.settings
    return _Card(each, settings=settings, findings=told.findings)
