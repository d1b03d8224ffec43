"""The report: one HTML page for one run or several, readable without a network.

The script that draws (plotly.js) and the figures are inlined once, compressed.
"""

from __future__ import annotations

import base64
import gzip
import importlib.resources
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from polars.exceptions import PolarsError

from xoff.analysis.tables import STATISTICS
from xoff.errors import UserError
from xoff.report.findings import findings_section
from xoff.report.plots import Labelled, Plot, sections
from xoff.report.plots.style import labelled, listed
from xoff.report.recorded import lacks
from xoff.report.template import STATIC, TEMPLATES, document
from xoff.report.tree.section import TreeSection, tree_section
from xoff.runs.files import is_temporary, write_file
from xoff.runs.folder import COLUMNS, columns_of_some_runs
from xoff.runs.manifest import MANIFEST
from xoff.runs.results import Run, labels, load
from xoff.runs.summary import Summary
from xoff.text import rate_text, time_text

LIBRARIES = ("plotly", "bokeh")
"""Packed texts that are scripts."""

MARK = '<meta name="generator" content="xoff report">'
"""A line in the head of every page, by which a page that may be replaced is recognized."""


def find_runs(folders: Sequence[Path]) -> list[Run]:
    """The runs in `folders`: each a run's folder, or one that holds such folders. The same one twice counts once."""
    found: dict[Path, Run] = {}
    for folder in folders:
        inside = sorted(file.parent for file in folder.glob(f"*/{MANIFEST}")) if folder.is_dir() else []
        inside = [each for each in inside if not is_temporary(each.name)]
        chosen = inside if inside and not (folder / MANIFEST).exists() else [folder]
        for each in chosen:
            found.setdefault(each.resolve(), load(each))
    return list(found.values())


def default_page(runs: Sequence[Run]) -> Path:
    """`report.html` in the folder of a single run, else in the folder that all runs share."""
    folders = [run.folder.absolute() for run in runs if run.folder]
    if len(folders) <= 1:
        return (folders[0] if folders else Path()) / "report.html"
    shared = Path(os.path.commonpath([folder.parent for folder in folders])) / "report.html"
    return Path(os.path.relpath(shared)) if shared.is_relative_to(Path.cwd()) else shared


def write_report(runs: Sequence[Run], path: str | os.PathLike[str]) -> Path:
    """Write the page of `runs` to `path`, and return it; of existing files only such a page is replaced."""
    return write_page(lambda: rendered(runs, render_report), Path(path))


def rendered(runs: Sequence[Run], render: Callable[[Sequence[Run]], str]) -> str:
    """What `render` makes of `runs`; a `UserError` that names their folders if a part is not as xoff writes it."""
    try:
        return render(runs)
    except UserError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, PolarsError) as error:
        # The page reads many parts of a run. A folder's files may have been edited, or may lack a part.
        folders = [str(run.folder) for run in runs if run.folder is not None]
        if not folders:
            raise
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise UserError(f"{', '.join(folders)}: a manifest or a table is not as xoff writes it ({what})") from error


def write_page(make: Callable[[], str], target: Path) -> Path:
    """Write a page to `target`, and return it; of existing files only such a page is replaced."""
    if target.is_dir():
        raise UserError(f"{target}: is a folder; expected a file name for the page")
    if (target.exists() or target.is_symlink()) and not _is_page(target):
        raise UserError(
            f"{target}: exists already, and is no page that xoff wrote; name another file for the page, or move this "
            "one away"
        )
    text = make()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_file(target, text)
    except OSError as error:
        raise UserError(f"{target}: the page cannot be written: {error.strerror or error}") from None
    return target


def render_report(runs: Sequence[Run]) -> str:
    """The page as text."""
    if not runs:
        raise UserError("a report needs at least one run")
    shown = labelled(runs, labels(runs))
    plots = [(heading, kept) for heading, several in sections(shown) if (kept := _kept(several))]
    figures = {plot.name: json.loads(plot.figure.to_json()) for _, several in plots for plot in several if plot.figure}
    tree = tree_section(shown)
    flat = [flatten(each.run.manifest["scenario"]) for each in shown]
    keys = list(dict.fromkeys(key for one in flat for key in one))
    docs: dict[str, dict[str, str]] = {}
    for run in runs:
        for table, said in run.manifest.get("table_docs", {}).items():
            docs.setdefault(table, {}).update(said)
    return page(
        "report.html",
        _title(shown),
        str(runs[0].manifest.get("version", "")),
        figures,
        tree=tree,
        runs=shown,
        columns=_COLUMNS,
        numbers=[_numbers(each.run) for each in shown],
        findings=findings_section(shown),
        lacks=lacks(shown),
        sections=plots,
        scenarios=flat,
        keys=keys,
        differing=[key for key in keys if len({one.get(key) for one in flat}) > 1],
        tables=docs,
        written={table: columns | columns_of_some_runs().get(table, {}) for table, columns in COLUMNS.items()},
    )


def _kept(plots: Sequence[Plot]) -> list[Plot]:
    """Those that have something to show, and the reasons why others have not, each once."""
    reasons: set[str] = set()
    kept = []
    for plot in plots:
        if plot.figure is not None or (plot.recorded and plot.note not in reasons):
            kept.append(plot)
            reasons.add(plot.note)
    return kept


def page(
    template: str,
    title: str,
    version: str,
    figures: Mapping[str, Any],
    *,
    folder: Path = TEMPLATES,
    tree: TreeSection | None = None,
    scripts: Sequence[str] = (),
    style: str = "",
    **values: Any,
) -> str:
    """A page with a heading, from a template that extends `page.html`, with the figures and trees that it shows.

    `scripts` and `style` are the page's own beside those of all pages with figures.
    """
    tree = tree or TreeSection(Markup())
    texts = {"plotly": _plotly(), "figures": json.dumps(figures), **tree.data}
    return document(
        template,
        title,
        folder,
        mark=MARK,
        version=version,
        style=tree.style + style,
        data={name: _packed(text) for name, text in texts.items()},
        scripts=[each for each in (tree.script, (STATIC / "page.js").read_text("utf-8"), *scripts) if each],
        unpacked=[texts[name] for name in LIBRARIES if name in texts],
        tree=tree.body,
        **values,
    )


def _is_page(file: Path) -> bool:
    if not file.is_file():
        return False  # A device or a pipe might never begin, or end.
    try:
        with file.open("rb") as found:
            return MARK.encode() in found.read(1024)
    except OSError:
        return False


def flatten(value: Any, key: str = "") -> dict[str, str]:
    """A nested scenario as dotted keys with values as text."""
    if isinstance(value, dict) and value:
        pairs = [(f"{key}.{name}" if key else name, each) for name, each in value.items()]
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        pairs = [(f"{key}.{index}", each) for index, each in enumerate(value)]
    else:
        return {key: json.dumps(value, ensure_ascii=False)}
    return {name: text for path, each in pairs for name, text in flatten(each, path).items()}


def _plotly() -> str:
    source = importlib.resources.files("plotly") / "package_data" / "plotly.min.js"
    return source.read_text("utf-8")


def _packed(text: str) -> str:
    # Level 9 makes a page smaller by 0.2 %, and its libraries take another tenth of a second.
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _title(runs: Sequence[Labelled]) -> str:
    titles = {str(each.run.manifest["scenario"].get("title") or "") for each in runs}
    if len(titles) == 1 and (title := titles.pop()):
        return title
    if len(runs) == 1:
        return f"Run {runs[0].label}"
    return (
        f"Comparison of {listed([each.label for each in runs])}"
        if len(runs) <= 5
        else f"Comparison of {len(runs)} runs"
    )


_COLUMNS = (
    ("run", "", ""),
    ("scheme", "", ""),
    ("seed", "", ""),
    ("flows", "completed", ""),
    *((name, "", "slowdown") for name in STATISTICS),
    ("PAUSE", "frames", ""),
    ("HoL-blocked", "flows", ""),
    ("longest queue", "KB", ""),
    ("load", "asked / offered", ""),
    ("simulated", "", ""),
    ("wall time", "s", ""),
    ("speed", "M hops/s", ""),
)
"""The summary's columns, with what they count, and a heading that several share; all but the first two are numbers."""


def _numbers(run: Run) -> list[list[str]]:
    """The lines of each number of a run in the summary."""
    summary, manifest = Summary.of(run.manifest), run.manifest
    slow = summary.slowdown or {}
    return [
        [str(manifest.get("seed", ""))],
        _flows(summary),
        *([f"{slow[name]:.2f}" if name in slow else "\N{EN DASH}"] for name in STATISTICS),
        [f"{summary.pause_frames:,}"],
        ["\N{EN DASH}" if summary.hol_blocked is None else f"{summary.hol_blocked:,}"],
        [f"{summary.max_queue_bytes / 1e3:,.1f}"],
        _loads(manifest.get("loads", [])),
        [time_text(int(manifest.get("sim_time_ps", 0))), *_skipped(manifest.get("fast_forward"))],
        [f"{summary.wall_s:.2f}"],
        [f"{summary.hops_per_s / 1e6:.2f}"],
    ]


def _skipped(forward: dict[str, Any] | None) -> list[str]:
    """What a fast-forwarded run skipped."""
    if forward is None:
        return []
    parts = int(forward.get("parts", 1))
    of_parts = f" of {parts} parts" if parts > 1 else ""
    lines = [f"{time_text(int(forward['skipped_ps']))} skipped", f"in {int(forward['jumps']):,} jumps{of_parts}"]
    recalled = int(forward["recalled_messages"])
    return [*lines, f"{recalled:,} messages recalled"] if recalled else lines


def _flows(summary: Summary) -> list[str]:
    """How many flows completed; of flows without an end their number and goodput."""
    endless = summary.endless
    lines = [f"{summary.completed:,} of {summary.flows:,}"] if summary.flows or endless is None else []
    return lines + ([f"{endless.flows:,} endless:", rate_text(endless.goodput_bps)] if endless else [])


def _loads(loads: Sequence[dict[str, Any]]) -> list[str]:
    return [
        f"{load.get('label', '') + ': ' if len(loads) > 1 else ''}{load['asked']:.3g} / {load['offered']:.3g}"
        for load in loads
        if load.get("asked") is not None and load.get("offered") is not None
    ] or ["\N{EN DASH}"]
