"""How long large schedules and traces take to load, and how much memory.

`python benches/closed_loops.py 1000000` writes a GOAL schedule and a Chakra trace of a million operations, loads each
as a run does, and prints a table. A row is a process of its own; its memory is the peak of that process without what
one takes that loads 1,000 operations.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent

SCENARIO = """
topology = {{ name = "star", hosts = {ranks}, rate = "400Gbps", delay = "1us" }}
scheme = {{ name = "none" }}
traffic = [{{ pattern = "{pattern}", {name} }}]
run = {{ duration = "1us" }}
"""

LOAD = """
import json, resource, sys, time
import xoff
from xoff.runs.scenario import read
begin = time.perf_counter()
scenario = read(sys.argv[1])
prepared = scenario.prepare()
loaded = time.perf_counter() - begin
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
ran = 0.0
if sys.argv[2] == "run":
    begin = time.perf_counter()
    prepared.run(1, None)
    ran = time.perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([loaded, ran, memory]))
"""


def goal(file: Path, ranks: int, operations: int) -> None:
    """A ring in which each rank sends, receives and computes in turn."""
    with file.open("w", encoding="utf-8") as out:
        out.write(f"num_ranks {ranks}\n")
        for rank in range(ranks):
            out.write(f"rank {rank} {{\n")
            for step in range(max(operations // (3 * ranks), 1)):
                tag, first = step % 100, 3 * step
                out.write(f"l{first + 1}: send 4096b to {(rank + 1) % ranks} tag {tag}\n")
                out.write(f"l{first + 2}: recv 4096b from {(rank - 1) % ranks} tag {tag}\n")
                out.write(f"l{first + 3}: calc 1000\nl{first + 3} requires l{first + 2}\n")
                if step:
                    out.write(f"l{first + 1} requires l{first}\n")
            out.write("}\n")


def chakra(folder: Path, ranks: int, operations: int) -> None:
    """Chains of computations, of which each tenth is followed by a message around the ring."""
    spec = importlib.util.spec_from_file_location("make_traces", ROOT / "scenarios" / "chakra" / "make_traces.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for rank in range(ranks):
        module.write(folder / f"t.{rank}.et", module.chain(rank, ranks, operations // ranks))


def measured(pattern: str, ranks: int, operations: int, how: str) -> tuple[float, float, int]:
    """Seconds to load, seconds to run, and peak memory in bytes."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if pattern == "goal":
            goal(folder / "t.goal", ranks, operations)
        else:
            chakra(folder, ranks, operations)
        name = 'file = "t.goal"' if pattern == "goal" else 'trace = "t", eager = "1MB"'
        file = folder / "t.toml"
        file.write_text(SCENARIO.format(ranks=ranks, pattern=pattern, name=name), encoding="utf-8")
        done = subprocess.run([sys.executable, "-c", LOAD, file, how], capture_output=True, text=True, check=True)
        loaded, ran, memory = json.loads(done.stdout)
        return loaded, ran, memory


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operations", type=int, help="number of operations")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--load-only", action="store_true", help="load, and do not run")
    given = parser.parse_args()
    print("| input | load (s) | run's start (s) | memory (B an operation) |")
    print("| --- | --- | --- | --- |")
    for pattern in ("goal", "chakra"):
        for how in ("load",) if given.load_only else ("load", "run"):
            base = measured(pattern, given.ranks, 1000, how)[2]
            begin = time.perf_counter()
            loaded, ran, memory = measured(pattern, given.ranks, given.operations, how)
            each = (memory - base) / given.operations
            print(f"| {pattern}, {how} | {loaded:.1f} | {ran:.1f} | {each:.0f} |", flush=True)
            print(f"({time.perf_counter() - begin:.0f} s with writing the input)", file=sys.stderr)


if __name__ == "__main__":
    main()
