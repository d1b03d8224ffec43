"""Co-simulation from Python: `xoff.Session`, to which a program gives messages while simulated time passes."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING

from xoff import _xoff
from xoff.errors import UserError
from xoff.runs.results import Run
from xoff.runs.scenario import of_mapping, overrides_from, read, whole
from xoff.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xoff.scheme import Scheme
    from xoff.scheme.load import SchemeClass

SessionEvent = _xoff.SessionEvent

__all__ = ["Session", "SessionEvent"]


class Session:
    """A scenario under way, to which the program gives messages.

    The scenario needs no `[[traffic]]`; traffic that it has is background. Hosts are names or numbers from 0, times are
    texts such as ``"10us"`` or whole picoseconds, sizes are texts such as ``"64KB"`` or whole bytes. The same calls
    give the same events and results, however many sessions a process has and in whatever threads; a session takes one
    call at a time, and other threads run while time passes in it.

    >>> import xoff
    >>> with xoff.Session({"topology": {"name": "star", "hosts": 2}, "scheme": {"name": "dctcp"}}) as session:
    ...     number = session.send("host0", "host1", "1MB")
    ...     kinds = [event.kind for event in session.events()]
    >>> kinds
    ['delivered', 'sent']
    """

    def __init__(
        self,
        scenario: str | os.PathLike[str] | Mapping[str, object],
        *,
        seed: int | None = None,
        sets: Mapping[str, object] | None = None,
        schemes: Mapping[str, type[Scheme]] | None = None,
        connection: str | int | None = None,
        local_rate: str | int | None = None,
        local_delay: str | int = 0,
        label: str = "session",
    ) -> None:
        """Open a session at time zero.

        Parameters
        ----------
        scenario
            A TOML file; a run's folder or manifest; or a dict with the scenario's tables.
        seed
            Replaces the scenario's own seed.
        sets
            Settings by dotted key on top of the file, as in ``{"scheme.name": "hpcc"}``.
        schemes
            Classes derived from `xoff.Scheme` by the names that they have in the scenario.
        connection
            How messages share connections, as in a traffic pattern: ``"per_message"``, ``"per_pair"``,
            ``"per_process_pair"``, or a number of connections from a host to another. Without it, one connection from a
            host to another, whose congestion control keeps its state; under the transport `uet`, one for each message.
        local_rate
            Rate at which a host copies a message to itself, a text such as ``"400Gbps"`` or bit/s; without it, the copy
            takes no time.
        local_delay
            Delay of a message of a host to itself, after the copy.
        label
            Name of the session's messages in the results.

        Raises
        ------
        UserError, ScenarioError
            The scenario or a parameter is wrong.

        Warns
        -----
        RuntimeWarning
            What is allowed in the scenario but probably not meant.
        """
        own: Sequence[SchemeClass] = ()
        if schemes:
            from xoff.scheme.load import classes

            own = classes(schemes)
        overrides = overrides_from(sets)
        source = (
            of_mapping(scenario, overrides, own) if isinstance(scenario, Mapping) else read(scenario, overrides, own)
        )
        seed = whole("seed", seed)
        if not isinstance(label, str) or any("\ud800" <= each <= "\udfff" for each in label):
            raise UserError(f"`label` is {label!r}: expected a name for the results")
        if connection is not None and (isinstance(connection, bool) or not isinstance(connection, str | int)):
            raise UserError(
                f'`connection` is {connection!r}: expected "per_message", "per_pair", "per_process_pair", or a number '
                "of connections"
            )
        prepared = _xoff.prepare(
            source.text, source.origin, source.given, source.base_dir, seed, schemes=source.described(), session=True
        )
        for warning in prepared.warnings:
            warnings.warn(warning, RuntimeWarning, stacklevel=2)
        bps = None if local_rate is None else _rate("local_rate", local_rate)
        mapping = None if connection is None else json.dumps(connection)
        self._native = _xoff.Session(prepared, mapping, bps, _time("local_delay", local_delay), label)
        self._hosts = tuple(self._native.hosts)
        self._numbers = {name: number for number, name in enumerate(self._hosts)}
        self._left: list[SessionEvent] = []

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the session, unless it is closed; after an exception it stays as it is, to be looked at."""
        if not self._native.closed and kind is None:
            self.close()

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts' names, by number."""
        return self._hosts

    @property
    def now_ps(self) -> int:
        """The time that the session has reached, in ps."""
        return self._native.now_ps

    def host_bps(self, host: str | int) -> int:
        """The rate of all of a host's links together, in bit/s."""
        return self._native.host_bps(self._host("host", host))

    def send(
        self,
        src: str | int,
        dst: str | int,
        size: str | int,
        *,
        tag: int | None = None,
        at: str | int | None = None,
        priority: int = 0,
        processes: tuple[int, int] = (0, 0),
    ) -> int:
        """Send a message from one host to another, or to itself.

        Parameters
        ----------
        src, dst
            Hosts.
        size
            Payload, at least 1 byte.
        tag
            By which `recv` finds the message; without it, no receive does, and the session keeps nothing of the message
            after its arrival.
        at
            When the message is handed to its connection; without it, now.
        priority
            Data priority.
        processes
            Sending and receiving process on their hosts, if messages share connections by ``"per_process_pair"``.

        Returns
        -------
        The message's number: its `id` in the table of flows, or from 2**63 on for a message of a host to itself.

        Raises
        ------
        UserError, ScenarioError
            The message cannot be sent; nothing has changed then.
        """
        start = None if at is None else _time("at", at)
        number = None if tag is None else _number("tag", tag)
        if not isinstance(processes, tuple | list) or len(processes) != 2:
            expected = "the sending and the receiving process, as in (0, 1)"
            raise UserError(f"`processes` is {processes!r}: expected {expected}")
        sender, receiver = (_number("processes", each, 2**32 - 1) for each in processes)
        return self._native.send(
            self._host("src", src),
            self._host("dst", dst),
            _size("size", size),
            number,
            start,
            _number("priority", priority, 255),
            (sender, receiver),
        )

    def recv(self, src: str | int, dst: str | int, tag: int) -> int:
        """Post a receive, before or after the arrival.

        It is for the first message from `src` to `dst` with `tag` that no earlier receive has taken, in the order of
        arrival; an event of the kind ``"received"`` says when both are there. Returns the receive's number.
        """
        return self._native.recv(self._host("src", src), self._host("dst", dst), _number("tag", tag))

    def schedule(self, at: str | int, token: int = 0) -> None:
        """Ask for an event of the kind ``"timer"`` with `token` at a time.

        At one time, timers come in the order of these calls, ahead of the network's events.
        """
        self._native.schedule(_time("at", at), _number("token", token))

    def advance_until(self, time: str | int) -> list[SessionEvent]:
        """Let time pass up to `time`, which is included; return all events in the order in which they happened.

        What is sent in answer to one of them starts at `time` at the earliest.

        Raises
        ------
        UserError, ScenarioError
            The time is past, or after the end of the session.
        RunError
            The network cannot go on.
        """
        # First what may be refused: a mistake loses no event.
        found = self._native.advance_until(_time("time", time))
        return [*self._rest(), *found]

    def advance_to_next(self, limit: str | int | None = None) -> list[SessionEvent]:
        """Let time pass to the next event, but not beyond `limit`; return what happens then.

        The session then stands at the event's time, so that the program can answer without delay. An empty list means
        that nothing happens up to the limit or, without one, that nothing is left which could happen. Raises as
        `advance_until` does.
        """
        return self._rest() or self._native.advance_to_next(None if limit is None else _time("limit", limit))

    def events(self, limit: str | int | None = None) -> Iterator[SessionEvent]:
        """Each event at its time, until nothing is left that could happen before `limit`.

        The program may send, receive and schedule between two events. A loop that is left early leaves the other events
        of its moment to the next call that lets time pass. Raises as `advance_until` does.
        """
        while found := self.advance_to_next(limit):
            self._left = found
            while self._left:
                yield self._left.pop(0)

    def _rest(self) -> list[SessionEvent]:
        """The events that a loop over `events` left behind."""
        rest, self._left = self._left, []
        return rest

    @property
    def stats(self) -> dict[str, int]:
        """The counts so far: messages, completion times in ps, events, packets."""
        return dict(self._native.stats())

    def close(self) -> Run:
        """Close the session; return its tables and manifest, as those of a run that ends now."""
        return Run.from_output(self._native.close())

    def __repr__(self) -> str:
        hosts = f"{len(self._hosts)} hosts"
        try:
            return "Session(closed)" if self._native.closed else f"Session({hosts}, at {_xoff.time_text(self.now_ps)})"
        except RuntimeError:  # Another thread lets time pass, or has closed it meanwhile.
            return f"Session({hosts}, in use)"

    def _host(self, what: str, host: str | int) -> int:
        if isinstance(host, str):
            return self._numbers[host] if host in self._numbers else self._native.host(printable(host))
        if isinstance(host, int) and host < 0:
            raise UserError(f"`{what}` is {host}: expected a host's name, or a number from 0 to {len(self._hosts) - 1}")
        return _number(what, host, 2**32 - 1)


def _number(what: str, value: object, most: int = 2**64 - 1) -> int:
    number = whole(what, value, most)
    if number is None:
        raise UserError(f"`{what}` is None: expected a whole number")
    return number


def _time(what: str, value: str | int) -> int:
    if isinstance(value, str):
        ps = _xoff.read_time(value)
        if ps is None:
            raise UserError(f'`{what}` is "{printable(value)}": expected a time such as "10us", or whole picoseconds')
        return ps
    return _number(what, value)


def _size(what: str, value: str | int) -> int:
    if isinstance(value, str):
        size = _xoff.read_size(value)
        if size is None:
            raise UserError(f'`{what}` is "{printable(value)}": expected a size such as "64KB", or whole bytes')
        return size
    return _number(what, value)


def _rate(what: str, value: str | int) -> int:
    if isinstance(value, str):
        bps = _xoff.read_rate(value)
        if bps is None:
            raise UserError(f'`{what}` is "{printable(value)}": expected a rate such as "400Gbps", or whole bit/s')
        return bps
    return _number(what, value)
