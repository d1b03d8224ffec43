"""What the site needs beyond Sphinx and MyST.

Equations as MathML, links to folders and the README, papers' figures, and the page that runs scenarios, with a link to
it at each example.
"""

from __future__ import annotations

import base64
import re
from html import escape
from pathlib import Path
from typing import Any

import latex2mathml.converter
import run_links
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from xoff.papers import reference_map

REPOSITORY = "https://github.com/xoff-sim/xoff/tree/main"
"""Where folders can be looked at, which are no pages."""


RERUNS = "out/papers"
"""Where `make figures` puts the re-runs, a folder each."""
SIMULATOR = "out/wasm/release"
"""Where `make wasm` puts the simulator for a browser."""
FIGURE = '<figure style="margin: 0 0 2rem; padding: .5rem; background: white; color: black"'
"""What a figure begins with; white in the dark theme too, as what is drawn is black."""


class Links(SphinxTransform):
    """Links to folders lead to the repository, as MyST knows pages and files only; to the README, to the first page."""

    default_priority = 5  # before MyST's links are resolved

    def apply(self, **kwargs: Any) -> None:
        """Replace what MyST would not find; links that lead nowhere are left for it to report."""
        source = Path(self.env.srcdir)
        here = (source / self.env.docname).parent
        for link in list(self.document.findall(addnodes.pending_xref)):
            if link["reftarget"] == "README":
                link["reftarget"] = self.config.root_doc
                continue
            if link["reftarget"].endswith(run_links.TEMPLATE):
                uri = run_links.to_page(self.env.docname)
                link.replace_self(nodes.reference("", "", *link.children, refuri=uri, internal=False))
                continue
            folder = (here / link["reftarget"]).resolve()
            if folder.is_dir() and folder.is_relative_to(source):
                target = f"{REPOSITORY}/{folder.relative_to(source).as_posix()}"
                link.replace_self(nodes.reference("", "", *link.children, refuri=target, internal=False))


class RunHere(SphinxTransform):
    """Links to the page that runs scenarios, behind each example.

    An example is a ready scenario that the guide names, a command or program that runs one, or a whole scenario.
    """

    default_priority = 6  # after `Links`, before MyST's links are resolved

    def apply(self, **kwargs: Any) -> None:
        """Add the links."""
        here = self.env.docname
        if here == "docs/guide":
            for link in list(self.document.findall(addnodes.download_reference)):
                match = re.search(r"/scenarios/(\w+)\.toml$", link["reftarget"])
                if match:
                    link.parent.insert(link.parent.index(link) + 1, run_links.beside(here, match[1]))
        known: dict[str, str] = {}
        for block in list(self.document.findall(nodes.literal_block)):
            found = run_links.examples(block.astext(), str(block.get("language", "")), known)
            if found:
                block.parent.insert(block.parent.index(block) + 1, run_links.below(here, found))


def write_run_page(app: Sphinx, error: Exception | None) -> None:
    """Write the page that runs scenarios beside the site's first page."""
    source = Path(app.srcdir)
    if error is None and (source / "docs" / run_links.TEMPLATE).exists():
        import run_page

        text = run_page.page(source / "scenarios", source / SIMULATOR)
        (Path(app.outdir) / run_links.PAGE).write_text(text, "utf-8")


def add_map(app: Sphinx, paper: str, source: list[str]) -> None:
    """Put the picture of a paper's map of readings above the table that has the same."""
    file = Path(app.srcdir) / "papers" / paper / "map.toml"
    app.env.note_dependency(str(file))
    if not file.exists():
        return
    found = reference_map.load(file)
    svg = base64.b64encode(reference_map.draw(found).encode()).decode()
    title = f"{paper.upper()}: which claims hold under which reading"
    picture = f'<img alt="{title}" style="max-width: 100%" src="data:image/svg+xml;base64,{svg}">'
    caption = f"<figcaption>{title}. {escape(found.note)}</figcaption>"
    heading = f"\n## {found.section}\n"
    before, there, after = source[0].partition(heading)
    if not there:
        raise ValueError(f"{file}: section: the page has no `{found.section}`")
    source[0] = f'{before}{heading}\n{FIGURE} id="readings-map">{picture}{caption}</figure>\n{after}'


def add_figures(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the map of a paper's readings into its page, and the figures of its re-run, where there is one, below it."""
    match = re.fullmatch(r"papers/(\w+)/README", docname)
    if not match:
        return
    add_map(app, match[1], source)
    rerun = Path(app.srcdir) / RERUNS / match[1] / "index.html"
    # The page is read again when the re-run appears or changes.
    app.env.note_dependency(str(rerun))
    if not rerun.exists():
        source[0] += "\n## Figures\n\n`make figures` draws them from runs; the next `make site` shows them here.\n"
        return
    page = rerun.read_text("utf-8")
    banner = re.search(r'<p class="banner">(.*?)</p>', page, re.DOTALL)
    figures = [FIGURE + found for found in re.findall(r"<figure(.*?</figure>)", page, re.DOTALL)]
    source[0] += "\n\n".join(["\n## Figures", banner[0] if banner else "", *figures, ""])


def write_inline(writer: Any, node: nodes.math) -> None:
    """An equation in a line of text."""
    writer.body.append(latex2mathml.converter.convert(node.astext()))
    raise nodes.SkipNode


def write_block(writer: Any, node: nodes.math_block) -> None:
    """An equation by itself, which scrolls where the screen is narrower."""
    mathml = latex2mathml.converter.convert(node.astext(), display="block")
    writer.body.append(f'<div style="overflow-x: auto">{mathml}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_transform(Links)
    app.add_transform(RunHere)
    app.connect("build-finished", write_run_page)
    app.connect("source-read", add_figures)
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
