"""The commands `xoff import` and `xoff export`: other simulators' inputs and outputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xoff.cli.console import complain, echo
from xoff.errors import UserError, extra
from xoff.formats.topologies import NETWORK_FORMATS, NetworkFormat
from xoff.text import count_text

if TYPE_CHECKING:
    from xoff.formats.files import Imported
    from xoff.formats.networks import Network

importer = typer.Typer(name="import", help="Make a scenario of another simulator's input.", no_args_is_help=True)
agreement = typer.Typer(name="agreement", help="Compare with another simulator's results.", no_args_is_help=True)
exporter = typer.Typer(name="export", help="Write a run in another simulator's formats.", no_args_is_help=True)

Force = Annotated[bool, typer.Option("--force", help="Overwrite files that xoff did not write.")]
TopologyOption = Annotated[
    str,
    typer.Option(
        "--topology",
        metavar="T",
        help="FILE.topo of htsim, FILE.graphml, or fat_tree, leaf_spine or star with settings, as in star,delay=2us.",
    ),
]
NetworkOut = Annotated[
    Path, typer.Option("-o", "--out", metavar="NETWORK", help="The list of nodes and links to write.")
]
SchemeOption = Annotated[str, typer.Option("--scheme", metavar="NAME", help="Congestion control.")]


@importer.command("ns3-hpcc")
def import_ns3_hpcc(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The simulator's configuration file.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="SCENARIO", help="The scenario (TOML) to write.")],
    clean: Annotated[
        bool, typer.Option("--clean", help="Leave out what imitates that simulator's rounding and order.")
    ] = False,
    force: Force = False,
) -> None:
    """Make a scenario of the input files of the ns-3 HPCC simulator.

    Example: xoff import ns3-hpcc mix/config.txt -o mix.toml
    """
    from xoff.formats.ns3_hpcc.importer import import_config

    _tell(import_config(config, out, clean=clean, force=force), "flow")


@importer.command("uet-htsim")
def import_uet_htsim(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMANDLINE...", help="The program's command line, as one text in quotes or behind `--`."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="SCENARIO", help="The scenario (TOML) to write.")],
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="Where the files that the command line names are.")
    ] = Path(),
    clean: Annotated[
        bool, typer.Option("--clean", help="Leave out what imitates that simulator against the specification.")
    ] = False,
    force: Force = False,
) -> None:
    """Make a scenario of a command line of the Ultra Ethernet Consortium's simulator, htsim_uec.

    Example: xoff import uet-htsim "htsim_uec -tm incast.cm -sender_cc_algo nscc" -o incast.toml
    """
    from xoff.formats.uet_htsim.importer import import_command

    _tell(import_command(command, out, folder=folder, clean=clean, force=force), "flow")


@importer.command("goal")
def import_goal(
    schedule: Annotated[Path, typer.Argument(metavar="FILE", help="A schedule in the text form of GOAL.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="SCENARIO", help="The scenario (TOML) to write.")],
    topology: TopologyOption = "fat_tree",
    scheme: SchemeOption = "dcqcn",
    ranks_per_host: Annotated[int, typer.Option(min=1, max=1024, metavar="N", help="Ranks on each host.")] = 1,
    ignore_tags: Annotated[
        bool, typer.Option("--ignore-tags", help="Ignore tags: match sends and receives by order only.")
    ] = False,
    force: Force = False,
) -> None:
    """Make a scenario of a parallel program's schedule, as LogGOPSim and ATLAHS read it.

    Example: xoff import goal allreduce.goal -o allreduce.toml --topology leaf_spine,rate=400Gbps
    """
    from xoff.formats.goal.importer import import_goal as make

    made = make(
        schedule,
        out,
        topology=topology,
        scheme=scheme,
        ranks_per_host=ranks_per_host,
        ignore_tags=ignore_tags,
        force=force,
    )
    _tell(made, "message")


@importer.command("chakra")
def import_chakra(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder with a file NAME.RANK.et for each rank, or FOLDER/NAME.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="SCENARIO", help="The scenario (TOML) to write.")],
    topology: TopologyOption = "fat_tree",
    scheme: SchemeOption = "dcqcn",
    ranks_per_host: Annotated[int, typer.Option(min=1, max=1024, metavar="N", help="Ranks on each host.")] = 1,
    groups: Annotated[
        Path | None, typer.Option("--groups", metavar="FILE", help="The ranks of each communicator group (JSON).")
    ] = None,
    peak_flops: Annotated[
        float | None, typer.Option("--peak-flops", metavar="N", help="Operations of a rank in a second, as 312e12.")
    ] = None,
    memory_bandwidth: Annotated[
        str | None, typer.Option("--memory-bandwidth", metavar="RATE", help="Rate of a rank's memory, as 16Tbps.")
    ] = None,
    force: Force = False,
) -> None:
    """Make a scenario of a training job's execution trace, as ASTRA-sim reads it.

    Example: xoff import chakra traces/all_reduce -o all_reduce.toml --topology star,rate=400Gbps
    """
    from xoff.formats.chakra.importer import Costs
    from xoff.formats.chakra.importer import import_chakra as make

    made, trace = make(
        folder,
        out,
        topology=topology,
        scheme=scheme,
        ranks_per_host=ranks_per_host,
        groups=groups,
        costs=Costs(peak_flops, memory_bandwidth),
        force=force,
    )
    _tell(made, "message")
    counts = ((trace.ranks, "rank"), (trace.nodes, "node"), (trace.collectives, "collective"))
    echo(", ".join(count_text(number, what) for number, what in counts))


@importer.command("htsim-cm")
def import_htsim_cm(
    matrix: Annotated[Path, typer.Argument(metavar="FILE", help="A connection matrix (.cm).")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="SCENARIO", help="The scenario (TOML) to write.")],
    topology: TopologyOption = "fat_tree",
    scheme: SchemeOption = "dcqcn",
    force: Force = False,
) -> None:
    """Make a scenario of a connection matrix of htsim.

    Example: xoff import htsim-cm incast.cm -o incast.toml --topology fat_tree_128.topo
    """
    from xoff.formats.htsim.importer import import_matrix

    _tell(import_matrix(matrix, out, topology=topology, scheme=scheme, force=force), "flow")


def add_network_command(group: typer.Typer, form: NetworkFormat) -> None:
    """Add the command that makes a network of a file in a format."""

    def import_network(
        file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")],
        out: NetworkOut,
        force: Force = False,
    ) -> None:
        from xoff.formats.files import write_network

        warnings: list[str] = []
        network = form.read(file, warnings.append)
        files = write_network(file, network, out, form.what, force=force)
        _tell_network(network, files, warnings)

    import_network.__doc__ = f"""Make a network of {form.what}, for `topology = {{ name = "graph", file = "NETWORK" }}`.

    Example: xoff import {form.command} network{form.suffixes[0]} -o network.toml
    """
    group.command(form.command)(import_network)


for _form in NETWORK_FORMATS:
    if not _form.own_command:
        add_network_command(importer, _form)


@importer.command("graphml")
def import_graphml(
    graph: Annotated[Path, typer.Argument(metavar="FILE", help="A graph in GraphML, as networkx writes it.")],
    out: NetworkOut,
    rate: Annotated[
        str | None, typer.Option("--rate", metavar="RATE", help="Rate of edges without `rate_bps`, such as 100Gbps.")
    ] = None,
    delay: Annotated[
        str | None, typer.Option("--delay", metavar="TIME", help="Delay of edges without `delay_ps`, such as 1us.")
    ] = None,
    force: Force = False,
) -> None:
    """Make a network of a graph in GraphML, for `topology = { name = "graph", file = "NETWORK" }`.

    Example: xoff import graphml network.graphml -o network.toml
    """
    from xoff.formats.files import write_network
    from xoff.formats.graphml.importer import FORMAT, read_network

    warnings: list[str] = []
    network = read_network(graph, warnings.append, rate=rate, delay=delay)
    files = write_network(graph, network, out, FORMAT, force=force)
    _tell_network(network, files, warnings)


@exporter.command("graphml")
def export_graphml(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file (TOML).")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The graph to write.")],
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the scenario.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Write the network of a scenario as GraphML, which networkx reads.

    Example: xoff export graphml scenarios/fat_tree_websearch.toml -o network.graphml
    """
    from xoff.formats.graphml.exporter import export_graph
    from xoff.runs.scenario import overrides_of

    nodes, links = export_graph(scenario, out, sets=overrides_of(sets or []), force=force)
    echo(f"{out}: {count_text(nodes, 'node')}, {count_text(links, 'link')}")


@exporter.command("ns3-hpcc")
def export_ns3_hpcc(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run of an imported scenario.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FCT", help="The file of completion times to write.")],
    pfc: Annotated[
        Path | None, typer.Option("--pfc", metavar="FILE", help="Write PAUSE and RESUME frames to this file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Write a run as fct.txt and pfc.txt of the ns-3 HPCC simulator.

    Example: xoff export ns3-hpcc out/mix -o fct.txt --pfc pfc.txt
    """
    from xoff.formats.ns3_hpcc.exporter import export_run

    made = export_run(run, out, pfc, force=force)
    for warning in made.warnings:
        complain("warning", warning)
    echo(f"{out}: {count_text(made.flows, 'flow')}")
    if pfc is not None:
        echo(f"{pfc}: {count_text(made.frames, 'frame')}")


@agreement.command("ns3-hpcc")
def agreement_ns3_hpcc(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="Folders with the simulator's inputs and results.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="The folder for the table and the figures.")],
) -> None:
    """Run inputs of the ns-3 HPCC simulator and compare with its results, flow by flow.

    A folder holds config.txt, every file that it names, and fct.txt and pfc.txt as that simulator wrote them; with
    trace-decoded.txt.gz, a figure of queue and rates is drawn too. Only files that this command made are replaced.

    Example: xoff agreement ns3-hpcc runs/dumbbell runs/incast -o out/agreement
    """
    extra("matplotlib", "xoff agreement")
    from xoff.studies.agreement.comparison import PAGE, check_target, compare, figure_of, page, table
    from xoff.studies.agreement.drawing import draw

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
    echo(table(found))
    for file in (out / PAGE, *drawn):
        echo(str(file))


@agreement.command("uet-htsim")
def agreement_uet_htsim(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER...", help="Folders with runs.csv and what its command lines name.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="The folder for the page and its numbers.")],
    seeds: Annotated[int, typer.Option("--seeds", min=1, max=100, help="Seeds for each variant.")] = 5,
    clean: Annotated[
        bool, typer.Option("--clean", help="Leave out what imitates that simulator against the specification.")
    ] = False,
) -> None:
    """Run command lines of the Ultra Ethernet Consortium's simulator and compare with its results.

    A folder holds runs.csv, a variant with its command line in each line, the files that these name, each variant's
    VARIANT.fct.csv and, optionally, seeds.csv with runs of other seeds. Only files that this command made are replaced.

    Example: xoff agreement uet-htsim runs/incast runs/permutation -o out/agreement
    """
    from xoff.studies.agreement.comparison import check_target
    from xoff.studies.agreement.uet_htsim import DATA, PAGE, compare, data, page, table

    check_target(out, folders)
    rows, refused = [], []
    for folder in folders:
        found = compare(folder, lambda what: typer.echo(what, err=True), clean=clean, seeds=seeds)
        rows += found[0]
        refused += found[1]
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / PAGE).write_text(page(rows, refused), encoding="utf-8")
        (out / DATA).write_text(data(rows, refused), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{out}: cannot be written: {error.strerror}") from None
    echo(table(rows))
    for row in refused:
        complain("warning", f"{row.folder}, {row.variant}: not modelled: {row.reason}")
    for file in (out / PAGE, out / DATA):
        echo(str(file))


def _tell(made: Imported, thing: str) -> None:
    """Print what an import has made; `thing` is its word for a flow."""
    for warning in made.warnings:
        complain("warning", warning)
    switches = [] if made.switches is None else [switches_text(made.switches)]
    counts = [count_text(made.hosts, "host"), *switches, count_text(made.flows, thing)]
    echo(f"{made.files[0]}: {', '.join(counts)}")
    for file in made.files[1:]:
        echo(f"{file}: named by it")


def _tell_network(network: Network, files: list[Path], warnings: list[str]) -> None:
    for warning in warnings:
        complain("warning", warning)
    echo(f"{files[0]}: {count_text(len(network.hosts), 'host')}, {switches_text(network.switches or 0)}")


def switches_text(count: int) -> str:
    """`1 switch`, `2 switches`."""
    return f"{count:,} {'switch' if count == 1 else 'switches'}"
