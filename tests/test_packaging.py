"""What a release is made of: versions that agree, files that tools accept, and the quick test of an installation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import xoff
from conftest import ROOT

BIN = Path(sys.executable).parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text("utf-8"))


def succeeds(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_all_say_the_same_version() -> None:
    version = toml("Cargo.toml")["workspace"]["package"]["version"]
    assert xoff.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'version: "{version}"' in (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_wheel_has_its_libraries_with_the_features_that_cargos_tests_have() -> None:
    """With one feature more or less a library, and all that stands on it, is compiled once for each of them."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("needs cargo on the path")

    def libraries(*chosen: str) -> set[str]:
        shown = ["--edges", "normal,build,dev", "--prefix", "none", "--format", "{p} {f}"]
        lines = succeeds(cargo, "tree", "--locked", *chosen, *shown).splitlines()
        return {line.removesuffix(" (*)").rstrip() for line in lines}

    assert libraries("--package", "xoff-py") <= libraries("--workspace")


def test_the_conda_package_needs_what_the_wheel_needs() -> None:
    project = toml("pyproject.toml")["project"]
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    run = recipe.split("  run:\n")[1].split("\ntests:")[0]
    needed = {line.removeprefix("    - ").replace(" ", "", 1) for line in run.splitlines() if line}
    assert needed == {*project["dependencies"], f"python{project['requires-python']}"}


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_is_one(file: Path) -> None:
    succeeds(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", file)
    text = file.read_text("utf-8")
    # Nothing may do more than it says: no permission unless a job names it, and no token left in the working tree.
    assert "\npermissions: {}\n" in text
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    assert re.findall(r"\$\{\{ github\.ref_name \}\}", text) == re.findall(
        r"(?<=TAG: )\$\{\{ github\.ref_name \}\}", text
    ), "a tag's name reaches a shell by the environment alone"


def test_the_workflows_are_these() -> None:
    assert [file.stem for file in WORKFLOWS] == ["release", "site", "test", "wheels"]


def test_the_citation_is_one() -> None:
    succeeds(BIN / "check-jsonschema", "--builtin-schema", "vendor.citation-file-format", ROOT / "CITATION.cff")


def test_the_dockerfile_is_clean_and_copies_what_is_there() -> None:
    succeeds(BIN / "hadolint", ROOT / "Dockerfile")
    for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines():
        if line.startswith("COPY ") and "--from" not in line:
            *sources, _ = line.split()[1:]
            assert all((ROOT / source).exists() for source in sources), line
    # The workspace's members are all copied: cargo refuses a workspace without one of them.
    members = toml("Cargo.toml")["workspace"]["members"]
    copied = (ROOT / "Dockerfile").read_text("utf-8")
    assert all(f"COPY {member.split('/')[0]} " in copied for member in members)


def test_the_quick_test_of_an_installation() -> None:
    assert succeeds(ROOT / "packaging/smoke.sh", PATH=f"{BIN}{os.pathsep}{os.environ['PATH']}").endswith("xoff works\n")


def test_a_release_s_notes_are_the_changelog_s_section() -> None:
    version = toml("Cargo.toml")["workspace"]["package"]["version"]
    notes = succeeds(sys.executable, ROOT / "packaging/changes.py", version)
    assert notes.startswith("### Added")
    assert "\n## [" not in notes
    done = subprocess.run(
        [sys.executable, ROOT / "packaging/changes.py", "9.9.9"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "CHANGELOG.md has no section [9.9.9]\n")
