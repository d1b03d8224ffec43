"""Results on a damaged disk, or from anybody: they are read, or refused by a message that names the file.

`XOFF_DAMAGES=20000` tries as many damages of each kind in place of those of every day.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import xoff
from conftest import SMALL
from hostile import RECORDS
from made_up import seal
from xoff.analysis.explain import explain
from xoff.errors import UserError
from xoff.runs.folder import TABLES
from xoff.runs.manifest import CHECKSUMS, MANIFEST
from xoff.runs.parquet import has_rows, read_table
from xoff.studies.sweep.aggregate import results

damages = settings(
    max_examples=int(os.environ.get("XOFF_DAMAGES", "40")),
    deadline=60_000,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

PAGE = 2**31
"""A page of a Parquet file says its size in 31 bits, and memory for one is taken before it is read."""

SWEEP = """
[sweep]
"scheme.name" = ["none", "hpcc"]
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder with rows in most tables."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.toml").write_text(SMALL + RECORDS)
    return xoff.run(folder / "small.toml").write(folder / "run")


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep's folder."""
    folder = tmp_path_factory.mktemp("grid")
    (folder / "small.toml").write_text(SMALL + SWEEP)
    subprocess.run([sys.executable, "-m", "xoff", "sweep", "small.toml", "-o", "sweep", "-q"], cwd=folder, check=True)
    return folder / "sweep"


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes with one to three damages: bits flipped, a part lost, overwritten, zeroed or there twice."""
    for _ in range(draw(st.integers(1, 3))):
        last = len(data) - 1
        if last < 0:
            break
        # Most of what a reader believes stands at the ends of a Parquet file.
        at = draw(st.one_of(st.integers(0, last), st.integers(max(0, last - 600), last), st.integers(0, min(99, last))))
        length = draw(st.integers(1, 12))
        match draw(st.sampled_from(["bit", "bit", "bytes", "cut", "lost", "zeros", "twice"])):
            case "bit":
                data = data[:at] + bytes([data[at] ^ (1 << draw(st.integers(0, 7)))]) + data[at + 1 :]
            case "bytes":
                data = data[:at] + draw(st.binary(min_size=length, max_size=length)) + data[at + length :]
            case "cut":
                data = data[:at]
            case "lost":
                data = data[:at] + data[at + length :]
            case "zeros":
                data = data[:at] + bytes(len(data[at : at + 512])) + data[at + 512 :]
            case "twice":
                data = data[:at] + data[at : at + length] + data[at:]
    return data


def copied(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, to be damaged."""
    return shutil.copytree(folder, tmp_path_factory.mktemp("damaged") / folder.name)


def message_of(call: Callable[[], object], place: Path) -> str:
    """Why `call` is refused, which begins with the place; nothing if it is not."""
    try:
        call()
    except xoff.UserError as error:
        message = str(error)
    else:
        return ""
    assert message.startswith(f"{place}")
    return message


def use(run: xoff.Run) -> None:
    """What commands and notebooks do with a run that was read."""
    assert repr(run)
    run._repr_html_()
    for name in TABLES:
        run.table(name)
    explain(run)


@damages
@given(data=st.data())
def test_a_damaged_manifest(whole: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = copied(whole, tmp_path_factory)
    file = folder / MANIFEST
    file.write_bytes(data.draw(damaged(file.read_bytes())))
    message_of(lambda: use(xoff.load(folder)), file)


@damages
@given(data=st.data())
def test_a_manifest_of_other_values(whole: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """One value replaced by one of another kind, in a manifest whose checksum fits or that has none."""
    folder = copied(whole, tmp_path_factory)
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    del manifest[CHECKSUMS]
    place: Any = manifest
    key: Any = data.draw(st.sampled_from(sorted(manifest)))
    while isinstance(place[key], dict | list) and place[key] and data.draw(st.integers(0, 3)):
        place = place[key]
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
    place[key] = data.draw(
        st.sampled_from([None, True, -1, 0, 1.5, 10**30, float("inf"), "", "x", "1us", [], [[]], {}, {"x": 1}])
    )
    if data.draw(st.booleans()):
        seal(folder, manifest)
    else:
        (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    message_of(lambda: use(xoff.load(folder)), folder)


@damages
@given(data=st.data(), name=st.sampled_from(TABLES), sealed=st.booleans())
def test_a_damaged_table(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, name: str, sealed: bool
) -> None:
    folder = copied(whole, tmp_path_factory)
    file = folder / f"{name}.parquet"
    before = file.read_bytes()
    after = data.draw(damaged(before))
    file.write_bytes(after)
    if sealed:
        seal(folder)
    message = message_of(lambda: xoff.load(folder).table(name), file)
    # Without a checksum that fits nothing of a changed file is read.
    assert sealed or after == before or "changed or torn" in message
    message_of(lambda: has_rows(file), file)
    assert pa.default_memory_pool().max_memory() < 2 * PAGE


def test_a_column_whose_name_is_no_text(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = copied(whole, tmp_path_factory) / "events.parquet"
    before = file.read_bytes()
    # In the footer a name stands behind its length; 0xE5 begins a character of three bytes, which `v` does not go on.
    assert b"\x05event" in before
    file.write_bytes(before.replace(b"\x05event", b"\x05\xe5vent"))
    for call in (lambda: has_rows(file), lambda: read_table(file)):
        assert "not a table that xoff wrote" in message_of(call, file)


@damages
@given(data=st.data(), name=st.sampled_from(["runs.parquet", "sweep.json"]))
def test_a_damaged_sweep(grid: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, name: str) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    for each in ("runs.parquet", "sweep.json"):
        shutil.copy(grid / each, folder / each)
    (folder / name).write_bytes(data.draw(damaged((grid / name).read_bytes())))
    message_of(lambda: results(folder), folder / name)
    assert pa.default_memory_pool().max_memory() < 2 * PAGE


@pytest.mark.parametrize(
    ("column", "change", "expected"),
    [
        *((name, "dropped", f"no column `{name}`") for name in ("run", "state", "seed", "error", "flows", "paused_ps")),
        ("flows", "text", "`flows` is of type string"),
        ("paused_ps", "text", "`paused_ps` is of type string; expected numbers"),
        ("completed", "missing", "is done and has no number of flows"),
    ],
)
def test_the_totals_of_a_sweep_with_other_columns(
    grid: Path, tmp_path: Path, column: str, change: str, expected: str
) -> None:
    shutil.copy(grid / "sweep.json", tmp_path)
    table = pq.read_table(grid / "runs.parquet")
    if change == "dropped":
        table = table.drop_columns(column)
    else:
        values, kind = {
            "text": ("five", pa.string()),
            "missing": (None, pa.int64()),
        }[change]
        other = pa.array([values] * len(table), kind)
        table = table.set_column(table.column_names.index(column), column, other)
    pq.write_table(table, tmp_path / "runs.parquet")
    with pytest.raises(xoff.UserError) as raised:
        results(tmp_path)
    assert str(raised.value).startswith(f"{tmp_path / 'runs.parquet'}: ")
    assert expected in str(raised.value)


def test_a_table_with_two_columns_of_one_name_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table([["a"], ["b"]], names=["s", "s"]), tmp_path / "rows.parquet")
    with pytest.raises(UserError, match="two columns have the name `s`, so not a table that xoff wrote"):
        read_table(tmp_path / "rows.parquet")


def test_a_long_text_for_a_million_rows_is_refused(tmp_path: Path) -> None:
    # A text of 100 KB and a million places in a list of one text: a file of 3 KB, and 10^6 * 10^5 B = 100 GB.
    file = tmp_path / "rows.parquet"
    places = pa.array(np.zeros(1_000_000, np.int32))
    table = pa.table({"port": pa.DictionaryArray.from_arrays(places, ["x" * 100_000])})
    pq.write_table(table, file, store_schema=False, compression="zstd")
    assert file.stat().st_size < 10_000
    with pytest.raises(xoff.UserError, match=r"the texts of its 1,000,000 rows take about 100 GB in memory: .* are"):
        read_table(file)
    # As a list of texts, which is how xoff writes names, the same table takes 4 MB.
    pq.write_table(table, file, compression="zstd")
    assert read_table(file).nbytes < 5_000_000
    # Texts that fit are read as what they are.
    few = pa.table({"port": ["a", None, "b"], "more": pa.array(["c", "d", "c"], pa.large_string())})
    pq.write_table(few, file)
    assert read_table(file).equals(few)


@pytest.mark.parametrize(
    "column",
    [
        pa.DictionaryArray.from_arrays(pa.array(np.zeros(9, np.int32)), pa.array([b"x" * 99], pa.binary(99))),
        pa.array([b"x"]),
        pa.array([{"x": 1}]),
        pa.array([["x"]]),
        pa.array([[[1]]]),
    ],
    ids=["fixed width", "bytes", "structure", "list of texts", "list of lists"],
)
def test_columns_that_xoff_does_not_write_are_refused(tmp_path: Path, column: pa.Array) -> None:
    pq.write_table(pa.table({"x": column}), tmp_path / "x.parquet")
    with pytest.raises(xoff.UserError, match=r"the column `x` is of type .*; expected numbers, names or flags"):
        read_table(tmp_path / "x.parquet")
