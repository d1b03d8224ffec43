"""Training traffic and long messages on 128 hosts, plain and fast-forwarded, as the table of docs/fast-forward.md.

    python benches/training.py [--only TEXT] [--write PAGE]

Every run is made twice, one after the other, on one thread: with every packet, and with `run.fast_forward`. Ratios of
packet-hops and errors are the same on any machine; ratios of times need one that does nothing else. It takes some
twenty-five minutes.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fast_forward import PLAIN, ROOT, TOLERANCE, error_of, messages, share
from page import MeasuredPage

import xoff

HEADS = ("run", "plain", "fast", "ratio", "packet-hops", "end", "messages", "uncertain")
FAST = {"run.fast_forward.tolerance": TOLERANCE}
ALWAYS = FAST | {"run.fast_forward.approximate": "always"}
GPT_13B = ROOT / "scenarios" / "gpt_13b.toml"


@dataclass(frozen=True)
class Case:
    """A scenario, and with which settings it is made fast."""

    name: str
    scenario: dict[str, Any] | Path
    sets: dict[str, Any]
    fast: dict[str, Any]


def cases() -> list[Case]:
    """Every row of the table."""
    gib = {"algorithm": "ring", "size": "1GiB"}
    ring = {"pattern": "allreduce"} | gib
    collective = {"pattern": "collective", "kind": "all_reduce"} | gib
    halving = ring | {"algorithm": "halving_doubling"}
    hpcc = {"scheme.name": "hpcc"}
    rings = [
        Case(name.format(paths), network([traffic], routing), sets, FAST)
        for routing, paths in (("ecmp", "hashed paths"), ("d_mod_k", "`d_mod_k`"))
        for name, traffic, sets in (
            ("ring all-reduce of 1 GiB, {}", ring, {}),
            ("the same, pattern `collective`, {}", collective, {}),
            ("the ring, HPCC, {}", ring, hpcc),
            ("the same, pattern `collective`, HPCC, {}", collective, hpcc),
        )
    ]
    chunks = {"channels": 2, "chunk": "1MiB"}
    many = {"channels": 8, "chunk": "512KiB"}
    swift = {"scheme.name": "swift"}
    pipelines = [
        Case(
            f"the same in chunks of {size} by {channels} channels, {paths}",
            network([collective | how], routing),
            sets,
            FAST,
        )
        for size, channels, paths, how, routing, sets in (
            ("1 MiB", 2, "`d_mod_k`", chunks, "d_mod_k", {}),
            ("1 MiB", 2, "hashed paths", chunks, "ecmp", {}),
            ("512 KiB", 8, "hashed paths", many, "ecmp", {}),
            ("1 MiB", 2, "Swift, hashed paths", chunks, "ecmp", swift),
        )
    ]
    powertcp = {"scheme.name": "powertcp"}
    alike = [
        Case(
            f'the same in chunks of {size} by {channels} channels, {scheme}, {paths}, `approximate = "always"`',
            network([collective | how], routing),
            sets,
            ALWAYS,
        )
        for size, channels, scheme, paths, how, routing, sets in (
            ("1 MiB", 2, "HPCC", "`d_mod_k`", chunks, "d_mod_k", hpcc),
            ("1 MiB", 2, "HPCC", "hashed paths", chunks, "ecmp", hpcc),
            ("512 KiB", 8, "HPCC", "hashed paths", many, "ecmp", hpcc),
            ("1 MiB", 2, "PowerTCP", "hashed paths", chunks, "ecmp", powertcp),
        )
    ]
    blocks = network([collective | {"size": "128MiB"}])
    large = network([collective], count=1024)
    short = [
        Case("ring all-reduce of 128 MiB in blocks of 1 MiB, pattern `collective`, `d_mod_k`", blocks, {}, FAST),
        Case("the same blocks of 1 MiB, tolerance 0.02", blocks, {}, {"run.fast_forward.tolerance": 0.02}),
        Case('the same blocks of 1 MiB, `approximate = "always"`', blocks, {}, ALWAYS),
        Case('ring of 1 GiB among 1,024 hosts in blocks of 1 MiB, `approximate = "always"`', large, {}, ALWAYS),
    ]
    return [
        *rings,
        *pipelines,
        *alike,
        *short,
        Case("halving-doubling all-reduce of 1 GiB, `d_mod_k`", network([halving]), {}, FAST),
        Case("GPT-like iteration, `d_mod_k`, phases apart", network(phases("72ms")), {}, FAST),
        Case("GPT-like iteration, `d_mod_k`, phases that meet", network(phases("64ms")), {}, FAST),
        Case("iteration of GPT-13B, [scenarios/gpt_13b.toml](../scenarios/gpt_13b.toml)", GPT_13B, {}, FAST),
        Case('the same, HPCC, `approximate = "always"`', GPT_13B, hpcc, ALWAYS),
        Case("the same, PowerTCP", GPT_13B, powertcp, ALWAYS),
        Case("the same, FNCC", GPT_13B, {"scheme.name": "fncc"}, ALWAYS),
        Case("seven rings of 256 MB, each in a pod, `d_mod_k`, beside web search", network(tenants()), {}, FAST),
    ]


def network(traffic: list[dict[str, Any]], routing: str = "d_mod_k", *, count: int = 128) -> dict[str, Any]:
    """The traffic on a fat-tree of 128 or 1,024 hosts."""
    return {
        "topology": {"name": "fat_tree", "k": {128: 8, 1024: 16}[count], "rate": "100Gbps", "delay": "500ns"},
        "routing": {"name": routing},
        "scheme": {"name": "dcqcn"},
        "traffic": traffic,
    }


def hosts(numbers: range) -> list[str]:
    """The names of some hosts."""
    return [f"host{number}" for number in numbers]


def ring_of(numbers: range, size: str, start: str = "0us") -> dict[str, Any]:
    """A ring all-reduce among some hosts."""
    return {"pattern": "allreduce", "algorithm": "ring", "hosts": hosts(numbers), "size": size, "start": start}


def phases(middle: str) -> list[dict[str, Any]]:
    """An iteration like one of GPT's: sums in groups of 8 hosts, messages along a pipeline, and gradients."""
    sums = [ring_of(range(8 * n, 8 * n + 8), "32MB", f"{5500 * step}us") for step in range(12) for n in range(16)]
    message = {"pattern": "flow", "size": "16MB", "start": middle}
    along = [message | {"src": f"host{n}", "dst": f"host{n + 32}"} for n in range(96)]
    gradients = [ring_of(range(place, 128, 8), "256MB", "80ms") for place in range(8)]
    return [*sums, *along, *gradients]


def tenants() -> list[dict[str, Any]]:
    """Seven rings, each in a pod, beside web search in the eighth pod for 20 ms."""
    last = hosts(range(112, 128))
    search = {"pattern": "poisson", "workload": "websearch", "hosts": last, "destinations": last, "load": 0.3}
    return [*(ring_of(range(16 * pod, 16 * pod + 16), "256MB") for pod in range(7)), search | {"stop": "20ms"}]


def row(case: Case) -> str:
    """Run a case plain and fast; the row says how much faster, and how far off, the fast run was."""
    plain = xoff.run(case.scenario, sets=case.sets | PLAIN, threads=1)
    fast = xoff.run(case.scenario, sets=case.sets | case.fast, threads=1)
    before, after = messages(plain), messages(fast)
    ends = [max(each["start_ps"] + each["fct_ps"] for each in run.values()) for run in (before, after)]
    worst = max(error_of((before[number], after[number]), min(ends)) for number in before)
    times = [run.manifest["wall_s"] for run in (plain, fast)]
    hops = plain.manifest["packet_hops"] / fast.manifest["packet_hops"]
    since = fast.manifest["fast_forward"]["uncertain_from_ps"]
    cells = (
        case.name,
        *(f"{time:.2f} s" for time in times),
        f"{times[0] / times[1]:.1f}",
        f"{hops:.1f}",
        share([abs(ends[1] / ends[0] - 1)]),
        share([worst]),
        "no" if since is None else f"from {since / 1e9:.1f} of {ends[0] / 1e9:.1f} ms on",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure, print rows as they become ready, and put the table into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name has this text")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table into this page")
    given = parser.parse_args()
    if given.write and given.only:
        parser.error("--write takes all rows, and --only some of them")
    try:
        page = MeasuredPage(given.write, "training") if given.write else None
    except (OSError, ValueError) as error:
        parser.error(str(error))
    warnings.simplefilter("ignore")
    chosen = [case for case in cases() if given.only in case.name]
    if not chosen:
        parser.error(f"--only {given.only}: expected a text of one of: {'; '.join(case.name for case in cases())}")
    lines = [f"| {' | '.join(HEADS)} |", f"|{' --- |' * len(HEADS)}"]
    print("\n".join(lines), flush=True)
    for case in chosen:
        lines.append(row(case))
        print(lines[-1], flush=True)
    if page:
        page.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
