"""Run folders: what is written, what is read back, what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import xoff
from made_up import made_up_run, seal
from xoff.report.page import find_runs
from xoff.runs.execution import execute
from xoff.runs.folder import COLUMNS, TABLES, check_target, columns_of_some_runs
from xoff.runs.results import Run, labels
from xoff.runs.scenario import read
from xoff.runs.summary import Summary


def test_a_run_survives_its_folder(tmp_path: Path) -> None:
    run = made_up_run(queues=[(0, "a", 5)])
    run.write(tmp_path / "deep" / "er")
    back = xoff.load(tmp_path / "deep" / "er")
    assert back.manifest == run.manifest
    assert all(back.table(name).equals(run.table(name)) for name in TABLES)
    # Nothing else is left, hidden files included.
    names = {file.name for file in (tmp_path / "deep" / "er").iterdir()}
    assert names == {"manifest.json"} | {f"{name}.parquet" for name in TABLES}
    assert [file.name for file in (tmp_path / "deep").iterdir()] == ["er"]


def test_writing_again_replaces_results_and_spares_other_files(tmp_path: Path) -> None:
    made_up_run(seed=1).write(tmp_path / "r")
    (tmp_path / "r" / "notes.txt").write_text("mine")
    made_up_run(seed=2).write(tmp_path / "r")
    assert xoff.load(tmp_path / "r").manifest["seed"] == 2
    assert (tmp_path / "r" / "notes.txt").read_text() == "mine"


def test_a_folder_with_other_things_needs_force(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(xoff.UserError, match="--force"):
        made_up_run().write(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
    made_up_run().write(tmp_path, force=True)
    assert (tmp_path / "thesis.tex").read_text() == "x"
    assert xoff.load(tmp_path).complete


def test_someone_elses_manifest_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    with pytest.raises(xoff.UserError, match="--force"):
        check_target(tmp_path)
    with pytest.raises(xoff.UserError, match="not a run's manifest"):
        xoff.load(tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("loads", 3, "a list"),
        ("loads", ["half"], "a list"),
        ("loads", [{"label": "a", "asked": "0.5", "offered": 0.5}], "a list"),
        ("sim_time_ps", "1ms", "a whole number"),
        ("sim_time_ps", -1, "a whole number"),
        ("sim_time_ps", 10**400, "a whole number"),
        ("sample_interval_ps", [], "a whole number"),
        ("wall_s", None, "a number"),
        ("wall_s", float("nan"), "a number"),
        ("packet_hops", {}, "a whole number"),
        ("packet_hops", True, "a whole number"),
        ("flows", "5", "a whole number"),
        ("table_docs", [], "for each table"),
        ("table_docs", {"flows": "what flows are"}, "for each table"),
        ("table_docs", {"flows": {"id": 1}}, "for each table"),
    ],
)
def test_a_manifest_of_other_kinds_is_named_by_key(tmp_path: Path, key: str, value: object, expected: str) -> None:
    file = made_up_run().write(tmp_path / "run") / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))
    with pytest.raises(xoff.UserError) as raised:
        find_runs([tmp_path / "run"])
    assert str(raised.value).startswith(f"{file}: `{key}` is ")
    assert f": expected {expected}" in str(raised.value)


def test_leftovers_of_a_cut_off_write_are_taken_over(tmp_path: Path) -> None:
    made_up_run().write(tmp_path / "r")
    (tmp_path / "r" / "manifest.json").unlink()
    with pytest.raises(xoff.UserError, match="no manifest"):
        xoff.load(tmp_path / "r")
    made_up_run().write(tmp_path / "r")
    assert xoff.load(tmp_path / "r").complete


@pytest.mark.parametrize("place", ["file", "file/below", "dangling"])
def test_a_place_that_cannot_be_a_folder_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(xoff.UserError, match=r"file"):
        check_target(tmp_path / place, force=True)


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    made_up_run().write(tmp_path / "r")
    (tmp_path / "r" / "flows.parquet").write_text("no table")
    with pytest.raises(xoff.UserError, match=r"flows\.parquet"):
        _ = xoff.load(tmp_path / "r").flows


def test_a_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    made_up_run(queues=[(0, "a", 5)]).write(tmp_path / "r")
    # Another table, a missing column, a column of another kind.
    shutil.copy(tmp_path / "r" / "pauses.parquet", tmp_path / "r" / "queues.parquet")
    seal(tmp_path / "r")
    with pytest.raises(xoff.UserError, match=r"queues\.parquet: no column `time_ps`.*columns are port"):
        _ = xoff.load(tmp_path / "r").queues
    flows = pq.read_table(tmp_path / "r" / "flows.parquet")
    pq.write_table(flows.drop_columns("slowdown"), tmp_path / "r" / "flows.parquet")
    seal(tmp_path / "r")
    with pytest.raises(xoff.UserError, match="no column `slowdown`"):
        _ = xoff.load(tmp_path / "r").flows
    text = flows.set_column(flows.column_names.index("slowdown"), "slowdown", flows["id"].cast("string"))
    pq.write_table(text, tmp_path / "r" / "flows.parquet")
    seal(tmp_path / "r")
    with pytest.raises(xoff.UserError, match="`slowdown` is of type string; expected numbers"):
        _ = xoff.load(tmp_path / "r").flows


def test_a_run_has_no_other_attributes() -> None:
    with pytest.raises(AttributeError, match="its tables are flows"):
        _ = made_up_run().flow


def test_labels_are_as_short_as_they_can_be(tmp_path: Path) -> None:
    runs = []
    for place in ("one/fncc", "two/fncc", "two/hpcc"):
        run = made_up_run()
        run.write(tmp_path / place)
        runs.append(run)
    assert labels(runs[1:]) == ["fncc", "hpcc"]
    assert labels(runs) == ["one/fncc", "two/fncc", "two/hpcc"]


def test_columns_carry_meaning_and_unit(small: Path, tmp_path: Path) -> None:
    xoff.run(small).write(tmp_path / "r")
    documented = json.loads((tmp_path / "r" / "manifest.json").read_text())["table_docs"]
    for name in TABLES:
        schema = pq.read_schema(tmp_path / "r" / f"{name}.parquet")
        assert schema.names == list(documented[name])
        for field in schema:
            assert field.metadata[b"doc"].decode() == documented[name][field.name]
            assert field.metadata.get(b"unit", b"").decode() == COLUMNS[name][field.name]["unit"]


@pytest.mark.parametrize(
    ("which", "settings"),
    [
        (
            {"with `run.fast_forward`", "with `run.fast_forward` and `record.interval`"},
            {"run.fast_forward": {"tolerance": 0.01}},
        ),
        ({"with several data priorities and samples of switches' queues"}, {"switch.priorities": 2}),
    ],
)
@pytest.mark.filterwarnings("ignore:`fast_forward` in .run. skipped nothing:RuntimeWarning")
def test_columns_of_some_runs_are_described_too(small: Path, which: set[str], settings: dict[str, Any]) -> None:
    sampled = {"record.interval": "1us", "record.queues": "all", "record.rates": "all"}
    run = xoff.run(small, sets=sampled | settings)
    some = columns_of_some_runs()
    for name in TABLES:
        table = run.table(name)
        more = {column: about for column, about in some.get(name, {}).items() if about["runs"] in which}
        # Where a column stands among the others is the table's own affair.
        assert sorted(table.column_names) == sorted([*COLUMNS[name], *more])
        for column, about in more.items():
            said = table.schema.field(column).metadata
            assert (about["doc"], about["unit"]) == (said[b"doc"].decode(), said.get(b"unit", b"").decode())
    assert some["queues"]["skipped_ps"]["unit"] == "ps"
    assert some["ports"]["skipped_bytes"]["unit"] == "B"


def test_a_manifest_without_a_summary_or_with_a_wrong_one_is_refused(small: Path, tmp_path: Path) -> None:
    file = xoff.run(small).write(tmp_path / "r") / "manifest.json"
    manifest = json.loads(file.read_text())
    assert (Summary.of(manifest).flows, Summary.of(manifest).completed) == (1, 1)
    file.write_text(json.dumps({**manifest, "summary": {**manifest["summary"], "completed": -1}}))
    with pytest.raises(xoff.UserError, match=r"`summary` is .*: expected an object of the counts of a run"):
        xoff.load(tmp_path / "r")
    del manifest["summary"]
    with pytest.raises(xoff.UserError, match="no `summary`: expected a run of this version"):
        Summary.of(manifest)


def test_native_and_pyarrow_tables_are_alike(small: Path, tmp_path: Path) -> None:
    run = xoff.run(small, sets={"record.queues": "all"})
    run.write(tmp_path / "native")
    Run(run.manifest, run.tables).write(tmp_path / "pyarrow")
    native, plain = xoff.load(tmp_path / "native"), xoff.load(tmp_path / "pyarrow")
    for name in TABLES:
        assert native.table(name).to_pylist() == plain.table(name).to_pylist() == run.table(name).to_pylist()
        assert native.table(name).schema.equals(plain.table(name).schema, check_metadata=True)
    assert run.queues.num_rows > 0


def test_the_same_run_gives_the_same_files(small: Path, tmp_path: Path) -> None:
    for place in ("one", "two"):
        xoff.run(small, sets={"record.queues": "all"}).write(tmp_path / place)
    for name in TABLES:
        one, two = (tmp_path / place / f"{name}.parquet" for place in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_a_disk_that_takes_no_table_is_an_os_error(small: Path, tmp_path: Path) -> None:
    output = execute(read(small).prepare()).output
    with pytest.raises(FileNotFoundError):
        output.write_tables(tmp_path / "missing")
