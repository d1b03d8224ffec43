"""The commands of single runs: `xoff run`, `xoff check`, `xoff bench`, and what is made of their results."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xoff.cli.console import complain, echo, progress_bar, status_line, summary_text
from xoff.cli.options import (
    BROKEN,
    INTERRUPTED,
    AsJson,
    Force,
    OutFolder,
    ScenarioFile,
    SchemeFiles,
    Settings,
    print_table,
    read_scenario,
    refuse_unused,
    thread_text,
)
from xoff.errors import UserError

if TYPE_CHECKING:
    from xoff.analysis.failures import Costs
    from xoff.report.explore.live import Live
    from xoff.runs.bench import Benchmark


def run(
    scenario: ScenarioFile,
    out: OutFolder,
    sets: Settings = None,
    schemes: SchemeFiles = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**64 - 1, help="Seed, in place of the scenario's.")] = None,
    threads: Annotated[
        str,
        typer.Option(
            metavar="N|auto",
            help="Number of threads; the results do not depend on it. auto: as many as make the run fastest.",
        ),
    ] = "auto",
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            "--pcap",
            metavar="PORT",
            help="Write packets at this port to packets.pcapng for Wireshark; repeatable; or: switches, all.",
        ),
    ] = None,
    snap_length: Annotated[
        int | None,
        typer.Option(
            "--snap-length",
            min=64,
            max=262144,
            metavar="BYTES",
            help="Maximum bytes of each packet in the capture; default: all.",
        ),
    ] = None,
    perfetto: Annotated[bool, typer.Option("--perfetto", help="Write trace.perfetto for ui.perfetto.dev.")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Serve a page of the run on this machine, which grows as the run goes on.")
    ] = False,
    live_port: Annotated[
        int | None,
        typer.Option("--live-port", min=1, max=65535, metavar="PORT", help="Its port; default: any that is free."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no summary.")] = False,
    force: Force = False,
) -> None:
    """Run a scenario and write its results.

    Example: xoff run scenarios/fat_tree_websearch.toml -o out/fncc --set scheme.name=fncc --seed 1
    """
    from xoff.runs.captures import SNAP_LENGTH, Captures
    from xoff.runs.execution import execute
    from xoff.runs.folder import ResultFolder, check_target, holds_run
    from xoff.runs.manifest import deadlock_of
    from xoff.runs.results import Run
    from xoff.runs.signals import held
    from xoff.runs.summary import Summary

    workers = thread_text(threads)
    if live_port is not None and not live:
        raise UserError("--live-port: expected --live as well, which serves a page")
    if snap_length is not None and not pcap:
        raise UserError("--snap-length: expected --pcap as well, which writes packets")
    captures = Captures(pcap or (), perfetto, snap_length or SNAP_LENGTH)
    source = read_scenario(scenario, sets, schemes)
    check_target(out, force=force)
    prepared = captures.prepare(source, seed)
    refuse_unused(source, prepared.resolved)
    for warning in prepared.warnings:
        complain("warning", warning)
    watch = _watch(prepared.resolved, scenario, live_port) if live else nullcontext()
    # Partitions on several threads would each have its own records.
    workers = "1" if live and workers == "auto" else workers
    with ResultFolder(out, force=force) as place, watch as page:
        if holds_run(out) and not quiet:
            complain("note", f"{out}: holds an earlier run, which this one replaces when it has ended")
        try:
            with progress_bar(scenario.name, quiet=quiet) as progress:
                outcome = execute(prepared, threads=workers, progress=progress, look=page.look if page else None)
        except KeyboardInterrupt:
            # The second Ctrl-C. The run still goes on in its thread, and Python cannot exit normally meanwhile.
            with held():
                place.close()
                complain("interrupted", "nothing was kept")
                os._exit(INTERRUPTED)
        result = Run.from_output(outcome.output)
        try:
            with held() as late:
                folder = result.write_into(place, captures)
        except OSError as error:
            complain("error", f"{out}: the results could not be written: {error.strerror or error}")
            raise typer.Exit(BROKEN) from None
        if page:
            page.ended(str(folder))
    if not quiet:
        echo(summary_text(result, Summary.of(result.manifest)))
        echo(f"{'results':<9} {folder}")
        for what, file in captures.files().items():
            echo(f"{what:<9} {folder / file}")
    for warning in result.manifest.get("warnings", []):
        if warning not in prepared.warnings:
            complain("warning", warning)
    if stuck := deadlock_of(result.manifest):
        complain("error", f"{stuck}; the results are in {folder}")
        raise typer.Exit(BROKEN)
    if (ports := result.manifest.get("deadlock")) and not quiet:
        echo(f"{'deadlock':<9} as expected: {', '.join(ports)}")
    if not result.complete:
        kept = f"what was recorded until then is in {folder}, marked incomplete"
        if outcome.interrupted:
            complain("interrupted", kept)
            raise typer.Exit(INTERRUPTED)
        complain("error", f"{result.manifest['stop_reason']}; {kept}")
        raise typer.Exit(BROKEN)
    if late or outcome.interrupted:
        complain("interrupted", f"the run had ended; its results are in {folder}")
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _watch(resolved: str, scenario: Path, port: int | None) -> Iterator[Live]:
    """Serve a page of the run, and say where."""
    from xoff import _xoff
    from xoff.report.explore.live import watched

    live = watched(resolved, scenario.stem, _xoff.__version__)
    with ExitStack() as stack:
        try:
            address = stack.enter_context(live.served(port or 0))
        except OSError as error:
            raise UserError(f"--live-port {port}: the page cannot be served: {error.strerror or error}") from None
        complain("live", address)
        yield live


def check(
    scenario: ScenarioFile,
    sets: Settings = None,
    schemes: SchemeFiles = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the resolved scenario, with every default.")] = False,
) -> None:
    """Validate a scenario without running it.

    Example: xoff check scenarios/fat_tree_websearch.toml --set scheme.name=hpcc
    """
    source = read_scenario(scenario, sets, schemes)
    resolved, warnings = source.check()
    refuse_unused(source, json.dumps(resolved))
    for warning in warnings:
        complain("warning", warning)
    if as_json:
        echo(json.dumps(resolved, indent=2))
    else:
        echo(f"{scenario}: a valid scenario")


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of runs, or one of a sweep.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="The page; default: report.html beside the runs."),
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option("--baseline", metavar="KEY=VALUE", help="Of a sweep: what the others are compared with first."),
    ] = None,
) -> None:
    """Write one self-contained HTML page with interactive plots: of one run, several, a sweep, or a tuning.

    Example: xoff report out/fncc out/hpcc out/dcqcn -o out/report.html
    """
    from xoff.report.page import default_page, find_runs, write_report
    from xoff.runs.index import is_sweep

    if any(is_sweep(folder) for folder in folders):
        from xoff.studies.sweep.page import write_sweep_report
        from xoff.studies.tune.outcome import is_tuning
        from xoff.studies.tune.page import write_tune_report

        if len(folders) > 1:
            raise UserError("a sweep has a page of its own: expected one folder, or folders of single runs")
        target = out or folders[0] / "report.html"
        if not is_tuning(folders[0]):
            echo(write_sweep_report(folders[0], target, baseline or ()))
            return
        if baseline:
            raise UserError("--baseline: a tuning's baseline is the scenario with its own settings; expected a sweep")
        echo(write_tune_report(folders[0], target))
        return
    if baseline:
        raise UserError("--baseline: expected the folder of a sweep; single runs have no seeds to pair")
    runs = find_runs(folders)
    echo(write_report(runs, out or default_page(runs)))


def explore(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN [RUN2]", help="A run's folder, or two to compare.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="The page; default: explore.html beside the runs."),
    ] = None,
) -> None:
    """Write one self-contained HTML page to explore a run, or the difference of two: search, brush, timelines, export.

    Example: xoff explore out/hpcc out/dcqcn -o out/explore.html
    """
    from xoff.report.explore.page import write_explorer
    from xoff.report.page import default_page, find_runs

    runs = find_runs(folders)
    echo(write_explorer(runs, out or default_page(runs).with_name("explore.html")))


def explain(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of runs, or of sweeps.")],
    flows: Annotated[int, typer.Option(min=0, metavar="N", help="How many of the worst flows to show.")] = 5,
    without_events: Annotated[
        bool,
        typer.Option(
            "--without-events", help="Run the scenario again without its events, for what they cost each flow."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong with a run: congestion, PAUSE, victims, settings, and where the worst flows' time went.

    Example: xoff explain out/incast
    """
    from dataclasses import asdict

    from xoff.analysis.explain import explain as diagnose
    from xoff.analysis.explain.text import explanation_text
    from xoff.report.page import find_runs
    from xoff.runs.index import is_sweep

    places = [folder / "runs" if is_sweep(folder) else folder for folder in folders]
    runs = find_runs(places)
    told = [diagnose(run, flows=flows) for run in runs]
    costs: list[Costs | None] = [None for _ in runs]
    if without_events:
        from xoff.analysis.failures import costs_of_events

        costs = [costs_of_events(run, flows) for run in runs]
    if as_json:
        found = [
            asdict(each) | ({} if cost is None else {"cost_of_events": cost.rows})
            for each, cost in zip(told, costs, strict=True)
        ]
        echo(json.dumps(found, indent=2))
    else:
        texts = [
            explanation_text(each) + ("" if cost is None else f"\n\n{cost.text}")
            for each, cost in zip(told, costs, strict=True)
        ]
        echo("\n\n\n".join(texts))


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these benchmarks, or scenario files (*.toml).")
    ] = None,
    sets: Settings = None,
    large: Annotated[bool, typer.Option("--large", help="Include the fat-trees of 1,024 hosts.")] = False,
    against: Annotated[
        Path | None, typer.Option("--compare", metavar="FILE", help="Print ratios to earlier output of --json.")
    ] = None,
    threads: Annotated[
        str | None, typer.Option(metavar="N|auto", help="Threads of each run; 1 by default.", show_default=False)
    ] = None,
    repeat: Annotated[
        int | None,
        typer.Option(
            min=1, help="Runs of each scenario, in turn; results are medians. 3 by default.", show_default=False
        ),
    ] = None,
    critical_path: Annotated[
        bool,
        typer.Option("--parallelism", help="Print how much faster each run can be on 2 to 64 threads, at best."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure fixed scenarios, each run in a fresh process: packet-hops a second, events, memory.

    Example: xoff bench --json
    """
    from xoff.runs.bench import compare, earlier, find, measure, render
    from xoff.runs.scenario import overrides_of

    benchmarks = find(names or (), overrides_of(sets or []), large=large)
    if critical_path:
        given = {"--compare": against, "--threads": threads, "--repeat": repeat}
        _parallelism(benchmarks, [option for option, value in given.items() if value is not None], as_json=as_json)
        return
    workers = thread_text("1" if threads is None else threads)
    before = None if against is None else earlier(against, benchmarks)
    with status_line() as show:
        results = measure(benchmarks, threads=workers, repeat=3 if repeat is None else repeat, progress=show)
    if before is not None:
        results = compare(results, before)
    if as_json:
        echo(json.dumps(results, indent=2))
    else:
        print_table(render(results))


def _parallelism(benchmarks: Sequence[Benchmark], others: Sequence[str], *, as_json: bool) -> None:
    """Print the parallelism of `benchmarks`; `others` are the options that do not go with it."""
    from xoff.runs.parallelism import parallelism, render

    if others:
        raise UserError(
            f"{others[0]} does not go with --parallelism, which runs each scenario once for each number of threads"
        )
    with status_line() as show:
        results = parallelism(benchmarks, progress=show)
    if as_json:
        echo(json.dumps(results, indent=2))
    else:
        print_table(render(results))
