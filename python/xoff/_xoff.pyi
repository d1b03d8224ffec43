"""The native module: scenario in, result tables out."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, final, type_check_only

from xoff.scheme.describe import Described

__all__ = [
    "MAX_ROWS",
    "MAX_SCENARIO_BYTES",
    "Ack",
    "Cnp",
    "Flow",
    "Hop",
    "HopChange",
    "Prepared",
    "RunError",
    "RunOutput",
    "ScenarioError",
    "Sent",
    "Session",
    "SessionEvent",
    "__version__",
    "catalogue",
    "chakra",
    "check",
    "columns",
    "columns_of_some_runs",
    "exchange",
    "free_memory",
    "goal",
    "keys",
    "nearest",
    "pft_injection_rate",
    "prepare",
    "rate_text",
    "read_rate",
    "read_size",
    "read_time",
    "red_thresholds",
    "schema",
    "size_text",
    "slowdown_statistics",
    "time_text",
]

__version__: str
MAX_ROWS: int
"""Rows of a record with which a run ends."""
MAX_SCENARIO_BYTES: int
"""Maximum size of a scenario."""

class ScenarioError(ValueError):
    """A mistake in a scenario; the message names file, line, key and what was expected."""

class RunError(RuntimeError):
    """A run that broke: a lossless network lost a packet, an invariant failed, or a scheme in Python broke.

    An exception of the scheme's is its cause.
    """

@type_check_only
class ArrowTable(Protocol):
    """A table that pyarrow and polars take without a copy (the Arrow PyCapsule interface)."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class RunOutput:
    """What a run left: its manifest and its tables."""

    @property
    def manifest(self) -> str:
        """The manifest as JSON."""

    def tables(self) -> dict[str, ArrowTable]:
        """Every result table by name."""

    def write_pcapng(self, path: str | os.PathLike[str], snap_length: int) -> None:
        """Write the packets that were recorded as pcapng, of each at most `snap_length` bytes.

        A `ScenarioError` where none were recorded or the network is no Ethernet, an `OSError` where writing fails.
        """

    def write_perfetto(self, path: str | os.PathLike[str]) -> None:
        """Write packets, pauses and samples as a trace for Perfetto.

        A `ScenarioError` where no packets were recorded, an `OSError` where writing fails.
        """

    def write_tables(self, folder: str | os.PathLike[str]) -> None:
        """Write every table into `folder` as Parquet; an `OSError` where that fails."""

_Progress = Callable[[float, int, int, int], bool]
"""Share of simulated time done, simulated time in ps, flows done, flows in all; false stops the run."""

_Look = Callable[[float, int, int, int, int, dict[str, ArrowTable] | None], None]
"""What `_Progress` takes, events handled, and the rows since the last look by table."""

@final
class Prepared:
    """A scenario that was read and checked, with its network and flows."""

    @property
    def resolved(self) -> str:
        """The resolved scenario as JSON, with every default."""

    @property
    def warnings(self) -> list[str]:
        """What is allowed but probably not meant."""

    @property
    def needs(self) -> int:
        """The memory that a run takes at its peak, in bytes, by an estimate."""

    @property
    def files(self) -> dict[str, str | Path]:
        """The files that it names, by their names there: a text, or the path of a file that may be large."""

    @property
    def network(self) -> str:
        """Its nodes and links as JSON, as the topology `graph` lists them."""

    @property
    def points(self) -> list[list[tuple[str, str]]]:
        """The overrides of each run of its sweep: one without any where it has none."""

    @property
    def space(self) -> str | None:
        """What its tuning may choose for each key, as JSON; none where it has no tuning."""

    def check_capture(self) -> None:
        """Refuse a network of which there can be no capture with a `ScenarioError`."""

    def alone(self) -> Prepared:
        """The same scenario as a run of its own: without the sweep and the tuning."""

    def run(self, threads: int | None, progress: _Progress | None, look: _Look | None = None) -> RunOutput:
        """Run it to its end, or until `progress` returns false; the GIL is released meanwhile.

        Without `threads`, on as many as make it fastest. `look` is told about twice a second what `progress` is
        told, how many
        events were handled, and the rows since the last time by table, or `None` if several threads record.
        """

    def parallelism(self, threads: Sequence[int]) -> str:
        """Run it for its critical path on each of these numbers of threads, as JSON; the GIL is released meanwhile."""

@final
class SessionEvent:
    """Something that has happened in a session."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    @property
    def kind(self) -> str:
        """What: ``"sent"`` (the last ACK is back), ``"delivered"``, ``"received"`` or ``"timer"``."""

    @property
    def at_ps(self) -> int:
        """When, in ps."""

    @property
    def message(self) -> int | None:
        """The message's number; `None` for a timer, as up to `start_ps`."""

    @property
    def src(self) -> int | None:
        """The sending host's number."""

    @property
    def dst(self) -> int | None:
        """The receiving host's number."""

    @property
    def bytes(self) -> int | None:
        """Payload."""

    @property
    def tag(self) -> int | None:
        """The message's tag; `None` without one."""

    @property
    def start_ps(self) -> int | None:
        """When the message was handed to its connection, in ps."""

    @property
    def receive(self) -> int | None:
        """The receive's number; `None` unless the event is ``"received"``."""

    @property
    def token(self) -> int | None:
        """A timer's token; `None` unless the event is ``"timer"``."""

@final
class Session:
    """A scenario under way, to which Python gives messages; hosts are numbers, times ps and sizes bytes.

    Each method raises `ScenarioError` if its call is refused, `RunError` if the network cannot go on, and
    `RuntimeError` if the session is closed or another thread uses it.
    """

    def __new__(
        cls,
        scenario: Prepared,
        connection: str | None = None,
        local_bps: int | None = None,
        local_delay_ps: int = 0,
        label: str = "session",
    ) -> Session: ...
    @property
    def now_ps(self) -> int:
        """The time that the session has reached."""

    @property
    def hosts(self) -> list[str]:
        """The hosts' names, by number."""

    @property
    def closed(self) -> bool:
        """Whether the session was closed."""

    def host(self, name: str) -> int:
        """The number of the host with this name."""

    def host_bps(self, host: int) -> int:
        """The rate of a host's links, in bit/s."""

    def send(
        self,
        src: int,
        dst: int,
        bytes: int,  # noqa: A002
        tag: int | None = None,
        at_ps: int | None = None,
        priority: int = 0,
        processes: tuple[int, int] = ...,
    ) -> int:
        """Send a message; return its number."""

    def recv(self, src: int, dst: int, tag: int) -> int:
        """Post a receive; return its number."""

    def schedule(self, at_ps: int, token: int) -> None:
        """Ask for an event with `token` at a time."""

    def advance_until(self, time_ps: int) -> list[SessionEvent]:
        """Let time pass up to `time_ps`; return all events. The GIL is released meanwhile."""

    def advance_to_next(self, limit_ps: int | None = None) -> list[SessionEvent]:
        """Let time pass to the next event; return what happens then. The GIL is released meanwhile."""

    def stats(self) -> list[tuple[str, int]]:
        """The counts so far, by name."""

    def close(self) -> RunOutput:
        """Close the session; return its results."""

def exchange(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> None:
    """Swap two folders in one step: at any time each name has one of them; an `OSError` if that fails."""

def free_memory() -> tuple[int, str] | None:
    """Bytes that the process may still take, and what sets the limit; `None` if the system does not tell."""

def red_thresholds(parameters: str, bps: int) -> tuple[int, int] | None:
    """Queue lengths, in bytes, at a port of `bps`, up to which RED marks nothing and above which everything.

    `None` if `parameters`, which are JSON, are not RED's.
    """

def goal(text: str, ignore_tags: bool) -> str:
    """Ranks, operations and messages of a GOAL schedule, as JSON; a `ScenarioError` that begins with the line else."""

def chakra(given: str, base_dir: str) -> str:
    """The size of an execution trace, as JSON; a `ScenarioError` if it is none.

    `given` has the keys of the traffic pattern `chakra`, as JSON; files are named from `base_dir`.
    """

@final
class Flow:
    """A flow, and what its sender knows of the way to the receiver."""

    def __new__(
        cls,
        *,
        line_rate_bps: int,
        base_rtt_ps: int,
        id: int = 0,  # noqa: A002 - as the column of the table `flows`
        start_ps: int = 0,
        payload_bytes: int = 1456,
        frame_bytes: int = 1518,
        switches: int = 1,
        active_flows: int = 0,
        seed: int = 1,
    ) -> Flow: ...
    @property
    def id(self) -> int:
        """Its number, as in the table `flows`."""

    @property
    def start_ps(self) -> int:
        """When it starts, in ps."""

    @property
    def line_rate_bps(self) -> int:
        """Line rate of the sender's NIC, in bit/s."""

    @property
    def base_rtt_ps(self) -> int:
        """Round-trip time of a full packet and its ACK through empty queues, in ps.

        The largest over all pairs of hosts, or the flow's own where the scenario has `host.base_rtt = "per_pair"`.
        """

    @property
    def payload_bytes(self) -> int:
        """Payload of a full data packet, in bytes."""

    @property
    def frame_bytes(self) -> int:
        """A full data packet on the wire, in bytes."""

    @property
    def switches(self) -> int:
        """Switches on the data's path."""

    @property
    def active_flows(self) -> int:
        """Other flows that the same host was sending when this one started."""

    @property
    def seed(self) -> int:
        """A random number of the flow's own, the same in each run of a scenario with the same seed."""

@final
class Sent:
    """A data packet that goes out."""

    def __new__(cls, *, now_ps: int, payload_bytes: int, frame_bytes: int) -> Sent: ...
    @property
    def now_ps(self) -> int:
        """When its transmission begins, in ps."""

    @property
    def payload_bytes(self) -> int:
        """Payload, in bytes."""

    @property
    def frame_bytes(self) -> int:
        """Bytes on the wire."""

@final
class Hop:
    """An egress port of a switch, as telemetry shows it.

    The scenario's `packets.int_format` says how finely: by default in the hardware's fields, whose clock wraps around
    after 16.8 ms and whose count of bytes after 134 MB.
    """

    def __new__(cls, *, at_ps: int, tx_bytes: int, queue_bytes: int, rate_bps: int) -> Hop: ...
    @property
    def at_ps(self) -> int:
        """When the packet left by it, in ps."""

    @property
    def tx_bytes(self) -> int:
        """Bytes that it had sent by then."""

    @property
    def queue_bytes(self) -> int:
        """Bytes that waited in it."""

    @property
    def rate_bps(self) -> int:
        """Its line rate, in bit/s; 0 where the hardware's field has no code for it."""

    def since(self, before: Hop) -> HopChange:
        """What happened since an earlier reading of the same port, counters that wrapped around included.

        Raises
        ------
        ValueError
            The other reading is a later one, or of another format.
        """

@final
class HopChange:
    """What happened at a port between two readings."""

    @property
    def tx_bytes(self) -> int:
        """Bytes sent in between."""

    @property
    def elapsed_ps(self) -> int:
        """Time in between, in ps; 0 when both show the same moment."""

    @property
    def queue_bytes(self) -> int:
        """The lesser of the two queue lengths, in bytes."""

    @property
    def rate_bps(self) -> int:
        """The port's line rate, in bit/s; 0 where the hardware's field has no code for it."""

@final
class Ack:
    """An ACK at its sender. A field of a signal that the scheme did not declare raises an `AttributeError`."""

    def __new__(
        cls,
        *,
        now_ps: int,
        seq: int,
        newly_acked_bytes: int,
        snd_nxt: int,
        packet: int = 0,
        next_packet: int = 0,
        rtt_ps: int | None = None,
        marked_ce: bool | None = None,
        marked_ue: bool | None = None,
        flow_count: int | None = None,
        hops: Sequence[Hop] | None = None,
    ) -> Ack: ...
    @property
    def now_ps(self) -> int:
        """When it has come, in ps."""

    @property
    def seq(self) -> int:
        """All payload bytes before this offset have arrived."""

    @property
    def newly_acked_bytes(self) -> int:
        """Bytes that it acknowledges for the first time."""

    @property
    def snd_nxt(self) -> int:
        """Offset of the next byte to be sent."""

    @property
    def packet(self) -> int:
        """Number of the data packet answered, from 0 in the order of first transmission; of several, the newest."""

    @property
    def next_packet(self) -> int:
        """Number of the next packet to be sent: an ACK of it or a later one ends a round trip that begins now."""

    @property
    def rtt_ps(self) -> int:
        """Time since the acknowledged packet was sent, in ps; with the signal `timestamp`."""

    @property
    def marked_ce(self) -> bool:
        """Whether one of the packets acknowledged was marked CE; with the signal `ecn`."""

    @property
    def marked_ue(self) -> bool:
        """Whether one was marked UE and none CE, as the detector `tcd` does; with the signal `ecn`."""

    @property
    def flow_count(self) -> int:
        """Concurrent flows at the receiver; with the signal `flow_count`."""

    @property
    def hops(self) -> tuple[Hop, ...]:
        """Telemetry of each switch, in the order of the data's path; with the signal `int`."""

@final
class Cnp:
    """A congestion notification packet from the receiver."""

    def __new__(cls, *, now_ps: int, marked_ce: bool = True, marked_ue: bool = False) -> Cnp: ...
    @property
    def now_ps(self) -> int:
        """When it has come, in ps."""

    @property
    def marked_ce(self) -> bool:
        """Whether it reports a mark CE."""

    @property
    def marked_ue(self) -> bool:
        """Whether it reports a mark UE, as the detector `tcd` makes them."""

def prepare(
    text: str,
    origin: str,
    overrides: list[tuple[str, str]],
    base_dir: str,
    seed: int | None = None,
    files: dict[str, str | Path] | None = None,
    schemes: Sequence[Described] = ...,
    session: bool = False,
) -> Prepared:
    """Read and check a scenario, and make its network and flows; `seed` in place of its own.

    The files that it names are taken from `files` where that is given, else from `base_dir`. It may name one of
    `schemes` beside the built-in ones. The scenario of a `session` need not have traffic.
    """

def check(
    text: str, origin: str, overrides: list[tuple[str, str]], base_dir: str, schemes: Sequence[Described] = ...
) -> tuple[str, list[str]]:
    """Check a scenario within about a second, whatever it is.

    What takes longer to make is counted and not made, as a warning says.

    Returns
    -------
    The resolved scenario as JSON, and warnings.
    """

def schema() -> str:
    """The JSON schema of a scenario."""

def keys() -> str:
    """Every key of a scenario: a JSON list of path, type, default and doc."""

def pft_injection_rate(params: str, used: list[int]) -> list[float]:
    """Share of the line rate at which PFT injects while Congested, by used credits.

    `params` is a `[throttle]` table as JSON, without its name; a `ScenarioError` where it is wrong.
    """

def catalogue() -> str:
    """Schemes, topologies, workloads, patterns, detectors, throttles and routings, as JSON."""

def columns() -> str:
    """The columns of every table, as JSON: by table and column what the column holds, its unit and its meaning.

    In some runs a table has more: see `columns_of_some_runs`.
    """

def columns_of_some_runs() -> str:
    """The columns that only some runs have, as JSON: as `columns`, with `runs`: which runs have it."""

def nearest(name: str, known: list[str]) -> str:
    """The end of a message that names the nearest of `known`; empty if none is near."""

def read_rate(text: str) -> int | None:
    """A rate in bit/s; `None` if the text is no rate, or not a whole number of bit/s."""

def read_time(text: str) -> int | None:
    """A time in ps; `None` if the text is no time, or not a whole number of ps."""

def read_size(text: str) -> int | None:
    """A size in bytes; `None` if the text is no size, or not a whole number of bytes."""

def rate_text(bps: int) -> str:
    """A rate as a scenario has it."""

def time_text(ps: int) -> str:
    """A time as a scenario has it."""

def size_text(bytes: int) -> str:  # noqa: A002
    """A size as a scenario has it."""

def slowdown_statistics(values: list[float]) -> dict[str, float] | None:
    """Mean and percentiles of slowdowns; `None` if there are none."""
