"""Findings for each of TCD's claims.

The paper's rules decide a claim that two sets of rules touch; the other set's numbers stand beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xoff.papers.rules import exact, near
from xoff.papers.tcd import infiniband_findings as infiniband
from xoff.papers.tcd.checks import (
    PERSISTENT_KB,
    Ruled,
    after_pauses,
    joined,
    marked_by,
    marks_of,
    said,
    testbed_checks,
    time_in,
    transition_checks,
)
from xoff.papers.tcd.common import Results, Scale
from xoff.papers.tcd.experiments import BURSTS, RISES_B, SETS, slowdowns
from xoff.papers.tcd.measures import Chain, Fairness, Fct, longest_on_us, percentile
from xoff.papers.tcd.victim_findings import find_dcqcn_victims, find_epsilon, find_timely_victims, find_victims
from xoff.papers.verdicts import Claim, Finding

GROUPS: dict[str, tuple[str, ...]] = {
    "max-ton": (),
    "single-point-mismarking": ("single", "readings", "ib-single", "ib-readings", "ib-variants"),
    "multi-point": ("multi", "readings", "ib-multi", "ib-readings", "ib-variants"),
    "testbed": ("testbed", "ib-testbed"),
    "transitions": ("single", "multi", "readings", "growth", "ib-single", "ib-multi", "ib-readings", "ib-variants"),
    "victims": ("dcqcn-victims", "table3", "loads", "ib-victims", "ib-loads", "ib-victim-variants"),
    "epsilon": ("epsilon",),
    "dcqcn-victims": ("dcqcn-victims", "dcqcn-bursts"),
    "dcqcn-hadoop": ("dcqcn-hadoop",),
    "dcqcn-websearch": ("dcqcn-websearch",),
    "ibcc": ("ib-fat-tree", "ib-victims", "ib-mct", "ib-victim-variants"),
    "timely-victims": ("timely-victims", "timely-bursts"),
    "timely-realistic": ("timely-hadoop", "timely-websearch"),
    "fairness": ("fairness",),
}
"""The experiments that each claim needs."""

SCENARIOS = {
    "max-ton": "",
    "testbed": "testbed.toml, infiniband_testbed.toml",
    "victims": "victims.toml, infiniband_victims.toml",
    "ibcc": "infiniband_fat_tree.toml, infiniband_victims.toml",
    "epsilon": "chain.toml, victims.toml",
    "dcqcn-victims": "victims.toml",
    "timely-victims": "victims.toml",
    "fairness": "fairness.toml",
    "dcqcn-hadoop": "fat_tree.toml",
    "dcqcn-websearch": "fat_tree.toml",
    "timely-realistic": "fat_tree.toml",
}

EQUAL = 0.15
"""Relative difference up to which "equal" or "comparable" holds."""


def find(claim: Claim, results: Results, scale: Scale, short: str) -> Finding:
    """The finding of `claim`; `short` says what was shortened, for its note."""
    checks, measured, note = _RULES[claim.name](results)
    groups = GROUPS[claim.name]
    several = {key[3] for key in results if key[0] == next(iter(groups), None) and len(key) == 4}
    seeds = sorted(several) if claim.name.endswith("victims") else [1]
    scenario = SCENARIOS.get(claim.name, "chain.toml, infiniband_chain.toml")
    return Finding(claim, checks, measured, seeds, scenario, " ".join(filter(None, (note, short))))


def _max_ton(results: Results) -> Ruled:
    del results
    claimed = {40: 34.4, 100: 26.96, 200: 24.48}
    found = {gbps: longest_on_us(gbps, 1_000, 1.0) for gbps in claimed}
    checks = [near(f"at {gbps} Gbps, us: exactly", exact(found[gbps]), value, 1e-11) for gbps, value in claimed.items()]
    note = (
        "Equation 3 with tau = 2 MTU/C + 2 t_p; the detector's own numbers are tested to the picosecond. On the "
        f"simulations' links of 4 us it is {longest_on_us(40, 1_000, 4.0):.1f} us; the authors' simulator has 97 us."
    )
    return checks, {f"{gbps} Gbps, us": value for gbps, value in found.items()}, note


def _single(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | None]()
    for which in SETS:
        red: Chain = results["single", "red", which]
        peak = float(red.queue_kb["P2"].max())
        measured[f"{which}: P2's longest queue, KB"] = peak
        for traffic in ("f0", "f1", "f2"):
            measured[f"{which}: {traffic}'s packets marked CE at P2"] = float(marks_of(red, "P2", traffic))
        if which == "paper":
            checks.append(said("P2's longest queue above 500 KB, KB", peak > 500, peak))
            checks += [
                said(
                    f"{name}'s packets marked CE at P2", marks_of(red, "P2", name) > 0, float(marks_of(red, "P2", name))
                )
                for name in ("f0", "f1")
            ]
    note = (
        "P2 sends below its line rate whenever it may send freely: what it marks is the work of pauses. The rate of f1 "
        f"when f0 and f2 begin is {_f1_at_start(results['single', 'red', 'paper']):.1f} Gbps (paper: below 15). "
        "Bursts for 3 ms: 16 messages of 64 KB from each host at once, so that all 16 ports of P3 have work. "
        f"{_otherwise(results)}"
    )
    return checks, measured, note


def _otherwise(results: Results) -> str:
    runs = {bursts: results["readings", "red", bursts, 1.6] for bursts in BURSTS}
    peaks = ", ".join(
        f"{bursts} {run.queue_kb['P2'].max():.0f} KB and {marks_of(run, 'P2', 'f0')} of f0"
        for bursts, run in runs.items()
    )
    return f"P2's longest queue and its CE marks with the bursts read as: {peaks}."


def _f1_at_start(found: Chain) -> float:
    # f0 and f2 begin 300 us after the bursts.
    known = found.f1_gbps[(found.time_us <= 300) & ~np.isnan(found.f1_gbps)]
    return float(known[-1]) if len(known) else float("nan")


def _multi(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | None]()
    for which in SETS:
        found: Chain = results["multi", "red", which]
        end = found.stopped_us["P2"]
        queue, rate = after_pauses(found)
        measured |= {
            f"{which}: end of P2's last pause, ms": end / 1e3,
            f"{which}: P2's queue in the 0.5 ms after it, KB": queue,
            f"{which}: P2's rate then, Gbps": rate,
        }
        if which == "paper":
            checks = [
                said("P2's last pause ends, ms", bool(end > 0), end / 1e3, 1.6),
                said("then a persistent queue, KB", queue > PERSISTENT_KB, queue),
                said("then at full rate, Gbps", rate > 0.97 * 40, rate),
            ]
    ends = ", ".join(
        f"{bursts} {results['readings', 'red', bursts, 0.32].stopped_us['P2'] / 1e3:.2f} ms" for bursts in BURSTS
    )
    note = f"Times count from the beginning of the bursts. P2's last pause ends with the bursts read as {ends}."
    return checks, measured, note


def _testbed(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | None]()
    for which in SETS:
        found, numbers = testbed_checks(results["testbed", "tcd", which], f"{which}: ")
        measured |= numbers
        if which == "paper":
            checks = found
    note = (
        "In simulation: the testbed's software switches are a response time of 20 us, the paper's tau. Nobody's rate "
        "is controlled. Shares of packets by their mark at the receiver."
    )
    return checks, measured, note


def _transitions(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | None]()
    for which in SETS:
        found, numbers = transition_checks(
            results["single", "tcd", which], results["multi", "tcd", which], f"{which}: "
        )
        measured |= numbers
        if which == "paper":
            checks = found
    note = (
        "States as of the packets that leave; `released` in the figures: undetermined before, not yet decided. "
        + _decided(results)
    )
    return checks, measured, note


def _decided(results: Results) -> str:
    parts = []
    for bursts in BURSTS:
        run = results["readings", "tcd", bursts, 0.32]
        ce = sum(count for (port, _, mark), count in run.marks.items() if (port, mark) == ("P2", "ce"))
        undetermined, congested = (time_in(run, "P2", state) for state in ("undetermined", "congestion"))
        parts.append(f"{bursts}: {undetermined:.0f} us, {congested:.0f} us and {ce:,}")
    growth = ", ".join(
        f"{rise:,} B: {marked_by(results['growth', 'tcd', rise, 1.6], 'P2'):,} and "
        f"{marked_by(results['growth', 'tcd', rise, 0.32], 'P2'):,}"
        for rise in RISES_B
    )
    return (
        "Several points, bursts read otherwise; P2 undetermined, in congestion, CE marks: "
        + "; ".join(parts)
        + f". P2's CE marks with one and with several points, by the least growth that counts: {growth}."
    )


def _fct(
    results: Results, group: str, small_kb: tuple[float, float], equal_kb: float, claimed: Mapping[str, float]
) -> Ruled:
    checks, measured = [], dict[str, float | None]()
    runs: dict[tuple[str, str], Fct] = {(k, w): results[group, k, w] for k in ("red", "tcd") for w in SETS}
    for which in SETS:
        median = {k: percentile(slowdowns(runs[k, which], 0, small_kb[0]), 50) for k in ("red", "tcd")}
        tail = {k: percentile(slowdowns(runs[k, which], 0, small_kb[1]), 99) for k in ("red", "tcd")}
        large = {k: percentile(slowdowns(runs[k, which], equal_kb, np.inf), 99) for k in ("red", "tcd")}
        name = {"red": "without", "tcd": "with"}
        for k in ("red", "tcd"):
            measured[f"{which}: median up to {small_kb[0]:g} KB {name[k]} TCD"] = median[k]
            measured[f"{which}: p99 up to {small_kb[1]:g} KB {name[k]} TCD"] = tail[k]
            measured[f"{which}: p99 above {equal_kb:g} KB {name[k]} TCD"] = large[k]
        if which != "paper":
            continue
        if "median" in claimed:
            ratio = median["red"] / median["tcd"]
            checks.append(said(f"median up to {small_kb[0]:g} KB: times better", ratio > 1, ratio, claimed["median"]))
        checks.append(
            said(
                f"p99 up to {small_kb[1]:g} KB: times better",
                tail["red"] > tail["tcd"],
                tail["red"] / tail["tcd"],
                claimed["tail"],
            )
        )
        change = large["tcd"] / large["red"] - 1
        checks.append(said(f"p99 above {equal_kb:g} KB equal within {EQUAL:.0%}; change", abs(change) <= EQUAL, change))
    flows = runs["red", "paper"].flows
    left = sum(run.incomplete for run in runs.values())
    pauses = {which: [runs[k, which].pauses for k in ("red", "tcd")] for which in SETS}
    note = (
        f"{flows:,} flows; {left} incomplete. Slowdown at the receiver over size/C and propagation, as the authors "
        f"reckon. PAUSE frames without and with TCD: "
        + "; ".join(f"{which} {red:,} and {tcd:,}" for which, (red, tcd) in pauses.items())
        + "."
    )
    return checks, measured, note


def _timely_realistic(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | None]()
    for which in SETS:
        runs: dict[str, Fct] = {kind: results["timely-hadoop", kind, which] for kind in ("red", "tcd")}
        tail = {kind: percentile(slowdowns(run, 0, 50), 99) for kind, run in runs.items()}
        measured |= {
            f"{which}: p99 up to 50 KB without TCD": tail["red"],
            f"{which}: p99 up to 50 KB with TCD": tail["tcd"],
        }
        if which == "paper":
            better = tail["red"] / tail["tcd"]
            checks = [said("p99 up to 50 KB: times better", better > 1, better, 50.3 / 36.6)]
    pauses = {which: [results["timely-hadoop", kind, which].pauses for kind in ("red", "tcd")] for which in SETS}
    note = "Slowdown at the receiver over size/C and propagation. WebSearch is in the figures alone. "
    note += "PAUSE frames without and with TCD: "
    note += "; ".join(f"{which} {red:,} and {tcd:,}" for which, (red, tcd) in pauses.items()) + "."
    return checks, measured, note


def settled(found: Fairness, low_ms: float, high_ms: float) -> Any:
    """Mean rates of b0 to b3 in Gbps between two times."""
    inside = (found.time_ms > low_ms) & (found.time_ms <= high_ms)
    return found.goodput_gbps[inside].mean(axis=0)


def jain(rates: Any) -> float:
    """Jain's fairness index: 1 for equal rates, 1/n if one flow has all."""
    squares = float(np.sum(rates**2))
    return float(np.sum(rates)) ** 2 / (len(rates) * squares) if squares > 0 else float("nan")


def _fairness(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | None]()
    for scheme in ("dcqcn", "timely"):
        for which in SETS:
            found: Fairness = results["fairness", scheme, which]
            # The bursts go on for 3 ms; later the rates have the last third of the run.
            during, after = settled(found, 0.5, 3.0), settled(found, 20.0, 30.0)
            name = f"{which}: {scheme.upper()}"
            measured |= {
                f"{name}: Jain's index while the bursts go on": jain(during),
                f"{name}: Jain's index after": jain(after),
                f"{name}: least after, Gbps": float(after.min()),
                f"{name}: greatest after, Gbps": float(after.max()),
            }
            if which == "paper":
                checks += [
                    said(f"{scheme.upper()}: Jain's index while the bursts go on", jain(during) >= 0.95, jain(during)),
                    said(f"{scheme.upper()}: Jain's index after", jain(after) >= 0.95, jain(after)),
                    said(
                        f"{scheme.upper()}: mean of the four after, Gbps",
                        bool(after.min() > 0),
                        float(after.mean()),
                        8.0,
                    ),
                ]
    note = "What the senders put on the wire; during: 0.5 to 3 ms after the bursts' beginning, after: 20 to 30 ms."
    return checks, measured, note


_RULES: dict[str, Callable[[Results], Ruled]] = {
    "max-ton": _max_ton,
    "single-point-mismarking": joined(_single, infiniband.single),
    "multi-point": joined(_multi, infiniband.multi),
    "testbed": joined(_testbed, infiniband.testbed),
    "transitions": joined(_transitions, infiniband.transitions),
    "victims": joined(find_victims, infiniband.table3),
    "ibcc": infiniband.case_study,
    "epsilon": find_epsilon,
    "dcqcn-victims": find_dcqcn_victims,
    "dcqcn-hadoop": lambda r: _fct(r, "dcqcn-hadoop", (80, 50), 100, {"median": 10.8 / 3.6, "tail": 1.7}),
    "dcqcn-websearch": lambda r: _fct(r, "dcqcn-websearch", (500, 500), 1_000, {"median": 4.6 / 2.5, "tail": 2.0}),
    "timely-victims": find_timely_victims,
    "timely-realistic": _timely_realistic,
    "fairness": _fairness,
}
