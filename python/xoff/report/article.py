"""One self-contained HTML page: the claims with their verdicts, and every figure."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from xoff.report.figures import FigureFile

_CSS = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #fff; margin: 0 auto; max-width: 1080px;
  padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
.banner { background: #fff4d6; border-left: 4px solid #e69f00; padding: .6rem .9rem; margin: 1rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .86rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem; border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; }
td.note { color: #444; font-size: .82rem; }
.verdict { font-weight: 600; white-space: nowrap; }
.reproduced::before { content: "\\2713  "; } .reproduced { color: #00694d; }
.direction::before { content: "\\2248  "; } .direction { color: #004f7c; }
.contradicted::before { content: "\\2717  "; } .contradicted { color: #a24300; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 500px), 1fr)); gap: 1.6rem 1rem; }
figure { margin: 0; } figure img { width: 100%; height: auto; }
figure.wide { grid-column: 1 / -1; }
figcaption { font-size: .84rem; color: #444; }
"""


Table = tuple[str, str, Sequence[str], Sequence[Sequence[str]]]
"""A further table: heading, explanation, column names and rows."""


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
    """`reproduced`, `direction` or `contradicted`."""
    note: str
    """What a reader must know."""


def write_page(
    file: Path,
    *,
    title: str,
    lead: str,
    banner: str,
    claims: Sequence[ClaimRow] = (),
    figures: Sequence[FigureFile],
    tables: Sequence[Table] = (),
) -> None:
    """Write the page to `file`; the figures' SVG files stand beside it and are put into it.

    `tables` are further ones: heading, explanation, column names and rows.
    """
    body = [f"<h1>{escape(title)}</h1>", f"<p>{escape(lead)}</p>"]
    if banner:
        body.append(f'<p class="banner">{escape(banner)}</p>')
    if claims:
        body += ["<h2>Claims</h2>", _claims(claims)]
    if figures:
        body += [
            "<h2>Figures</h2>",
            '<div class="figures">',
            *(_figure(file.parent, each) for each in figures),
            "</div>",
        ]
    for heading, text, columns, rows in tables:
        body += [f"<h2>{escape(heading)}</h2>", f"<p>{escape(text)}</p>", _table(columns, rows)]
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_CSS}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )
    file.write_text(page, encoding="utf-8")


def _claims(claims: Sequence[ClaimRow]) -> str:
    rows = []
    for claim in claims:
        measured = "<br>".join(map(escape, claim.measured))
        figures = f"<br>{escape(claim.figures)}" if claim.figures else ""
        rows.append(
            f"<tr><td><b>{escape(claim.name)}</b><br>{escape(claim.where)}</td>"
            f"<td>{escape(claim.paper)}{figures}</td><td>{measured}</td>"
            f'<td class="verdict {claim.verdict}">{claim.verdict}</td>'
            f'<td class="note">{escape(claim.note)}</td></tr>'
        )
    head = "".join(f"<th>{name}</th>" for name in ("claim", "the paper", "measured", "verdict", "note"))
    return f'<div class="scroll"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{lines}</table></div>'


def _figure(folder: Path, drawn: FigureFile) -> str:
    svg = base64.b64encode((folder / f"{drawn.name}.svg").read_bytes()).decode("ascii")
    wide = ' class="wide"' if drawn.wide else ""
    return (
        f'<figure{wide} id="{drawn.name}"><img alt="{escape(drawn.title)}" src="data:image/svg+xml;base64,{svg}">'
        f"<figcaption>{escape(drawn.caption)}</figcaption></figure>"
    )
