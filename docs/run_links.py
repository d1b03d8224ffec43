"""Links from the documentation's examples to the page that runs scenarios."""

from __future__ import annotations

import base64
import itertools
import re
import shlex
import tomllib
import zlib
from html import escape
from urllib.parse import quote, urlencode

from docutils import nodes

TEMPLATE = "run/page.html"
"""The page's template, below `docs`: a link to it in the documents leads to the page itself on the site."""
PAGE = "run.html"
"""The page, beside the site's first one."""

Example = tuple[str, str]
"""What an example is, in words, and the fragment of its link."""


def to_page(docname: str, fragment: str = "") -> str:
    """The address of the page, seen from a document."""
    return "../" * docname.count("/") + PAGE + (f"#{fragment}" if fragment else "")


def fragment(*, scenario: str = "", text: str = "", sets: list[str] | None = None) -> str:
    """The part of a link behind `#`: a ready scenario by name, or a text, compressed; and settings beside it.

    `docs/run/share.js` reads it.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = base64.urlsafe_b64encode(packer.compress(text.encode()) + packer.flush()).decode().rstrip("=")
    first = ("scenario", scenario) if scenario else ("text", packed)
    return urlencode([first, *(("set", each) for each in sets or [])], quote_via=quote)


def examples(block: str, language: str, known: dict[str, str]) -> list[Example]:
    """What a block of a document runs.

    `known` are the scenarios that the document has shown so far, by file name; those of this block are added.
    """
    if language == "toml":
        return _scenario(block, known)
    if language == "python":
        names = re.findall(r'"scenarios/(\w+)\.toml"', block)
        return [(name, fragment(scenario=name)) for name in dict.fromkeys(names)]
    if language != "sh":
        return []
    found = []
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:2] == ["xoff", "run"] and len(words) > 2:
            found += _command(words[2], words[3:], known)
    return found


def _scenario(block: str, known: dict[str, str]) -> list[Example]:
    scenario = tomllib.loads(block)
    if not {"topology", "traffic"} <= scenario.keys():
        return []
    name = re.match(r"# (\S+\.toml)\n", block)
    known |= {name[1]: block} if name else {}
    return [(name[1] if name else "this scenario", fragment(text=block))]


def _command(file: str, options: list[str], known: dict[str, str]) -> list[Example]:
    pairs = list(itertools.pairwise(options))
    sets = [value for option, value in pairs if option == "--set"]
    sets += [f"seed={value}" for option, value in pairs if option == "--seed"]
    ready = re.fullmatch(r"scenarios/(\w+)\.toml", file)
    words = ", ".join([ready[1] if ready else file, *sets])
    if ready:
        return [(words, fragment(scenario=ready[1], sets=sets))]
    return [(words, fragment(text=known[file], sets=sets))] if file in known else []


def _link(docname: str, fragment: str, text: str, title: str) -> str:
    return f'<a class="run-here" href="{escape(to_page(docname, fragment))}" title="{escape(title)}">{escape(text)}</a>'


def beside(docname: str, scenario: str) -> nodes.raw:
    """A link behind the name of a ready scenario."""
    link = _link(docname, fragment(scenario=scenario), "run it here", f"Run {scenario} in this browser")
    return nodes.raw("", f' <small style="white-space: nowrap">({link})</small>', format="html")


def below(docname: str, found: list[Example]) -> nodes.raw:
    """A line below a block with a link for each of its examples."""
    links = ", ".join(_link(docname, fragment, words, "Run it in this browser") for words, fragment in found)
    return nodes.raw("", f"<p><small>Run it here: {links}</small></p>", format="html")
