"""Text files of words in lines, with messages that name file and line."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from xoff.errors import UserError, nearest_file
from xoff.text import line_text

_REAL = re.compile(r"[0-9]*\.?[0-9]+([eE][-+]?[0-9]{1,3})?|[0-9]+\.")


def quoted(word: str) -> str:
    """A word for a message: in one line, in backticks, not too long."""
    text = line_text(word)
    return f"`{text[:40]}...`" if len(text) > 43 else f"`{text}`"


@dataclass(frozen=True)
class Line:
    """A line that is not empty."""

    file: Path
    number: int
    words: tuple[str, ...]

    def wrong(self, what: str, expected: str) -> UserError:
        """The error that says what is wrong here, and what was expected."""
        return UserError(f"{self.file}:{self.number}: {what}: expected {expected}")

    def has(self, columns: str) -> None:
        """Refuse another number of words than `columns` names."""
        count = len(columns.split())
        if len(self.words) != count:
            words = "1 word" if len(self.words) == 1 else f"{len(self.words)} words"
            raise self.wrong(words, f"{count}, `{columns}`")

    def count(self, index: int, name: str, minimum: int = 0, maximum: int = 2**32 - 1) -> int:
        """The word at `index` as a whole number."""
        word = self.words[index]
        value = int(word) if word.isascii() and word.isdigit() and len(word) <= 20 else -1
        if not minimum <= value <= maximum:
            raise self.wrong(f"{name} is {quoted(word)}", f"a whole number from {minimum} to {maximum}")
        return value

    def real(self, index: int, name: str, unit: str = "") -> str:
        """The word at `index`, a number of at least 0 in a unit; as text, which is exact."""
        word = self.words[index]
        if not _REAL.fullmatch(word) or len(word) > 40 or not math.isfinite(float(word)):
            raise self.wrong(f"{name} is {quoted(word)}", f"a number{unit and f' of {unit}'}, 0 or more")
        return word


def read_lines(file: Path, what: str) -> list[Line]:
    """The lines of a text file that hold words; `#` at a line's beginning makes it a comment."""
    lines = [
        Line(file, number, tuple(line.split())) for number, line in enumerate(read_text(file, what).split("\n"), 1)
    ]
    return [line for line in lines if line.words and not line.words[0].startswith("#")]


def read_text(file: Path, what: str) -> str:
    """The text of a file; `what` names its kind in messages."""
    name = line_text(str(file))
    try:
        if file.exists() and not file.is_file() and not file.is_dir():
            # A device or a pipe might never begin, or end.
            raise UserError(f"{name}: is a device or a pipe; expected a {what}")
        raw = file.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{name}: no such {what}{nearest_file(file)}") from None
    except IsADirectoryError:
        raise UserError(f"{name}: is a folder; expected a {what}") from None
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(f"{name}: cannot be read: {reason}") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: not a text file (byte {error.start} is not UTF-8); expected a {what}") from None
    if "\0" in text:
        raise UserError(f"{name}: not a text file (it holds a NUL byte); expected a {what}")
    return text
