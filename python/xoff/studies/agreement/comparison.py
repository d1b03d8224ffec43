"""How far xoff's runs of the ns-3 HPCC simulator's inputs agree with that simulator's results.

Each folder holds a configuration `config.txt` with the files that it names, its results among them. The inputs are
imported and run twice: with the quirks, for a comparison flow by flow, and without them, as xoff itself models the
network. If packets are marked at random, the clean runs take several seeds, whose flows count together.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xoff.errors import UserError
from xoff.formats.lines import read_lines
from xoff.formats.ns3_hpcc.config import Config
from xoff.formats.ns3_hpcc.exporter import export_run
from xoff.formats.ns3_hpcc.importer import import_config
from xoff.formats.ns3_hpcc.scheme import DCQCN, mode_of
from xoff.runs.library import run_as_meant
from xoff.runs.results import Run
from xoff.text import count_text

PAGE = "agreement.md"
"""The table's file."""

MARK = "<!-- xoff agreement -->"
"""The table's first line, by which a table that may be replaced is recognized; figures contain it too."""

SEEDS = 5
"""Number of clean runs under a scheme that marks at random."""

CAPTION = """\
Slowdown: theirs / ours (difference). With several seeds their flows count together, and *to the ns* and PAUSEs are
means a seed. Percentiles are interpolated between flows: of two flows, p95 and p99 are no flow's own."""
"""What stands below the table."""

PERCENTILES = (50, 95, 99)

_MAX = 2**63 - 1
"""The longest time in ns that counts as one."""

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
    """Completion times that are the same to the nanosecond, summed over seeds."""
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


def check_target(out: Path, folders: Sequence[Path]) -> None:
    """Refuse two folders of one name, and a place where something stands that no comparison made.

    Nothing is computed or written before this check.

    Raises
    ------
    UserError
        What was refused.
    """
    named: dict[str, Path] = {}
    for folder in folders:
        name = folder.resolve().name
        if name in named:
            raise UserError(f"{named[name]} and {folder}: two folders of one name, by which rows and figures are known")
        named[name] = folder
    if (out.exists() or out.is_symlink()) and not out.is_dir():
        raise UserError(f"{out}: not a folder; expected one for the table and the figures")
    for file in (out / PAGE, *(figure_of(out, name) for name in named)):
        if (file.exists() or file.is_symlink()) and not _is_ours(file):
            raise UserError(f"{file}: exists already, and not made by xoff agreement; name another folder")


def figure_of(out: Path, name: str) -> Path:
    """Where the figure of the folder called `name` goes."""
    return out / f"{name}.png"


def _is_ours(file: Path) -> bool:
    if not file.is_file():
        return False  # A device or a pipe might never begin, or end.
    try:
        with file.open("rb") as opened:
            head = opened.read(1024)
    except OSError:
        return False
    return head.startswith(MARK.encode()) if file.name == PAGE else MARK.encode() in head


def compare(
    folder: str | os.PathLike[str],
    note: Callable[[str], None] = lambda _: None,
    warn: Callable[[str], None] = lambda _: None,
) -> list[Agreement]:
    """Compare one folder in both modes.

    Parameters
    ----------
    folder
        Holds `config.txt`, every file that it names, and that simulator's results.
    note
        Gets the name of what is being run.
    warn
        Gets the import's warnings, once, and how many flows complete here alone, which are left out.

    Raises
    ------
    UserError
        A file is missing or wrong, or has flows that the run does not.
    """
    folder = Path(folder)
    name = folder.resolve().name
    config = Config(folder / "config.txt")
    theirs = _completions(folder / Path(str(config.get("FCT_OUTPUT_FILE"))).name)
    pauses = _pauses(folder / Path(str(config.get("PFC_OUTPUT_FILE"))).name)
    said: set[str] = set()

    def warn_once(warning: str) -> None:
        if warning not in said:
            said.add(warning)
            warn(warning)

    found = []
    for mode in ("quirks", "clean"):
        seeds = range(1, 1 + (SEEDS if mode == "clean" and mode_of(config) == DCQCN else 1))
        note(f"{name}, {mode}")
        runs = [_run(folder, mode, seed, theirs, warn_once) for seed in seeds]
        found.append(_agreement(name, mode, theirs, pauses, runs))
    return found


def imported_run(
    folder: Path,
    mode: str,
    seed: int = 1,
    sets: dict[str, object] | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> Run:
    """Run the input of `folder` with its quirks, or `clean`; `warn` gets the import's warnings."""
    with tempfile.TemporaryDirectory() as work:
        scenario = Path(work) / "scenario.toml"
        for warning in import_config(folder / "config.txt", scenario, clean=mode == "clean").warnings:
            warn(warning)
        return run_as_meant(scenario, seed=seed, sets=sets)


def _run(
    folder: Path, mode: str, seed: int, theirs: dict[Key, tuple[int, int]], warn: Callable[[str], None]
) -> tuple[dict[Key, int], int]:
    with tempfile.TemporaryDirectory() as work:
        fct, pfc = Path(work) / "fct.txt", Path(work) / "pfc.txt"
        if export_run(imported_run(folder, mode, seed, warn=warn), fct, pfc).flows == 0:
            raise UserError(f"{folder}: no flow completes here, of {count_text(len(theirs), 'flow')} there")
        ours = {key: times[0] for key, times in _completions(fct).items()}
        if missing := set(theirs) - set(ours):
            count = count_text(len(missing), "flow")
            raise UserError(f"{folder}: complete there and not here: {count}, such as {' '.join(min(missing))}")
        if more := set(ours) - set(theirs):
            where = f"{folder}, {mode}, seed {seed}"
            count = count_text(len(more), "flow")
            warn(f"{where}: left out, as complete here and not there: {count}, such as {' '.join(min(more))}")
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


def _completions(file: Path) -> dict[Key, tuple[int, int]]:
    """Completion time and standalone completion time of each flow, in ns."""
    found: dict[Key, tuple[int, int]] = {}
    for line in read_lines(file, "file of completion times"):
        line.has("SRC_IP DST_IP SRC_PORT DST_PORT SIZE_BYTES START_NS FCT_NS STANDALONE_FCT_NS")
        start = line.count(5, "the start in ns", maximum=_MAX)
        key = (line.words[0], line.words[1], line.words[2], str(start))
        if key in found:
            raise line.wrong("a flow of the same hosts, source port and start as one above", "each flow once")
        fct = line.count(6, "the completion time in ns", 1, _MAX)
        found[key] = (fct, line.count(7, "the standalone completion time in ns", 1, _MAX))
    if not found:
        raise UserError(f"{file}: has no flow")
    return found


def _pauses(file: Path) -> int:
    """PAUSE frames received, without RESUMEs."""
    count = 0
    for line in read_lines(file, "file of PAUSE frames"):
        line.has(columns := "TIME_NS NODE NODE_TYPE INTERFACE TYPE")
        numbers = [line.count(index, name, maximum=_MAX) for index, name in enumerate(columns.split())]
        count += numbers[-1] == 1
    return count


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


def page(found: Sequence[Agreement]) -> str:
    """The table's file: its mark, the table, and what its columns leave open."""
    return f"{MARK}\n\n{table(found)}\n{CAPTION}\n"
