"""HTML from templates: Jinja2, which escapes every value that is not HTML already.

Templates stand in `report/templates`; another room gives the folder with its own, which may extend these.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from xoff.text import shown

TEMPLATES = Path(__file__).parent / "templates"
_TITLE, _PROSE = 200, 20_000
"""Maximum lengths of a page's title, and of a text of xoff's own, which may list many names."""

STATIC = Path(__file__).parent / "static"
"""Styles and scripts, which go into pages as they are."""


@cache
def _environment(folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters.update(prose=prose, heading=heading, contents=_contents)
    return environment


def _shown(value: Any) -> Any:
    """What a template writes: text that is not HTML already may hold names of a user's own choice."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def prose(text: str) -> Markup:
    """Text in which code stands between backticks, as HTML."""
    # As `Markup` it would escape what is put into it.
    escaped = str(escape(shown(text, most=_PROSE)))
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", escaped))


def heading(text: str) -> Markup:
    """A heading that the page's table of contents leads to."""
    # Plots and other parts have names of their own.
    name = "part-" + re.sub(r"\W+", "-", text[:60]).strip("-").lower()
    return Markup(f'<h2 id="{escape(name)}">{prose(text)}</h2>')


def _contents(body: str) -> list[tuple[str, Markup]]:
    """The headings of a page: the name of each, and its HTML."""
    return [(name, Markup(text)) for name, text in re.findall(r'<h2 id="([^"]*)">(.*?)</h2>', body)]


def render(name: str, folder: Path = TEMPLATES, **values: Any) -> Markup:
    """The template `name` of `folder` with these values."""
    # The template has escaped every value.
    return Markup(_environment(folder).get_template(name).render(values))


def document(
    name: str,
    title: str,
    folder: Path = TEMPLATES,
    *,
    mark: str = "",
    style: str = "",
    scripts: Sequence[str] = (),
    unpacked: Sequence[str] = (),
    data: dict[str, str] | None = None,
    connect: str = "",
    runs_wasm: bool = False,
    **values: Any,
) -> Markup:
    """A whole page, from a template that extends `base.html`.

    `scripts` stand on the page and `unpacked` are those that these bring to life; a browser runs no other, and asks
    nothing of a server. `mark` is a line of the head, `style` CSS beyond that of all pages, and `data` texts by name.
    `connect` is what scripts may ask: a source of the policy, and nothing unless it is given.
    With `runs_wasm` the page may compile WebAssembly, and start workers from texts that it holds.
    """
    scripts = [*scripts, (STATIC / "contents.js").read_text("utf-8")]
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in (*scripts, *unpacked))
    wasm, workers = (" 'wasm-unsafe-eval'", "worker-src blob:; ") if runs_wasm else ("", "")
    # Plotly and BokehJS set styles as they draw; pictures are data of the page, or blobs that are saved.
    policy = (
        f"default-src 'none'; script-src {hashes}{wasm}; {workers}style-src 'unsafe-inline'; img-src data: blob:; "
        "form-action 'none'; base-uri 'none'"
        f"{'; connect-src ' + connect if connect else ''}"
    )
    # Scripts, styles and packed texts are no values: they go into the page as they are.
    return render(
        name,
        folder,
        title=shown(title, most=_TITLE),
        mark=Markup(mark),
        policy=Markup(policy),
        style=Markup((STATIC / "page.css").read_text("utf-8") + style),
        scripts=[Markup(script) for script in scripts],
        data={key: Markup(text) for key, text in (data or {}).items()},
        **values,
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
