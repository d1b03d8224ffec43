"""SRCC's claims against what was measured."""

from __future__ import annotations

from collections.abc import Callable

from xoff.papers.rules import Check, Estimate, estimate, every, higher, lower, over
from xoff.papers.srcc import load_findings
from xoff.papers.srcc.comparisons import NAMES, Results, Ruled, lowest, reductions
from xoff.papers.srcc.experiments import OTHERS, SCHEMES, THRESHOLDS, WINDOWS, mean, places, values
from xoff.papers.srcc.measures import Motivation
from xoff.papers.verdicts import Claim, Finding

GROUPS: dict[str, tuple[str, ...]] = {
    "motivation": ("motivation",),
    "web-server": ("web-server",),
    "cache-follower": ("cache-follower",),
    "burst-interval": ("burst-interval",),
    "burst-size": ("burst-size",),
    "threshold": ("threshold",),
    "window": ("window",),
    "pause-rate": ("websearch",),
    "convergence": ("websearch",),
    "hadoop-afct": ("hadoop",),
    "tail": ("websearch", "hadoop"),
    "incast": ("incast",),
    "cache-follower-loads": ("cache-follower",),
    "blocking-workloads": ("web-server", "cache-follower"),
    "websearch-pauses": ("websearch",),
    "websearch-afct": ("websearch",),
    "hadoop-convergence": ("hadoop",),
    "hadoop-pauses": ("hadoop",),
    "tail-loads": ("websearch", "hadoop"),
}
"""The experiments that each claim needs."""

SCENARIOS = {
    "motivation": "motivation.toml",
    "web-server": "testbed.toml",
    "cache-follower": "testbed.toml",
    "burst-interval": "bursts.toml",
    "burst-size": "bursts.toml",
    "incast": "incast.toml",
}
"""Scenarios of the experiments that do not use large.toml."""


def find(claim: Claim, results: Results, short: str) -> Finding:
    """The finding of `claim`; `short` says what was shortened, for its note."""
    checks, measured, note = _RULES[claim.name](results)
    groups = GROUPS[claim.name]
    seeds = sorted({key[3] for key in results if key[0] in groups})
    scenario = SCENARIOS.get(groups[0], "large.toml")
    return Finding(claim, checks, measured, seeds, scenario, " ".join(filter(None, (note, short))))


def _motivation(results: Results) -> Ruled:
    found: dict[str, Motivation] = {s: results["motivation", s, 0.0, 1] for s in SCHEMES}
    runs = {s: _of_motivation(results, s) for s in SCHEMES}
    share = {s: {seed: run.paused_share for seed, run in runs[s].items()} for s in SCHEMES}
    checks = [
        every(
            f"{NAMES[s]} triggers PFC; PAUSE frames",
            {seed: run.pauses > 0 for seed, run in runs[s].items()},
            {seed: float(run.pauses) for seed, run in runs[s].items()},
        )
        for s in OTHERS
    ]
    for scheme in ("dcqcn", "swift", "hpcc"):
        what = f"PCN's pausing shorter than {NAMES[scheme]}'s; the share by which"
        checks.append(lower(what, share["pcn"], share[scheme]))
    for scheme in ("swift", "hpcc", "pcn"):
        what = f"DCQCN's pausing longer than {NAMES[scheme]}'s; the share by which"
        checks.append(lower(what, share[scheme], share["dcqcn"]))
    for s in OTHERS:
        falls = {seed: run.least / run.before for seed, run in runs[s].items()}
        what = f"{NAMES[s]}'s victims fall to a tenth or less; least goodput over that before"
        checks.append(every(what, {seed: value <= 0.1 for seed, value in falls.items()}, falls))
    measured: dict[str, float | Estimate | None] = {}
    for scheme in SCHEMES:
        measured[f"{NAMES[scheme]}: time with a stopped port, %"] = 100 * found[scheme].paused_share
        measured[f"{NAMES[scheme]}: longest stretch, us"] = found[scheme].longest_us
        measured[f"{NAMES[scheme]}: least goodput of the victims, % of their links"] = 100 * found[scheme].least
    note = (
        "Pausing: the share of bins of 100 us in which any port stands still. The paper gives its length of "
        "one episode, "
        "and not what starts or ends that; the longest stretch is beside it. By default the bins begin with the long "
        "flows. First seed: "
        + "PAUSE frames: "
        + ", ".join(f"{NAMES[s]} {found[s].pauses}" for s in SCHEMES)
        + "; blocked victims of 8: "
        + ", ".join(f"{NAMES[s]} {found[s].blocked}" for s in SCHEMES)
        + "."
    )
    return checks, measured, note


def _of_motivation(results: Results, scheme: str) -> dict[int, Motivation]:
    return {key[3]: each for key, each in results.items() if key[:2] == ("motivation", scheme)}


def _web_server(results: Results) -> Ruled:
    group, last = "web-server", places(results, "web-server")[-1]
    claimed = dict(zip(OTHERS, (0.61, 0.52, 0.40, 0.24), strict=True))
    checks, measured = reductions(results, group, last, "afct_us", f"average FCT at {last:g}, us", claimed)
    for at in places(results, group):
        for quantity, what in (
            ("pauses_per_ms", "PAUSE rate"),
            ("blocked_share", "HoL-blocked flows"),
            ("afct_us", "average FCT"),
            ("p99_us", "99th percentile FCT"),
        ):
            if (quantity, at) != ("afct_us", last):
                checks += lowest(results, group, at, quantity, f"{what} at {at:g}")
    for scheme in SCHEMES:
        measured[f"99th percentile FCT at {last:g}, us, {NAMES[scheme]}"] = mean(results, group, scheme, last, "p99_us")
    for quantity, what, unit in (
        ("pauses_per_ms", "PAUSE frames a ms", 1.0),
        ("blocked_share", "HoL-blocked flows, %", 100.0),
    ):
        for scheme in SCHEMES:
            measured[f"{what} at {last:g}, {NAMES[scheme]}"] = unit * mean(results, group, scheme, last, quantity)
    return checks, measured, _cost(results, group, last)


def _cost(results: Results, group: str, at: float) -> str:
    """What SRCC sends and keeps, and how far PAUSE spreads."""
    messages = mean(results, group, "srcc", at, "messages")
    flows = mean(results, group, "srcc", at, "flows")
    table = max(values(results, group, "srcc", at, "table").values())
    spread = ", ".join(
        f"{NAMES[s]} {mean(results, group, s, at, 'stopped_ports'):.0f} ports up to "
        f"{max(values(results, group, s, at, 'depth').values()):.0f} links from a root"
        for s in SCHEMES
    )
    left = sum(each.incomplete for key, each in results.items() if key[0] == group)
    return (
        f"At {at:g} SRCC's switches send {messages:,.0f} messages for {flows:,.0f} flows, and the fullest table has "
        f"{table:,.0f} flows. PAUSE stops {spread}. {left} flows incomplete."
    )


def _cache_follower(results: Results) -> Ruled:
    last = places(results, "cache-follower")[-1]
    claimed = dict(zip(OTHERS, (0.72, 0.58, 0.42, 0.37), strict=True))
    what = f"99th percentile FCT at {last:g}, us"
    checks, measured = reductions(results, "cache-follower", last, "p99_us", what, claimed)
    for scheme in SCHEMES:
        key = f"HoL-blocked flows, %, {NAMES[scheme]}"
        measured[key] = 100 * mean(results, "cache-follower", scheme, last, "blocked_share")
    return checks, measured, _cost(results, "cache-follower", last)


def _burst_interval(results: Results) -> Ruled:
    group = "burst-interval"
    checks, measured = list[Check](), dict[str, float | Estimate | None]()
    for at in places(results, group):
        checks += lowest(results, group, at, "afct_us", f"average FCT at {at:g} us")
        for scheme in SCHEMES:
            measured[f"average FCT at {at:g} us, us, {NAMES[scheme]}"] = mean(results, group, scheme, at, "afct_us")
    own = values(results, group, "srcc", 20.0, "afct_us")
    slowest = max(OTHERS, key=lambda s: mean(results, group, s, 20.0, "afct_us"))
    worst = values(results, group, slowest, 20.0, "afct_us")
    checks.append(lower(f"average FCT at 20 us, the slowest ({NAMES[slowest]}) to SRCC: reduction", own, worst, 0.49))
    return checks, measured, _BURSTS


_BURSTS = (
    "Average over the bursts' flows and the web server's under them. Ten bursts, load 0.5 under them: the paper gives "
    "neither number, and the average goes with both."
)


def _burst_size(results: Results) -> Ruled:
    checks, measured = list[Check](), dict[str, float | Estimate | None]()
    for at, shares in ((32.0, (0.49, 0.42, 0.35, 0.28)), (128.0, (0.51, 0.45, 0.38, 0.29))):
        claimed = dict(zip(OTHERS, shares, strict=True))
        what = f"average FCT at {at:g} KB, us"
        more, found = reductions(results, "burst-size", at, "afct_us", what, claimed)
        checks, measured = checks + more, measured | found
    return checks, measured, _BURSTS


def _threshold(results: Results) -> Ruled:
    (at,) = places(results, "threshold")
    value = {line: values(results, "threshold", line, at, "afct_us") for line in THRESHOLDS}
    checks = [
        lower(f"average FCT, {name} to dynamic: reduction", value["srcc"], value[line])
        for line, name in THRESHOLDS.items()
        if line != "srcc"
    ]
    measured: dict[str, float | Estimate | None] = {
        f"average FCT, us, {n}": estimate(value[line]) for line, n in THRESHOLDS.items()
    }
    for line, name in THRESHOLDS.items():
        measured[f"messages, {name}"] = mean(results, "threshold", line, at, "messages")
        measured[f"PAUSE frames, {name}"] = mean(results, "threshold", line, at, "pauses")
    note = "By default 40 % and 60 % of Q_PFC, 500 KB: choice `fixed` has the other buffers that they may be shares of."
    return checks, measured, note


def _window(results: Results) -> Ruled:
    checks, measured = list[Check](), dict[str, float | Estimate | None]()
    for at in places(results, "window"):
        value = {line: values(results, "window", line, at, "afct_us") for line in WINDOWS}
        for line, name in WINDOWS.items():
            measured[f"average FCT at {at:g}, us, {name}"] = estimate(value[line])
            if line != "srcc-3rtt":
                what = f"average FCT at {at:g}, {name} to 3 RTT: reduction"
                checks.append(lower(what, value["srcc-3rtt"], value[line]))
    last = places(results, "window")[-1]
    for line, name in WINDOWS.items():
        measured[f"messages at {last:g}, {name}"] = estimate(values(results, "window", line, last, "messages"))
    note = (
        "RTT: the largest base RTT between two hosts. The window in which flows are counted for C/n is the same in all."
    )
    return checks, measured, note


def _pause_rate(results: Results) -> Ruled:
    last = places(results, "websearch")[-1]
    claimed = dict(zip(OTHERS, (0.91, 0.90, 0.88, 0.84), strict=True))
    checks, measured = reductions(results, "websearch", last, "pauses_per_ms", "PAUSE frames a ms", claimed)
    for scheme in SCHEMES:
        share = mean(results, "websearch", scheme, last, "paused_share")
        measured[f"share of time for which a port is stopped, %, {NAMES[scheme]}"] = 100 * share
        blocked = mean(results, "websearch", scheme, last, "blocked_share")
        measured[f"HoL-blocked flows, %, {NAMES[scheme]}"] = 100 * blocked
    note = (
        f"At {last:g}, while flows arrive. The paper's rate of PAUSE is plotted in ms; frames are what the "
        f"verdict rests "
        f"on, the stopped time is beside them. {_cost(results, 'websearch', last)}"
    )
    return checks, measured, note


def _hadoop(results: Results) -> Ruled:
    checks, measured = list[Check](), dict[str, float | Estimate | None]()
    ranges = dict(zip(OTHERS, ((0.65, 0.68), (0.56, 0.62), (0.48, 0.53), (0.39, 0.44)), strict=True))
    middle = {s: sum(bounds) / 2 for s, bounds in ranges.items()}
    for at in places(results, "hadoop"):
        what = f"average FCT at {at:g}, us"
        more, found = reductions(results, "hadoop", at, "afct_us", what, middle)
        checks, measured = checks + more, measured | found
    note = (
        "Sizes are compared with the middle of the paper's ranges. Hadoop: a synthetic distribution with "
        "Table I's shares "
        "and mean, which no public one has; flows beyond 1 MB make most of the average."
    )
    return checks, measured, note


def _tail(results: Results) -> Ruled:
    checks, measured = list[Check](), dict[str, float | Estimate | None]()
    for group, name, shares in (
        ("websearch", "web search", (0.55, 0.42, 0.34, 0.22)),
        ("hadoop", "Hadoop", (0.53, 0.42, 0.36, 0.28)),
    ):
        last = places(results, group)[-1]
        claimed = dict(zip(OTHERS, shares, strict=True))
        what = f"99th percentile FCT of {name} at {last:g}, us"
        more, found = reductions(results, group, last, "p99_us", what, claimed)
        checks, measured = checks + more, measured | found
    return checks, measured, ""


def _incast(results: Results) -> Ruled:
    found = {
        at: {s: values(results, "incast", s, at, "goodput_gbps") for s in SCHEMES} for at in places(results, "incast")
    }
    checks = [
        over(f"SRCC's goodput from {at:g} senders at least 90 Gbps", value["srcc"], 90, 100, tie=True)
        for at, value in found.items()
    ]
    last = found[max(found)]
    for scheme, share in zip(OTHERS, (0.42, 0.34, 0.25, 0.20), strict=True):
        checks.append(higher(f"goodput at 160, SRCC over {NAMES[scheme]}", last["srcc"], last[scheme], share))
    measured: dict[str, float | Estimate | None] = {
        f"goodput from {at:g} senders, Gbps, {NAMES[s]}": estimate(value[s])
        for at, value in found.items()
        for s in SCHEMES
    }
    frames = ", ".join(f"{NAMES[s]} {mean(results, 'incast', s, max(found), 'pauses'):.0f}" for s in SCHEMES)
    note = (
        "Goodput: 50 MB over the time until the last response is acknowledged at its sender; headers and the "
        "round trip "
        f"leave 95 Gbps at most. PAUSE frames at {max(found):g} senders: {frames}."
    )
    return checks, measured, note


_RULES: dict[str, Callable[[Results], Ruled]] = {
    "motivation": _motivation,
    "web-server": _web_server,
    "cache-follower": _cache_follower,
    "burst-interval": _burst_interval,
    "burst-size": _burst_size,
    "threshold": _threshold,
    "window": _window,
    "pause-rate": _pause_rate,
    "convergence": load_findings.convergence,
    "hadoop-afct": _hadoop,
    "tail": _tail,
    "incast": _incast,
    "cache-follower-loads": load_findings.cache_follower,
    "blocking-workloads": load_findings.blocking,
    "websearch-pauses": load_findings.websearch_pauses,
    "websearch-afct": load_findings.websearch_afct,
    "hadoop-convergence": load_findings.hadoop_convergence,
    "hadoop-pauses": load_findings.hadoop_pauses,
    "tail-loads": load_findings.tails,
}
