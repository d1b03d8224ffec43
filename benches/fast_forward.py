"""Fast-forwarded runs beside plain ones: errors of completion times and speed, as a table in Markdown.

    python benches/fast_forward.py [--schemes none dcqcn] [--patterns ring incast] [--flow-controls pfc]

Each run is made twice on a fat-tree of 16 hosts, with every packet and with `run.fast_forward`. A row has, over the
named flow controls, the largest error of a message's completion time and of the whole run's, the time skipped, how many
of the jumps were approximate, and how many packet-hops the plain run has for each of the fast one. "from" says that a
run vouches for single messages only up to a time, and the errors are of messages that ended before.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import polars as pl

import xoff

PATTERNS: dict[str, dict[str, Any]] = {
    "ring": {"pattern": "allreduce", "algorithm": "ring"},
    "halving_doubling": {"pattern": "allreduce", "algorithm": "halving_doubling"},
    "all_to_all": {"pattern": "all_to_all"},
    "permutation": {"pattern": "permutation"},
    "incast": {"pattern": "incast", "senders": 4, "receiver": "host0"},
}
SHARE = {"ring": 1.0, "halving_doubling": 1.0, "all_to_all": 1 / 16, "permutation": 1.0, "incast": 1 / 4}
"""The size of a pattern's messages, or of its collective, in sizes of the benchmark."""

FLOW_CONTROLS = {"pfc": "pfc", "infiniband": "cbfc", "credits": "credit"}

MEGABYTE = 1_000_000


@dataclass
class Outcome:
    """A plain run beside a fast one."""

    message: float
    whole: float
    skipped: float
    jumps: int
    approximate: int
    hops: float
    is_certain: bool


def compare(scheme: str, pattern: str, flow_control: str, megabytes: float, tolerance: float) -> Outcome:
    """Runs a scenario plain and fast."""
    traffic = PATTERNS[pattern] | {"size": f"{int(megabytes * MEGABYTE * SHARE[pattern])}B"}
    scenario = {
        "topology": {"name": "fat_tree", "k": 4, "rate": "100Gbps", "delay": "500ns"},
        "scheme": {"name": scheme},
        "flow_control": {"name": FLOW_CONTROLS[flow_control]},
        "traffic": [traffic],
    }
    plain = xoff.run(scenario)
    fast = xoff.run(scenario | {"run": {"fast_forward": {"tolerance": tolerance}}})
    forward = fast.manifest["fast_forward"]
    limit = forward["uncertain_from_ps"]
    both = pl.DataFrame(
        {
            "start": plain.table("flows")["start_ps"],
            "plain": plain.table("flows")["fct_ps"],
            "fast": fast.table("flows")["fct_ps"],
        }
    )
    if limit is not None:
        both = both.filter(pl.col("start") + pl.col("plain") < limit)
    errors = both.select(((pl.col("fast") / pl.col("plain")) - 1).abs()).to_series().to_list()
    times = [run.manifest["sim_time_ps"] for run in (plain, fast)]
    return Outcome(
        message=max(errors, default=0.0),
        whole=abs(times[1] / times[0] - 1),
        skipped=forward["skipped_ps"] / times[1],
        jumps=forward["jumps"],
        approximate=forward["approximate_jumps"],
        hops=plain.manifest["packet_hops"] / fast.manifest["packet_hops"],
        is_certain=limit is None,
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemes", nargs="+", default=["none", "dcqcn", "hpcc", "swift", "dctcp", "timely", "fncc"])
    parser.add_argument("--patterns", nargs="+", choices=PATTERNS, default=list(PATTERNS))
    parser.add_argument("--flow-controls", nargs="+", choices=FLOW_CONTROLS, default=list(FLOW_CONTROLS))
    parser.add_argument("--megabytes", type=float, default=32.0, help="size of a collective; messages follow from it")
    parser.add_argument("--tolerance", type=float, default=0.01)
    args = parser.parse_args()
    print("| pattern | scheme | message | whole run | skipped | jumps | hops |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for pattern in args.patterns:
        for scheme in args.schemes:
            runs = [
                compare(scheme, pattern, flow_control, args.megabytes, args.tolerance)
                for flow_control in args.flow_controls
            ]
            jumps, approximate = sum(r.jumps for r in runs), sum(r.approximate for r in runs)
            certain = "" if all(r.is_certain for r in runs) else " (from)"
            print(
                f"| {pattern} | {scheme} | {max(r.message for r in runs):.3%}{certain}"
                f" | {max(r.whole for r in runs):.3%} | {min(r.skipped for r in runs):.0%} to"
                f" {max(r.skipped for r in runs):.0%} | {jumps}, {approximate} approximate"
                f" | {min(r.hops for r in runs):.1f} to {max(r.hops for r in runs):.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
