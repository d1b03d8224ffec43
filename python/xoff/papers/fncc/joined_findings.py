"""Verdicts from the two-flow experiments and from the four flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from xoff.papers.fncc.experiments import FCT_SCHEMES, HOPS, JOIN_US, SCHEMES, mean, values
from xoff.papers.fncc.measures import (
    BEFORE_US,
    END_US,
    JITTER_US,
    REACTED,
    SMOOTH_US,
    STEPPED_US,
    WINDOW_US,
    Fairness,
)
from xoff.papers.rules import Check, Estimate, between, estimate, exact, lower, more, over, reduction, under
from xoff.papers.space import Reading

NAMES = {
    "fncc": "FNCC",
    "hpcc": "HPCC",
    "dcqcn": "DCQCN",
    "rocc": "RoCC",
    "fncc-no-lhcs": "FNCC without LHCS",
    "fncc-equal-headers": "FNCC with HPCC's header bytes",
}

REACTIONS_US = {"hpcc": 30.0, "dcqcn": 46.0, "rocc": 70.0}
"""The paper's times of reaction, counted from the join, in us; FNCC's is "about" 0."""
FAIR_GBPS = 50.0
"""Half of the line, in the runs at 100 Gbps."""

Results = Mapping[Any, Any]
Measured = dict[str, float | Estimate | None]
Ruled = tuple[list[Check], Measured, str]


def quantity(reading: Reading, name: str) -> str:
    """What stands for `depth`, `reaction`, `use` or `settled` under a reading."""
    return str(reading.sets("verdict")[name])


def _of(results: Results, group: str, schemes: Sequence[str], what: str) -> dict[str, dict[int, float]]:
    return {scheme: values(results, group, scheme, what) for scheme in schemes}


def response(results: Results, reading: Reading) -> Ruled:
    """The order of the first reactions (5.1)."""
    # A scheme that never reacts counts as the last.
    reaction = _of(results, "100", SCHEMES, quantity(reading, "reaction"))
    time = {scheme: estimate(found) for scheme, found in reaction.items()}
    checks = []
    for earlier, later in pairwise(SCHEMES):
        ordered = lower("", reaction[earlier], reaction[later]).outcome
        what = f"{NAMES[earlier]} before {NAMES[later]}; {NAMES[later]}'s reaction after the join, us"
        checks.append(Check(what, ordered, time[later], REACTIONS_US[later]))
    ranges = ", ".join(f"{NAMES[s]} {min(f.values()):.1f} to {max(f.values()):.1f}" for s, f in reaction.items())
    note = (
        f"Reaction: flow0's rate below {REACTED:.0%} of its mean over the {BEFORE_US:.0f} us before the join. Sizes "
        f"are compared as times after the join, which the paper has at {JOIN_US:.0f} us; FNCC's 0 can only be a "
        f"rounding: the news needs 3 us to travel. Range over repetitions in us: {ranges}."
    )
    return checks, {f"{NAMES[s]} reaction after the join, us": t for s, t in time.items()}, note


def queue(results: Results, _: Reading, groups: Sequence[str]) -> Ruled:
    """The lowest peak (5.1, 5.2)."""
    checks, measured = [], Measured()
    for group in groups:
        peak = _of(results, group, SCHEMES, "peak_kb")
        for scheme in SCHEMES:
            measured[f"{NAMES[scheme]} peak at {group}G, KB"] = estimate(peak[scheme])
            if scheme != "fncc":
                what = f"FNCC's peak at {group}G below {NAMES[scheme]}'s; the share by which"
                checks.append(lower(what, peak["fncc"], peak[scheme]))
    return checks, measured, "Most bytes in the egress queue of switch1 to switch2 after the join."


def pauses(results: Results, _: Reading, groups: Sequence[str]) -> Ruled:
    """The fewest PAUSE frames (Fig. 3)."""
    checks, measured = [], Measured()
    for group in groups:
        sent = _of(results, group, FCT_SCHEMES, "pauses")
        for scheme in FCT_SCHEMES:
            measured[f"{NAMES[scheme]} at {group}G, frames"] = estimate(sent[scheme])
        fncc, hpcc, dcqcn = (sent[scheme] for scheme in FCT_SCHEMES)
        checks.append(more(f"HPCC's at {group}G at least FNCC's; the difference", hpcc, fncc, tie=True))
        checks.append(more(f"DCQCN's at {group}G above FNCC's; the difference", dcqcn, fncc))
    return checks, measured, "PAUSE frames that switch1 sent to the two senders in 1 ms."


def _use(results: Results, group: str, schemes: Sequence[str], what: str, label: str) -> tuple[list[Check], Measured]:
    """That the first of `schemes` has at least the utilization of each other: the rule of every such claim."""
    use = _of(results, group, schemes, what)
    first, *others = schemes
    checks = [
        more(
            f"utilization {label}, {NAMES[first]} at least {NAMES[other]}; the difference",
            use[first],
            use[other],
            tie=True,
        )
        for other in others
    ]
    return checks, {f"{NAMES[scheme]} utilization {label}": estimate(found) for scheme, found in use.items()}


def utilization(results: Results, reading: Reading, groups: Sequence[str]) -> Ruled:
    """The highest utilization (5.2)."""
    checks, measured = [], Measured()
    for group in groups:
        own, found = _use(results, group, SCHEMES, quantity(reading, "use"), f"at {group}G")
        checks += own
        measured |= found
    note = "A scheme that keeps a standing queue has a utilization of 1 by construction, whereas FNCC aims at 0.95."
    return checks, measured, note


def fairness(results: Results, _: Reading) -> Ruled:
    """Four flows that join and leave (5.3)."""
    found: Fairness = results["fairness", "fncc", 0]
    checks = [
        over(f"interval {number} of 2 to 6: at least 0.95", exact(index), 0.95, tie=True)
        for number, index in enumerate(found.jain, 2)
    ]
    samples = found.jain_sampled[np.isfinite(found.jain_sampled)]
    note = (
        f"A change every {found.interval_ms:g} ms"
        f"{' as in the paper' if found.interval_ms == 100 else ' (the paper: 100 ms)'}; goodput of the active flows, "
        f"averaged over the second half of each interval. Of all samples of {found.interval_ms * 5:g} us, also those "
        f"right after a change, {np.mean(samples >= 0.95):.1%} reach 0.95."
    )
    return checks, {"least Jain index of an interval": float(found.jain.min())}, note


def hop(results: Results, reading: Reading, group: str, scheme: str, claimed: float) -> Ruled:
    """The queue's depth at one hop (5.4.2)."""
    depth = _of(results, group, ("hpcc", scheme), quantity(reading, "depth"))
    check = lower("queue depth, HPCC to FNCC: reduction", depth[scheme], depth["hpcc"], claimed)
    measured: Measured = {"queue depth, reduction": check.measured}
    for name, what in (("peak", "peak_kb"), ("mean over 150 us", "mean150_kb"), ("mean to the end", "mean_kb")):
        found = _of(results, group, ("hpcc", scheme), what)
        measured |= {f"{NAMES[s]} {name}, KB": estimate(found[s]) for s in ("hpcc", scheme)}
        measured[f"{name}, reduction"] = reduction(found[scheme], found["hpcc"])
    return [check], measured, f"The paper's reduction is {claimed:.1%}; it does not say what its queue depth is."


def first_hop(results: Results, reading: Reading) -> Ruled:
    """Depth and utilization at the first hop."""
    checks, measured, note = hop(results, reading, "first", "fncc", 0.375)
    own, found = _use(results, "first", ("fncc", "hpcc"), quantity(reading, "use"), "at the first hop")
    return checks + own, measured | found, note


def last_lhcs(results: Results, reading: Reading) -> Ruled:
    """Depth and first step at the last hop, with LHCS."""
    checks, measured, note = hop(results, reading, "last", "fncc", 0.385)
    for flow in (0, 1):
        stepped = values(results, "last", "fncc", f"rates.step{flow}_gbps")
        check = under(f"flow{flow} steps below its fair 50 Gbps, to", stepped, FAIR_GBPS, 0.9 * FAIR_GBPS)
        measured[f"flow{flow} after the step, Gbps"] = check.measured
        checks.append(check)
    low, high = STEPPED_US
    return checks, measured, f"{note} Step: median rate {low:.0f} to {high:.0f} us after the join; 50 x 0.9 = 45 Gbps."


def convergence(results: Results, reading: Reading) -> Ruled:
    """Faster than the others and smoother than HPCC (5.1)."""
    checks, measured = _converged(results, "100", reading)
    jitter = _of(results, "100", SCHEMES, "rates.jitter_gbps")
    checks.append(lower("FNCC's rates vary less than HPCC's; the share by which", jitter["fncc"], jitter["hpcc"]))
    measured |= {f"{NAMES[s]} deviation of a rate, Gbps": estimate(found) for s, found in jitter.items()}
    ends = {s: [mean(results, "100", s, f"rates.end{flow}_gbps") for flow in (0, 1)] for s in SCHEMES}
    low, high = JITTER_US
    when = _of(results, "100", SCHEMES, quantity(reading, "settled"))
    note = (
        f"Converged: both flows' rates, averaged over {SMOOTH_US:g} us, stay near half of the line up to "
        f"{WINDOW_US:g} us after the join; a run in which they do not has no time. Such that do: "
        + ", ".join(f"{NAMES[s]} {np.isfinite(list(t.values())).sum()} of {len(t)}" for s, t in when.items())
        + f". Deviation: over {low:g} to {high:g} us "
        f"after the join. Mean rates of flow0 and flow1 in the last {END_US:g} us, in Gbps: "
        + ", ".join(f"{NAMES[s]} {a:.1f} and {b:.1f}" for s, (a, b) in ends.items())
        + "."
    )
    return checks, measured, note


def _converged(results: Results, group: str, reading: Reading) -> tuple[list[Check], Measured]:
    time = _of(results, group, SCHEMES, quantity(reading, "settled"))
    checks = []
    for other in SCHEMES[1:]:
        what = f"FNCC at {group}G at a fair rate before {NAMES[other]}; {NAMES[other]}'s time after the join, us"
        checks.append(Check(what, lower("", time["fncc"], time[other]).outcome, estimate(time[other])))
    return checks, {f"{NAMES[s]} converged at {group}G, us": estimate(found) for s, found in time.items()}


def fast_at_speed(results: Results, reading: Reading, groups: Sequence[str]) -> Ruled:
    """The first to slow down and to converge at higher speeds (5.2)."""
    checks, measured = [], Measured()
    for group in groups:
        reaction = _of(results, group, SCHEMES, quantity(reading, "reaction"))
        for other in SCHEMES[1:]:
            what = f"FNCC at {group}G slows down before {NAMES[other]}; the share by which its time is shorter"
            checks.append(lower(what, reaction["fncc"], reaction[other]))
        measured |= {f"{NAMES[s]} reaction at {group}G, us": estimate(found) for s, found in reaction.items()}
        own, found = _converged(results, group, reading)
        checks += own
        measured |= found
    return checks, measured, "Reaction and convergence as at 100 Gbps."


def hop_order(results: Results, reading: Reading) -> Ruled:
    """The gain falls along the path (5.4.1)."""
    what, gains = quantity(reading, "depth"), {}
    for group, scheme in (("first", "fncc"), ("middle", "fncc"), ("last", "fncc-no-lhcs")):
        depth = _of(results, group, ("hpcc", scheme), what)
        gains[group] = {index: 1 - own / depth["hpcc"][index] for index, own in depth[scheme].items()}
    checks = [
        more(
            f"reduction at the {nearer} hop above that at the {farther}; the difference", gains[nearer], gains[farther]
        )
        for nearer, farther in pairwise(gains)
    ]
    measured: Measured = {f"reduction at the {group} hop": estimate(found) for group, found in gains.items()}
    return checks, measured, "FNCC's queue depth below HPCC's, at the last hop without LHCS."


def hop_utilization(results: Results, reading: Reading) -> Ruled:
    """A utilization not below HPCC's at every hop (Fig. 13a to c)."""
    checks, measured = [], Measured()
    for group, schemes in HOPS.items():
        for scheme in schemes[1:]:
            own, found = _use(results, group, (scheme, "hpcc"), quantity(reading, "use"), f"at the {group} hop")
            checks += own
            measured |= found
    return checks, measured, 'The paper says "higher": a tie is let pass, as in every claim on utilization.'


def last_rates(results: Results, _: Reading) -> Ruled:
    """From the step of LHCS up to a fair rate (Fig. 13d)."""
    checks, measured = [], Measured()
    for flow in (0, 1):
        step, end = (values(results, "last", "fncc", f"rates.{part}{flow}_gbps") for part in ("step", "end"))
        measured[f"flow{flow} at the end, Gbps"] = estimate(end)
        checks.append(more(f"flow{flow}'s rate at the end above that after the step; the difference, Gbps", end, step))
        # Half of the line, and half of the 95 % of it that the scheme aims at, less 10 %.
        low, high = 0.9 * 0.95 * FAIR_GBPS, 1.1 * FAIR_GBPS
        checks.append(
            between(f"flow{flow}'s rate at the end is fair: from {low:.4g} to {high:.4g} Gbps", end, low, high)
        )
    note = f"The last {END_US:g} of the {WINDOW_US:g} us after the join; the paper's 450 us are 150 after it."
    return checks, measured, note
