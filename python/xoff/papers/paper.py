"""A paper whose experiments can be re-run: what the driver, `xoff.papers.reproduction`, needs of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from xoff.papers.space import Reading, Space
from xoff.papers.verdicts import Claim, Finding
from xoff.report.figures import FigureFile
from xoff.runs.jobs import Job

Scale = TypeVar("Scale")
"""A paper's own type for how much is run."""


@dataclass(frozen=True)
class Rerun(Generic[Scale]):
    """A re-run whose runs are finished."""

    claims: Sequence[Claim]
    """The claims that are checked."""
    scale: Scale
    """How much was run."""
    own: Mapping[Any, Any]
    """Results of the paper's experiments, by the keys of their jobs."""
    out: Path
    """The folder for the figures."""
    reading: Reading
    """The reading of the paper under which its experiments are run."""

    @property
    def names(self) -> set[str]:
        """The claims' names."""
        return {claim.name for claim in self.claims}


@dataclass(frozen=True)
class Paper(Generic[Scale]):
    """A paper: its claims, the experiments that check them, and the functions that present the results."""

    title: str
    """Heading of the page."""
    lead: str
    """First paragraph of the page."""
    folder: Path
    """The package, with `claims.toml` and the scenarios."""
    full: Scale
    """How much is run."""
    quick: Scale
    """How much is run by `--quick`."""
    experiments: Callable[[Sequence[Claim], Scale, Reading], list[Job]]
    """The runs that the claims need under a reading."""
    find: Callable[[Claim, Rerun[Scale], str], Finding]
    """What was found of a claim; the text is a note for it."""
    draw: Callable[[Rerun[Scale]], list[FigureFile]]
    """Draw the figures."""
    banner: Callable[[Scale], str]
    """What the page says of a full re-run; may be empty."""
    shortened: Callable[[Scale], str]
    """What the page says of a shortened re-run."""
    shortened_claim: Callable[[str, Scale], str]
    """What the finding of a claim, given by its name, says of a shortened re-run; may be empty."""
    space: Space = field(default=Space())
    """What the paper leaves open, for `--readings`."""
    survey: tuple[Scale, Scale] | None = None
    """How much is run under each reading by `--readings`, in full and with `--quick`; `None` for `full` and `quick`."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.folder.name


def groups_of(claims: Sequence[Claim], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The groups of runs that the claims need, each once."""
    return list(dict.fromkeys(group for claim in claims for group in groups[claim.name]))
