"""The native module: scenario in, result tables out."""

from collections.abc import Callable
from typing import Protocol

__version__: str

class ScenarioError(ValueError):
    """A mistake in a scenario; the message names file, line, key and what was expected."""

class RunError(RuntimeError):
    """A run that broke: a lossless network lost a packet, or an invariant failed."""

class ArrowTable(Protocol):
    """A table that pyarrow and polars take without a copy (the Arrow PyCapsule interface)."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class RunOutput:
    """What a run left: its manifest and its tables."""

    @property
    def manifest(self) -> str:
        """The manifest as JSON."""

    def tables(self) -> dict[str, ArrowTable]:
        """Every result table by name."""

Progress = Callable[[float, int, int, int], bool]
"""Share of simulated time done, simulated time in ps, flows done, flows in all; false stops the run."""

def check(text: str, origin: str, overrides: list[tuple[str, str]], base_dir: str) -> str:
    """Validate a scenario; the resolved scenario as JSON, with warnings under `_warnings`."""

def schema() -> str:
    """The JSON schema of a scenario."""

def keys() -> str:
    """Every key of a scenario: a JSON list of path, type, default and doc."""

def catalogue() -> str:
    """Schemes, topologies, workloads, patterns, detectors and routings, as JSON."""

def run(
    text: str,
    origin: str,
    overrides: list[tuple[str, str]],
    base_dir: str,
    seed: int | None,
    threads: int | None,
    progress: Progress | None,
) -> RunOutput:
    """Run a scenario to its end, or until `progress` returns false; the GIL is released meanwhile.

    Without `threads`, on as many as make it fastest.
    """
