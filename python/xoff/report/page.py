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
from html import escape
from pathlib import Path
from typing import Any

from xoff.analysis.tables import STATISTICS, summarize
from xoff.errors import UserError
from xoff.report.findings import findings_section
from xoff.report.plots import Labelled, Plot, sections
from xoff.report.plots.style import labelled, listed
from xoff.report.tree.section import TreeSection, tree_section
from xoff.runs.manifest import MANIFEST
from xoff.runs.results import Run, labels, load, unit_of
from xoff.text import time_text

_MARK = '<meta name="generator" content="xoff report">'
"""In the head of every page, by which a page that may be replaced is known."""


def find_runs(folders: Sequence[Path]) -> list[Run]:
    """The runs in `folders`: each a run's folder, or one that holds such folders. The same one twice counts once."""
    found: dict[Path, Run] = {}
    for folder in folders:
        inside = sorted(file.parent for file in folder.glob(f"*/{MANIFEST}")) if folder.is_dir() else []
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
    return write_page(lambda: render(runs), Path(path))


def write_page(make: Callable[[], str], target: Path) -> Path:
    """Write a page to `target`, and return it; of existing files only such a page is replaced."""
    if target.is_dir():
        raise UserError(f"{target}: a folder, where a file name for the page was expected")
    if (target.exists() or target.is_symlink()) and not _is_page(target):
        raise UserError(
            f"{target}: there already, and no page that xoff report wrote; name another file for the page, or move "
            "this one away"
        )
    text = make()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        raise UserError(f"{target}: the page cannot be written: {error.strerror or error}") from None
    return target


def render(runs: Sequence[Run]) -> str:
    """The page as text."""
    if not runs:
        raise UserError("a report needs at least one run")
    shown = labelled(runs, labels(runs))
    plots = sections(shown)
    figures = {plot.name: json.loads(plot.figure.to_json()) for _, several in plots for plot in several if plot.figure}
    tree = tree_section(shown)
    body = "\n".join(
        [
            "<h2>Summary</h2>",
            _headline(shown),
            "<h2>Findings</h2>",
            findings_section(shown),
            tree.body,
            *(section(heading, several) for heading, several in plots),
            "<h2>Scenario</h2>",
            _scenario(shown),
            "<h2>Columns of the tables</h2>",
            _columns(runs),
        ]
    )
    return page(_title(shown), str(runs[0].manifest.get("version", "")), body, figures, tree)


def page(title: str, version: str, body: str, figures: Mapping[str, Any], tree: TreeSection | None = None) -> str:
    """A page with a heading, what stands below it as HTML, and the figures and trees that it has a place for."""
    tree = tree or TreeSection("", {}, "", "")
    data = importlib.resources.files("xoff.report") / "static"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            _MARK,
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            # No icon: a browser would ask the network for one.
            '<link rel="icon" href="data:,">',
            f"<style>{(data / 'page.css').read_text('utf-8')}{tree.style}</style></head><body><main>",
            f"<h1>{escape(title)}</h1>",
            f'<p class="muted">xoff {escape(version)}</p>',
            '<p id="problem"></p><noscript><p>The plots need JavaScript.</p></noscript>',
            body,
            "</main>",
            # plotly.js, copyright Plotly, Inc., MIT licence.
            f'<script type="text/plain" id="plotly">{_packed(_plotly())}</script>',
            f'<script type="text/plain" id="figures">{_packed(json.dumps(figures))}</script>',
            *(f'<script type="text/plain" id="{name}">{_packed(text)}</script>' for name, text in tree.data.items()),
            f"<script>{tree.script}</script>",
            f"<script>{(data / 'page.js').read_text('utf-8')}</script>",
            "</body></html>",
        ]
    )


def _is_page(file: Path) -> bool:
    if not file.is_file():
        return False  # A device or a pipe might never begin, or end.
    try:
        with file.open("rb") as found:
            return _MARK.encode() in found.read(1024)
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
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


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


def _headline(runs: Sequence[Labelled]) -> str:
    columns = [
        ("run", ""),
        ("scheme", ""),
        ("seed", ""),
        ("flows", "completed"),
        *((name, "slowdown") for name in STATISTICS),
        ("PAUSE", "frames"),
        ("HoL-blocked", "flows"),
        ("longest queue", "KB"),
        ("load", "asked / offered"),
        ("simulated", ""),
        ("wall time", "s"),
        ("speed", "M hops/s"),
    ]
    head = "".join(
        f'<th{_number(index > 1)}>{escape(name)}<span class="unit">{escape(unit)}</span></th>'
        for index, (name, unit) in enumerate(columns)
    )
    rows = []
    for each in runs:
        summary, manifest = summarize(each.run), each.run.manifest
        slow = summary.slowdown or {}
        badge = "" if each.run.complete else ' <span class="badge">incomplete</span>'
        name = f'<span class="swatch" style="background:{each.colour}"></span>{escape(each.label)}{badge}'
        numbers = [
            str(manifest.get("seed", "")),
            f"{summary.completed:,} of {summary.flows:,}",
            *(f"{slow[name]:.2f}" if name in slow else "\N{EN DASH}" for name in STATISTICS),
            f"{summary.pause_frames:,}",
            "\N{EN DASH}" if summary.hol_blocked is None else f"{summary.hol_blocked:,}",
            f"{summary.max_queue_bytes / 1e3:,.1f}",
            _loads(manifest.get("loads", [])),
            time_text(int(manifest.get("sim_time_ps", 0))),
            f"{summary.wall_s:.2f}",
            f"{summary.hops_per_s / 1e6:.2f}",
        ]
        cells = "".join(f'<td class="number">{text}</td>' for text in numbers)
        rows.append(f"<tr><td>{name}</td><td>{escape(each.run.scheme)}</td>{cells}</tr>")
    return f'<div class="scroll"><table class="runs"><tr>{head}</tr>{"".join(rows)}</table></div>'


def _number(wanted: bool) -> str:
    return ' class="number"' if wanted else ""


def _loads(loads: Sequence[dict[str, Any]]) -> str:
    parts = [
        f"{escape(load.get('label', '')) + ': ' if len(loads) > 1 else ''}{load['asked']:.3g} / {load['offered']:.3g}"
        for load in loads
        if load.get("asked") is not None and load.get("offered") is not None
    ]
    return "<br>".join(parts) or "\N{EN DASH}"


def section(heading: str, plots: Sequence[Plot]) -> str:
    """Plots under a heading, as HTML."""
    cards = []
    for plot in plots:
        if plot.figure is None:
            inside = f'<p class="note absent">{escape(plot.note)}</p>'
        else:
            inside = f'<p class="note">{escape(plot.note)}</p><div class="plot" id="{plot.name}"></div>'
        cards.append(f'<div class="card"><h3>{escape(plot.title)}</h3>{inside}</div>')
    return f"<h2>{escape(heading)}</h2>{''.join(cards)}"


def _scenario(runs: Sequence[Labelled]) -> str:
    flat = [flatten(each.run.manifest["scenario"]) for each in runs]
    keys = list(dict.fromkeys(key for one in flat for key in one))
    differing = [key for key in keys if len({one.get(key) for one in flat}) > 1]
    head = "".join(f"<th>{escape(name)}</th>" for name in ["key", *(each.label for each in runs)])

    def table(shown: Sequence[str]) -> str:
        rows = []
        for key in shown:
            cells = "".join(f"<td><code>{escape(one.get(key, ''))}</code></td>" for one in flat)
            differs = ' class="differs"' if key in marked else ""
            rows.append(f'<tr{differs}><td class="key">{escape(key)}</td>{cells}</tr>')
        return f'<div class="scroll"><table><tr>{head}</tr>{"".join(rows)}</table></div>'

    marked = set(differing)
    whole = f"<details><summary>Every setting, defaults included ({len(keys)})</summary>{table(keys)}</details>"
    if len(runs) == 1:
        return whole
    if not differing:
        return "<p>All settings are the same.</p>" + whole
    count = "1 setting differs" if len(differing) == 1 else f"{len(differing)} settings differ"
    intro = f"<p>{count}, <span class='legend'>marked</span> in the whole list below.</p>"
    return intro + table(differing) + whole


def _columns(runs: Sequence[Run]) -> str:
    docs: dict[str, dict[str, str]] = {}
    for run in runs:
        docs.update(run.manifest.get("table_docs", {}))
    parts = []
    for table, columns in docs.items():
        rows = "".join(
            f'<tr><td class="key">{escape(name)}</td><td>{escape(unit_of(name))}</td><td>{escape(doc)}</td></tr>'
            for name, doc in columns.items()
        )
        head = "<tr><th>column</th><th>unit</th><th>meaning</th></tr>"
        parts.append(
            f'<details><summary>{escape(table)}.parquet</summary><div class="scroll"><table>{head}{rows}</table>'
            "</div></details>"
        )
    return "".join(parts)
