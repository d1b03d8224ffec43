"""The tables of docs/performance.md, as Markdown: the fixed scenarios, and how cost grows.

    python benches/scale.py [--repeat N] [--quick | --long] [--write docs/performance.md]

Takes some minutes on an idle core; `--quick` measures a tenth of the simulated time, `--long` also 10 ms of 1,024
hosts.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from page import MeasuredPage

from xoff.runs import bench

ROOT = Path(__file__).parent.parent

SCENARIO = "fat_tree_1024_hpcc"
"""What every row is made of by settings, as `xoff bench` takes it."""


@dataclass(frozen=True)
class Table:
    """A table: its title, and what each of its rows changes in the scenario."""

    title: str
    rows: tuple[dict[str, str], ...]


SCHEMES = ("hpcc", "dcqcn")


def tables(share: float, *, long: bool) -> list[Table]:
    """Every table; runs last `share` of their full duration."""

    def rows(key: str, values: Sequence[str], us: float, **fixed: str) -> tuple[dict[str, str], ...]:
        """One row for each value of `key`, lasting `us` microseconds."""
        always = {key.replace("__", "."): value for key, value in fixed.items()}
        return tuple({key: value, **always, "run.duration": f"{us * share:g}us"} for value in values)

    large = rows("scheme.name", SCHEMES, 1_000, topology__k="16")
    if long:
        large += rows("scheme.name", SCHEMES, 10_000, topology__k="16")
    large += rows("scheme.name", SCHEMES, 100, topology__k="32")
    return [
        Table("Large networks", large),
        Table("Hosts", rows("topology.k", ("4", "8", "16", "32"), 300)),
        Table("Load", rows("traffic.0.load", ("0.3", "0.5", "0.8"), 2_000, topology__k="8")),
        Table("Link rate", rows("topology.rate", ("100Gbps", "400Gbps"), 1_000, topology__k="8")),
    ]


def markdown(results: list[dict[str, Any]], rows: Sequence[dict[str, str]]) -> str:
    """The results as a Markdown table; the first columns are what the rows say."""
    keys = list(rows[0])
    names = [key.rpartition(".")[2].replace("name", "scheme") for key in keys]
    head = [*names, "hosts", "flows", "M packet-hops", "wall, s", "M packet-hops/s", "events/hop"]
    head += ["peak memory, MB", "B/host", "B/flow", "B/packet in flight", "start-up"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row, result in zip(rows, results, strict=True):
        cells = [row[key] for key in keys]
        cells += [f"{result['hosts']:,}", f"{result['flows']:,}", f"{result['packet_hops'] / 1e6:.2f}"]
        cells += [f"{result['process_s']:.2f}", f"{result['packet_hops_per_s'] / 1e6:.2f}"]
        cells += [f"{result['events_per_hop']:.2f}"]
        peak = result["peak_rss_bytes"]
        cells.append("" if peak is None else f"{peak / 1e6:.0f}")
        each = [result[key] for key in ("bytes_per_host", "bytes_per_flow", "bytes_per_packet")]
        cells += ["" if value is None else f"{value:,.0f}" for value in each]
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
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="a tenth of the simulated time")
    extent.add_argument("--long", action="store_true", help="10 ms of 1,024 hosts as well")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this page")
    given = parser.parse_args()
    try:
        page = MeasuredPage(given.write) if given.write else None
    except (OSError, ValueError) as error:
        parser.error(str(error))

    def measure(title: str, found: list[bench.Benchmark], rows: Sequence[dict[str, str]]) -> str:
        results = bench.measure(found, repeat=given.repeat, progress=lambda text: print(text, file=sys.stderr))
        return f"\n### {title}\n\n{markdown(results, rows)}\n"

    git = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
    text = f"On one core of {processor()}, with Python {platform.python_version()}, at commit {commit}; "
    text += "one run of each.\n" if given.repeat == 1 else f"medians of {given.repeat} runs.\n"
    fixed = bench.find()
    text += measure("Fixed scenarios", fixed, [{"scenario": each.name} for each in fixed])
    for table in tables(0.1 if given.quick else 1.0, long=given.long):
        found = [bench.find([SCENARIO], list(row.items()))[0] for row in table.rows]
        text += measure(table.title, found, table.rows)
    print(text)
    if page:
        page.write(text)


if __name__ == "__main__":
    main()
