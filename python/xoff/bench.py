"""Fixed scenarios, measured: packet-hops a second, events, wall time, peak memory.

Each run has a fresh process of its own, so that its peak memory is its own. `packet_hops_per_s` counts packets of
any kind received at any node over the wall time of the run; `process_s` adds starting Python, reading the
scenario and building the network.
"""

from __future__ import annotations

import importlib.resources
import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xoff.errors import RunError, UserError, nearest

if TYPE_CHECKING:
    from rich.console import RenderableType

Result = dict[str, Any]


def scenarios() -> dict[str, str]:
    """The scenarios' text by name."""
    folder = importlib.resources.files("xoff") / "data" / "bench"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return {file.name.removesuffix(".toml"): file.read_text("utf-8") for file in files}


def measure(names: Sequence[str] | None = None, *, threads: int | str = 1, repeat: int = 1) -> list[Result]:
    """Run the scenarios `names`, or all; the fastest of `repeat` runs of each.

    A result has `name`, `packet_hops`, `events`, `events_per_hop`, `wall_s`, `process_s`, `packet_hops_per_s`,
    `peak_rss_bytes`, `threads` and `fingerprint`.
    """
    known = scenarios()
    for name in names or ():
        if name not in known:
            there = "; there are " + ", ".join(known)
            raise UserError(f"no benchmark `{name}`{nearest(name, known) or there}")
    results = []
    for name in names or known:
        attempts = [_in_fresh_process(name, threads) for _ in range(repeat)]
        results.append(min(attempts, key=lambda result: result["wall_s"]))
    return results


def render(results: Sequence[Result]) -> RenderableType:
    """The results as a table."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("scenario", style="bold cyan", no_wrap=True)
    for column in (
        "M packet-hops/s",
        "packet-hops",
        "events",
        "events/hop",
        "wall s",
        "process s",
        "peak MB",
    ):
        table.add_column(column, justify="right")
    for result in results:
        table.add_row(
            result["name"],
            f"{result['packet_hops_per_s'] / 1e6:.2f}",
            f"{result['packet_hops']:,}",
            f"{result['events']:,}",
            f"{result['events_per_hop']:.3f}",
            f"{result['wall_s']:.3f}",
            f"{result['process_s']:.3f}",
            f"{result['peak_rss_bytes'] / 1e6:.0f}",
        )
    return table


def _in_fresh_process(name: str, threads: int | str) -> Result:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "xoff.bench", name, str(threads)], capture_output=True, text=True, check=False
    )
    elapsed = time.perf_counter() - start
    if done.returncode != 0:
        raise RunError(f"benchmark `{name}` failed: {done.stderr.strip()}")
    return {**json.loads(done.stdout), "process_s": elapsed}


def _measure_here(name: str, threads: str) -> Result:
    from xoff import _xoff
    from xoff.running import thread_count

    output = _xoff.run(scenarios()[name], f"{name}.toml", [], ".", None, thread_count(threads), None)
    manifest = json.loads(output.manifest)
    hops, wall_s = manifest["packet_hops"], manifest["wall_s"]
    # Linux counts in KiB, macOS in bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "name": name,
        "threads": manifest["threads"],
        "packet_hops": hops,
        "events": manifest["events"],
        "events_per_hop": manifest["events"] / hops if hops else 0.0,
        "wall_s": wall_s,
        "packet_hops_per_s": hops / wall_s if wall_s > 0 else 0.0,
        "peak_rss_bytes": peak,
        "fingerprint": manifest["fingerprint"],
    }


if __name__ == "__main__":
    json.dump(_measure_here(sys.argv[1], sys.argv[2]), sys.stdout)
