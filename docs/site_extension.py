"""What the site needs beyond Sphinx and MyST: equations as MathML, and links to folders and to the README."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import latex2mathml.converter
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

REPOSITORY = "https://github.com/xoff-sim/xoff/tree/main"
"""Where folders can be looked at, which are no pages."""


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
            folder = (here / link["reftarget"]).resolve()
            if folder.is_dir() and folder.is_relative_to(source):
                target = f"{REPOSITORY}/{folder.relative_to(source).as_posix()}"
                link.replace_self(nodes.reference("", "", *link.children, refuri=target, internal=False))


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
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
