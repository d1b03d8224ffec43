"""Counts, times, sizes and rates as text for people, and names as people may see them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_OBEYED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Categories of characters that a terminal or a page obeys, or that have neither width nor ink."""

_WORD, _TEXT = 80, 2000
"""Maximum length of a word and of a whole text that is shown."""


def printable(text: str) -> str:
    """A text for people, whoever wrote it: control characters, but for line breaks and tabs, are shown as escapes.

    So are marks that turn the direction of text, and bytes of a file's name that are not UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(
        each.encode("unicode_escape").decode() if each not in "\n\t" and unicodedata.category(each) in _OBEYED else each
        for each in text
    )


def line_text(text: str) -> str:
    """A text in one line: `printable`, and line breaks and tabs are escapes too."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def shown(text: str, word: int = _WORD, most: int = _TEXT) -> str:
    """`text`, which may hold names of a user's own choice, as people may see it: `printable`, and not too long.

    A word of more than `word` characters loses its middle to an ellipsis, a text of more than `most` its end.
    """
    if len(text) > word:
        text = re.sub(rf"\S{{{word + 1},}}", lambda found: _cut(found[0], word), text)
    if len(text) > most:
        text = text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return printable(text)


def name_text(name: str, most: int = _WORD) -> str:
    """A name in one line, `shown` with at most `most` characters; both its ends stay, which tell names apart."""
    return shown(" ".join(_cut(name, most).split()), most)


def name_texts(names: Iterable[str], most: int = _WORD) -> list[str]:
    """Several names, each as `name_text` makes it; those that would look the same are numbered."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        text = name_text(name, most)
        seen[text] += 1
        found.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return found


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 1]}\N{HORIZONTAL ELLIPSIS}{text[-tail:]}"


def count_text(count: int, thing: str) -> str:
    """`1 frame`, `2,000 frames`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def time_text(time_ps: int) -> str:
    """A time in ps with a fitting unit."""
    for unit, scale in (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3)):
        if time_ps >= scale:
            return f"{time_ps / scale:.4g} {unit}"
    return f"{time_ps} ps"


def size_text(size_bytes: float) -> str:
    """Bytes with a fitting decimal unit."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.4g} {unit}"
    return f"{size_bytes:.4g} B"


def rate_text(rate_bps: float) -> str:
    """Bits a second with a fitting unit."""
    for unit, scale in (("Tbps", 1e12), ("Gbps", 1e9), ("Mbps", 1e6)):
        if rate_bps >= scale:
            return f"{rate_bps / scale:.4g} {unit}"
    return f"{rate_bps:.0f} bps"


_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ps|ns|us|ms|s|B|KB|MB|GB|TB|bps|Kbps|Mbps|Gbps|Tbps)")
_IN_BYTES = {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
_IN_BPS = {"bps": 1.0, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12}
_IN_PS = {"ps": 1.0, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}


def quantity_text(value: str) -> str:
    """A quantity with four digits and a fitting unit, as `1.962 Gbps` for `1962001635bps`; else `value` itself."""
    found = _QUANTITY.fullmatch(value)
    if found is None:
        return value
    number, unit = float(found[1]), found[2]
    if unit in _IN_BYTES:
        return size_text(number * _IN_BYTES[unit])
    if unit in _IN_BPS:
        return rate_text(number * _IN_BPS[unit])
    return time_text(round(number * _IN_PS[unit]))


def share_text(share: float) -> str:
    """A share in per cent."""
    return f"{share * 100:.3g} %" if share < 0.9995 else "100 %"
