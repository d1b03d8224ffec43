"""Diagnosis: what an engineer wants to know first about a run.

`explain` goes through the rules of `xoff.analysis.explain.rules`, each of which looks at the run's tables and its
resolved scenario, and finds the worst flows and where their time went.
"""

from __future__ import annotations

from polars.exceptions import PolarsError

from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.findings import SEVERITIES, Explanation, Finding, FlowTime, Missing, Share
from xoff.analysis.explain.flows import longest_waits, totals, worst_flows
from xoff.analysis.explain.job import jobs_of
from xoff.analysis.explain.missing import missing
from xoff.analysis.explain.rules import JOB_RULES, RULES
from xoff.errors import UserError
from xoff.runs.index import settings_of
from xoff.runs.results import Run

__all__ = ["Explanation", "Finding", "FlowTime", "Missing", "Share", "explain"]


def explain(run: Run, *, flows: int = 5, name: str | None = None) -> Explanation:
    """Explain `run`, with its `flows` worst flows, under the name `name`.

    Raises
    ------
    UserError
        The run was read from a folder whose manifest or tables are not as xoff writes them.
    """
    try:
        return _explain(run, flows, name or (str(run.folder) if run.folder else run.scheme))
    except UserError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, PolarsError) as error:
        # Rules read many parts of a run. A folder's files may have been edited, or may lack a part.
        if run.folder is None:
            raise
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise UserError(f"{run.folder}: its manifest or a table is not as xoff writes it ({what})") from error


def _explain(run: Run, flows: int, name: str) -> Explanation:
    facts = Facts(run)
    of_run = (rule(facts) for rule in RULES)
    of_jobs = (rule(job) for job in jobs_of(facts) for rule in JOB_RULES)
    found = [finding for finding in (*of_run, *of_jobs) if finding is not None]
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    done = int(facts.flows["fct_ps"].is_not_null().sum())
    endless = int((facts.flows["fct_ps"].is_null() & facts.flows["size_bytes"].is_null()).sum())
    seed = run.manifest.get("seed")
    return Explanation(
        name=name,
        settings=settings_of(run.folder, seed) if run.folder else None,
        about={
            "scheme": run.scheme,
            "flow_control": facts.flow_control,
            "seed": seed,
            "flows": len(facts.flows),
            "flows_completed": done,
            "flows_endless": endless,
            "sim_time_ps": facts.sim_time_ps,
            "complete": run.complete,
        },
        findings=tuple(found),
        worst=worst_flows(facts, flows),
        totals=totals(facts),
        waits=longest_waits(facts, 5),
        missing=missing(facts),
    )
