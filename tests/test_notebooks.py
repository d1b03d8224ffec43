"""The notebooks of the documents: each runs from its first cell to its last."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_some() -> None:
    assert [file.stem for file in NOTEBOOKS] == ["paper_figure", "tune_pfc"]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_and_is_stored_without_results(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = nbformat.read(file, as_version=4)
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in stored.cells)
    # `xoff` of a notebook is that of the tests; matplotlib draws into files, and no window opens.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    shutil.copy(file, tmp_path / file.name)
    client = NotebookClient(stored, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [output for cell in stored.cells for output in cell.get("outputs", [])]
    assert any("text/html" in output.get("data", {}) for output in shown)
    assert list(tmp_path.glob("*.svg"))
