"""Verdicts from the fat-tree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xoff.papers.fncc.experiments import EDGES_KB, EQUAL_HEADERS, FCT_SCHEMES, values
from xoff.papers.fncc.joined_findings import NAMES, Measured, Ruled
from xoff.papers.fncc.measures import Fct
from xoff.papers.rules import Check, Estimate, estimate, lower, reduction
from xoff.papers.space import Reading

Results = Mapping[Any, Any]

PADDED = f"fncc{EQUAL_HEADERS}"

STATISTICS = {"mean": "average", "p50": "median", "p95": "95th percentile", "p99": "99th percentile"}


def _runs(results: Results, workload: str, scheme: str) -> dict[int, Fct]:
    return {key[2]: each for key, each in results.items() if key[:2] == (workload, scheme)}


def _incomplete(results: Results, workload: str) -> str:
    left = sum(each.incomplete for key, each in results.items() if key[0] == workload)
    return f"{left} flows incomplete."


def median_of_large(results: Results, _: Reading, claimed: Mapping[str, float]) -> Ruled:
    """Medium slowdown above 1 MB (Fig. 14b)."""
    return _slowdown(results, "websearch", "large_p50", claimed, [run.large for run in _all(results, "websearch")])


def tail_of_small(results: Results, _: Reading, claimed: Mapping[str, float]) -> Ruled:
    """95th percentile under 100 KB (Fig. 15c)."""
    return _slowdown(results, "hadoop", "small_p95", claimed, [run.small for run in _all(results, "hadoop")])


def _all(results: Results, workload: str) -> list[Fct]:
    return list(_runs(results, workload, "fncc").values())


def _slowdown(
    results: Results, workload: str, quantity: str, claimed: Mapping[str, float], counts: Sequence[int]
) -> Ruled:
    value = {scheme: values(results, workload, scheme, quantity) for scheme in (*FCT_SCHEMES, PADDED)}
    checks = [
        lower(f"slowdown, {NAMES[other]} to FNCC: reduction", value["fncc"], value[other], share)
        for other, share in claimed.items()
    ]
    measured: Measured = {f"{NAMES[s]} slowdown": estimate(found) for s, found in value.items()}
    measured |= {f"FNCC below {NAMES[o]} by": reduction(value["fncc"], value[o]) for o in claimed}
    measured[f"{NAMES[PADDED]} below HPCC by"] = reduction(value[PADDED], value["hpcc"])
    note = (
        f"Mean of the seeds' statistics; {int(np.mean(counts)):,} such flows a seed; {_incomplete(results, workload)} "
        "With HPCC's header bytes FNCC's data is as long as HPCC's, so that what is left is not of headers."
    )
    return checks, measured, note


def equal_headers(results: Results, _: Reading, workload: str, quantity: str) -> Ruled:
    """The gain over HPCC with equal headers: what is left for notification."""
    value = {scheme: values(results, workload, scheme, quantity) for scheme in ("fncc", "hpcc", PADDED)}
    check = lower(f"slowdown, HPCC to {NAMES[PADDED]}: reduction", value[PADDED], value["hpcc"])
    measured: Measured = {f"{NAMES[s]} slowdown": estimate(found) for s, found in value.items()}
    measured["reduction with equal headers"] = check.measured
    measured["reduction as published"] = reduction(value["fncc"], value["hpcc"])
    note = (
        "An ablation: each of FNCC's data packets has 42 B of padding, which HPCC needs for its telemetry. Slowdowns "
        f"are over one ideal FCT. {_incomplete(results, workload)}"
    )
    return [check], measured, note


def every_size(results: Results, _: Reading, workload: str, statistics: Sequence[str]) -> Ruled:
    """FNCC below the others in each size bin."""
    checks, edges = [], EDGES_KB[workload]
    runs = {scheme: _runs(results, workload, scheme) for scheme in FCT_SCHEMES}
    for statistic in statistics:
        for index, edge in enumerate(edges):
            binned = {
                scheme: {
                    seed: float(run.bins[statistic][index])
                    for seed, run in own.items()
                    if math.isfinite(run.bins[statistic][index])
                }
                for scheme, own in runs.items()
            }
            for other in FCT_SCHEMES[1:]:
                what = f"{STATISTICS[statistic]} up to {edge:g} KB, {NAMES[other]} to FNCC: reduction"
                checks.append(_bin(what, binned["fncc"], binned[other]))
    measured: Measured = {}
    for other in FCT_SCHEMES[1:]:
        own = [check for check in checks if f"{NAMES[other]} to FNCC" in check.what]
        for outcome, text in (("holds", "below"), ("open", "not told from"), ("fails", "above")):
            measured[f"sizes at which FNCC is {text} {NAMES[other]}"] = float(
                sum(check.outcome == outcome for check in own)
            )
        found = [check.measured for check in own if math.isfinite(check.measured.value)]
        if found:
            measured[f"smallest reduction against {NAMES[other]}"] = min(found, key=lambda each: each.value)
    note = (
        f"{len(edges)} size bins. Each comparison has its own interval at 95 %: of 40 true ones between equals, one is "
        f"taken for a difference of a certain sign by chance. {_incomplete(results, workload)}"
    )
    return checks, measured, note


def _bin(what: str, own: Mapping[int, float], other: Mapping[int, float]) -> Check:
    if not set(own) & set(other):
        # No flow of this size arrived.
        return Check(what, "open", Estimate(math.nan, -math.inf, math.inf, 0))
    return lower(what, own, other)
