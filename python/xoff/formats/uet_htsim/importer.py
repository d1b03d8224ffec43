"""From a command line of uet-htsim to a scenario."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from xoff._xoff import rate_text, time_text
from xoff.errors import UserError
from xoff.formats.files import Imported, write_scenario
from xoff.formats.htsim.importer import across_hosts, flow_list
from xoff.formats.htsim.matrix import Matrix, read_matrix
from xoff.formats.networks import MARK
from xoff.formats.toml import Lines
from xoff.formats.uet_htsim.commandline import Command, read_command
from xoff.formats.uet_htsim.tree import DEGRADED, Tree, tree_of
from xoff.text import line_text

_HEADER = 64
_US = 10**6
_LARGEST = 2**31
_RTO_QUEUES = 6
_RTO_BASE = 15 * _US


def import_command(
    command: str | Sequence[str],
    out: str | os.PathLike[str],
    *,
    folder: str | os.PathLike[str] = ".",
    clean: bool = False,
    force: bool = False,
) -> Imported:
    """Write a scenario of a command line of `htsim_uec`; its flows go to a file beside it.

    Parameters
    ----------
    command
        The command line, as one text or as words.
    out
        The scenario.
    folder
        Where the files that the command line names are.
    clean
        Leave out what imitates that simulator where it differs from the specification.
    force
        Overwrite files that no import wrote.

    Raises
    ------
    UserError
        An input is wrong or not modelled, or a file cannot be written.
    """
    read, target, folder = read_command(command), Path(out), Path(folder)
    warnings: list[str] = []
    source = folder / read.matrix
    matrix = _in_us(read_matrix(source, warnings.append))
    if matrix.failures:
        raise matrix.failures[0].line.wrong("a failed link, at which that program stops", "`-failed N`")
    tree = tree_of(read, matrix.nodes, folder, warnings)
    network = tree.network(read.failed, source)
    files = {target: ""}
    lines = Lines()
    lines.raw(f"{MARK}{line_text(source.name)}, a command line of uet-htsim.")
    lines.raw()
    lines.put("title", line_text(source.stem))
    lines.put("seed", read.seed)
    lines.put("lossy", True)
    lines.table("[run]")
    lines.put("duration", f"{read.end}us", "-end")
    network.put(lines, target, files)
    _settings(lines, read, tree, clean)
    lines.table("[[traffic]]", f"From {line_text(source.name)}.")
    flows = target.with_name(f"{target.stem}.flows.txt")
    lines.put("pattern", "list")
    lines.put("label", "flows")
    lines.put("file", flows.name)
    if across_hosts(matrix):
        lines.put("across_hosts", True, "triggers are known everywhere at once, as there")
    files[flows] = flow_list(matrix, network.hosts)
    files[target] = lines.text()
    inputs = [source, *([folder / read.topology] if read.topology else [])]
    write_scenario(source, files, inputs, force=force)
    return Imported(list(files), len(network.hosts), network.switches, len(matrix.flows), warnings)


def _in_us(matrix: Matrix) -> Matrix:
    """The matrix with starts that it gives in whole us, as that program reads them."""
    for flow in matrix.flows:
        if flow.size >= _LARGEST:
            raise flow.line.wrong(f"`size` is {flow.size}", f"less than {_LARGEST}, which that program can hold")
    moved = {id(flow): replace(flow, start=flow.start * _US) for flow in matrix.flows}
    triggers = {
        number: replace(
            trigger,
            fired_by=[(moved[id(flow)], end) for flow, end in trigger.fired_by],
            starts=[moved[id(flow)] for flow in trigger.starts],
        )
        for number, trigger in matrix.triggers.items()
    }
    return replace(matrix, flows=list(moved.values()), triggers=triggers)


def _settings(lines: Lines, command: Command, tree: Tree, clean: bool) -> None:
    """Every table but the topology and the traffic."""
    mtu, ps_of_byte = command.mtu, 8 * 10**12 // tree.rate
    rtt = tree.round_trip(mtu)
    bdp_packets = math.ceil(rtt // ps_of_byte / mtu)
    queue = command.queue or bdp_packets * (1 if command.trims else 5)
    low, high = command.ecn or (math.ceil(0.2 * bdp_packets), math.ceil(0.8 * bdp_packets))
    if command.trim_size > mtu:
        raise UserError(f"`-trimsize {command.trim_size}` is more than a packet: expected at most {mtu}")
    lines.table("[routing]")
    lines.put("name", "ecmp")
    lines.put("choice", "entropy" if command.strategy == "ecmp_host" else "adaptive", f"-strat {command.strategy}")
    _scheme(lines, command, tree, clean)
    lines.table("[detector]")
    lines.put("name", "red")
    slow = command.failed > 0
    if slow:
        at = [
            f'{{ rate = "{rate_text(tree.rate // part)}", k_min = "{low * mtu // part}B", '
            f'k_max = "{high * mtu // part}B", p_max = 1.0 }}'
            for part in (1, DEGRADED)
        ]
        lines.raw(f"rates = [{', '.join(at)}]")
    else:
        lines.put("k_min", f"{low * mtu}B", f"{low} packets")
        lines.put("k_max", f"{high * mtu}B", f"{high} packets")
        lines.put("p_max", 1.0)
    if command.rccc:
        lines.put("spares_hosts", True, "off at ToR -> host as soon as receivers grant credit")
    lines.table("[packets]")
    lines.put("mtu", f"{mtu}B", "-mtu")
    for key in ("header", "ack"):
        lines.put(key, f"{_HEADER}B")
    lines.table("[host]")
    lines.put("transport", "uet")
    lines.put("retransmit_timeout", time_text(_RTO_BASE + _RTO_QUEUES * queue * mtu * ps_of_byte))
    if command.accurate_rtt:
        lines.put("base_rtt", "per_pair", "-enable_accurate_base_rtt")
    lines.table("[host.uet]")
    lines.put("ack_bytes", f"{command.sack_threshold}B", "-sack_threshold")
    lines.put("network_rtt", time_text(rtt), "of a full packet and its ACK over the diameter")
    if command.strategy == "ecmp_host":
        lines.put("entropy", command.load_balancing, "-load_balancing_algo")
        lines.put("paths", command.paths, "-paths")
    if not clean and not command.nacks_lower_rtt:
        lines.put("base_rtt_from_nacks", False, "-disable_base_rtt_update_on_nack")
    lines.table("[switch]")
    lines.put("queue_limit", f"{queue * mtu}B", f"{queue} packets")
    lines.put("queue_victim", "either", "a fair coin")
    if command.trims:
        lines.raw(f'trimming = {{ size = "{command.trim_size}B" }}  # -trimsize')
    lines.table("[flow_control]")
    lines.put("name", "none")
    if not clean:
        lines.table("[quirks]", "What that simulator does otherwise than the specification.")
        lines.put("uet", "htsim")


def _scheme(lines: Lines, command: Command, tree: Tree, clean: bool) -> None:
    name = {(True, False): "nscc", (False, True): "rccc", (True, True): "nscc_rccc"}[command.nscc, command.rccc]
    lines.table("[scheme]")
    lines.put("name", name)
    both = name == "nscc_rccc"
    if command.rccc and not command.nscc and command.oversubscribed_cc and tree.oversubscription > 1:
        lines.put("oversubscription", tree.oversubscription, "receivers slow their PULLs")
    if not command.nscc:
        return
    if both:
        lines.table("[scheme.nscc]")
    if command.target_delay is not None:
        lines.put("target_delay", time_text(int(command.target_delay * _US)), "-target_q_delay")
    if command.window is not None:
        lines.put("initial_window", command.window, "-cwnd")
    if command.qa_gate != 3:
        lines.put("qa_gate", command.qa_gate, "-qa_gate")
    if not clean:
        lines.put("qa_trigger", "kept", "as there")
