"""A survey: every scheme on the same four scenarios, one table, one page (`xoff compare`)."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xoff.report.article import write_page
from xoff.runs.executor import RunExecutor
from xoff.runs.folder import check_target
from xoff.runs.jobs import run_jobs
from xoff.runs.kept import Kept, resumed
from xoff.studies.compare import drawings, table
from xoff.studies.compare.contenders import Field, field
from xoff.studies.compare.experiments import EXPERIMENTS, FULL, QUICK, Scale, averaged, jobs
from xoff.studies.compare.heat import overview
from xoff.studies.compare.table import Row

if TYPE_CHECKING:
    from xoff.scheme.load import SchemeFile

LEAD = (
    "Every scheme with its own defaults on the same scenarios. All links are lossless by PFC, but under `none/bfc`, "
    "which holds back single flows. Slowdown is a flow's completion time over the one it has alone in the network. "
    "The best of each column has a star."
)


def compare(
    out: Path,
    schemes: str | None = None,
    *,
    quick: bool = False,
    scale: Scale | None = None,
    executor: RunExecutor | None = None,
    own: Sequence[SchemeFile] = (),
) -> int:
    """Run the survey into the folder `out`; 0 if all runs are finished.

    Writes `survey.md`, `survey.json`, `survey.parquet`, `index.html`, and each figure as PNG, SVG and CSV.

    Parameters
    ----------
    out
        The folder for the results.
    schemes
        Only these, separated by commas, each in the form of `xoff.studies.compare.contenders`. All by default.
    quick
        Shorter runs.
    scale
        How much is run, in place of what `quick` says.
    executor
        What makes the runs; by default as many processes as there are cores.
    own
        Schemes in Python, which take part beside the chosen ones.

    Raises
    ------
    UserError
        A scheme is unknown or cannot take part, or `out` cannot hold results.
    RunError
        A run broke.
    """
    check_target(out, force=True)
    chosen = field(schemes, [each.file for each in EXPERIMENTS], own)
    extent = scale or (QUICK if quick else FULL)
    options = f"{' --quick' if quick else ''}{f' --schemes {schemes}' if schemes else ''}"
    command = f"xoff compare -o {out}{options}" + "".join(f" --scheme {each.file}:{each.cls}" for each in own)
    with resumed(out) as kept:
        _compare(out, command, chosen, extent=extent, executor=executor, kept=kept)
    return 0


def _compare(
    out: Path,
    command: str,
    chosen: Field,
    *,
    extent: Scale,
    executor: RunExecutor | None,
    kept: Kept,
) -> None:
    began = time.monotonic()
    results = run_jobs(jobs(chosen, extent), "survey", executor, kept)
    rows = [
        Row(experiment.name, contender.name, averaged(results, experiment.name, contender.name))
        for experiment in EXPERIMENTS
        for contender in chosen.contenders
    ]
    table.write(rows, chosen.absent, command, extent.note, out)
    figures = drawings.draw(rows, results, out)
    write_page(
        out / "index.html",
        title="Survey of congestion control in lossless networks",
        lead=LEAD,
        banner=f"{extent.note} Made by: {command}",
        # The overview is a table on the page, which answers to pointing at it.
        figures=[figure for figure in figures if figure.name != "overview"],
        sections=[overview(rows, extent.seeds)],
        tables=[
            (each.title, each.what, *table.cells(each, [row for row in rows if row.experiment == each.name], "{} ★"))
            for each in EXPERIMENTS
        ],
    )
    print(table.markdown(rows))
    for name, reason in chosen.absent.items():
        print(f"left out: {name}: {reason}", file=sys.stderr)
    print(f"{out / 'index.html'} in {time.monotonic() - began:.0f} s", file=sys.stderr)
