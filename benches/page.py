"""A page of the documents with what a benchmark measured, between two lines of it."""

from __future__ import annotations

from pathlib import Path

END = "<!-- end -->\n"


class MeasuredPage:
    """A page that has both lines; `name` is what the first one says.

    Raises `ValueError` if it has not.
    """

    def __init__(self, file: Path, name: str = "measured") -> None:
        self.file = file
        self._begin = f"<!-- {name} -->\n"
        self._around()

    def write(self, text: str) -> None:
        """Put what was measured in place of what the page has, which may have changed elsewhere meanwhile."""
        before, after = self._around()
        self.file.write_text(f"{before}{self._begin}\n{text}\n{END}{after}", encoding="utf-8")

    def _around(self) -> tuple[str, str]:
        before, begin, rest = self.file.read_text(encoding="utf-8").partition(self._begin)
        _, end, after = rest.partition(END)
        if not begin or not end:
            raise ValueError(f"{self.file}: expected the lines {self._begin.strip()} and {END.strip()}")
        return before, after
