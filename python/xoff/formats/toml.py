"""Writing TOML with a comment behind each value that says where the value comes from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from xoff.runs.toml import toml

WIDTH = 100


class Lines:
    """Lines of a TOML file."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def raw(self, line: str = "") -> None:
        """A line as it is."""
        self._lines.append(line)

    def table(self, header: str, comment: str = "") -> None:
        """A table's header, behind an empty line; `comment` stands above it."""
        self.raw()
        if comment:
            self.note(comment)
        self.raw(header)

    def note(self, text: str) -> None:
        """A comment of whole lines."""
        self._lines += textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)

    def put(self, key: str, value: bool | float | str, source: str = "") -> None:
        """A key with its value, and a comment that names the source."""
        self.raw(f"{key} = {toml(value)}" + (f"  # {source}" if source else ""))

    def names(self, key: str, names: Iterable[str]) -> None:
        """A list of names."""
        items = [toml(name) for name in names]
        text = f"{key} = [{', '.join(items)}]"
        if len(text) <= WIDTH:
            self.raw(text)
            return
        self.raw(f"{key} = [")
        line = "   "
        for item in items:
            # A name is never broken, however long it is.
            if line.strip() and len(line) + len(item) + 2 > WIDTH:
                self.raw(line)
                line = "   "
            line += f" {item},"
        self.raw(line)
        self.raw("]")

    def text(self) -> str:
        """The file."""
        return "\n".join(self._lines) + "\n"


def inline(pairs: dict[str, str]) -> str:
    """A table on one line."""
    return "{ " + ", ".join(f"{key} = {toml(value)}" for key, value in pairs.items()) + " }"
