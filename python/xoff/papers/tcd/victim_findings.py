"""Findings for TCD's victims: flows that share a paused port with congested ones, and cross no root."""

from __future__ import annotations

from typing import Any

from xoff.papers.tcd.checks import (
    Ruled,
    said,
)
from xoff.papers.tcd.common import PAPERS_LOAD, Results
from xoff.papers.tcd.experiments import EDGES_KB, EPSILONS, SETS, by_size, victims


def find_victims(results: Results) -> Ruled:
    """The claim on the share of victims that carry CE."""
    checks, measured = [], dict[str, float | None]()
    for which in SETS:
        share = {}
        for kind in ("red", "tcd"):
            found = victims(results, "table3" if kind == "tcd" else "dcqcn-victims", kind, which)
            share[kind] = found.marked_ce / found.flows
            measured[f"{which}: victims marked CE with {kind.upper()}"] = share[kind]
            measured[f"{which}: with {kind.upper()}, by a port that was no root"] = found.mismarked / found.flows
            measured[f"{which}: with {kind.upper()}, packets"] = float(found.packets_ce)
            measured[f"{which}: with {kind.upper()}, packets by a port that was no root"] = float(
                found.packets_mismarked
            )
        if which == "paper":
            checks = [
                said("share with RED", share["red"] > 0, share["red"], 0.266),
                said("share with TCD: none", share["tcd"] == 0, share["tcd"]),
            ]
    loads = sorted({key[3] for key in results if key[0] == "loads"})
    spread = ", ".join(
        f"{load:.0%}: {_share(results, 'red', load):.1%} and {_share(results, 'tcd', load):.2%}" for load in loads
    )
    note = (
        f"The paper gives no load. The verdict rests on {PAPERS_LOAD:.0%}, its fat-tree's; with RED and TCD at other "
        f"loads of P3, paper's rules: {spread}. By the paper all of s0's flows are victims; `by a port that was no "
        "root` counts those that have a mark which the simulator's ground truth calls wrong."
    )
    return checks, measured, note


def _share(results: Results, kind: str, load: float, which: str = "paper") -> float:
    found = results["loads", kind, which, load]
    return float(found.marked_ce / found.flows)


def find_epsilon(results: Results) -> Ruled:
    """The claim on the choice of epsilon."""
    checks, measured = [], dict[str, float | None]()
    for which in SETS:
        for where in ("bursts", "victims"):
            counts = [_ce(results["epsilon", where, which, epsilon]) for epsilon in EPSILONS]
            small = sum(n for n, e in zip(counts, EPSILONS, strict=True) if e < 0.1)
            measured[f"{which}: {where}: packets marked CE at epsilon below 0.1"] = float(small)
            measured[f"{which}: {where}: at {EPSILONS[-1]}"] = float(counts[-1])
            if which == "paper":
                checks += [
                    said(f"{where}: packets marked CE at epsilon below 0.1", small == 0, float(small)),
                    said(f"{where}: more at {EPSILONS[-1]} than at 0.05", counts[-1] > counts[2], float(counts[-1])),
                ]
    note = "Concurrent bursts: f0's and f2's packets with one congestion point; victims: s0's flows under FB_Hadoop."
    return checks, measured, note


def _ce(found: Any) -> int:
    return int(found.packets_ce if hasattr(found, "packets_ce") else found.marked_ce)


def _victims_fct(results: Results, scheme: str) -> tuple[dict[str, dict[str, list[float]]], list[int]]:
    means: dict[str, dict[str, list[float]]] = {}
    counts: list[int] = []
    for which in SETS:
        means[which] = {}
        for kind in ("red", "tcd"):
            means[which][kind], counts = by_size(victims(results, f"{scheme}-victims", kind, which))
    return means, counts


def _bins() -> list[str]:
    return [f"up to {edge / 1000:g} MB" if edge >= 1000 else f"up to {edge:g} KB" for edge in EDGES_KB]


def find_dcqcn_victims(results: Results) -> Ruled:
    """The claim on victims' completion times under DCQCN."""
    checks, measured = [], dict[str, float | None]()
    means, counts = _victims_fct(results, "dcqcn")
    for which in SETS:
        for name, red, tcd in zip(_bins(), means[which]["red"], means[which]["tcd"], strict=True):
            measured[f"{which}: {name}: RED, us"] = red
            measured[f"{which}: {name}: TCD, us"] = tcd
            if which == "paper":
                checks.append(said(f"{name}: TCD lower; RED over TCD", tcd < red, red / tcd))
    note = f"Mean FCT of {sum(counts)} victims ({', '.join(map(str, counts))} by size). {_sweep(results, 'dcqcn')}"
    return checks, measured, note


def _sweep(results: Results, scheme: str) -> str:
    sizes = sorted({key[3] for key in results if key[0] == f"{scheme}-bursts"})
    parts = []
    for kilobytes in sizes:
        red, tcd = (results[f"{scheme}-bursts", kind, "paper", kilobytes] for kind in ("red", "tcd"))
        parts.append(
            f"{kilobytes} KB: {red.fct_us.mean():.0f} to {tcd.fct_us.mean():.0f} us, {tcd.marked_ue / tcd.flows:.0%} UE"
        )
    return "Bursts of one size (Fig. b), mean FCT without and with TCD: " + "; ".join(parts) + "." if parts else ""


def find_timely_victims(results: Results) -> Ruled:
    """The claim on victims' completion times under TIMELY."""
    checks, measured = [], dict[str, float | None]()
    means, counts = _victims_fct(results, "timely")
    for which in SETS:
        for index, (name, red, tcd) in enumerate(zip(_bins(), means[which]["red"], means[which]["tcd"], strict=True)):
            measured[f"{which}: {name}: TIMELY, us"] = red
            measured[f"{which}: {name}: with TCD, us"] = tcd
            if which == "paper" and index in (0, len(EDGES_KB) - 1):
                claimed = 2.2 if index == 0 else 2.3
                where = "under 10 KB" if index == 0 else "above 1 MB"
                checks.append(said(f"{where}: times better", tcd < red, red / tcd, claimed))
    note = f"Mean FCT of {sum(counts)} victims ({', '.join(map(str, counts))} by size). {_sweep(results, 'timely')}"
    return checks, measured, note
