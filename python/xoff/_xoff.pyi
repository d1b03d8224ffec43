"""The native module: scenario in, result tables out."""

import os
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

    def summary(self) -> str:
        """The run in a few numbers, as JSON."""

    def write_tables(self, folder: str | os.PathLike[str]) -> None:
        """Write every table into `folder` as Parquet; an `OSError` where that fails."""

Progress = Callable[[float, int, int, int], bool]
"""Share of simulated time done, simulated time in ps, flows done, flows in all; false stops the run."""

class Prepared:
    """A scenario that was read and checked, with its network and flows."""

    @property
    def resolved(self) -> str:
        """The resolved scenario as JSON, with every default."""

    @property
    def warnings(self) -> list[str]:
        """What is allowed but probably not meant."""

    @property
    def files(self) -> dict[str, str]:
        """The text of each file that it names, by its name there."""

    @property
    def network(self) -> str:
        """Its nodes and links as JSON, as the topology `graph` lists them."""

    @property
    def points(self) -> list[list[tuple[str, str]]]:
        """The overrides of each run of its sweep: one without any where it has none."""

    @property
    def space(self) -> str | None:
        """What its tuning may choose for each key, as JSON; none where it has no tuning."""

    def alone(self) -> Prepared:
        """The same scenario as a run of its own: without the sweep and the tuning."""

    def run(self, threads: int | None, progress: Progress | None) -> RunOutput:
        """Run it to its end, or until `progress` returns false; the GIL is released meanwhile.

        Without `threads`, on as many as make it fastest.
        """

def goal(text: str, ignore_tags: bool) -> str:
    """Ranks, operations and messages of a GOAL schedule, as JSON; a `ScenarioError` that begins with the line else."""

def prepare(
    text: str,
    origin: str,
    overrides: list[tuple[str, str]],
    base_dir: str,
    seed: int | None = None,
    files: dict[str, str] | None = None,
) -> Prepared:
    """Read and check a scenario, and make its network and flows; `seed` in place of its own.

    The files that it names are taken from `files` where that is given, else from `base_dir`.
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
