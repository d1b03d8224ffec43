"""The command `xoff`.

Exit status: 0 for done, 2 for a user's mistake, 1 for a run that broke, 130 after Ctrl-C. What a command does not
need is not imported: a run starts at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xoff.cli.console import complain, progress_bar, status_line, summary_text
from xoff.text import count_text

try:
    from xoff.cli.formats import agreement, exporter, importer
    from xoff.errors import RunError, ScenarioError, UserError
except ImportError as error:
    # The native module is not there, or not of this version: there is no command yet that could say so.
    sys.exit(f"error: {error}")

if TYPE_CHECKING:
    from xoff.runs.executor import RunExecutor
    from xoff.runs.scenario import Scenario

MISTAKE, BROKEN, INTERRUPTED = 2, 1, 130
"""Exit statuses."""

app = typer.Typer(
    name="xoff",
    help="A packet-level simulator for congestion control in lossless networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(importer)
app.add_typer(exporter)
app.add_typer(agreement)

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file (TOML).")]
OutFolder = Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="The folder for the results.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the scenario; may be given several times."),
]
SchemeFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--scheme",
        metavar="FILE:CLASS",
        help="A scheme in Python, such as mine.py:Mine, for the scenario to run.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, metavar="N", help="Processes; as many as there are cores.")
]
ClusterAddress = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="A running Dask scheduler, such as tcp://10.0.0.1:8786."),
]
Force = Annotated[bool, typer.Option("--force", help="Write into a folder that holds other things.")]


def _version(wanted: bool) -> None:
    if wanted:
        from xoff import _xoff

        typer.echo(f"xoff {_xoff.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A packet-level simulator for congestion control in lossless networks."""


@app.command()
def run(
    scenario: ScenarioFile,
    out: OutFolder,
    sets: Settings = None,
    schemes: SchemeFiles = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**64 - 1, help="In place of the scenario's seed.")] = None,
    threads: Annotated[str, typer.Option(metavar="N|auto", help="Threads; the results do not depend on it.")] = "1",
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            "--pcap",
            metavar="PORT",
            help="The packets at this port in packets.pcapng, for Wireshark; several times, or switches, or all.",
        ),
    ] = None,
    snap_length: Annotated[
        int | None,
        typer.Option(
            "--snap-length", min=64, max=262144, metavar="BYTES", help="Of each packet there, up to so much; all."
        ),
    ] = None,
    perfetto: Annotated[bool, typer.Option("--perfetto", help="A trace.perfetto for ui.perfetto.dev.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no summary.")] = False,
    force: Force = False,
) -> None:
    """Run a scenario and write its results.

    Example: xoff run scenarios/fat_tree_websearch.toml -o out/fncc --set scheme.name=fncc --seed 1
    """
    from xoff.runs.captures import SNAP_LENGTH, Captures
    from xoff.runs.execution import execute
    from xoff.runs.folder import check_target
    from xoff.runs.results import Run
    from xoff.runs.summary import Summary

    workers = _threads(threads)
    if snap_length is not None and not pcap:
        raise UserError("--snap-length: expected --pcap as well, which writes packets")
    captures = Captures(pcap or (), perfetto, snap_length or SNAP_LENGTH)
    source = _read(scenario, sets, schemes)
    check_target(out, force=force)
    prepared = captures.prepare(source, seed)
    _all_used(source, prepared.resolved)
    for warning in prepared.warnings:
        complain("warning", warning)
    try:
        with progress_bar(scenario.name, quiet=quiet) as progress:
            outcome = execute(prepared, threads=workers, progress=progress)
    except KeyboardInterrupt:
        # The second Ctrl-C. The run still goes on in its thread, and Python cannot end in peace while that calls it.
        complain("interrupted", "nothing was kept")
        os._exit(INTERRUPTED)
    result = Run.from_output(outcome.output)
    try:
        folder = result.write(out, force=force, captures=captures)
    except OSError as error:
        complain("error", f"{out}: the results could not be written: {error.strerror or error}")
        raise typer.Exit(BROKEN) from None
    if not quiet:
        typer.echo(summary_text(result, Summary.of_output(outcome.output)))
        typer.echo(f"{'results':<9} {folder}")
        for what, file in captures.files().items():
            typer.echo(f"{what:<9} {folder / file}")
    for warning in result.manifest.get("warnings", []):
        if warning not in prepared.warnings:
            complain("warning", warning)
    if not result.complete:
        kept = f"what was recorded until then is in {folder}, marked incomplete"
        if outcome.interrupted:
            complain("interrupted", kept)
            raise typer.Exit(INTERRUPTED)
        complain("error", f"{result.manifest['stop_reason']}; {kept}")
        raise typer.Exit(BROKEN)


@app.command()
def check(
    scenario: ScenarioFile,
    sets: Settings = None,
    schemes: SchemeFiles = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the resolved scenario, with every default.")] = False,
) -> None:
    """Validate a scenario without running it.

    Example: xoff check scenarios/fat_tree_websearch.toml --set scheme.name=hpcc
    """
    source = _read(scenario, sets, schemes)
    resolved, warnings = source.check()
    _all_used(source, json.dumps(resolved))
    for warning in warnings:
        complain("warning", warning)
    if as_json:
        typer.echo(json.dumps(resolved, indent=2))
    else:
        typer.echo(f"{scenario}: a valid scenario")


@app.command()
def sweep(
    scenario: ScenarioFile,
    out: OutFolder,
    sets: Settings = None,
    schemes: SchemeFiles = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no summary.")] = False,
) -> None:
    """Make every run of a scenario's table `sweep`; given again, only those that are not there.

    Example: xoff sweep scenarios/sweep_pfc.toml -o out/sweep
    """
    from xoff.studies.sweep import sweep as make_runs

    source = _read(scenario, sets, schemes)
    with _resumable(out):
        swept = make_runs(source, out, _executor(workers, cluster), say=_failed, quiet=quiet)
    if not quiet:
        there = len(swept.runs) - swept.made - len(swept.failed)
        parts = [count_text(swept.made, "run") + " made"]
        parts += [f"{there:,} there already"] if there else []
        parts += [f"{len(swept.failed):,} failed"] if swept.failed else []
        typer.echo(f"{'sweep':<9} {', '.join(parts)}")
        typer.echo(f"{'results':<9} {out}")
    if swept.failed:
        raise typer.Exit(BROKEN)


@app.command()
def tune(
    scenario: ScenarioFile,
    out: OutFolder,
    sets: Settings = None,
    schemes: SchemeFiles = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Search for the values of a scenario's table `tune`; given again, it goes on where it was.

    Example: xoff tune scenarios/tune_dcqcn.toml -o out/tune
    """
    from xoff.studies.tune import tune as search
    from xoff.studies.tune.show import best_text

    source = _read(scenario, sets, schemes)
    with _resumable(out):
        tuned = search(source, out, _executor(workers, cluster), say=_failed, quiet=quiet)
    typer.echo(best_text(tuned))
    typer.echo(f"{'results':<9} {out}")
    if not tuned.best:
        raise typer.Exit(BROKEN)


@app.command()
def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of runs, or one of a sweep.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="The page; report.html beside the runs."),
    ] = None,
) -> None:
    """Write one self-contained HTML page with interactive plots, from one run, several side by side, or a sweep.

    Example: xoff report out/fncc out/hpcc out/dcqcn -o out/report.html
    """
    from xoff.report.page import default_page, find_runs, write_report
    from xoff.runs.index import is_sweep

    if any(is_sweep(folder) for folder in folders):
        from xoff.studies.sweep.page import write_sweep_report

        if len(folders) > 1:
            raise UserError("a sweep has a page of its own: expected one folder, or folders of single runs")
        typer.echo(write_sweep_report(folders[0], out or folders[0] / "report.html"))
        return
    runs = find_runs(folders)
    typer.echo(write_report(runs, out or default_page(runs)))


@app.command()
def explain(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of runs, or of sweeps.")],
    flows: Annotated[int, typer.Option(min=0, metavar="N", help="How many of the worst flows to show.")] = 5,
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
    told = [diagnose(run, flows=flows) for run in find_runs(places)]
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in told], indent=2, ensure_ascii=False))
    else:
        typer.echo("\n\n\n".join(explanation_text(each) for each in told))


@app.command()
def reproduce(
    claim: Annotated[str, typer.Argument(metavar="PAPER[/CLAIM]", help="A paper, or one claim of it.")],
    out: OutFolder,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller runs: minutes instead of hours.")] = False,
) -> None:
    """Re-run a paper's experiments and compare with what it claims.

    Example: xoff reproduce fncc -o out/fncc --quick
    """
    from xoff.papers.registry import run as rerun

    raise typer.Exit(rerun(claim, out, quick))


@app.command()
def compare(
    out: OutFolder,
    schemes: Annotated[
        str | None,
        typer.Option(
            "--schemes",
            metavar="A,B",
            help="Only these; SCHEME+DETECTOR~THROTTLE/FLOW_CONTROL has others than its own.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs.")] = False,
) -> None:
    """Run every scheme on the same scenarios: a table and a page of who is best at what.

    Example: xoff compare -o out/survey --quick --schemes hpcc,dcqcn,fncc
    """
    from xoff.studies.compare import compare as survey

    raise typer.Exit(survey(out, schemes, quick=quick))


Name = Annotated[str | None, typer.Argument(help="Only this one, with its parameters.")]


@app.command()
def schemes(name: Name = None, as_json: AsJson = False) -> None:
    """List congestion-control schemes, or show one with parameters, defaults, units and source.

    Example: xoff schemes hpcc
    """
    _show("schemes", name, as_json)


@app.command()
def topologies(name: Name = None, as_json: AsJson = False) -> None:
    """List topologies, or show one with parameters, defaults, units and source.

    Example: xoff topologies fat_tree
    """
    _show("topologies", name, as_json)


@app.command()
def workloads(name: Name = None, as_json: AsJson = False) -> None:
    """List flow-size distributions, or show one with its points and source.

    Example: xoff workloads websearch
    """
    _show("workloads", name, as_json)


@app.command()
def schema(
    keys: Annotated[bool, typer.Option("--keys", help="Every key with type, default and meaning instead.")] = False,
) -> None:
    """Print the JSON schema of a scenario, for editors and other programs.

    Example: xoff schema > scenario.schema.json
    """
    from xoff import _xoff

    typer.echo(json.dumps(json.loads(_xoff.keys() if keys else _xoff.schema()), indent=2, ensure_ascii=False))


@app.command()
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these; a scenario file (*.toml) also is one.")
    ] = None,
    sets: Settings = None,
    large: Annotated[bool, typer.Option("--large", help="The fat-trees of 1,024 hosts as well.")] = False,
    against: Annotated[
        Path | None, typer.Option("--compare", metavar="FILE", help="Ratios to what --json printed earlier.")
    ] = None,
    threads: Annotated[str, typer.Option(metavar="N|auto", help="Threads of each run.")] = "1",
    repeat: Annotated[int, typer.Option(min=1, help="Runs of each scenario, in turn; medians are given.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Measure fixed scenarios, each run in a fresh process: packet-hops a second, events, memory.

    Example: xoff bench --json
    """
    from xoff.runs.bench import compare, earlier, find, measure, render
    from xoff.runs.scenario import overrides_of

    benchmarks, workers = find(names or (), overrides_of(sets or []), large=large), _threads(threads)
    before = None if against is None else earlier(against, benchmarks)
    with status_line() as show:
        results = measure(benchmarks, threads=workers, repeat=repeat, progress=show)
    if before is not None:
        results = compare(results, before)
    if as_json:
        typer.echo(json.dumps(results, indent=2))
    else:
        _print(render(results))


def _read(scenario: Path, sets: list[str] | None, schemes: list[str] | None) -> Scenario:
    from xoff.runs.scenario import overrides_of, read

    overrides = overrides_of(sets or [])
    if not schemes:
        return read(scenario, overrides)
    from xoff.scheme.load import read_specs

    return read(scenario, overrides, read_specs(schemes))


def _all_used(scenario: Scenario, resolved: str) -> None:
    """Refuse a scheme that is given and not run."""
    name = json.loads(resolved)["scheme"]["name"] if scenario.schemes else ""
    for scheme in scenario.schemes:
        if scheme.name != name:
            raise UserError(f"--scheme: `{scheme.name}` is given, and the scenario runs `{name}`: expected one of them")


@contextmanager
def _resumable(out: Path) -> Iterator[None]:
    """Ends a command on Ctrl-C that goes on from `out` where it is given again."""
    try:
        yield
    except KeyboardInterrupt:
        complain("interrupted", f"what is finished is in {out}; give the command again to go on")
        raise typer.Exit(INTERRUPTED) from None


def _failed(what: str) -> None:
    complain("failed", what)


def _executor(workers: int | None, cluster: str | None) -> RunExecutor:
    from xoff.runs.executor import Cluster, Local

    if cluster is None:
        return Local(workers)
    if workers is not None:
        raise UserError("--workers and --cluster: expected one of them; a cluster has its own workers")
    return Cluster(cluster, say=lambda what: complain("cluster", what))


def _show(plural: str, name: str | None, as_json: bool) -> None:
    from xoff.cli.catalogue import detail, listing
    from xoff.runs.catalogue import catalogue, entry

    if as_json:
        shown = catalogue()[plural] if name is None else entry(plural, name)
        typer.echo(json.dumps(shown, indent=2, ensure_ascii=False))
    elif name is None:
        _print(listing(plural))
    else:
        _print(detail(plural, name))


def _print(table: object) -> None:
    from rich.console import Console

    # A pipe has no width: lines then are as long as a wide terminal's.
    Console(width=None if sys.stdout.isatty() else 140, highlight=False).print(table)


def _threads(text: str) -> str:
    from xoff.runs.execution import thread_count

    try:
        thread_count(text)
    except UserError as error:
        raise UserError(f"--{error}") from None
    return text


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    try:
        app(args=arguments)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0 if done.code is None else BROKEN
    except (UserError, ScenarioError) as error:
        complain("error", str(error))
        return MISTAKE
    except RunError as error:
        if error.__cause__ is not None:
            # Of a scheme in Python.
            import traceback

            traceback.print_exception(error.__cause__)
        complain("error", str(error))
        return BROKEN
    return 0
