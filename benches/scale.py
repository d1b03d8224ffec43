"""How cost grows: the tables of docs/performance.md, printed as Markdown.

    python benches/scale.py [--repeat N] [--quick] > tables.md

Takes about ten minutes on one core; `--quick` a tenth of the simulated time.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xoff import bench

ROOT = Path(__file__).parent.parent
SCENARIO = "fat_tree_1024_hpcc"
"""What every row is made of by settings, as `xoff bench` takes it."""


@dataclass(frozen=True)
class Table:
    """A table: its title, and what each of its rows changes in the scenario."""

    title: str
    rows: tuple[dict[str, str], ...]


def tables(share: float) -> list[Table]:
    """Every table; runs last `share` of their full duration."""

    def lasting(us: float) -> str:
        return f"{us * share:g}us"

    def grown(**one: tuple[str, ...]) -> tuple[dict[str, str], ...]:
        """One row a value of the key named, for HPCC."""
        ((key, values),) = one.items()
        key = {"k": "topology.k", "load": "traffic.0.load", "rate": "topology.rate"}[key]
        return tuple({"scheme.name": "hpcc", key: value} for value in values)

    schemes = ("hpcc", "dcqcn")
    return [
        Table(
            "Large networks",
            (
                *({"scheme.name": name, "topology.k": "16", "run.duration": lasting(1_000)} for name in schemes),
                *({"scheme.name": name, "topology.k": "16", "run.duration": lasting(10_000)} for name in schemes),
                *({"scheme.name": name, "topology.k": "32", "run.duration": lasting(100)} for name in schemes),
            ),
        ),
        Table("Hosts", tuple({**row, "run.duration": lasting(300)} for row in grown(k=("4", "8", "16", "32")))),
        Table(
            "Load",
            tuple(
                {**row, "topology.k": "8", "run.duration": lasting(2_000)} for row in grown(load=("0.3", "0.5", "0.8"))
            ),
        ),
        Table(
            "Link rate",
            tuple(
                {**row, "topology.k": "8", "run.duration": lasting(1_000)} for row in grown(rate=("100Gbps", "400Gbps"))
            ),
        ),
    ]


def markdown(results: list[dict[str, Any]], rows: tuple[dict[str, str], ...]) -> str:
    """The results as a Markdown table; the first columns are what the rows change."""
    keys = list(rows[0])
    names = [key.rpartition(".")[2].replace("name", "scheme") for key in keys]
    head = [*names, "hosts", "flows", "M packet-hops", "wall, s", "M packet-hops/s", "events/hop"]
    head += ["peak memory, MB", "B/host", "B/flow", "B/packet in flight", "start-up"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row, result in zip(rows, results, strict=True):
        cells = [row[key] for key in keys]
        cells += [f"{result['hosts']:,}", f"{result['flows']:,}", f"{result['packet_hops'] / 1e6:.2f}"]
        cells += [f"{result['process_s']:.2f}", f"{result['packet_hops_per_s'] / 1e6:.2f}"]
        cells += [f"{result['events_per_hop']:.2f}", f"{result['peak_rss_bytes'] / 1e6:.0f}"]
        cells += [f"{result[key]:,.0f}" for key in ("bytes_per_host", "bytes_per_flow", "bytes_per_packet")]
        cells.append(f"{result['setup_s'] / result['process_s']:.1%}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    """Measure, and print as the tables become ready."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each row, in turn; medians are given (3)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulated time")
    given = parser.parse_args()
    commit = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    print(f"{processor()}, Python {platform.python_version()}, commit {commit.stdout.strip() or 'unknown'}", flush=True)
    for table in tables(0.1 if given.quick else 1.0):
        found = [bench.find([SCENARIO], list(row.items()))[0] for row in table.rows]
        results = bench.measure(found, repeat=given.repeat, progress=lambda text: print(text, file=sys.stderr))
        print(f"\n### {table.title}\n\n{markdown(results, table.rows)}", flush=True)


if __name__ == "__main__":
    main()
