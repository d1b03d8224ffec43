"""Scenarios, measured: packet-hops a second, events, wall time, memory.

Each run has a fresh process of its own, from start to exit, on an otherwise idle machine. `repeat` runs of several
scenarios alternate, so that a machine that slows down for a while touches all of them, and each figure is the median
of its runs. Packet-hops are packets of any kind received at any node.
"""

from __future__ import annotations

import importlib.resources
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.errors import RunError, UserError, nearest
from xoff.runs.bench_worker import COUNTS, FIGURES
from xoff.runs.execution import thread_count
from xoff.runs.scenario import Override, Scenario, read
from xoff.text import shown

if TYPE_CHECKING:
    from rich.console import RenderableType

Result = dict[str, Any]

STARTUP = "startup"
"""The scenario that is measured as `xoff run`, with its results written."""

_CLOCKS = ("wall_s", "setup_s", "process_s")


@dataclass(frozen=True)
class Benchmark:
    """A scenario to measure."""

    name: str
    """What the results call it."""
    scenario: Scenario
    """What is run."""


def scenarios(*, large: bool = False) -> dict[str, str]:
    """The text of xoff's own scenarios by name; with the large ones if asked for."""
    folder = importlib.resources.files("xoff.runs") / "benchmarks"
    files = [file for place in (folder, folder / "large")[: 1 + large] for file in place.iterdir()]
    named = sorted((file for file in files if file.name.endswith(".toml")), key=lambda file: file.name)
    return {file.name.removesuffix(".toml"): file.read_text("utf-8") for file in named}


def find(names: Iterable[str] = (), overrides: Sequence[Override] = (), *, large: bool = False) -> list[Benchmark]:
    """The benchmarks `names`: xoff's own, or scenario files; without names all of xoff's own.

    `overrides` go on top of each, and become part of its name.
    """
    known, found = scenarios(large=True), []
    suffix = "".join(f" {key}={value}" for key, value in overrides)
    for name in list(names) or scenarios(large=large):
        if name in known:
            found.append(Benchmark(name + suffix, Scenario(known[name], f"{name}.toml", ".", list(overrides))))
        elif name.endswith(".toml"):
            found.append(Benchmark(Path(name).stem + suffix, read(name, overrides)))
        else:
            hint = nearest(name, known) or f"; there are {', '.join(known)}, and any scenario file (*.toml)"
            raise UserError(f"no benchmark `{name}`{hint}")
    for each, earlier in ((each, found[:index]) for index, each in enumerate(found)):
        if any(each.name == other.name for other in earlier):
            raise UserError(f"two benchmarks are called `{each.name}`; name each once")
    return found


def measure(
    benchmarks: Sequence[Benchmark],
    *,
    threads: int | str = 1,
    repeat: int = 1,
    progress: Callable[[str], None] | None = None,
) -> list[Result]:
    """Run `benchmarks` in turn, `repeat` times, on this many `threads` or `auto`; the median of each figure.

    A result has

    - `name`, `scenario` (the resolved one), `threads` (the number used), `repeat`, `fingerprint`,
    - counts: `packet_hops`, `events`, `events_per_hop`, `hosts`, `flows`, `most_packets_in_flight`,
    - wall times in s: `process_s` from the process's start to its exit, `wall_s` of the run within it, `setup_s` of
      reading the scenario and building network, routing and flows, of which the last is partly in `wall_s`,
    - `packet_hops_per_s` over `process_s`, and `run_packet_hops_per_s` over `wall_s`,
    - bytes: `peak_rss_bytes` of the process, `memory_bytes` that the run has added to its own memory, which
      on Linux does not have the pages of the program, and that over hosts, flows and `most_packets_in_flight` (at any
      whole microsecond) as `bytes_per_host`, `bytes_per_flow`, `bytes_per_packet`; `None` for start-up.

    `progress` gets the name of what runs next.

    Raises
    ------
    ScenarioError
        A scenario is wrong; found before anything is measured.
    UserError
        `threads` is not a number of threads, or a scenario has schemes in Python.
    RunError
        A run broke, or two runs of a scenario differ.
    """
    prepared = check(benchmarks)
    runs: list[list[Result]] = [[] for _ in benchmarks]
    for attempt in range(1, repeat + 1):
        for benchmark, its_runs in zip(benchmarks, runs, strict=True):
            if progress is not None:
                progress(f"{benchmark.name}, {attempt} of {repeat}")
            its_runs.append(_run(benchmark, threads))
    return [
        _result(benchmark, resolved, its_runs)
        for benchmark, resolved, its_runs in zip(benchmarks, prepared, runs, strict=True)
    ]


def _result(benchmark: Benchmark, resolved: dict[str, Any], runs: Sequence[Result]) -> Result:
    first = runs[0]
    if any(run["fingerprint"] != first["fingerprint"] for run in runs):
        raise RunError(f"benchmark `{benchmark.name}`: two runs differ: {[run['fingerprint'] for run in runs]}")

    def median(key: str) -> float | None:
        values = [run[key] for run in runs]
        return None if None in values else statistics.median(values)

    def ratio(above: float | None, below: float | None) -> float | None:
        return above / below if above is not None and below else None

    result: Result = {"name": benchmark.name, "repeat": len(runs)}
    result |= {key: first[key] for key in (*COUNTS, "threads", "fingerprint")}
    result |= {key: median(key) for key in (*_CLOCKS, "peak_rss_bytes", "memory_bytes")}
    hops, memory = result["packet_hops"], result["memory_bytes"]
    return result | {
        "events_per_hop": ratio(result["events"], hops),
        "packet_hops_per_s": ratio(hops, result["process_s"]),
        "run_packet_hops_per_s": ratio(hops, result["wall_s"]),
        "bytes_per_host": ratio(memory, result["hosts"]),
        "bytes_per_flow": ratio(memory, result["flows"]),
        "bytes_per_packet": ratio(memory, result["most_packets_in_flight"]),
        "scenario": resolved,
    }


def _run(benchmark: Benchmark, threads: int | str) -> Result:
    if benchmark.name.split()[0] == STARTUP:
        return _start_up(benchmark, threads)
    result, process_s = work(benchmark, threads=thread_count(threads))
    return {**result, "process_s": process_s}


def work(benchmark: Benchmark, **job: object) -> tuple[Result, float]:
    """What a worker process (see `bench_worker`) finds for a job, and its wall time in s."""
    scenario = benchmark.scenario
    told = {key: getattr(scenario, key) for key in ("text", "origin", "base_dir", "overrides")}
    command = [sys.executable, "-c", "from xoff.runs.bench_worker import main; main()"]
    printed, process_s = _process(benchmark, command, json.dumps(told | job))
    return json.loads(printed), process_s


def check(benchmarks: Sequence[Benchmark]) -> list[Result]:
    """Refuse what cannot be measured, before anything is. Returns the resolved scenarios."""
    for each in benchmarks:
        if each.scenario.schemes:
            raise UserError(f"benchmark `{each.name}`: schemes in Python are not measured; expected built-in ones")
    return [json.loads(each.scenario.prepare().resolved) for each in benchmarks]


def _start_up(benchmark: Benchmark, threads: int | str) -> Result:
    scenario = benchmark.scenario
    with tempfile.TemporaryDirectory(prefix="xoff-bench-") as folder:
        file = Path(folder) / scenario.origin
        file.write_text(scenario.text, encoding="utf-8")
        sets = [text for key, value in scenario.overrides for text in ("--set", f"{key}={value}")]
        command = [sys.executable, "-m", "xoff", "run", str(file), "-o", f"{folder}/out", "--threads", str(threads)]
        process_s = _process(benchmark, command + sets, "")[1]
        manifest = json.loads((Path(folder) / "out" / "manifest.json").read_text(encoding="utf-8"))
    result = {key: manifest[key] for key in FIGURES}
    return {**result, "process_s": process_s, "peak_rss_bytes": None, "memory_bytes": None}


def _process(benchmark: Benchmark, command: list[str], job: str) -> tuple[str, float]:
    """What a command prints and its wall time in s, from start to exit."""
    start = time.perf_counter()
    done = subprocess.run(command, input=job, capture_output=True, text=True, check=False)
    elapsed = time.perf_counter() - start
    if done.returncode != 0:
        raise RunError(f"benchmark `{benchmark.name}` failed: {done.stderr.strip()}")
    return done.stdout, elapsed


def earlier(path: str | os.PathLike[str], benchmarks: Sequence[Benchmark]) -> dict[str, Result]:
    """The results of `benchmarks` that an earlier `xoff bench --json` printed into the file `path`, by name.

    Raises
    ------
    UserError
        The file is not such a file, or has other scenarios.
    """
    try:
        results = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise UserError(f"{path}: not what `xoff bench --json` printed: it is not JSON") from None
    if not isinstance(results, list) or not results or not all(_is_result(result) for result in results):
        raise UserError(f"{path}: not what `xoff bench --json` printed: expected a list of results")
    held = {result["name"]: result for result in results}
    for benchmark in benchmarks:
        if benchmark.name not in held:
            raise UserError(
                f"{path}: no result of `{benchmark.name}`{nearest(benchmark.name, held)}; "
                f"it has {', '.join(held)}: name the scenarios to compare"
            )
        now, then = json.loads(benchmark.scenario.prepare().resolved), held[benchmark.name]["scenario"]
        if now != then:
            changed = [key for key in dict.fromkeys((*now, *then)) if now.get(key) != then.get(key)]
            raise UserError(
                f"{path}: `{benchmark.name}` was another scenario, with a different [{'], ['.join(changed)}]; "
                "expected the same one"
            )
    return held


def _is_result(result: object) -> bool:
    return (
        isinstance(result, dict)
        and isinstance(result.get("name"), str)
        and isinstance(result.get("scenario"), dict)
        and all(isinstance(result.get(key), int | float) for key in (*COUNTS, *_CLOCKS))
    )


RATIOS = ("packet_hops_per_s", "run_packet_hops_per_s", "process_s", "wall_s", "setup_s", "events", "memory_bytes")
"""The figures that are compared."""


def compare(results: Iterable[Result], before: dict[str, Result]) -> list[Result]:
    """The results, each with `ratios` to the earlier ones (see `RATIOS`), and whether they have the `same_events`."""
    compared = []
    for result in results:
        then = before[result["name"]]
        pairs = {key: (result[key], then.get(key)) for key in RATIOS}
        ratios = {key: now / was if now is not None and was else None for key, (now, was) in pairs.items()}
        same = result["fingerprint"] == then.get("fingerprint")
        compared.append({**result, "ratios": ratios, "same_events": same})
    return compared


def render(results: Sequence[Result]) -> RenderableType:
    """The results as a table, with ratios to earlier ones, if there are any."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("scenario", style="bold cyan")
    compared = any("ratios" in result for result in results)
    threaded = any(result["threads"] > 1 for result in results)
    columns = (
        "M hops/s",
        "M hops",
        "events/hop",
        "process s",
        "run s",
        "set-up s",
        "peak MB",
        "B/host",
        "B/flow",
        "B/packet",
    )
    for column in columns:
        table.add_column(column, justify="right")
    if threaded:
        table.add_column("threads", justify="right")
    if compared:
        for column in ("hops/s ratio", "memory ratio", "events"):
            table.add_column(column, justify="right")

    def number(value: float | None, form: str, scale: float = 1.0) -> str:
        return "" if value is None else format(value / scale, form)

    for result in results:
        row: list[RenderableType] = [
            Text(shown(result["name"])),
            number(result["packet_hops_per_s"], ".2f", 1e6),
            number(result["packet_hops"], ".2f", 1e6),
            number(result["events_per_hop"], ".3f"),
            number(result["process_s"], ".3f"),
            number(result["wall_s"], ".3f"),
            number(result["setup_s"], ".3f"),
            number(result["peak_rss_bytes"], ".0f", 1e6),
            number(result["bytes_per_host"], ",.0f"),
            number(result["bytes_per_flow"], ",.0f"),
            number(result["bytes_per_packet"], ",.0f"),
        ]
        if threaded:
            row.append(str(result["threads"]))
        if compared:
            ratios = result["ratios"]
            row += [number(ratios["packet_hops_per_s"], ".3f"), number(ratios["memory_bytes"], ".3f")]
            row.append("same" if result["same_events"] else "others")
        table.add_row(*row)
    return table
