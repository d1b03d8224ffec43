"""FNCC's claims against what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from xoff.papers.fncc.experiments import FCT_SCHEMES, JOIN_US, SCHEMES, Scale, mean, values
from xoff.papers.fncc.measures import BEFORE_US, REACTED, STEPPED_US, Fairness, Fct
from xoff.papers.rules import Check, Estimate, estimate, exact, lower, more, over, reduction, under
from xoff.papers.verdicts import Claim, Finding

NAMES = {"fncc": "FNCC", "hpcc": "HPCC", "dcqcn": "DCQCN", "rocc": "RoCC"}

REACTIONS_US = {"hpcc": 30.0, "dcqcn": 46.0, "rocc": 70.0}
"""The paper's times of reaction, counted from the join, in us; FNCC's is "about" 0."""
BANDS_US = {"fncc": (0.0, 8.0), "hpcc": (0.0, 35.0), "dcqcn": (20.0, 60.0), "rocc": (20.0, 80.0)}
"""Times of reaction that the lengths of the paths and the schemes' periods allow."""

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
}
"""The experiments that each claim needs."""

Results = Mapping[Any, Any]


def find(claim: Claim, results: Results, scale: Scale, short: str) -> Finding:
    """The finding of `claim`; `short` says what was shortened, for its note."""
    checks, measured, note = _RULES[claim.name](results)
    groups = GROUPS[claim.name]
    seeds = sorted(
        {key[2] if groups[0] in ("websearch", "hadoop") else key[2] + 1 for key in results if key[0] in groups}
    )
    return Finding(claim, checks, measured, seeds, _scenario(groups[0]), " ".join(filter(None, (note, short))))


def _scenario(group: str) -> str:
    if group.isdigit():
        return "dumbbell.toml"
    if group == "fairness":
        return "fairness.toml"
    return "fat_tree.toml" if group in ("websearch", "hadoop") else f"chain_{group}.toml"


Ruled = tuple[list[Check], dict[str, float | Estimate | None], str]


def _response(results: Results) -> Ruled:
    # A scheme that never reacts counts as the last.
    reaction = {scheme: values(results, "100", scheme, "reaction_us") for scheme in SCHEMES}
    time = {scheme: estimate(found) for scheme, found in reaction.items()}
    checks = []
    for earlier, later in pairwise(SCHEMES):
        ordered = lower("", reaction[earlier], reaction[later]).outcome
        what = f"{NAMES[earlier]} before {NAMES[later]}; {NAMES[later]}'s reaction after the join, us"
        checks.append(Check(what, ordered, time[later], REACTIONS_US[later]))
    literal = {scheme: mean(results, "100", scheme, "below_line_us") for scheme in SCHEMES}
    bands = ", ".join(
        f"{NAMES[scheme]} {'in' if low <= time[scheme].value <= high else 'outside'} {low:.0f} to {high:.0f}"
        for scheme, (low, high) in BANDS_US.items()
    )
    ranges = ", ".join(f"{NAMES[s]} {min(f.values()):.1f} to {max(f.values()):.1f}" for s, f in reaction.items())
    note = (
        f"Reaction: flow0's rate below {REACTED:.0%} of its mean over the {BEFORE_US:.0f} us before the join. "
        f"The literal reading, {REACTED:.0%} of the line rate, is met without congestion by schemes that aim at 95 % "
        f"utilization ({', '.join(f'{NAMES[s]} {t:.1f} us' for s, t in literal.items())}). "
        f"Sizes are compared as times after the join at {JOIN_US:.0f} us; FNCC's 0 can only be a rounding: the news "
        f"needs 3 us to travel. Physically plausible bands in us: {bands}. Range over repetitions in us: {ranges}."
    )
    return checks, {f"{NAMES[s]} reaction after the join, us": t for s, t in time.items()}, note


def _queue(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | Estimate | None]()
    for group in GROUPS["queue-order"]:
        peak = {scheme: values(results, group, scheme, "peak_kb") for scheme in SCHEMES}
        for scheme in SCHEMES:
            measured[f"{NAMES[scheme]} peak at {group}G, KB"] = estimate(peak[scheme])
            if scheme != "fncc":
                what = f"FNCC's peak at {group}G below {NAMES[scheme]}'s; the share by which"
                checks.append(lower(what, peak["fncc"], peak[scheme]))
    return checks, measured, "Most bytes in the egress queue of switch1 to switch2 after the join."


def _pauses(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | Estimate | None]()
    for group in GROUPS["pause-frames"]:
        sent = {scheme: values(results, group, scheme, "pauses") for scheme in FCT_SCHEMES}
        for scheme in FCT_SCHEMES:
            measured[f"{NAMES[scheme]} at {group}G, frames"] = estimate(sent[scheme])
        fncc, hpcc, dcqcn = (sent[scheme] for scheme in FCT_SCHEMES)
        checks.append(more(f"HPCC's at {group}G at least FNCC's; the difference", hpcc, fncc, tie=True))
        checks.append(more(f"DCQCN's at {group}G above FNCC's; the difference", dcqcn, fncc))
    note = (
        "PAUSE frames that switch1 sent to the two senders in 1 ms. The threshold of 500 KB counts per ingress port, "
        "as 802.1Qbb switches do, so that the two senders' shared queue reaches 1 MB before both are stopped."
    )
    return checks, measured, note


def _utilization(results: Results) -> Ruled:
    checks, measured = [], dict[str, float | Estimate | None]()
    for group in GROUPS["utilization"]:
        use = {scheme: values(results, group, scheme, "utilization") for scheme in SCHEMES}
        for scheme in SCHEMES:
            measured[f"{NAMES[scheme]} at {group}G"] = estimate(use[scheme])
            if scheme != "fncc":
                what = f"FNCC's at {group}G at least {NAMES[scheme]}'s; the difference"
                checks.append(more(what, use["fncc"], use[scheme], tie=True))
    early = {
        group: ", ".join(f"{NAMES[s]} {mean(results, group, s, 'utilization300'):.3f}" for s in SCHEMES)
        for group in GROUPS["utilization"]
    }
    note = (
        "From the join to the end of the run, 700 us. A scheme that keeps a standing queue has a utilization of 1 "
        "by construction, whereas FNCC aims at 0.95. Over the first 300 us: "
        + "; ".join(f"{group}G {text}" for group, text in early.items())
        + "."
    )
    return checks, measured, note


def _fairness(results: Results) -> Ruled:
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


def _hop(results: Results, group: str, scheme: str, claimed: float) -> Ruled:
    peak = {s: values(results, group, s, "peak_kb") for s in ("hpcc", scheme)}
    use = {s: values(results, group, s, "utilization") for s in ("hpcc", scheme)}
    check = lower("peak queue, HPCC to FNCC: reduction", peak[scheme], peak["hpcc"], claimed)
    measured: dict[str, float | Estimate | None] = {
        "peak queue, reduction": check.measured,
        "HPCC peak, KB": estimate(peak["hpcc"]),
        "FNCC peak, KB": estimate(peak[scheme]),
        "HPCC utilization": estimate(use["hpcc"]),
        "FNCC utilization": estimate(use[scheme]),
    }
    for name, quantity in (("mean queue over 150 us", "mean150_kb"), ("mean queue to the end", "mean_kb")):
        measured[f"{name}, reduction"] = reduction(*(values(results, group, s, quantity) for s in (scheme, "hpcc")))
    note = (
        "The paper does not say what its queue depth is. The peak is what its figures show best and what the verdict "
        f"rests on; the mean is beside it. The paper's reduction is {claimed:.1%}."
    )
    return [check], measured, note


def _first(results: Results) -> Ruled:
    checks, measured, note = _hop(results, "first", "fncc", 0.375)
    use = (values(results, "first", scheme, "utilization") for scheme in ("fncc", "hpcc"))
    checks.append(more("FNCC's utilization not below HPCC's; the difference", *use, tie=True))
    return checks, measured, note


def _last_lhcs(results: Results) -> Ruled:
    checks, measured, note = _hop(results, "last", "fncc", 0.385)
    for flow in (0, 1):
        check = under(
            f"flow{flow} steps below its fair 50 Gbps, to", values(results, "last", "fncc", f"step{flow}_gbps"), 50, 45
        )
        measured[f"flow{flow} after the step, Gbps"] = check.measured
        checks.append(check)
    low, high = STEPPED_US
    return checks, measured, f"{note} Step: median rate {low:.0f} to {high:.0f} us after the join; 50 x 0.9 = 45 Gbps."


def _fct(results: Results, workload: str, quantity: str, claimed: Mapping[str, float]) -> Ruled:
    runs: dict[str, list[Fct]] = {
        scheme: [each for key, each in results.items() if key[:2] == (workload, scheme)] for scheme in FCT_SCHEMES
    }
    value = {scheme: values(results, workload, scheme, quantity) for scheme in FCT_SCHEMES}
    checks = [
        lower(f"slowdown, {NAMES[other]} to FNCC: reduction", value["fncc"], value[other], share)
        for other, share in claimed.items()
    ]
    measured: dict[str, float | Estimate | None] = {f"{NAMES[s]} slowdown": estimate(v) for s, v in value.items()}
    measured |= {f"FNCC below {NAMES[o]} by": reduction(value["fncc"], value[o]) for o in claimed}
    statistic, part = ("p50", slice(-4, None)) if quantity == "large_p50" else ("p95", slice(0, 8))
    best = {}
    for other in claimed:
        bins = [np.mean([run.bins[statistic] for run in runs[s]], axis=0)[part] for s in ("fncc", other)]
        best[other] = float(np.nanmax(1 - bins[0] / bins[1]))
    counts = [run.large if quantity == "large_p50" else run.small for run in runs["fncc"]]
    left = sum(run.incomplete for every in runs.values() for run in every)
    note = (
        f"Mean of the seeds' statistics; {int(np.mean(counts)):,} such flows a seed; {left} flows incomplete. "
        "In the size bin where it is greatest, the reduction is "
        + " and ".join(f"{share:.1%} against {NAMES[other]}" for other, share in best.items())
        + " (the paper: by up to "
        + " and ".join(f"{share:.1%}" for share in claimed.values())
        + ")."
    )
    return checks, measured, note


_RULES: dict[str, Callable[[Results], Ruled]] = {
    "response-order": _response,
    "queue-order": _queue,
    "pause-frames": _pauses,
    "utilization": _utilization,
    "fairness": _fairness,
    "first-hop": _first,
    "middle-hop": lambda results: _hop(results, "middle", "fncc", 0.295),
    "last-hop-no-lhcs": lambda results: _hop(results, "last", "fncc-no-lhcs", 0.084),
    "last-hop-lhcs": _last_lhcs,
    "websearch": lambda results: _fct(results, "websearch", "large_p50", {"hpcc": 0.124, "dcqcn": 0.428}),
    "hadoop": lambda results: _fct(results, "hadoop", "small_p95", {"hpcc": 0.274, "dcqcn": 0.889}),
}
