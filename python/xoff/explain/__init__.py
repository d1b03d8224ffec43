"""Diagnosis: what an engineer would want to know first of a run.

`explain` goes through the rules of `xoff.explain.rules`, each of which looks at the run's tables and its resolved
scenario, and finds the worst flows and where their time went.
"""

from __future__ import annotations

from xoff.explain.facts import Facts
from xoff.explain.findings import SEVERITIES, Explanation, Finding, FlowTime, Missing, Share
from xoff.explain.flows import longest_waits, totals, worst_flows
from xoff.explain.missing import missing
from xoff.explain.rules import RULES
from xoff.results import Run
from xoff.sweeps.folder import settings_of

__all__ = ["Explanation", "Finding", "FlowTime", "Missing", "Share", "explain"]


def explain(run: Run, *, flows: int = 5, name: str | None = None) -> Explanation:
    """What there is to say of `run`, with its `flows` worst flows; `name` is what it is called."""
    facts = Facts(run)
    found = [finding for rule in RULES if (finding := rule(facts)) is not None]
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    done = int(facts.flows["fct_ps"].is_not_null().sum()) if len(facts.flows) else 0
    return Explanation(
        name=name or _name(run),
        about={
            "scheme": run.scheme,
            "flow_control": facts.flow_control,
            "seed": run.manifest.get("seed"),
            "flows": len(facts.flows),
            "flows_completed": done,
            "sim_time_ps": facts.sim_time_ps,
            "complete": run.complete,
        },
        findings=tuple(found),
        worst=worst_flows(facts, flows),
        totals=totals(facts),
        waits=longest_waits(facts, 5),
        missing=missing(facts),
    )


def _name(run: Run) -> str:
    """A run's folder, of a sweep's with what sets the run apart, which its folder does not say."""
    if run.folder is None:
        return run.scheme
    settings = settings_of(run.folder)
    return f"{run.folder} ({settings})" if settings else str(run.folder)
