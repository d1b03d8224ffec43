"""How far xoff's runs of the command lines of uet-htsim agree with that simulator's stored results.

A folder holds `runs.csv`, one variant a line with its command line, the files that these name, each variant's
`VARIANT.fct.csv` and, for some variants, `seeds.csv` with runs of other seeds. Random numbers differ, so several seeds
of xoff are compared with all stored seeds of the variant, whose spread is the noise floor.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, stdev

from xoff.errors import UserError
from xoff.formats.uet_htsim.importer import import_command
from xoff.runs.library import run_as_meant
from xoff.studies.agreement.comparison import MARK

PAGE = "agreement.md"
"""The table's file."""
DATA = "agreement.json"
"""The same numbers for programs."""

SEEDS = 5
"""Seeds of xoff for a variant in which random numbers matter."""

_DIGITS = 6
"""Significant digits of the times that the simulator prints."""
_US = 1e6
_EVEN_MEAN = 2e-6


@dataclass(frozen=True)
class Numbers:
    """Runs of a variant, one number a seed."""

    mean_fct: list[float] = field(default_factory=list)
    """us."""
    last_finish: list[float] = field(default_factory=list)
    """us."""
    retransmitted: list[float] = field(default_factory=list)
    nacks: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Row:
    """A variant: means over seeds, ours against theirs."""

    folder: str
    variant: str
    seeds: int
    """Of xoff."""
    their_seeds: int
    flows: int
    finished: int
    """Of ours, the minimum over seeds."""
    mean_fct_us: list[float]
    """Theirs, ours."""
    last_finish_us: list[float]
    mean_fct_difference: float
    """Ours against theirs, as a share of theirs."""
    last_finish_difference: float
    exact: bool
    """Each flow's time is theirs to the printed digits, in each seed."""
    retransmissions: list[float]
    """Theirs, ours."""
    nacks: list[float]
    mean_fct_noise: float | None
    """Standard deviation of their means over seeds, as a share of the mean; `None` with one seed."""
    last_finish_noise: float | None
    in_spread: bool
    """Both of our means lie between the least and the greatest of their seeds."""


@dataclass(frozen=True)
class Refused:
    """A variant that is not modelled."""

    folder: str
    variant: str
    reason: str


def compare(
    folder: Path, note: Callable[[str], None] = lambda _: None, *, clean: bool = False, seeds: int = SEEDS
) -> tuple[list[Row], list[Refused]]:
    """Compare all variants of a folder.

    Raises
    ------
    UserError
        A file is missing or malformed.
    """
    rows: list[Row] = []
    refused: list[Refused] = []
    others = _seeds(folder)
    name = folder.resolve().name
    for line in _read(folder / "runs.csv", ("variant", "command", "mean_fct_us", "max_fct_us", "rtx", "nacks")):
        variant = line["variant"]
        note(f"{name}, {variant}")
        theirs, finish = _theirs(folder, line, others.get(variant, []))
        # Where nothing is random, one seed says all.
        count = seeds if others.get(variant) or float(line["rtx"]) > 0 or len(finish) > 1 else 1
        try:
            ours, times = _ours(folder, line["command"], count, clean=clean)
        except UserError as error:
            refused.append(Refused(name, variant, str(error)))
            continue
        rows.append(_row(name, variant, theirs, finish, ours, times))
    return rows, refused


def _read(file: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            lines = list(csv.DictReader(opened))
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{file}: is no table of comma-separated values: {error}") from None
    for column in columns:
        if not lines or any(line.get(column) is None for line in lines):
            raise UserError(f"{file}: expected a column `{column}` with a value in each line")
    return lines


def _number(file: Path, line: dict[str, str], column: str) -> float:
    try:
        return float(line[column])
    except ValueError:
        raise UserError(f"{file}: `{column}` is `{line[column]}`: expected a number") from None


def _seeds(folder: Path) -> dict[str, list[dict[str, str]]]:
    """Runs with other seeds, by variant."""
    file = folder / "seeds.csv"
    if not file.exists():
        return {}
    found: dict[str, list[dict[str, str]]] = {}
    for line in _read(file, ("variant", "mean_fct_us", "max_fct_us", "rtx", "nacks")):
        found.setdefault(line["variant"], []).append(line)
    return found


def _theirs(folder: Path, line: dict[str, str], others: list[dict[str, str]]) -> tuple[Numbers, list[float]]:
    """All their runs of a variant, and the finish of each flow in the one of `runs.csv`."""
    fct = folder / f"{line['variant']}.fct.csv"
    finish = [_number(fct, row, "finish_us") for row in _read(fct, ("start_us", "finish_us"))]
    numbers = Numbers()
    file = folder / "runs.csv"
    # The other seeds tell the longest completion time alone; flows end by the same order.
    later = max(finish) - _number(file, line, "max_fct_us")
    for run in [line, *others]:
        numbers.mean_fct.append(_number(file, run, "mean_fct_us"))
        numbers.last_finish.append(_number(file, run, "max_fct_us") + later)
        numbers.retransmitted.append(_number(file, run, "rtx"))
        numbers.nacks.append(_number(file, run, "nacks"))
    return numbers, finish


def _ours(folder: Path, command: str, seeds: int, *, clean: bool) -> tuple[Numbers, list[list[float]]]:
    """Our runs of a command line, and the finish of each flow in each, in the order of the connection matrix."""
    numbers, times = Numbers(), []
    with tempfile.TemporaryDirectory() as work:
        scenario = Path(work) / "scenario.toml"
        import_command(command, scenario, folder=folder, clean=clean)
        for seed in range(1, seeds + 1):
            run = run_as_meant(scenario, seed=seed)
            flows = run.flows
            done = [
                ((start + fct) / _US, fct / _US)
                for start, fct in zip(flows["start_ps"].to_pylist(), flows["fct_ps"].to_pylist(), strict=True)
                if fct is not None
            ]
            if not done:
                raise UserError("no flow completes here")
            counts = run.manifest["ultra_ethernet"]
            numbers.mean_fct.append(fmean(fct for _, fct in done))
            numbers.last_finish.append(max(finish for finish, _ in done))
            numbers.retransmitted.append(counts["retransmitted"])
            numbers.nacks.append(counts["nacks"])
            times.append([finish for finish, _ in done])
    return numbers, times


def _row(
    folder: str, variant: str, theirs: Numbers, finish: list[float], ours: Numbers, times: list[list[float]]
) -> Row:
    def both(numbers: Callable[[Numbers], list[float]]) -> list[float]:
        return [fmean(numbers(theirs)), fmean(numbers(ours))]

    def difference(pair: list[float]) -> float:
        return pair[1] / pair[0] - 1

    def noise(numbers: list[float]) -> float | None:
        return stdev(numbers) / fmean(numbers) if len(numbers) > 1 else None

    def within(numbers: Callable[[Numbers], list[float]]) -> bool:
        return min(numbers(theirs)) <= fmean(numbers(ours)) <= max(numbers(theirs))

    mean, last = both(lambda n: n.mean_fct), both(lambda n: n.last_finish)
    printed = sorted(float(f"{time:.{_DIGITS}g}") for time in finish)
    same = [sorted(float(f"{time:.{_DIGITS}g}") for time in run) == printed for run in times]
    return Row(
        folder=folder,
        variant=variant,
        seeds=len(times),
        their_seeds=len(theirs.mean_fct),
        flows=len(finish),
        finished=min(len(run) for run in times),
        mean_fct_us=mean,
        last_finish_us=last,
        mean_fct_difference=difference(mean),
        last_finish_difference=difference(last),
        exact=all(same),
        retransmissions=both(lambda n: n.retransmitted),
        nacks=both(lambda n: n.nacks),
        mean_fct_noise=noise(theirs.mean_fct),
        last_finish_noise=noise(theirs.last_finish),
        in_spread=len(theirs.mean_fct) > 1 and within(lambda n: n.mean_fct) and within(lambda n: n.last_finish),
    )


def data(rows: Sequence[Row], refused: Sequence[Refused]) -> str:
    """The agreements as JSON."""
    table = {"rows": [asdict(row) for row in rows], "refused": [asdict(row) for row in refused]}
    return json.dumps(table, indent=1) + "\n"


def table(rows: Sequence[Row]) -> str:
    """The agreements as a table in Markdown."""
    lines = [
        "| folder | variant | seeds | mean FCT us | difference | noise "
        "| last finish us | difference | noise | rtx | NACKs |",
        "| --- | --- | --- | --- | ---: | ---: | --- | ---: | ---: | --- | --- |",
    ]

    def share(value: float | None, *, sign: bool = False) -> str:
        return "" if value is None else f"{100 * value:+.2f} %" if sign else f"{100 * value:.2f} %"

    for row in rows:
        exact = " (to the digit)" if row.exact else ""
        cells = [
            row.folder,
            row.variant + exact,
            f"{row.their_seeds} / {row.seeds}",
            " / ".join(f"{us:,.3f}" for us in row.mean_fct_us),
            share(row.mean_fct_difference, sign=True),
            share(row.mean_fct_noise),
            " / ".join(f"{us:,.2f}" for us in row.last_finish_us),
            share(row.last_finish_difference, sign=True),
            share(row.last_finish_noise),
            " / ".join(f"{count:,.0f}" for count in row.retransmissions),
            " / ".join(f"{count:,.0f}" for count in row.nacks),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


CAPTION = """\
Theirs / ours, means over seeds; differences are ours against theirs, and noise is the standard deviation of their
seeds. Last finish: of the other seeds the simulator's table tells the longest completion time, to which the difference
of both in the first run is added. *To the digit*: each flow's finish is the same to the six digits that it prints."""
"""What stands below the table."""


def page(rows: Sequence[Row], refused: Sequence[Refused]) -> str:
    """The table's file: its mark, the table, what its columns leave open, and what is not modelled."""
    parts = [MARK, table(rows), CAPTION]
    if refused:
        parts.append("Not modelled:\n\n" + "\n".join(f"- {r.folder}, {r.variant}: {r.reason}" for r in refused))
    return "\n\n".join(parts) + "\n"
