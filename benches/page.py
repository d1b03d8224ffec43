"""A page of the documents with what a benchmark measured, between two lines of it."""

from __future__ import annotations

from pathlib import Path

BEGIN, END = "<!-- measured -->\n", "<!-- end -->\n"


class MeasuredPage:
    """A page that has both lines.

    Raises `ValueError` if it has not.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        before, begin, rest = file.read_text(encoding="utf-8").partition(BEGIN)
        _, end, after = rest.partition(END)
        if not begin or not end:
            raise ValueError(f"{file}: expected the lines {BEGIN.strip()} and {END.strip()}")
        self._before, self._after = before, after

    def write(self, text: str) -> None:
        """Put what was measured in place of what the page has."""
        self.file.write_text(f"{self._before}{BEGIN}\n{text}\n{END}{self._after}", encoding="utf-8")
