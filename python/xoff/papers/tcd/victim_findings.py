"""Findings for TCD's victims: flows that share a paused port with congested ones, and cross no root."""

from __future__ import annotations

import numpy as np

from xoff.papers.rules import Check, Values, estimate, lower, more, none, some, times
from xoff.papers.tcd.checks import Numbers, Ruled, of, paired
from xoff.papers.tcd.common import Results, by_size, seeded
from xoff.papers.tcd.experiments import BURSTS_KB, EDGES_KB, EPSILONS

BINS = [f"up to {edge / 1000:g} MB" if edge >= 1000 else f"up to {edge:g} KB" for edge in EDGES_KB]
"""Names of the size bins of Fig. 15a and 18a."""


def find_victims(results: Results) -> Ruled:
    """The claim on the share of victims that carry CE."""
    measured: Numbers = {}
    share = {}
    for kind, group in (("red", "dcqcn-victims"), ("tcd", "table3")):
        runs = seeded(results, group, kind)
        share[kind] = of(runs, lambda run: run.marked_ce / run.flows)
        name = kind.upper()
        measured[f"victims marked CE with {name}"] = estimate(share[kind])
        measured[f"packets marked CE with {name}"] = estimate(of(runs, lambda run: run.packets_ce))
        measured[f"packets with {name}"] = estimate(of(runs, lambda run: run.packets))
    checks = [some("share with RED", share["red"], 0.266), none("share with TCD: none", share["tcd"])]
    return checks, measured, "By the paper all of s0's flows are victims."


def find_epsilon(results: Results) -> Ruled:
    """The claim on the choice of epsilon: f0's and f2's packets under the concurrent bursts (5.1.4)."""
    counts = {
        epsilon: of(seeded(results, "epsilon", "tcd", epsilon), lambda run: run.marked_ce) for epsilon in EPSILONS
    }
    small = {seed: sum(counts[e][seed] for e in EPSILONS if e < 0.1) for seed in counts[EPSILONS[0]]}
    last = EPSILONS[-1]
    checks = [
        none("packets marked CE at epsilon below 0.1", small),
        more(f"more at {last} than at 0.05; the difference", counts[last], counts[0.05]),
    ]
    measured: Numbers = {f"packets marked CE at {epsilon:g}": estimate(values) for epsilon, values in counts.items()}
    return checks, measured, ""


def _bins(results: Results, scheme: str, kind: str) -> list[Values]:
    runs = seeded(results, f"{scheme}-victims", kind)
    means = {seed: by_size(run, EDGES_KB)[0] for seed, run in runs.items()}
    return [{seed: values[index] for seed, values in means.items()} for index in range(len(EDGES_KB))]


def _by_bin(results: Results, scheme: str) -> tuple[list[tuple[Values, Values]], Numbers]:
    bins = [
        paired(red, tcd) for red, tcd in zip(_bins(results, scheme, "red"), _bins(results, scheme, "tcd"), strict=True)
    ]
    measured: Numbers = {}
    for name, (red, tcd) in zip(BINS, bins, strict=True):
        measured[f"{name}: without TCD, us"] = estimate(red)
        measured[f"{name}: with TCD, us"] = estimate(tcd)
    return bins, measured


def find_dcqcn_victims(results: Results) -> Ruled:
    """The claim on victims' completion times under DCQCN."""
    bins, measured = _by_bin(results, "dcqcn")
    checks = [times(f"{name}: times better", *pair) for name, pair in zip(BINS, bins, strict=True)]
    return checks, measured, "Mean FCT of the victims of a size, at the sender."


def find_timely_victims(results: Results) -> Ruled:
    """The claim on victims' completion times under TIMELY."""
    bins, measured = _by_bin(results, "timely")
    checks = [times("under 10 KB: times better", *bins[0], 2.2), times("above 1 MB: times better", *bins[-1], 2.3)]
    return checks, measured, "Mean FCT of the victims of a size, at the sender."


def find_bursts(results: Results, scheme: str) -> Ruled:
    """Fig. 15b and 18b: victims under bursts of one size."""
    fct = {
        (kind, kb): of(seeded(results, f"{scheme}-bursts", kind, kb), lambda run: run.fct_us.mean())
        for kind in ("red", "tcd")
        for kb in BURSTS_KB
    }
    ue = {
        kb: of(seeded(results, f"{scheme}-bursts", "tcd", kb), lambda run: run.marked_ue / run.flows)
        for kb in BURSTS_KB
    }
    overall = {
        kind: {seed: float(np.mean([fct[kind, kb][seed] for kb in BURSTS_KB])) for seed in fct[kind, BURSTS_KB[0]]}
        for kind in ("red", "tcd")
    }
    checks: list[Check] = []
    if scheme == "dcqcn":
        # 5.2.1: "overall ... can improve the FCT performance of victim flows". 5.2.3 says that of Fig. 18a alone.
        checks.append(lower("mean FCT over the sizes: reduction", overall["tcd"], overall["red"]))
    least, most = BURSTS_KB[0], 250
    checks.append(more(f"more victims marked UE under bursts of {most} KB than of {least} KB; by", ue[most], ue[least]))
    measured: Numbers = {}
    for kb in BURSTS_KB:
        measured[f"{kb} KB: without TCD, us"] = estimate(fct["red", kb])
        measured[f"{kb} KB: with TCD, us"] = estimate(fct["tcd", kb])
        measured[f"{kb} KB: victims marked UE"] = estimate(ue[kb])
    return checks, measured, "The bursts come each 640 us on average, a reading."
