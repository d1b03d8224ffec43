"""The commands of many runs: `xoff sweep`, `xoff tune`, `xoff collective`, `xoff reproduce` and `xoff compare`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xoff.cli.console import complain, echo
from xoff.cli.options import (
    BROKEN,
    INTERRUPTED,
    AsJson,
    ClusterAddress,
    OutFolder,
    ScenarioFile,
    SchemeFiles,
    Settings,
    Workers,
    print_table,
    read_scenario,
)
from xoff.errors import UserError, extra, nearest
from xoff.text import count_text, shown

if TYPE_CHECKING:
    from xoff.runs.executor import RunExecutor
    from xoff.runs.scenario import Override


def sweep(
    scenario: ScenarioFile,
    out: OutFolder,
    sets: Settings = None,
    schemes: SchemeFiles = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option("--baseline", metavar="KEY=VALUE", help="The setting that the others are compared with."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no summary.")] = False,
) -> None:
    """Make every run of a scenario's table `sweep`; when repeated, only the missing ones.

    Example: xoff sweep scenarios/sweep_pfc.toml -o out/sweep
    """
    from xoff.studies.sweep import sweep as make_runs
    from xoff.studies.sweep.show import check_baseline, results_tables, runs_table

    source = read_scenario(scenario, sets, schemes)
    if baseline:
        check_baseline(baseline, source)
    with _resumable(out):
        swept = make_runs(source, out, _executor_of(workers, cluster), say=_say_failed, warn=_warn, quiet=quiet)
    if not quiet:
        there = len(swept.runs) - swept.made - len(swept.failed)
        parts = [count_text(swept.made, "run") + " made"]
        parts += [f"{there:,} there already"] if there else []
        parts += [f"{len(swept.failed):,} failed"] if swept.failed else []
        print_table(runs_table(out, swept.runs))
        for table in results_tables(out, baseline or ()):
            print_table(table)
        echo(f"{'sweep':<9} {', '.join(parts)}")
        echo(f"{'results':<9} {out}")
    for run in swept.runs:
        if stuck := swept.stuck.get(run.run):
            complain("error", f"{run.label}: {stuck}")
    if swept.failed or swept.stuck:
        raise typer.Exit(BROKEN)


def tune(
    scenario: ScenarioFile,
    out: OutFolder,
    sets: Settings = None,
    schemes: SchemeFiles = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Search for the values of a scenario's table `tune`; when repeated, it continues.

    Example: xoff tune scenarios/tune_dcqcn.toml -o out/tune
    """
    from xoff.studies.tune import tune as search
    from xoff.studies.tune.show import best_text

    source = read_scenario(scenario, sets, schemes)
    with _resumable(out):
        tuned = search(source, out, _executor_of(workers, cluster), say=_say_failed, warn=_warn, quiet=quiet)
    echo(best_text(tuned))
    echo(f"{'results':<9} {out}")
    if not tuned.best:
        raise typer.Exit(BROKEN)


def collective(
    scenario: ScenarioFile,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="NAME", help="The operation; default: all_reduce.")
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm", metavar="A,B", help="The algorithms to compare; default: the operation's first one."
        ),
    ] = None,
    smallest: Annotated[str, typer.Option("--min", metavar="SIZE", help="The smallest size.")] = "1MB",
    largest: Annotated[str, typer.Option("--max", metavar="SIZE", help="The largest size.")] = "64MB",
    factor: Annotated[
        float | None, typer.Option("--factor", metavar="F", help="From a size to the next one; default: 2.")
    ] = None,
    step: Annotated[
        str | None, typer.Option("--step", metavar="SIZE", help="Added to a size, in place of a factor.")
    ] = None,
    channels: Annotated[int | None, typer.Option("--channels", metavar="N", help="Parallel rings or trees.")] = None,
    chunk: Annotated[str | None, typer.Option("--chunk", metavar="SIZE", help="Maximum size of a message.")] = None,
    protocol: Annotated[
        str | None, typer.Option("--protocol", metavar="NAME", help="none, simple, ll or ll128.")
    ] = None,
    ranks_per_host: Annotated[
        int | None, typer.Option("--ranks-per-host", metavar="N", help="Ranks on each host.")
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option("--repetitions", "-n", metavar="N", help="Operations that the time is a mean of; default: 1."),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="KEY=A,B", help="Compare values of a key, such as scheme.name=hpcc,dcqcn."),
    ] = None,
    element: Annotated[
        str, typer.Option("--type", metavar="NAME", help="Type of the elements, for their count.")
    ] = "float",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="DIR", help="Keep the runs in this folder, and go on there.")
    ] = None,
    sets: Settings = None,
    schemes: SchemeFiles = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Run a collective operation over a range of sizes and print nccl-tests' columns beside the ideal.

    The operation runs on the scenario's network, in place of its traffic; a scenario with a pattern `collective`
    keeps all its traffic, and that pattern is measured.

    Example: xoff collective scenarios/collective.toml --algorithm ring,halving_doubling --max 8MB
    Example: xoff collective scenarios/collective.toml --kind all_to_all --vary scheme.name=hpcc,dcqcn --max 4MB
    """
    from xoff.studies.collective import Request, measure_all, plan
    from xoff.studies.collective.measure import TYPE_BYTES
    from xoff.studies.collective.show import csv_text, json_text, table

    if as_json and as_csv:
        raise UserError("--json and --csv: expected one of them")
    if element not in TYPE_BYTES:
        raise UserError(
            f"--type {shown(element)}: unknown; expected one of {', '.join(TYPE_BYTES)}{nearest(element, TYPE_BYTES)}"
        )
    numbers = {"channels": channels, "ranks_per_host": ranks_per_host, "repetitions": repetitions}
    keys: list[Override] = [(key, str(number)) for key, number in numbers.items() if number is not None]
    keys += [(key, text) for key, text in (("chunk", chunk), ("protocol", protocol)) if text is not None]
    request = Request(
        kind=kind,
        algorithms=tuple(name for text in algorithm or () for name in text.split(",") if name),
        smallest=smallest,
        largest=largest,
        factor=factor,
        step=step,
        keys=tuple(keys),
        vary=tuple(vary or ()),
    )
    planned = plan(read_scenario(scenario, sets, schemes), request)
    executor = _executor_of(workers, cluster)
    with ExitStack() as stack:
        if out is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="xoff-collective-"))) / "runs"
        else:
            folder = out
            stack.enter_context(_resumable(out))
        results = measure_all(planned, folder, executor, element, origin=str(scenario), warn=_warn, quiet=quiet)
    if as_json:
        echo(json_text(results))
    elif as_csv:
        echo(csv_text(results))
    else:
        if results.rows:
            print_table(table(results, planned.kind))
        if planned.replaced:
            echo(
                f"{'traffic':<9} the collective alone, without the scenario's {count_text(planned.replaced, 'pattern')}"
            )
        if out is not None:
            echo(f"{'results':<9} {out}")
    for label, why in results.failed.items():
        complain("failed", f"{label}: {why}")
    if results.failed:
        raise typer.Exit(BROKEN)


def reproduce(
    claim: Annotated[str, typer.Argument(metavar="PAPER[/CLAIM]", help="A paper, or one claim of it.")],
    out: OutFolder,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller runs: minutes instead of hours.")] = False,
    reading: Annotated[
        list[str] | None,
        typer.Option("--reading", metavar="CHOICE=ALTERNATIVE", help="Read what the paper leaves open otherwise."),
    ] = None,
    readings: Annotated[
        bool, typer.Option("--readings", help="Try every reading, and map which claims hold under which.")
    ] = False,
    trials: Annotated[
        int | None,
        typer.Option("--trials", metavar="N", min=0, help="With --readings: readings that a search tries beside."),
    ] = None,
    workers: Workers = None,
) -> None:
    """Re-run a paper's experiments and compare with what it claims.

    Example: xoff reproduce fncc -o out/fncc --quick
    Example: xoff reproduce sqcc -o out/sqcc-readings --readings --quick
    """
    from xoff.papers.registry import run as rerun

    extra("matplotlib", "xoff reproduce")
    with _resumable(out):
        status = rerun(claim, out, quick, reading or (), readings, trials, workers)
    raise typer.Exit(status)


def compare(
    out: OutFolder,
    schemes: Annotated[
        str | None,
        typer.Option(
            "--schemes",
            metavar="A,B",
            help="Only these; SCHEME+DETECTOR~THROTTLE/FLOW_CONTROL replaces a scheme's own.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs.")] = False,
    own: SchemeFiles = None,
    workers: Workers = None,
) -> None:
    """Run every scheme on the same scenarios: a table and a page of who is best at what.

    Example: xoff compare -o out/survey --quick --schemes hpcc,dcqcn,fncc
    """
    from xoff.runs.executor import Local
    from xoff.scheme.load import read_specs
    from xoff.studies.compare import compare as survey

    extra("matplotlib", "xoff compare")
    with _resumable(out):
        status = survey(out, schemes, quick=quick, executor=Local(workers), own=read_specs(own or ()))
    raise typer.Exit(status)


@contextmanager
def _resumable(out: Path) -> Iterator[None]:
    """End a command on Ctrl-C that continues in `out` when it is given again."""
    try:
        yield
    except KeyboardInterrupt:
        complain("interrupted", f"what is finished is in {out}; give the command again to go on")
        raise typer.Exit(INTERRUPTED) from None


def _say_failed(what: str) -> None:
    complain("failed", what)


def _warn(what: str) -> None:
    complain("warning", what)


def _executor_of(workers: int | None, cluster: str | None) -> RunExecutor:
    from xoff.runs.executor import Cluster, Local

    if cluster is None:
        return Local(workers)
    if workers is not None:
        raise UserError("--workers and --cluster: expected one of them; a cluster has its own workers")
    return Cluster(cluster, say=lambda what: complain("cluster", what))
