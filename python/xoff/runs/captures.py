"""A run's packets for other programs: a capture for Wireshark, and a trace for Perfetto's viewer."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xoff.errors import ScenarioError, UserError
from xoff.text import printable

if TYPE_CHECKING:
    from xoff._xoff import Prepared, RunOutput
    from xoff.runs.scenario import Override, Scenario

CAPTURE = "packets.pcapng"
"""The capture in a run's folder."""
TRACE = "trace.perfetto"
"""The trace in a run's folder."""
FILES = (CAPTURE, TRACE)
"""What a run may leave in its folder beside tables and manifest."""

SNAP_LENGTH = 262_144
"""Maximum bytes of each packet in a capture, by default: all of it, and the maximum that Wireshark reads."""

_WORDS = ("switches", "all")
"""Words that may stand in place of ports."""

_PACKETS = "record.packets"
"""The setting that the option `--pcap` makes."""

_LIST, _ALONE = "in place of the list `none`, `switches`, `all`", "alone `switches` or `all`"
"""What else the setting may be, and the option."""

_TRACED = {
    "packets": ("none", "all"),
    "queues": ("none", "all"),
    "rates": (False, "all"),
    "pauses": (False, True),
}
"""What a trace shows, by key of [record]: what says that it is not recorded, and what records all of it."""


@dataclass(frozen=True)
class Captures:
    """Which files to write beside the tables of a run."""

    ports: Sequence[str] = ()
    """Ports whose packets a capture is to have; without ports there is no capture."""
    perfetto: bool = False
    """Whether there is to be a trace."""
    snap_length: int = SNAP_LENGTH
    """Bytes of each packet that the capture keeps."""

    def prepare(self, source: Scenario, seed: int | None) -> Prepared:
        """A scenario ready to run, that records what the files need.

        Raises
        ------
        ScenarioError
            The scenario is wrong, a port is unknown, or the network is not Ethernet.
        """
        if self.ports:
            one = self.ports[0] if len(self.ports) == 1 else ""
            source = source.also({_PACKETS: one if one in _WORDS else list(self.ports)})
            try:
                prepared = source.prepare(seed)
            except ScenarioError as error:
                raise ScenarioError(self._by_option(str(error), source.overrides[-1])) from None
            prepared.check_capture()
        else:
            prepared = source.prepare(seed)
        if self.perfetto:
            record = json.loads(prepared.resolved)["record"]
            more = {f"record.{key}": some for key, (nothing, some) in _TRACED.items() if record[key] == nothing}
            prepared = source.also(more).prepare(seed) if more else prepared
        return prepared

    def _by_option(self, message: str, override: Override) -> str:
        """The message of a wrong scenario, in which the option that was written stands for the setting that it made."""
        setting = printable(f" --> --set {'='.join(override)}")
        option = printable(f" --> {' '.join(f'--pcap {port}' for port in self.ports)}")
        problems = [
            problem.replace(setting, option).replace("`packets` in [record]", "--pcap").replace(_LIST, _ALONE)
            if setting in problem
            else problem
            for problem in message.split("\n\n")
        ]
        return "\n\n".join(problems)

    def files(self) -> dict[str, str]:
        """The names of the files, by what they are."""
        return {**({"capture": CAPTURE} if self.ports else {}), **({"trace": TRACE} if self.perfetto else {})}

    def write(self, output: RunOutput, folder: Path) -> list[Path]:
        """Write the files into `folder`, and return them."""
        if self.ports:
            output.write_pcapng(folder / CAPTURE, self.snap_length)
        if self.perfetto:
            output.write_perfetto(folder / TRACE)
        return [folder / name for name in self.files().values()]


def write_pcapng(output: RunOutput | None, path: str | os.PathLike[str], snap_length: int) -> Path:
    """Write the packets of a run that has just been made as a capture."""
    try:
        _made(output).write_pcapng(path, snap_length)
    except ScenarioError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"{path}: the capture could not be written: {error.strerror or error}") from None
    return Path(path)


def write_perfetto(output: RunOutput | None, path: str | os.PathLike[str]) -> Path:
    """Write the packets of a run that has just been made as a trace."""
    try:
        _made(output).write_perfetto(path)
    except ScenarioError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"{path}: the trace could not be written: {error.strerror or error}") from None
    return Path(path)


def _made(output: RunOutput | None) -> RunOutput:
    if output is None:
        raise UserError(
            "a run that was read from its folder has its packets as a table alone; "
            "captures and traces are written of a run that has just been made"
        )
    return output
