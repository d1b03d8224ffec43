"""The commands `xoff import` and `xoff export`: other simulators' inputs and outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xoff.console import complain, count_text
from xoff.errors import UserError

importer = typer.Typer(name="import", help="Make a scenario of another simulator's input.", no_args_is_help=True)
agreement = typer.Typer(name="agreement", help="Compare with another simulator's results.", no_args_is_help=True)
exporter = typer.Typer(name="export", help="Write a run in another simulator's formats.", no_args_is_help=True)

Force = Annotated[bool, typer.Option("--force", help="Overwrite files that xoff did not write.")]


@importer.command("ns3-hpcc")
def import_ns3_hpcc(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="Its configuration file.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="SCENARIO", help="The scenario (TOML) to write.")],
    clean: Annotated[bool, typer.Option("--clean", help="Without what imitates its rounding and order.")] = False,
    force: Force = False,
) -> None:
    """Make a scenario of the input files of the ns-3 HPCC simulator.

    Example: xoff import ns3-hpcc mix/config.txt -o mix.toml
    """
    from xoff.ns3_hpcc.scenario import import_config

    made = import_config(config, out, clean=clean, force=force)
    for warning in made.warnings:
        complain("warning", warning)
    counts = ", ".join((count_text(made.hosts, "host"), switches_text(made.switches), count_text(made.flows, "flow")))
    typer.echo(f"{out}: {counts}")
    for file in made.files[1:]:
        typer.echo(f"{file}: named by it")


@exporter.command("ns3-hpcc")
def export_ns3_hpcc(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run of an imported scenario.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FCT", help="The file of completion times to write.")],
    pfc: Annotated[Path | None, typer.Option("--pfc", metavar="FILE", help="PAUSE and RESUME as well.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Write a run as fct.txt and pfc.txt of the ns-3 HPCC simulator.

    Example: xoff export ns3-hpcc out/mix -o fct.txt --pfc pfc.txt
    """
    from xoff.ns3_hpcc.export import export_run

    made = export_run(run, out, pfc, force=force)
    for warning in made.warnings:
        complain("warning", warning)
    typer.echo(f"{out}: {count_text(made.flows, 'flow')}")
    if pfc is not None:
        typer.echo(f"{pfc}: {count_text(made.frames, 'frame')}")


@agreement.command("ns3-hpcc")
def agreement_ns3_hpcc(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Inputs with that simulator's results.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Where the table and the figures go.")],
) -> None:
    """Run inputs of the ns-3 HPCC simulator and compare with its results, flow by flow.

    A folder holds config.txt, every file that it names, and fct.txt and pfc.txt as that simulator wrote them; with
    trace-decoded.txt.gz, a figure of queue and rates is drawn too. Only files that this command made are replaced.

    Example: xoff agreement ns3-hpcc runs/dumbbell runs/incast -o out/agreement
    """
    from xoff.ns3_hpcc.agreement import PAGE, check_target, compare, figure_of, page, table
    from xoff.ns3_hpcc.agreement_plot import draw

    check_target(out, folders)
    found = [
        row
        for folder in folders
        for row in compare(
            folder, lambda what: typer.echo(what, err=True), lambda warning: complain("warning", warning)
        )
    ]
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / PAGE).write_text(page(found), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{out}: cannot be written: {error.strerror}") from None
    drawn = [figure for folder in folders if draw(folder, figure := figure_of(out, folder.resolve().name))]
    typer.echo(table(found))
    for file in (out / PAGE, *drawn):
        typer.echo(str(file))


def switches_text(count: int) -> str:
    """`1 switch`, `2 switches`."""
    return f"{count:,} {'switch' if count == 1 else 'switches'}"
