"""The page to explore a run, or two in comparison: one file, which asks nothing of any server.

Canvases are drawn by scripts of the page's own, since every figure is drawn anew for each step of a drag:
docs/explore.md has the times of a frame.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from xoff.errors import UserError
from xoff.report.explore.data import Limits, run_pack
from xoff.report.explore.pack import Pack
from xoff.report.page import MARK, rendered, write_page
from xoff.report.palette import PAUSED, SERIES
from xoff.report.template import STATIC, document
from xoff.runs.results import Run, labels
from xoff.text import count_text, time_text

SCRIPTS = (
    "explore-data.js",
    "explore-pen.js",
    "explore-view.js",
    "explore-figure.js",
    "explore-time.js",
    "explore-cdf.js",
    "explore-messages.js",
    "explore-tables.js",
    "explore-search.js",
    "explore.js",
)
"""Files that make the page's script, in this order."""

_MOST = 2
"""Runs of a page."""

_CHOICES = {
    "metrics": (
        ("sent_bps", "sent"),
        ("goodput_bps", "goodput"),
        ("rate_bps", "the scheme's rate"),
        ("window_bytes", "the scheme's window"),
    ),
    "orders": (
        ("slowdown", "largest slowdown first"),
        ("fct", "longest first"),
        ("start", "by start"),
        ("id", "by number"),
    ),
    "groups": (("label", "label"), ("size", "size"), ("priority", "priority"), ("all", "nothing: all together")),
}
"""What the page's lists offer; the scripts have the same keys."""


def write_explorer(runs: Sequence[Run], path: str | os.PathLike[str]) -> Path:
    """Write the page of one run or two to `path`, and return it; of existing files only such a page is replaced.

    Raises `UserError` if there are more runs, or the page cannot be written.
    """
    return write_page(lambda: rendered(runs, render_explorer), Path(path))


def render_explorer(runs: Sequence[Run], limits: Limits | None = None) -> str:
    """The page as text."""
    if not 1 <= len(runs) <= _MOST:
        raise UserError(f"{len(runs)} runs: expected one run to explore, or two to compare; xoff report takes more")
    packs = [run_pack(run, label, limits) for run, label in zip(runs, labels(runs), strict=True)]
    return explorer(runs, packs)


def explorer(
    runs: Sequence[Run],
    packs: Sequence[Pack],
    *,
    template: str = "explore.html",
    scripts: Sequence[str] = (),
    connect: str = "",
) -> str:
    """The page of runs that are packed. `scripts` are further files, and `connect` is what they may ask."""
    title = str(runs[0].manifest["scenario"].get("title") or "")
    names = [str(pack.about["label"]) for pack in packs]
    found = [note for pack in packs for note in pack.about["notes"]]
    notes = list(dict.fromkeys(found))
    return document(
        template,
        f"{title or 'Run ' + ' and '.join(names)}: explore",
        mark=MARK,
        style=(STATIC / "explore.css").read_text("utf-8"),
        scripts=["\n".join((STATIC / name).read_text("utf-8") for name in (*SCRIPTS, *scripts))],
        data={f"run-{number}": pack.text() for number, pack in enumerate(packs)},
        connect=connect,
        version=str(runs[0].manifest.get("version", "")),
        runs=[(name, _about(run)) for name, run in zip(names, runs, strict=True)],
        notes=notes,
        colours=Markup(json.dumps(SERIES).replace('"', "&quot;")),
        paused=PAUSED,
        over_time=("overview", "queues", "utilization", "stopped", "spans", "rates"),
        choices=_CHOICES,
    )


def _about(run: Run) -> str:
    """A run in a line."""
    if "summary" not in run.manifest:  # It goes on.
        return f"{run.scheme}, seed {run.manifest.get('seed')}"
    flows = count_text(run.table("flows").num_rows, "message")
    state = "" if run.complete else ", incomplete"
    simulated = time_text(int(run.manifest.get("sim_time_ps") or 0))
    return f"{run.scheme}, seed {run.manifest.get('seed')}{state}: {flows} in {simulated} of simulated time"
