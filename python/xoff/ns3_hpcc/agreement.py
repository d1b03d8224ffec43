"""How far xoff's runs of that simulator's inputs agree with what that simulator made of them.

Each folder holds a configuration `config.txt` with the files that it names, its results among them. The inputs are
imported and run twice: with the quirks, for a comparison flow by flow, and without them, as xoff itself models it.
Where packets are marked at random the clean runs take several seeds, whose flows count together.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import xoff
from xoff.errors import UserError
from xoff.ns3_hpcc.config import Config
from xoff.ns3_hpcc.export import export_run
from xoff.ns3_hpcc.scenario import import_config
from xoff.ns3_hpcc.scheme import DCQCN, mode_of
from xoff.results import Run

SEEDS = 5
"""Of the clean runs under a scheme that marks at random."""

PERCENTILES = (50, 95, 99)

Key = tuple[str, str, str, str]
"""A flow: source, destination, source port, start in ns."""


@dataclass(frozen=True)
class Agreement:
    """One folder in one of the two modes."""

    folder: str
    mode: str
    """`quirks` or `clean`."""
    seeds: int
    flows: int
    """In the folder."""
    exact: int
    """Completion times that are the same to the nanosecond, of all seeds."""
    median_difference: float
    """Median over flows of the difference of completion times, as a share of theirs."""
    theirs: tuple[float, ...]
    """Slowdown: mean, p50, p95, p99, by their standalone completion times."""
    ours: tuple[float, ...]
    their_pauses: int
    our_pauses: float
    """PAUSE frames; the mean over seeds."""

    def off_by(self) -> list[float]:
        """Of the slowdown's mean and percentiles, our difference as a share of theirs."""
        return [o / t - 1 for o, t in zip(self.ours, self.theirs, strict=True)]


def compare(folder: str | os.PathLike[str], note: Callable[[str], None] = lambda _: None) -> list[Agreement]:
    """Compare one folder in both modes.

    Raises
    ------
    UserError
        A file is missing or wrong, or has flows that the run does not.
    """
    folder = Path(folder)
    config = Config(folder / "config.txt")
    theirs = _completions(folder / Path(str(config.get("FCT_OUTPUT_FILE"))).name)
    pauses = _pauses(folder / Path(str(config.get("PFC_OUTPUT_FILE"))).name)
    found = []
    for mode in ("quirks", "clean"):
        seeds = range(1, 1 + (SEEDS if mode == "clean" and mode_of(config) == DCQCN else 1))
        note(f"{folder.name}, {mode}")
        runs = [_run(folder, mode, seed, theirs) for seed in seeds]
        found.append(_agreement(folder.name, mode, theirs, pauses, runs))
    return found


def imported_run(folder: Path, mode: str, seed: int = 1, sets: dict[str, object] | None = None) -> Run:
    """Run the input of `folder` with its quirks, or `clean`."""
    with tempfile.TemporaryDirectory() as work:
        scenario = Path(work) / "scenario.toml"
        import_config(folder / "config.txt", scenario, clean=mode == "clean")
        return xoff.run(scenario, seed=seed, sets=sets)


def _run(folder: Path, mode: str, seed: int, theirs: dict[Key, tuple[int, int]]) -> tuple[dict[Key, int], int]:
    with tempfile.TemporaryDirectory() as work:
        fct, pfc = Path(work) / "fct.txt", Path(work) / "pfc.txt"
        export_run(imported_run(folder, mode, seed), fct, pfc)
        ours = {key: times[0] for key, times in _completions(fct).items()}
        if missing := set(theirs) - set(ours):
            raise UserError(f"{folder}: {len(missing)} flows complete there and not here, such as {min(missing)}")
        return {key: ours[key] for key in theirs}, _pauses(pfc)


def _agreement(
    folder: str, mode: str, theirs: dict[Key, tuple[int, int]], pauses: int, runs: Sequence[tuple[dict[Key, int], int]]
) -> Agreement:
    their_fct = np.array([fct for fct, _ in theirs.values()], dtype=float)
    alone = np.array([standalone for _, standalone in theirs.values()], dtype=float)
    our_fct = np.array([[run[key] for key in theirs] for run, _ in runs], dtype=float)
    return Agreement(
        folder=folder,
        mode=mode,
        seeds=len(runs),
        flows=len(theirs),
        exact=int((our_fct == their_fct).sum()),
        median_difference=float(np.median(np.abs(our_fct / their_fct - 1))),
        theirs=_summary(their_fct / alone),
        ours=_summary((our_fct / alone).ravel()),
        their_pauses=pauses,
        our_pauses=float(np.mean([count for _, count in runs])),
    )


def _summary(slowdown: np.ndarray) -> tuple[float, ...]:
    return (float(slowdown.mean()), *(float(p) for p in np.percentile(slowdown, PERCENTILES)))


def _lines(file: Path) -> Iterable[list[str]]:
    try:
        text = file.read_text(encoding="ascii")
    except (OSError, UnicodeError) as error:
        raise UserError(f"{file}: cannot be read: {error}") from None
    return (line.split() for line in text.splitlines() if line.strip())


def _completions(file: Path) -> dict[Key, tuple[int, int]]:
    """Of each flow its completion time and the standalone one, ns."""
    found = {}
    for number, words in enumerate(_lines(file), 1):
        try:
            src, dst, src_port, _, _, start, fct, alone = words
            found[src, dst, src_port, start] = (int(fct), int(alone))
        except ValueError:
            raise UserError(f"{file}:{number}: expected eight columns, the last three of them numbers") from None
    if not found:
        raise UserError(f"{file}: has no flow")
    return found


def _pauses(file: Path) -> int:
    """PAUSE frames received, without RESUMEs."""
    return sum(words[-1] == "1" for words in _lines(file))


def table(found: Sequence[Agreement]) -> str:
    """The agreements as a table in Markdown."""
    rows = [
        "| input | mode | flows | to the ns | median difference of FCT | mean slowdown | p50 | p95 | p99 | PAUSEs |",
        "| --- | --- | ---: | ---: | ---: | --- | --- | --- | --- | --- |",
    ]
    for a in found:
        seeds = f", {a.seeds} seeds" if a.seeds > 1 else ""
        slowdowns = (
            f"{t:.3f} / {o:.3f} ({100 * d:+.2f} %)" for t, o, d in zip(a.theirs, a.ours, a.off_by(), strict=True)
        )
        pauses = f"{a.their_pauses:,} / {a.our_pauses:,.0f}"
        exact = f"{a.exact / a.seeds:,.0f}"
        cells = [
            a.folder,
            a.mode + seeds,
            f"{a.flows:,}",
            exact,
            f"{100 * a.median_difference:.2f} %",
            *slowdowns,
            pauses,
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"
