"""FNCC's claims against what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from xoff.papers.fncc import fct_findings as fct
from xoff.papers.fncc import joined_findings as joined
from xoff.papers.fncc.experiments import WORKLOADS
from xoff.papers.rules import Check, Estimate
from xoff.papers.space import Reading
from xoff.papers.verdicts import Claim, Finding

GROUPS: dict[str, tuple[str, ...]] = {
    "response-order": ("100",),
    "queue-order": ("100", "200", "400"),
    "pause-frames": ("200", "400"),
    "utilization": ("200", "400"),
    "fairness": ("fairness",),
    "first-hop": ("first",),
    "middle-hop": ("middle",),
    "last-hop-no-lhcs": ("last",),
    "last-hop-lhcs": ("last",),
    "websearch": ("websearch",),
    "hadoop": ("hadoop",),
    "convergence": ("100",),
    "fast-at-speed": ("200", "400"),
    "hop-order": ("first", "middle", "last"),
    "hop-utilization": ("first", "middle", "last"),
    "last-hop-rates": ("last",),
    "websearch-sizes": ("websearch",),
    "hadoop-sizes": ("hadoop",),
    "websearch-tail": ("websearch",),
    "long-flows-notification": ("websearch",),
    "short-flows-notification": ("hadoop",),
}
"""The experiments that each claim needs."""

Ruled = tuple[list[Check], dict[str, float | Estimate | None], str]

_RULES: dict[str, Callable[[Mapping[Any, Any], Reading], Ruled]] = {
    "response-order": joined.response,
    "queue-order": partial(joined.queue, groups=GROUPS["queue-order"]),
    "pause-frames": partial(joined.pauses, groups=GROUPS["pause-frames"]),
    "utilization": partial(joined.utilization, groups=GROUPS["utilization"]),
    "fairness": joined.fairness,
    "first-hop": joined.first_hop,
    "middle-hop": partial(joined.hop, group="middle", scheme="fncc", claimed=0.295),
    "last-hop-no-lhcs": partial(joined.hop, group="last", scheme="fncc-no-lhcs", claimed=0.084),
    "last-hop-lhcs": joined.last_lhcs,
    "websearch": partial(fct.median_of_large, claimed={"hpcc": 0.124, "dcqcn": 0.428}),
    "hadoop": partial(fct.tail_of_small, claimed={"hpcc": 0.274, "dcqcn": 0.889}),
    "convergence": joined.convergence,
    "fast-at-speed": partial(joined.fast_at_speed, groups=GROUPS["fast-at-speed"]),
    "hop-order": joined.hop_order,
    "hop-utilization": joined.hop_utilization,
    "last-hop-rates": joined.last_rates,
    "websearch-sizes": partial(fct.every_size, workload="websearch", statistics=("mean",)),
    "hadoop-sizes": partial(fct.every_size, workload="hadoop", statistics=("mean",)),
    "websearch-tail": partial(fct.every_size, workload="websearch", statistics=("p95", "p99")),
    "long-flows-notification": partial(fct.equal_headers, workload="websearch", quantity="large_p50"),
    "short-flows-notification": partial(fct.equal_headers, workload="hadoop", quantity="small_p95"),
}


def find(claim: Claim, results: Mapping[Any, Any], reading: Reading, short: str) -> Finding:
    """The finding of `claim` under a reading; `short` says what was shortened, for its note."""
    checks, measured, note = _RULES[claim.name](results, reading)
    groups = GROUPS[claim.name]
    seeds = sorted({key[2] if groups[0] in WORKLOADS else key[2] + 1 for key in results if key[0] in groups})
    return Finding(claim, checks, measured, seeds, _scenario(groups[0]), " ".join(filter(None, (note, short))))


def _scenario(group: str) -> str:
    if group.isdigit():
        return "dumbbell.toml"
    if group == "fairness":
        return "fairness.toml"
    return "fat_tree.toml" if group in WORKLOADS else f"chain_{group}.toml"
