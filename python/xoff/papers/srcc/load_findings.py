"""SRCC's claims over all loads, and those on how fast a queue is back."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xoff.papers.rules import Check, Estimate, Values, estimate, exact, fall, lower, more
from xoff.papers.srcc.comparisons import NAMES, Results, Ruled, lowest, reductions
from xoff.papers.srcc.experiments import OTHERS, SCHEMES, mean, places, values
from xoff.papers.srcc.measures import BACK_KB, QUIET_US

_UP_TO = 0.94
"""V: by how much SRCC reduces the PAUSE rate of Hadoop at most."""


def cache_follower(results: Results) -> Ruled:
    """Fig. 6, but for the 99th percentile at the highest load."""
    group = "cache-follower"
    checks, measured = list[Check](), dict[str, float | Estimate | None]()
    for at in places(results, group):
        for quantity, what, unit in (
            ("pauses_per_ms", "PAUSE frames a ms", 1.0),
            ("blocked_share", "HoL-blocked flows, %", 100.0),
            ("afct_us", "average FCT, us", 1.0),
            ("p99_us", "99th percentile FCT, us", 1.0),
        ):
            if quantity == "p99_us" and at == places(results, group)[-1]:
                continue
            checks += lowest(results, group, at, quantity, f"{what.partition(',')[0]} at {at:g}")
            for scheme in SCHEMES:
                found = {seed: unit * v for seed, v in values(results, group, scheme, at, quantity).items()}
                measured[f"{what} at {at:g}, {NAMES[scheme]}"] = estimate(found)
    return checks, measured, ""


def blocking(results: Results) -> Ruled:
    """Fig. 5b and 6b: more flows are blocked with the web server's traffic than with the cache follower's."""
    checks, measured = list[Check](), dict[str, float | Estimate | None]()
    for at in places(results, "web-server"):
        for scheme in OTHERS:
            share = {
                group: {seed: 100 * v for seed, v in values(results, group, scheme, at, "blocked_share").items()}
                for group in ("web-server", "cache-follower")
            }
            what = f"HoL-blocked flows at {at:g}, %, {NAMES[scheme]}"
            checks.append(more(f"{what}: more with the web server, by", share["web-server"], share["cache-follower"]))
            measured |= {f"{what}, {group}": estimate(found) for group, found in share.items()}
    return checks, measured, ""


def convergence(results: Results) -> Ruled:
    """Fig. 9a."""
    return _convergence(results, "websearch", dict(zip(OTHERS, (0.91, 0.87, 0.78, 0.58), strict=True)))


def hadoop_convergence(results: Results) -> Ruled:
    """Fig. 10a, for which the paper prints no numbers."""
    return _convergence(results, "hadoop", dict.fromkeys(OTHERS))


def _convergence(results: Results, group: str, claimed: Mapping[str, float | None]) -> Ruled:
    last = places(results, group)[-1]
    # A seed without a PAUSE has nothing to settle.
    time = {
        s: {seed: t for seed, t in values(results, group, s, last, "settled_us").items() if not math.isnan(t)}
        for s in SCHEMES
    }
    checks = [
        _settles_sooner(f"time to settle, {NAMES[scheme]} to SRCC: reduction", time["srcc"], time[scheme], share)
        for scheme, share in claimed.items()
    ]
    measured: dict[str, float | Estimate | None] = {
        f"time to settle, us, {NAMES[s]}": estimate(t) if t else None for s, t in time.items()
    }
    for scheme in SCHEMES:
        found = values(results, group, scheme, last, "pauses")
        measured[f"PAUSE frames of the run, {NAMES[scheme]}"] = estimate(found)
    note = (
        "From the first PAUSE anywhere since the burst began until the queue of the burst's receiver is below "
        f"{BACK_KB:g} KB, half of Q_PFC, for {QUIET_US:g} us; the paper defines neither. `never`: the queue of a seed "
        "is not back. A seed without a PAUSE from then on is left out. The burst is choice `burst`."
    )
    return checks, measured, note


def _settles_sooner(what: str, values: Values, others: Values, claimed: float | None) -> Check:
    """That a queue settles sooner, over the seeds in which both schemes have a PAUSE; open if there is no such seed."""
    if values.keys() & others.keys():
        return lower(what, values, others, claimed)
    return Check(what, "open", exact(math.nan), claimed)


def websearch_pauses(results: Results) -> Ruled:
    """Fig. 9b."""
    return _at_each_load(results, "websearch", "pauses_per_ms", "PAUSE frames a ms", tie=True)


def websearch_afct(results: Results) -> Ruled:
    """Fig. 9c."""
    return _at_each_load(results, "websearch", "afct_us", "average FCT, us", tie=False)


def hadoop_pauses(results: Results) -> Ruled:
    """Fig. 10b: lowest at each load, and 94 % lower at most."""
    group, quantity = "hadoop", "pauses_per_ms"
    checks, measured, _ = _at_each_load(results, group, quantity, "PAUSE frames a ms", tie=True)

    def by(at: float, scheme: str) -> float:
        found = fall(mean(results, group, "srcc", at, quantity), mean(results, group, scheme, at, quantity))
        return -math.inf if math.isnan(found) else found

    at, scheme = max(((at, s) for at in places(results, group) for s in OTHERS), key=lambda each: by(*each))
    own, other = (values(results, group, s, at, quantity) for s in ("srcc", scheme))
    what = f"PAUSE frames a ms, the largest reduction ({NAMES[scheme]} at {at:g})"
    checks.append(lower(what, own, other, _UP_TO))
    return checks, measured, ""


def _at_each_load(results: Results, group: str, quantity: str, what: str, *, tie: bool) -> Ruled:
    checks, measured = list[Check](), dict[str, float | Estimate | None]()
    for at in places(results, group):
        own, numbers = reductions(results, group, at, quantity, f"{what} at {at:g}", dict.fromkeys(OTHERS), tie=tie)
        checks, measured = checks + own, measured | numbers
    return checks, measured, ""


def tails(results: Results) -> Ruled:
    """Fig. 9d and 10d below the highest load."""
    checks, measured = list[Check](), dict[str, float | Estimate | None]()
    for group, name in (("websearch", "web search"), ("hadoop", "Hadoop")):
        for at in places(results, group)[:-1]:
            what = f"99th percentile FCT of {name} at {at:g}, us"
            checks += lowest(results, group, at, "p99_us", what)
            for scheme in SCHEMES:
                measured[f"{what}, {NAMES[scheme]}"] = estimate(values(results, group, scheme, at, "p99_us"))
    return checks, measured, ""
