"""Findings for each of TCD's claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from xoff.papers.rules import Check, Values, between, estimate, every, exact, near, over, some, times
from xoff.papers.tcd import infiniband_findings as infiniband
from xoff.papers.tcd.checks import (
    EQUAL,
    Numbers,
    Ruled,
    mismarking_checks,
    of,
    on_off_checks,
    testbed_checks,
    transition_checks,
)
from xoff.papers.tcd.common import Results, seeded, slowdowns
from xoff.papers.tcd.measures import Chain, Fairness, longest_on_us, percentile
from xoff.papers.tcd.victim_findings import (
    find_bursts,
    find_dcqcn_victims,
    find_epsilon,
    find_timely_victims,
    find_victims,
)
from xoff.papers.verdicts import Claim, Finding

GROUPS: dict[str, tuple[str, ...]] = {
    "max-ton": (),
    "single-point-mismarking": ("single",),
    "ib-single-point-mismarking": ("ib-single",),
    "multi-point": ("multi",),
    "ib-multi-point": ("ib-multi",),
    "testbed": ("testbed",),
    "ib-testbed": ("ib-testbed",),
    "transitions": ("single", "multi"),
    "ib-transitions": ("ib-single", "ib-multi"),
    "victims": ("dcqcn-victims", "table3"),
    "ib-victims": ("ib-victims",),
    "epsilon": ("epsilon",),
    "dcqcn-victims": ("dcqcn-victims",),
    "dcqcn-bursts": ("dcqcn-bursts",),
    "dcqcn-hadoop": ("dcqcn-hadoop",),
    "dcqcn-websearch": ("dcqcn-websearch",),
    "ibcc": ("ib-fat-tree",),
    "ibcc-victims": ("ib-victims", "ib-mct"),
    "timely-victims": ("timely-victims",),
    "timely-bursts": ("timely-bursts",),
    "timely-realistic": ("timely-hadoop",),
    "timely-websearch": ("timely-websearch",),
    "fairness": ("fairness",),
}
"""The experiments that each claim needs."""

SCENARIOS = {
    "max-ton": "Equation 3",
    "testbed": "testbed.toml",
    "ib-testbed": "infiniband_testbed.toml",
    "victims": "victims.toml",
    "ib-victims": "infiniband_victims.toml",
    "ibcc": "infiniband_fat_tree.toml",
    "ibcc-victims": "infiniband_victims.toml",
    "epsilon": "chain.toml",
    "dcqcn-victims": "victims.toml",
    "dcqcn-bursts": "victims.toml",
    "timely-victims": "victims.toml",
    "timely-bursts": "victims.toml",
    "fairness": "fairness.toml",
    "dcqcn-hadoop": "fat_tree.toml",
    "dcqcn-websearch": "fat_tree.toml",
    "timely-realistic": "fat_tree.toml",
    "timely-websearch": "fat_tree.toml",
}

BURSTS_MS, SETTLED_MS, END_MS = 3.0, 40.0, 60.0
"""Time in which the bursts of Fig. 20 begin, and the last third of the run."""


def find(claim: Claim, results: Results, short: str) -> Finding:
    """The finding of `claim`; `short` says what was shortened, for its note."""
    checks, measured, note = _RULES[claim.name](results)
    seeds = sorted({key[-1] for key in results if key[0] in GROUPS[claim.name]})
    scenario = SCENARIOS.get(claim.name, "infiniband_chain.toml" if claim.name.startswith("ib-") else "chain.toml")
    return Finding(claim, checks, measured, seeds, scenario, " ".join(filter(None, (note, short))))


def _max_ton(results: Results) -> Ruled:
    del results
    claimed = {40: 34.4, 100: 26.96, 200: 24.48}
    found = {gbps: longest_on_us(gbps, 1_000, 1.0) for gbps in claimed}
    checks = [near(f"at {gbps} Gbps, us: exactly", exact(found[gbps]), value, 1e-11) for gbps, value in claimed.items()]
    note = (
        "Equation 3 with tau = 2 MTU/C + 2 t_p. On the simulations' links of 4 us it is "
        f"{longest_on_us(40, 1_000, 4.0):.1f} us; the authors' simulator has 97 us."
    )
    return checks, {f"{gbps} Gbps, us": value for gbps, value in found.items()}, note


def _single(results: Results) -> Ruled:
    runs = seeded(results, "single", "red")
    checks, measured, _ = mismarking_checks(runs, (("P2", "f0"), ("P2", "f1")), "")
    checks.append(over("P2's longest queue, KB", of(runs, lambda run: run.queue_kb["P2"].max()), 500))
    measured["f1's rate when f0 and f2 begin, Gbps (paper: below 15)"] = estimate(of(runs, _f1_at_start))
    return checks, measured, ""


def _f1_at_start(found: Chain) -> float:
    # f0 and f2 begin 300 us after the bursts.
    known = found.f1_gbps[(found.time_us <= 300) & ~np.isnan(found.f1_gbps)]
    return float(known[-1]) if len(known) else float("nan")


def _multi(results: Results) -> Ruled:
    checks, measured, _ = on_off_checks(seeded(results, "multi", "red"), 1.6, "")
    return checks, measured, "Times count from the beginning of the bursts."


def _testbed(results: Results) -> Ruled:
    checks, measured, _ = testbed_checks(seeded(results, "testbed", "tcd"), "")
    note = (
        "In simulation: the testbed's software switches are a response time of 20 us, the paper's tau. No rate is "
        "controlled. Shares of packets by their mark at the receiver."
    )
    return checks, measured, note


def _transitions(results: Results) -> Ruled:
    checks, measured, _ = transition_checks(seeded(results, "single", "tcd"), seeded(results, "multi", "tcd"), "")
    return checks, measured, "States as of the packets that leave."


def _tail(results: Results, group: str, kind: str, low_kb: float, high_kb: float, percent: float) -> Values:
    return of(seeded(results, group, kind), lambda run: percentile(slowdowns(run, low_kb, high_kb), percent))


def _fct(results: Results, group: str, asked: Mapping[tuple[float, float], float | None], equal_kb: float) -> Ruled:
    """Fig. 16 and 19: slowdowns by (percentile, up to KB) with the paper's gain, and the tail of large flows."""
    checks: list[Check] = []
    measured: Numbers = {}
    for (percent, edge), claimed in asked.items():
        name = "median" if percent == 50 else f"p{percent:g}"
        red, tcd = (_tail(results, group, kind, 0, edge, percent) for kind in ("red", "tcd"))
        measured[f"{name} up to {edge:g} KB without TCD"] = estimate(red)
        measured[f"{name} up to {edge:g} KB with TCD"] = estimate(tcd)
        checks.append(times(f"{name} up to {edge:g} KB: times better", red, tcd, claimed))
    if equal_kb:
        red, tcd = (_tail(results, group, kind, equal_kb, np.inf, 99) for kind in ("red", "tcd"))
        change = {seed: tcd[seed] / red[seed] - 1 for seed in red}
        checks.append(between(f"p99 above {equal_kb:g} KB equal within {EQUAL:.0%}; change", change, -EQUAL, EQUAL))
    runs = {kind: seeded(results, group, kind) for kind in ("red", "tcd")}
    for kind, name in (("red", "without"), ("tcd", "with")):
        measured[f"PAUSE frames {name} TCD"] = estimate(of(runs[kind], lambda run: run.pauses))
    every_run = [run for own in runs.values() for run in own.values()]
    note = (
        f"{every_run[0].flows:,} flows in the first seed; {sum(run.incomplete for run in every_run)} incomplete. "
        "Slowdown at the receiver over size/C and propagation, as the authors' scripts have it."
    )
    return checks, measured, note


def jain(rates: Any) -> float:
    """Jain's fairness index: 1 for equal rates, 1/n if one flow has all."""
    squares = float(np.sum(rates**2))
    return float(np.sum(rates)) ** 2 / (len(rates) * squares) if squares > 0 else float("nan")


def sent(found: Fairness, low_ms: float, high_ms: float, *, f1: bool = False) -> Any:
    """Mean rates on the wire of b0 to b3, and of f1, in Gbps between two times."""
    inside = (found.time_ms > low_ms) & (found.time_ms <= high_ms)
    own = found.goodput_gbps[inside].mean(axis=0)
    return np.append(own, found.f1_gbps[inside].mean()) if f1 else own


def undetermined_ms(found: Fairness) -> float:
    """How long P2 was undetermined before the bursts' end."""
    rows = [*found.states, (END_MS, "")]
    return float(
        sum(
            max(0.0, min(later, BURSTS_MS) - since)
            for (since, now), (later, _) in pairwise(rows)
            if now == "undetermined"
        )
    )


def kept(found: Fairness) -> float:
    """The lowest rate that the scheme allowed b0 to b3 during the bursts, over the first that it allowed them."""
    during = (found.time_ms > 0) & (found.time_ms <= BURSTS_MS)
    rates = found.rate_gbps[during]
    first = rates[np.isfinite(rates).all(axis=1)]
    return float(np.nanmin(rates) / first[0].max()) if len(first) else float("nan")


def _fairness(results: Results) -> Ruled:
    checks: list[Check] = []
    measured: Numbers = {}
    for scheme in ("dcqcn", "timely"):
        runs: dict[int, Fairness] = seeded(results, "fairness", scheme)
        name = scheme.upper()
        after = of(runs, lambda run: jain(sent(run, SETTLED_MS, END_MS, f1=True)))
        congested = {seed: "congestion" in {state for _, state in run.states} for seed, run in runs.items()}
        checks += [
            some(f"{name}: P2 undetermined while the bursts last, ms", of(runs, undetermined_ms)),
            some(f"{name}: packets of b0 to b3 that P2 marks UE", of(runs, lambda run: run.marks["ue"])),
            over(
                f"{name}: lowest rate during the bursts over the first: unchanged", of(runs, kept), 1 - EQUAL, tie=True
            ),
            over(
                f"{name}: Jain's index of b0 to b3 during the bursts",
                of(runs, lambda run: jain(sent(run, 0.5, BURSTS_MS))),
                0.95,
                tie=True,
            ),
            every(
                f"{name}: P2 congested after the bursts; packets of b0 to b3 marked CE",
                congested,
                of(runs, lambda run: run.marks["ce"]),
            ),
            over(f"{name}: Jain's index of all five after", after, 0.95, tie=True),
            near(
                f"{name}: b0 to b3 after, mean, Gbps", of(runs, lambda run: sent(run, SETTLED_MS, END_MS).mean()), 8.0
            ),
            near(f"{name}: f1 after, Gbps", of(runs, lambda run: sent(run, SETTLED_MS, END_MS, f1=True)[-1]), 8.0),
        ]
        measured[f"{name}: pauses of P2"] = estimate(of(runs, lambda run: run.pauses))
        measured |= {check.what: check.measured for check in checks if check.what.startswith(name)}
    note = (
        f"Rates are what the senders put on the wire, during 0.5 to {BURSTS_MS:g} ms after the bursts' beginning, "
        f"after {SETTLED_MS:g} to {END_MS:g} ms. P2's 40 Gbps have five flows, f1 among them: 8 Gbps each."
    )
    return checks, measured, note


_RULES: dict[str, Callable[[Results], Ruled]] = {
    "max-ton": _max_ton,
    "single-point-mismarking": _single,
    "ib-single-point-mismarking": infiniband.single,
    "multi-point": _multi,
    "ib-multi-point": infiniband.multi,
    "testbed": _testbed,
    "ib-testbed": infiniband.testbed,
    "transitions": _transitions,
    "ib-transitions": infiniband.transitions,
    "victims": find_victims,
    "ib-victims": infiniband.table3,
    "ibcc": infiniband.case_study,
    "ibcc-victims": infiniband.victims,
    "epsilon": find_epsilon,
    "dcqcn-victims": find_dcqcn_victims,
    "dcqcn-bursts": partial(find_bursts, scheme="dcqcn"),
    "dcqcn-hadoop": lambda r: _fct(
        r, "dcqcn-hadoop", {(50, 80): 10.8 / 3.6, (95, 80): None, (99, 50): 1.7}, equal_kb=100
    ),
    "dcqcn-websearch": lambda r: _fct(
        r, "dcqcn-websearch", {(50, 500): 4.6 / 2.5, (95, 500): None, (99, 500): 2.0}, equal_kb=1_000
    ),
    "timely-victims": find_timely_victims,
    "timely-bursts": partial(find_bursts, scheme="timely"),
    "timely-realistic": lambda r: _fct(r, "timely-hadoop", {(50, 50): None, (99, 50): 50.3 / 36.6}, equal_kb=0),
    "timely-websearch": lambda r: _fct(r, "timely-websearch", {(50, 500): None, (99, 500): None}, equal_kb=0),
    "fairness": _fairness,
}
