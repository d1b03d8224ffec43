"""A run as that simulator's `fct.txt` and `pfc.txt`.

`fct.txt`, by completion: `SRC_IP DST_IP SRC_PORT DST_PORT SIZE_BYTES START_NS FCT_NS STANDALONE_FCT_NS`. `pfc.txt`:
`TIME_NS NODE NODE_TYPE INTERFACE TYPE`, where a node of type 0 is a host and 1 a switch, and a frame of type 1 a PAUSE
and 0 a RESUME, written by the node that receives it.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.errors import UserError
from xoff.formats.ns3_hpcc.quantity import rate_bps, size_bytes, time_ns
from xoff.runs.files import write_file
from xoff.runs.manifest import MANIFEST
from xoff.runs.results import Run, load
from xoff.text import count_text

if TYPE_CHECKING:
    import pyarrow as pa

FIRST_SRC_PORT = 10_000
"""The first source port of each pair of hosts; each further flow has the next port."""

DST_PORT = 100

PS_PER_NS = 1000

BITS_NS = 8 * 10**9
"""Bits of a byte times ns of a second."""


@dataclass(frozen=True)
class Exported:
    """What an export wrote."""

    flows: int
    frames: int
    warnings: list[str]


def export_run(
    run: Run | str | os.PathLike[str],
    fct: str | os.PathLike[str],
    pfc: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
) -> Exported:
    """Write the run to the files `fct` and, where one is named, `pfc`.

    Raises
    ------
    UserError
        The run is not that of an imported scenario, or a file cannot be written.
    """
    result = run if isinstance(run, Run) else load(run)
    network = _Network.of(result)
    files = {Path(fct): _fct(result, network)}
    if pfc is not None:
        if _same(Path(pfc), Path(fct)):
            raise UserError(f"{pfc}: named for both files: expected two names")
        files[Path(pfc)] = _pfc(result, network)
    for file in files:
        if file.is_dir():
            raise UserError(f"{file}: is a folder; expected a file")
        if result.folder and _is_of_run(file, result.folder):
            raise UserError(f"{file}: a file of the run itself; name another file")
        if file.exists() and not force:
            raise UserError(f"{file}: exists already; name another file, or give --force")
    for file, rows in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_file(file, "".join(row + "\n" for row in rows))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise UserError(f"{file}: cannot be written: {reason}") from None
    flows = len(files[Path(fct)])
    left = int(result.manifest.get("flows", flows)) - flows
    warnings = [f"left out, as there, since not complete: {count_text(left, 'flow')}"] if left else []
    return Exported(flows, len(files[Path(pfc)]) if pfc is not None else 0, warnings)


def _same(a: Path, b: Path) -> bool:
    """Whether two names, of files that need not be there, lead to one file."""
    try:
        return a.resolve() == b.resolve() or (a.exists() and b.exists() and a.samefile(b))
    except (OSError, ValueError, RuntimeError) as error:
        raise UserError(f"{a}: cannot be written: {error}") from None


def _is_of_run(file: Path, folder: Path) -> bool:
    """Whether a name leads to a manifest or a table in the run's folder, be it through a link."""
    own = [folder / MANIFEST, *folder.glob("*.parquet")]
    if any(_same(file, each) for each in own):
        return True
    target = file.resolve()
    return target.parent == folder.resolve() and target.suffix == ".parquet"


@dataclass(frozen=True)
class _Network:
    """What the rows need to know of the scenario."""

    ids: dict[str, int]
    """By node's name, its id there."""
    switches: frozenset[str]
    links: dict[tuple[str, str], tuple[int, int]]
    """By the names of its ends, bit/s and ns of a direction of a link."""
    interfaces: dict[tuple[str, str], int]
    """By a node and its neighbour, the number of the port, from 1 in the order of links."""
    dst_port: int
    payload: int
    header: int

    @classmethod
    def of(cls, run: Run) -> _Network:
        where = run.folder or "the run"
        scenario = run.manifest["scenario"]
        if scenario.get("topology", {}).get("name") != "graph":
            raise UserError(f"{where}: its topology is not `graph`: expected a run of an imported scenario")
        try:
            return cls._read(run, scenario)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, UserError):
                raise
            raise UserError(f"{where}: its manifest is not that of an imported scenario: {error!r}") from None

    @classmethod
    def _read(cls, run: Run, scenario: dict[str, Any]) -> _Network:
        topology = scenario["topology"]
        listed = topology.get("nodes") or []
        hosts = [n["name"] for n in listed if n["kind"] == "host"] + list(topology.get("hosts") or [])
        switches = [n["name"] for n in listed if n["kind"] == "switch"] + list(topology.get("switches") or [])
        ids: dict[str, int] = {}
        taken: set[int] = set()
        for name in hosts + switches:
            digits = re.search(r"[0-9]+$", name)
            number = int(digits[0]) if digits and len(digits[0]) < 20 else 2**16
            if number >= 2**16 or number in taken:
                expected = "names that end in a number of their own, up to 65535"
                raise UserError(f"{run.folder or 'the run'}: node `{name}` gives no id: expected {expected}")
            taken.add(number)
            ids[name] = number
        links: dict[tuple[str, str], tuple[int, int]] = {}
        interfaces: dict[tuple[str, str], int] = {}
        degree: Counter[str] = Counter()
        for link in topology["links"]:
            back = {key: link.get(f"{key}_back") or link[key] for key in ("rate", "delay")}
            for a, b, way in ((link["a"], link["b"], link), (link["b"], link["a"], back)):
                rate, delay = rate_bps(way["rate"]), time_ns(way["delay"])
                if not rate or delay is None or (a, b) in links:
                    raise ValueError(f"the link {a}->{b}")
                degree[a] += 1
                links[a, b], interfaces[a, b] = (rate, int(delay)), degree[a]
        header = size_bytes(scenario["packets"]["header"])
        if header is None:
            raise ValueError("packets.header")
        port = scenario.get("routing", {}).get("dst_port") or DST_PORT
        payload = int(run.manifest["wire"]["payload_bytes"])
        return cls(ids, frozenset(switches), links, interfaces, int(port), payload, header)

    def standalone_fct(self, path: Sequence[str], size: int) -> int:
        """The completion time of a flow alone, in ns, each part cut to whole ns as in that simulator.

        Twice the propagation, a payload's transmission at each hop, and the flow with its headers at the slowest link.
        """
        links = [self.links[hop] for hop in itertools.pairwise(path)]
        rtt = sum(2 * delay + self.payload * BITS_NS // rate for rate, delay in links)
        packets = -(-size // self.payload)
        return rtt + (size + packets * self.header) * BITS_NS // min(rate for rate, _ in links)


def address(node: int) -> str:
    """A host's address: 0xXXYY is 11.XX.YY.1, in hexadecimal."""
    return f"{0x0B000001 + (node << 8):08x}"


def _fct(run: Run, network: _Network) -> list[str]:
    flows = _columns(run, "flows", ("id", "src", "dst", "size_bytes", "start_ps", "fct_ps", "path")).sort_by("id")
    next_port: Counter[tuple[str, str]] = Counter()
    rows: list[tuple[int, int, str]] = []
    for flow in flows.to_pylist():
        pair = (flow["src"], flow["dst"])
        src_port = (FIRST_SRC_PORT + next_port[pair]) % 2**16
        next_port[pair] += 1
        if flow["fct_ps"] is None or flow["size_bytes"] is None:
            continue
        try:
            ends = " ".join(address(network.ids[host]) for host in pair)
            alone = network.standalone_fct(flow["path"].split(">"), flow["size_bytes"])
        except KeyError as error:
            raise UserError(
                f"{run.folder}: flow {flow['id']} passes {error}, which its scenario does not have"
            ) from None
        start, fct = flow["start_ps"] // PS_PER_NS, flow["fct_ps"] // PS_PER_NS
        row = f"{ends} {src_port} {network.dst_port} {flow['size_bytes']} {start} {fct} {alone}"
        rows.append((flow["start_ps"] + flow["fct_ps"], flow["id"], row))
    return [row for _, _, row in sorted(rows)]


def _pfc(run: Run, network: _Network) -> list[str]:
    if not run.manifest["scenario"].get("record", {}).get("pauses", True):
        raise UserError(f"{run.folder or 'the run'}: it recorded no pauses: expected `pauses = true` in [record]")
    end = run.manifest.get("sim_time_ps")
    rows: list[tuple[int, int, int, int, str]] = []
    for pause in _columns(run, "pauses", ("port", "start_ps", "length_ps")).to_pylist():
        node, _, peer = pause["port"].partition("->")
        if (node, peer) not in network.interfaces:
            raise UserError(f"{run.folder}: the port `{pause['port']}` stopped, which its scenario does not have")
        device = f"{network.ids[node]} {int(node in network.switches)} {network.interfaces[node, peer]}"
        start, stop = pause["start_ps"], pause["start_ps"] + pause["length_ps"]
        key = (network.ids[node], network.interfaces[node, peer])
        rows.append((start, 1, *key, f"{start // PS_PER_NS} {device} 1"))
        if stop != end:  # a pause that stood at the end of the run has no RESUME
            rows.append((stop, 0, *key, f"{stop // PS_PER_NS} {device} 0"))
    return [row for *_, row in sorted(rows)]


def _columns(run: Run, name: str, columns: Sequence[str]) -> pa.Table:
    table = run.table(name)
    missing = [column for column in columns if column not in table.column_names]
    if missing:
        raise UserError(f"{run.folder or 'the run'}: the table `{name}` has no column `{missing[0]}`")
    return table.select(list(columns))
