"""The commands `xoff import` and `xoff export`: other simulators' inputs and outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xoff.console import complain, count_text

importer = typer.Typer(name="import", help="Make a scenario of another simulator's input.", no_args_is_help=True)
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


def switches_text(count: int) -> str:
    """`1 switch`, `2 switches`."""
    return f"{count:,} {'switch' if count == 1 else 'switches'}"
