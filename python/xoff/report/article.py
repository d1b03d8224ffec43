"""One self-contained HTML page: the claims with their verdicts, and every figure."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from xoff.report.figures import FigureFile
from xoff.report.template import STATIC, document
from xoff.runs.files import write_file

Table = tuple[str, str, Sequence[str], Sequence[Sequence[str]]]
"""A further table: heading, explanation, column names and rows."""


@dataclass(frozen=True)
class Section:
    """A part of a page with a script of its own."""

    heading: str
    html: Markup
    script: str
    style: str


@dataclass(frozen=True)
class ClaimRow:
    """A claim with its measurement, as the page's first table shows it."""

    name: str
    """What the claim is called."""
    where: str
    """Section and figure of the paper."""
    paper: str
    """What the paper says."""
    figures: str
    """Numbers that the paper prints; empty if there are none."""
    measured: Sequence[str]
    """Each measured number with its name."""
    verdict: str
    """`reproduced`, `direction`, `undecided` or `contradicted`."""
    note: str
    """What a reader must know."""
    checks: Sequence[Sequence[str]] = ()
    """Each comparison: what, the measured size with interval, the paper's size, outcome of relation and of size."""


def write_page(
    file: Path,
    *,
    title: str,
    lead: str,
    banner: str,
    claims: Sequence[ClaimRow] = (),
    figures: Sequence[FigureFile],
    tables: Sequence[Table] = (),
    sections: Sequence[Section] = (),
) -> None:
    """Write the page to `file`; the figures' SVG files stand beside it and are put into it.

    `tables` are further ones: heading, explanation, column names and rows. `sections` stand before the figures.
    """
    drawn = [(each, _data_uri((file.parent / f"{each.name}.svg").read_bytes())) for each in figures]
    page = document(
        "article.html",
        title,
        style="".join([(STATIC / "article.css").read_text("utf-8"), *(each.style for each in sections)]),
        scripts=[each.script for each in sections],
        sections=sections,
        lead=lead,
        banner=banner,
        claims=claims,
        figures=drawn,
        tables=tables,
    )
    write_file(file, page)


def _data_uri(svg: bytes) -> Markup:
    return Markup("data:image/svg+xml;base64," + base64.b64encode(svg).decode())
