"""The documentation as a site: it builds without a warning, holds every page and scheme, and needs no network."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import ROOT
from xoff.report.article import write_page
from xoff.report.figures import FigureFile
from xoff.runs.catalogue import catalogue

pytest.importorskip("sphinx", reason="the extra `docs` is not installed")


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", str(source), str(out)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, without its cache of parsed pages."""
    out = tmp_path_factory.mktemp("site")
    done = build(ROOT, out)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(out / ".doctrees")
    return out


def pages() -> list[Path]:
    """The repository's pages, without those that are no part of the documentation."""
    return sorted(
        [
            ROOT / "CONTRIBUTING.md",
            ROOT / "CHANGELOG.md",
            *(ROOT / "docs").rglob("*.md"),
            *(ROOT / "papers").glob("*/README.md"),
        ]
    )


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_page_is_there_and_can_be_reached(site: Path, page: Path) -> None:
    name = page.relative_to(ROOT).with_suffix(".html")
    title = re.search(r"^# (.+)$", page.read_text("utf-8"), re.MULTILINE)
    assert title
    assert f"<title>{title[1]}".replace("`", "") in (site / name).read_text("utf-8").replace("&#39;", "'")
    # The side bar of the first page links to all.
    assert f'href="{name.as_posix()}"' in (site / "index.html").read_text("utf-8")


def test_every_scheme_is_explained(site: Path) -> None:
    explained = (site / "docs" / "schemes.html").read_text("utf-8")
    for kind in ("schemes", "detectors", "throttles"):
        for entry in catalogue()[kind]:
            name = entry["name"]
            anchor = f"#({name}|{name.replace('_', '-')})"
            assert re.search(rf'href="{anchor}"', explained), name
            if entry["schema"].get("properties"):
                found = re.search(rf'href="reference/schemes.html{anchor}"', explained)
                assert found, f"{name}: no link to its parameters"


def test_equations_are_mathml(site: Path) -> None:
    explained = (site / "docs" / "schemes.html").read_text("utf-8")
    assert explained.count("<math ") > 20
    # An equation that was not understood would stand there as it was written.
    assert not re.search(r"\\(frac|begin|text|cdot|min|left)\b", explained)


@pytest.mark.parametrize("paper", ["fncc", "pft", "sqcc", "srcc", "tcd"])
def test_a_papers_page_has_its_map_of_readings_as_figure_and_table(site: Path, paper: str) -> None:
    page = (site / "papers" / paper / "README.html").read_text("utf-8")
    section = tomllib.loads((ROOT / "papers" / paper / "map.toml").read_text("utf-8"))["section"]
    heading, figure = page.index(f"<h2>{section}<"), page.index('id="readings-map"')
    # The figure, and then the table or the text that has the same.
    assert heading < figure < page.index("<table", figure)
    assert page.count("<h2>", heading, figure) == 1


def test_nothing_comes_from_the_network(site: Path) -> None:
    loads = re.compile(
        r"""<(?:script|img|iframe|source|embed|object)\b[^>]*?(?:src|data)\s*=\s*["']?(?:https?:)?//"""
        r"""|<link\b(?![^>]*rel="(?:canonical|next|prev)")[^>]*?href\s*=\s*["']?(?:https?:)?//""",
        re.IGNORECASE,
    )
    for page in site.rglob("*.html"):
        found = loads.search(page.read_text("utf-8"))
        assert not found, f"{page.relative_to(site)}: {found[0]}" if found else ""
    for style in site.rglob("*.css"):
        found = re.search(r"""(?:@import\s+|url\(\s*)["']?(?:url\()?["']?(?:https?:)?//""", style.read_text("utf-8"))
        assert not found, f"{style.relative_to(site)}: {found[0]}" if found else ""


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "docs").mkdir(parents=True)
    shutil.copy(ROOT / "conf.py", source)
    for module in ("site_extension.py", "run_links.py"):
        shutil.copy(ROOT / "docs" / module, source / "docs")
    contents = "# Site\n\n```{toctree}\ndocs/page\ndocs/other\n```\n"
    (source / "index.md").write_text(contents)
    (source / "docs" / "page.md").write_text("# Page\n\n[there](other.md#there) and [folder](../docs)\n")
    (source / "docs" / "other.md").write_text("# Other\n\n## There\n\nText.\n")
    sound = build(source, tmp_path / "sound")
    assert sound.returncode == 0, sound.stderr
    # A page each, so that each has to be found.
    links = {"a": "[x](gone.md)", "b": "[x](other.md#lost)", "c": "[x](../away/)", "d": "![x](none.svg)"}
    (source / "index.md").write_text(contents.replace("docs/page", "\n".join(f"docs/{page}" for page in links)))
    (source / "docs" / "page.md").unlink()
    for page, link in links.items():
        (source / "docs" / f"{page}.md").write_text(f"# Page {page}\n\n{link}\n")
    broken = build(source, tmp_path / "broken")
    assert broken.returncode != 0
    for page, what in (("a", "gone.md"), ("b", "lost"), ("c", "away"), ("d", "none.svg")):
        lines = [line for line in broken.stderr.splitlines() if f"{page}.md" in line]
        assert any(what in line for line in lines), (page, broken.stderr)


def test_figures_of_a_rerun_are_below_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    add_figures = importlib.import_module("site_extension").add_figures
    read: list[str] = []
    app = SimpleNamespace(srcdir=tmp_path, env=SimpleNamespace(note_dependency=read.append))

    def page(name: str) -> str:
        source = ["# A paper\n"]
        add_figures(app, name, source)
        return source[0]

    assert "make figures" in page("papers/pft/README")
    folder = tmp_path / "out" / "papers" / "pft"
    folder.mkdir(parents=True)
    (folder / "fig01.svg").write_text("<svg/>")
    drawn = FigureFile("fig01", "Fig. 1", "What it shows < that.")
    write_page(folder / "index.html", title="PFT", lead="", banner="Shortened by --quick.", figures=[drawn])
    text = page("papers/pft/README")
    assert text.startswith("# A paper")
    # As it stands there: text would get typographic dashes.
    assert '<p class="banner">Shortened by --quick.</p>' in text
    assert text.count("<figure ") == text.count("</figure>") == 1
    assert "What it shows &lt; that." in text
    # A paper without a re-run, and pages of another kind.
    assert "<figure" not in page("papers/tcd/README")
    assert page("docs/model") == "# A paper\n"
    # Each is looked at again when its re-run has changed.
    assert {Path(name).parent.name for name in read} == {"pft", "tcd"}
