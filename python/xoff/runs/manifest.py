"""A stored run's manifest: the file, whether its content is as xoff writes it, and the checksums of a run's files."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from xoff.errors import UserError
from xoff.text import size_text

MANIFEST = "manifest.json"

CHECKSUMS = "checksums"
"""The manifest's entry that only the file has."""

MAX_BYTES = 256 * 10**6
"""Maximum size of a manifest."""


@dataclass(frozen=True)
class Checksum:
    """What a file holds."""

    bytes: int
    """Its size."""
    sha256: str
    """SHA-256 of its content, in hexadecimal."""

    @classmethod
    def of(cls, file: Path) -> Checksum:
        """That of `file`; raises `OSError` if it cannot be read."""
        with file.open("rb") as opened:
            return cls(file.stat().st_size, hashlib.file_digest(opened, "sha256").hexdigest())


def manifest_text(manifest: Mapping[str, Any], files: Iterable[Path]) -> str:
    """The manifest as its file has it, with the checksums of the run's other files and its own."""
    plain = json.loads(json.dumps({key: value for key, value in manifest.items() if key != CHECKSUMS}))
    sums = {"files": {file.name: asdict(Checksum.of(file)) for file in sorted(files)}}
    return json.dumps({**plain, CHECKSUMS: {"manifest": _own_sum(plain, sums["files"]), **sums}}, indent=2) + "\n"


def read_manifest(folder: Path) -> tuple[dict[str, Any], dict[str, Checksum]]:
    """The manifest of the run in `folder`, and the checksums of the run's files by their names.

    A manifest without checksums, as earlier versions wrote it, has no checksums to compare with.

    Raises
    ------
    UserError
        There is none, it is torn, too large or not one that xoff wrote, or it was changed since.
    """
    file = folder / MANIFEST
    try:
        if file.exists() and not file.is_file():
            raise UserError(f"{file}: not a run's manifest: expected a file")
        if (size := file.stat().st_size) > MAX_BYTES:
            raise UserError(f"{file}: {size_text(size)}; expected a manifest of at most {size_text(MAX_BYTES)}")
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{folder}: not a run's folder: it has no {MANIFEST}") from None
    except RecursionError:
        raise UserError(f"{file}: not a run's manifest: nested too deeply") from None
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{file}: not a run's manifest: {error}") from None
    if not is_manifest(manifest):
        raise UserError(f"{file}: not a run's manifest: `scenario` or `fingerprint` is missing")
    if wrong := wrong_entry(manifest):
        raise UserError(f"{file}: {wrong}")
    if CHECKSUMS not in manifest:
        return manifest, {}
    sums = manifest.pop(CHECKSUMS)
    if sums["manifest"] != _own_sum(manifest, sums["files"]):
        raise UserError(f"{file}: changed since xoff wrote it: its checksum differs; make the run again")
    return manifest, {name: Checksum(**each) for name, each in sums["files"].items()}


def _own_sum(manifest: Mapping[str, Any], files: Mapping[str, Any]) -> str:
    text = json.dumps([manifest, files], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def deadlock_of(manifest: Mapping[str, Any]) -> str:
    """The deadlock of a run that did not expect one, in words; empty if there is none."""
    ports = manifest.get("deadlock")
    if not ports or manifest["scenario"]["run"].get("expect") == "deadlock":
        return ""
    return f"deadlock: these ports wait on each other for ever: {', '.join(ports)}"


def is_manifest(manifest: object) -> bool:
    """Whether `manifest` has what every manifest has."""
    return isinstance(manifest, dict) and "fingerprint" in manifest and isinstance(manifest.get("scenario"), dict)


def wrong_entry(manifest: dict[str, Any]) -> str | None:
    """What is wrong with the first entry that is not as xoff writes it; `None` if all are right."""
    for key, (expected, fits) in _KINDS.items():
        if key in manifest and not fits(manifest[key]):
            shown = json.dumps(manifest[key])
            shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
            return f"`{key}` is {shown}: expected {expected}"
    return None


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**64


def _is_number(value: object) -> bool:
    return _is_count(value) or (isinstance(value, float) and math.isfinite(value) and value >= 0)


def _is_load(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("label", ""), str)
        and all(value.get(key) is None or _is_number(value[key]) for key in ("asked", "offered"))
    )


def _is_table_docs(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(columns, dict) and all(isinstance(doc, str) for doc in columns.values())
        for columns in value.values()
    )


def _is_job(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("label"), str)
        and all(value.get(key) is None or _is_count(value[key]) for key in ("completion_ps", "ideal_completion_ps"))
        and (value.get("iterations") is None or _is_iterations(value["iterations"]))
    )


def _is_iterations(value: object) -> bool:
    exposed = value.get("exposed") if isinstance(value, dict) else None
    return (
        isinstance(value, dict)
        and isinstance(value.get("times_ps"), list)
        and all(map(_is_count, value["times_ps"]))
        and all(_is_number(value.get(key)) for key in ("mean_ps", "compute_ps", "exposed_ps"))
        and isinstance(exposed, list)
        and all(
            isinstance(each, dict) and isinstance(each.get("waits_for"), str) and _is_number(each.get("mean_ps"))
            for each in exposed
        )
    )


_COUNTED = ("flows", "completed", "pause_frames", "paused_ps", "max_queue_bytes", "dropped")
"""What a summary counts in every run."""


def _is_summary(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) - {"endless"} == {*_COUNTED, "slowdown", "hol_blocked"}
        and all(_is_count(value[key]) for key in _COUNTED)
        and (value["hol_blocked"] is None or _is_count(value["hol_blocked"]))
        and (value["slowdown"] is None or _is_statistics(value["slowdown"]))
        and (value.get("endless") is None or _is_endless(value["endless"]))
    )


def _is_endless(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"flows", "goodput_bps", "min_bps", "max_bps"}
        and _is_count(value["flows"])
        and _is_statistics(value)
    )


def _is_statistics(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_number, value.values()))


def _is_checksums(value: object) -> bool:
    files = value.get("files") if isinstance(value, dict) else None
    return (
        isinstance(value, dict)
        and isinstance(value.get("manifest"), str)
        and isinstance(files, dict)
        and all(
            isinstance(each, dict)
            and set(each) == {"bytes", "sha256"}
            and _is_count(each["bytes"])
            and isinstance(each["sha256"], str)
            for each in files.values()
        )
    )


_COUNT = "a whole number, 0 or more"

_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "loads": (
        "a list of objects with a text `label` and numbers `asked` and `offered`",
        lambda value: isinstance(value, list) and all(map(_is_load, value)),
    ),
    "jobs": (
        "a list of objects with a text `label` and whole numbers `completion_ps` and `ideal_completion_ps`; of "
        "training with `iterations` as well",
        lambda value: isinstance(value, list) and all(map(_is_job, value)),
    ),
    "sim_time_ps": (_COUNT, _is_count),
    "sample_interval_ps": (f"{_COUNT}, or null", lambda value: value is None or _is_count(value)),
    "wall_s": ("a number, 0 or more", _is_number),
    "summary": ("an object of the counts of a run and their `slowdown`", _is_summary),
    "packet_hops": (_COUNT, _is_count),
    "flows": (_COUNT, _is_count),
    CHECKSUMS: ("the checksum of the manifest, and size and checksum of each file", _is_checksums),
    "table_docs": ("for each table an object of columns and texts", _is_table_docs),
}
"""What the report, the figures and the export read of a stored manifest, and what each entry holds if it is there."""
