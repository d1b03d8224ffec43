"""The map of a paper's claims by its readings: a figure, tables and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from xoff.papers.rules import VERDICTS
from xoff.papers.space import Reading, Space
from xoff.papers.survey import Kind, Survey
from xoff.papers.verdicts import Claim
from xoff.report import figures as fig
from xoff.report.article import Table
from xoff.report.figures import FigureFile

SYMBOLS = {"reproduced": "✓", "direction": "≈", "undecided": "?", "contradicted": "✗"}
"""A verdict's symbol, in figures and tables."""

FILLS = {
    "reproduced": ("#08519c", "white"),
    "direction": ("#9ecae1", "black"),
    "undecided": ("#f4f4f4", "black"),
    "contradicted": ("#f2934f", "black"),
}
"""Colours of a cell and of its symbol: blue against orange for all kinds of colour vision, and four greys in print.

Symbols stand out from cells by 4.5:1 (WCAG), also where a dark page turns lightness round.
"""

MEANINGS = {
    "reproduced": "reproduced: relation and size hold",
    "direction": "direction: the relation holds, the size is not the paper's",
    "undecided": "undecided: the interval covers both sides",
    "contradicted": "contradicted: the relation fails",
}

NARROW_IN = 8.6
"""Smallest width of the figure in inches: that of the legend in two columns."""

KINDS: dict[Kind, str] = {
    "robust": "Holds under every reading",
    "hanging": "Hangs on the reading",
    "never met": "Holds under no reading",
    "undecided": "Not decided by these runs",
}

LEGEND_TEXT = (
    "Each row is a claim, each column a reading: the default, then one thing read otherwise, then several. "
    + "; ".join(f"{SYMBOLS[verdict]} {MEANINGS[verdict]}" for verdict in VERDICTS)
    + "."
)


def by_kind(found: Survey) -> list[tuple[Kind, list[Claim]]]:
    """The claims of each kind, those that hold everywhere first; kinds without a claim are left out."""
    groups = [(kind, [claim for claim in found.claims if found.kind(claim) == kind]) for kind in KINDS]
    return [(kind, claims) for kind, claims in groups if claims]


def summary(found: Survey) -> list[str]:
    """What the readings come to, in sentences."""
    groups = dict(by_kind(found))
    total, readings = len(found.claims), len(found.findings)
    lines = [
        f"{readings} readings of {total} claims, {found.made:,} runs ({found.asked - found.made:,} more were equal).",
        *(f"{text}: {_names(groups[kind])}." for kind, text in KINDS.items() if kind in groups),
    ]
    best = found.best
    default = next(iter(found.findings))
    lines.append(
        f"Under the default {_held(found, default)} of {total} claims hold; the reading under which most hold is "
        f"`{best.name}`, with {_held(found, best)}."
    )
    return lines


def _names(claims: Sequence[Claim]) -> str:
    return ", ".join(claim.name for claim in claims) or "none"


def _held(found: Survey, reading: Reading) -> int:
    return sum(found.holds(reading, claim) for claim in found.claims)


def claims_of(found: Survey) -> Table:
    """Every claim: its kind, its verdict by default, and the single answers that change whether it holds."""
    default = next(iter(found.findings))
    alone = [reading for reading in found.findings if len(reading.chosen) == 1]
    rows = []
    for kind, claims in by_kind(found):
        for claim in claims:
            base = found.holds(default, claim)
            turned = [
                f"{reading.name} ({SYMBOLS[found.verdict(reading, claim)]})"
                for reading in alone
                if found.holds(reading, claim) is not base
            ]
            elsewhere = [r.name for r in found.findings if len(r.chosen) > 1 and found.holds(r, claim) is not base]
            text = ", ".join(turned)
            if not turned and elsewhere:
                text = f"only together: {elsewhere[0]}" + (f" and {len(elsewhere) - 1} more" if elsewhere[1:] else "")
            rows.append([claim.name, claim.where, KINDS[kind], _cell(found, default, claim), text or "nothing tried"])
    return (
        "What hangs on what",
        "The last column has the answers that, alone, turn a claim that holds by default into one that does not, or "
        "the reverse.",
        ["claim", "where", "kind", "by default", "turned by"],
        rows,
    )


def _cell(found: Survey, reading: Reading, claim: Claim) -> str:
    verdict = found.verdict(reading, claim)
    return f"{SYMBOLS[verdict]} {verdict}"


def map_table(found: Survey) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the map: a claim in each row, a reading in each column, and the verdicts' symbols."""
    shown = found.shown
    rows = [
        [claim.name, KINDS[kind], *(SYMBOLS[found.verdict(reading, claim)] for reading in shown)]
        for kind, claims in by_kind(found)
        for claim in claims
    ]
    return ["claim", "kind", *(reading.name for reading in shown)], rows


def open_table(space: Space) -> Table:
    """What a paper leaves open, with every alternative and its source."""
    rows = [
        [
            choice.name if index == 0 else "",
            f"{choice.question} Default: {choice.default}. {choice.why}" if index == 0 else "",
            each.name,
            f"{each.what}; {each.costly}, so only with --reading" if each.costly else each.what,
            each.source,
        ]
        for choice in space.choices
        for index, each in enumerate(choice.alternatives)
    ]
    text = "A default is chosen by source: the paper, then files that its authors released, then papers that it cites."
    return "What the paper leaves open", text, ["choice", "question and default", "alternative", "what", "source"], rows


def markdown(found: Survey, title: str, lines: Sequence[str]) -> str:
    """The summary and the tables as Markdown; the map has a reading in each row, as pages are narrow."""
    heading, text, columns, rows = claims_of(found)
    parts = [f"# {title}: readings", "", *(f"- {line}" for line in lines), "", f"## {heading}", "", text, ""]
    parts += _markdown_table(columns, rows)
    claims = [claim for _, own in by_kind(found) for claim in own]
    parts += ["", "## Map", "", "; ".join(f"{SYMBOLS[v]} {MEANINGS[v]}" for v in VERDICTS) + ".", ""]
    parts += _markdown_table(
        ["reading", *(claim.name for claim in claims), "hold"],
        [
            [r.name, *(SYMBOLS[found.verdict(r, claim)] for claim in claims), str(_held(found, r))]
            for r in found.findings
        ],
    )
    return "\n".join(parts) + "\n"


def _markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [columns, ["---"] * len(columns), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def _columns(shown: Sequence[Reading]) -> list[tuple[str, list[Reading]]]:
    """The readings under headings: a choice each, then pairs."""

    def heading(reading: Reading) -> str:
        if len(reading.chosen) == 1:
            return reading.chosen[0][0]
        return "together" if reading.chosen else ""

    return [(name, list(own)) for name, own in groupby(shown, heading)]


def draw(found: Survey, folder: Path, paper: str) -> FigureFile:
    """The map: claims in rows by their kind, readings in columns by what is read otherwise."""
    groups, columns = by_kind(found), _columns(found.shown)
    shown = [reading for _, own in columns for reading in own]
    claims = [claim for _, own in groups for claim in own]
    longest = max(len(_label(reading)) for reading in shown)
    width = 3.6 + 0.34 * len(shown)
    height = 2.6 + 0.34 * (len(claims) + len(groups)) + 0.075 * longest
    title = f"{paper}: which claims hold under which reading"
    rows = []
    with fig.canvas(width=max(width, NARROW_IN), height=height) as (figure, axes):
        axes.grid(visible=False)
        places = _rows(groups)
        default = shown[0]
        for index, reading in enumerate(shown):
            for claim in claims:
                verdict = found.verdict(reading, claim)
                changed = found.holds(reading, claim) is not found.holds(default, claim)
                same = index > 0 and verdict == found.verdict(default, claim)
                draw_cell(axes, index, places[claim.name], verdict, changed=changed, same=same)
                rows.append({"claim": claim.name, "reading": reading.name, "verdict": verdict, "changed": changed})
        _label_rows(axes, groups, places, len(shown))
        _label_columns(axes, columns, found.best)
        axes.set_xlim(-0.6, len(shown) - 0.4)
        axes.set_ylim(max(places.values()) + 0.6, -1.2)
        for side in axes.spines.values():
            side.set_visible(False)
        figure.suptitle(title, x=0.01, ha="left", fontsize=12)
        legend_below(figure, columns=3 if width > 1.4 * NARROW_IN else 2)
        held = ", ".join(f"{len(own)} {kind}" for kind, own in groups)
        caption = (
            f"{LEGEND_TEXT} A framed cell differs from the default's in whether the claim holds, a faint one is the "
            f"default's. Claims: {held}. Of the pairs those are shown that do what neither answer does alone; all "
            "readings are in readings.csv."
        )
        return fig.save(figure, pl.DataFrame(rows), folder, FigureFile("readings-map", title, caption, wide=True))


def _rows(groups: Sequence[tuple[Kind, Sequence[Claim]]]) -> dict[str, float]:
    """The place of each claim, with room for a heading above each kind."""
    places: dict[str, float] = {}
    at = 0.0
    for _, own in groups:
        for claim in own:
            places[claim.name] = at
            at += 1
        at += 1
    return places


def draw_cell(axes: Any, x: float, y: float, verdict: str, *, changed: bool, same: bool) -> None:
    """A cell; faint if it is as by default, framed if it differs in whether the claim holds."""
    from matplotlib.patches import Rectangle

    fill, ink = FILLS[verdict]
    edge, line, size = ("black", 1.8, 0.82) if changed else ("#b0b0b0", 0.5, 0.9)
    corner = (x - size / 2, y - size / 2)
    axes.add_patch(
        Rectangle(
            corner, size, size, facecolor=fill, edgecolor=edge, linewidth=line, alpha=0.3 if same else 1, zorder=2
        )
    )
    symbol = {"color": "#303030", "fontsize": 8} if same else {"color": ink, "fontsize": 12}
    axes.text(x, y, SYMBOLS[verdict], ha="center", va="center", zorder=3, **symbol)


def _label(reading: Reading) -> str:
    if not reading.chosen:
        return "default"
    if len(reading.chosen) == 1:
        return reading.chosen[0][1]
    text = " + ".join(f"{choice}={name}" for choice, name in reading.chosen)
    return text if len(text) <= 60 else text[:57] + "..."


def _figure(where: str) -> str:
    """Where a claim stands, short: its figure, table or equation if it has one."""
    last = where.rpartition(", ")[2] if ", " in where else where
    return last if last[:3] in ("Fig", "Tab", "Eq.") else where


def _label_rows(axes: Any, groups: Sequence[tuple[Kind, Sequence[Claim]]], places: Any, width: int) -> None:
    for kind, own in groups:
        top = places[own[0].name] - 0.72
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        axes.text(-0.5, top, KINDS[kind], ha="left", va="center", fontsize=9.5, fontweight="bold", bbox=paper)
    claims = [claim for _, own in groups for claim in own]
    axes.set_yticks([places[c.name] for c in claims], [f"{c.name}  ({_figure(c.where)})" for c in claims], fontsize=9)
    axes.tick_params(length=0)


def _label_columns(axes: Any, columns: Sequence[tuple[str, Sequence[Reading]]], best: Reading) -> None:
    shown = [reading for _, own in columns for reading in own]
    names = [("best: " if reading == best else "") + _label(reading) for reading in shown]
    axes.set_xticks(range(len(shown)), names, rotation=90, fontsize=8.5)
    begin = 0
    for _, own in columns:
        if begin:
            axes.axvline(begin - 0.5, color="#707070", linewidth=0.9, zorder=1)
        begin += len(own)
    begin = 0
    bottom = axes.get_xaxis_transform()
    for name, own in columns:
        rotation, side = (40, "left") if len(own) == 1 else (0, "center")
        middle = begin + (len(own) - 1) / 2 - (0.2 if len(own) == 1 else 0)
        axes.text(middle, 1.0, name, transform=bottom, ha=side, va="bottom", fontsize=8.5, rotation=rotation)
        begin += len(own)


def legend_below(figure: Any, columns: int) -> None:
    """What the cells mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(facecolor=FILLS[v][0], edgecolor="#808080", label=f"{SYMBOLS[v]}  {MEANINGS[v]}") for v in VERDICTS
    ]
    handles.append(
        Line2D(
            [],
            [],
            marker="s",
            linestyle="",
            markerfacecolor="none",
            markeredgecolor="black",
            markeredgewidth=1.8,
            markersize=9,
            label="framed: holds where the default does not, or the reverse;\nfaint: as by default",
        )
    )
    figure.legend(handles=handles, loc="outside lower left", ncols=columns, fontsize=8.5)
