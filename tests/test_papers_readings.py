"""Readings as data: the space and its errors, the design, the cache, the search, and the map of a made-up paper."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from open_paper import HERE, PAPER, SCENARIO, SPACE, slowdown
from own_paper import PAPER as CLOSED
from xoff.errors import UserError
from xoff.papers import reference_map, registry, verdicts
from xoff.papers.readings_map import claims_of, map_table, markdown, open_table, summary
from xoff.papers.reproduction import reproduce, survey_readings
from xoff.papers.rules import Check, Outcome, exact
from xoff.papers.space import Alternative, Choice, Reading, Space, SpaceError
from xoff.papers.survey import Cache, Survey, digest, survey
from xoff.papers.verdicts import Finding
from xoff.runs.jobs import Job


def alternative(name: str, source: str = "none", **sets: Any) -> Alternative:
    return Alternative(name, "what", source, sets)


def choice(name: str, *alternatives: Alternative, default: str = "a", interacts: tuple[str, ...] = ()) -> Choice:
    return Choice(name, "question?", alternatives or (alternative("a"), alternative("b")), default, "why", interacts)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ([choice("x"), choice("x")], "choices: `x` stands twice"),
        ([choice("x", alternative("a"))], "choice `x`: expected at least two alternatives"),
        ([choice("x", alternative("a"), alternative("a"))], "choice `x`: alternatives: `a` stands twice"),
        ([choice("x", default="aa")], "choice `x`: the default `aa` is no alternative"),
        ([choice("x", interacts=("z",))], "choice `x`: interacts with `z`, which is no other choice"),
        ([choice("x", interacts=("x",))], "choice `x`: interacts with `x`, which is no other choice"),
        (
            [choice("x", alternative("a", "papers 3"), alternative("b"))],
            "choice `x`, alternative `a`: unknown source `papers 3`; did you mean `paper`",
        ),
        ([choice("x", alternative("a", "paper"), alternative("b"))], "expected a place after paper, or `none` alone"),
        ([choice("x", alternative("a", "none 3.1"), alternative("b"))], "expected a place after none, or `none` alone"),
        (
            [choice("x", alternative("a", burst={"k": 1}), alternative("b"))],
            "choice `x`, alternative `a`: unknown scope `burst`; did you mean `bursts`",
        ),
        (
            [
                choice("x", alternative("a", bursts={"k": 1}), alternative("b")),
                choice("y", alternative("a"), alternative("b", bursts={"k": 2})),
            ],
            "choices `x` and `y` both set `k` of `bursts`",
        ),
    ],
)
def test_a_space_that_cannot_be_is_refused(choices: list[Choice], message: str) -> None:
    with pytest.raises(SpaceError, match="^.*" + message.replace(".", r"\.")):
        Space(tuple(choices), scopes=("bursts",))


@pytest.mark.parametrize(
    ("default", "other", "sound"),
    [
        ("paper 3", "authors f.txt", True),
        ("authors f.txt", "authors g.txt", True),
        ("authors f.txt", "paper 3", False),
        ("cited X", "authors f.txt", False),
        ("none", "cited X", False),
        ("none", "none", True),
    ],
)
def test_a_default_is_of_the_strongest_source(default: str, other: str, sound: bool) -> None:
    made = choice("x", alternative("a", default), alternative("b", other))
    if sound:
        Space((made,))
    else:
        with pytest.raises(SpaceError, match=f"the default `a` has source `{default}`, weaker than `{other}` of `b`"):
            Space((made,))


def test_what_costs_too_much_may_have_a_stronger_source_and_is_not_surveyed() -> None:
    long = replace(alternative("long", "cited X", all={"traffic.0.size": "9MB"}), costly="an hour a run")
    alone = choice("y", alternative("a"), replace(long, sets={}))
    space = Space((choice("x", alternative("a"), alternative("b"), long), alone), ("all",))
    # A choice whose other answers all cost too much has none in the design.
    assert [reading.name for reading in space.design()] == ["default", "x=b"]
    # Asked for by name it is run.
    assert space.parse(["x=long"]).sets("all") == {"traffic.0.size": "9MB"}
    _, _, _, rows = open_table(space)
    assert [row[3] for row in rows if row[2] == "long"] == ["what; an hour a run, so only with --reading"] * 2
    with pytest.raises(SpaceError, match="choice `x`: the default `a` is costly: an hour a run"):
        Space((choice("x", replace(alternative("a"), costly="an hour a run"), alternative("b")),))
    # What does not cost too much still may not have one.
    with pytest.raises(SpaceError, match="weaker than `cited X` of `long`"):
        Space((choice("x", alternative("a"), replace(long, costly="")),), ("all",))


def test_a_search_leaves_out_what_costs_too_much(tmp_path: Path) -> None:
    rival, size = SPACE.choices
    later, meanwhile = rival.alternatives
    rival = replace(rival, alternatives=(later, replace(meanwhile, costly="an hour a run")))
    paper = replace(PAPER, space=Space((rival, size), SPACE.scopes))
    claims = list(verdicts.load(HERE / "claims.toml").values())
    result = survey(paper, claims, 2, tmp_path, trials=10)
    assert {reading.answer("rival") for reading in result.findings} == {"later"}


def test_a_reading_is_named_by_what_it_reads_otherwise() -> None:
    assert SPACE.default.name == "default"
    reading = SPACE.parse(["size=binary", " rival = meanwhile "])
    # In the order of the space, whatever the order of the command line.
    assert reading.name == "rival=meanwhile, size=binary"
    assert SPACE.parse(["rival=later"]) == SPACE.default
    assert reading.sets("all") == {"traffic.1.start": "0ps", "traffic.0.size": "1MiB"}
    assert reading.on({"traffic.0.size": "3MB", "seed": 2, "scheme.name": None}, "all") == {
        "traffic.0.size": "1MiB",
        "traffic.1.start": "0ps",
        "seed": 2,
    }
    with pytest.raises(SpaceError, match="no scope `al`; did you mean `all`"):
        reading.sets("al")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rivals=later", "no choice `rivals`; did you mean `rival`"),
        ("rival=latter", "choice `rival`: no alternative `latter`; did you mean `later`"),
        ("rival", "--reading rival: expected CHOICE=ALTERNATIVE"),
    ],
)
def test_a_reading_that_is_not_known_is_refused(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        SPACE.parse([text])


def test_the_design_has_each_answer_alone_and_the_declared_pairs() -> None:
    assert [reading.name for reading in SPACE.design()] == [
        "default",
        "rival=meanwhile",
        "size=binary",
        "size=spelled",
        "rival=meanwhile, size=binary",
        "rival=meanwhile, size=spelled",
    ]
    # Either of two choices may declare it.
    turned = Space((SPACE.choices[1], SPACE.choices[0]), SPACE.scopes)
    assert [reading.name for reading in turned.design()][4:] == [
        "size=binary, rival=meanwhile",
        "size=spelled, rival=meanwhile",
    ]
    apart = Space(tuple(replace(each, interacts=()) for each in SPACE.choices), SPACE.scopes)
    assert [reading.name for reading in apart.design()][3:] == ["size=spelled"]


def test_equal_scenarios_are_run_once() -> None:
    def job(**sets: object) -> Job:
        return Job(str(sets), HERE / SCENARIO, slowdown, {key.replace("__", "."): v for key, v in sets.items()})

    # A setting that says what the file says anyway makes no other run; a seed, a setting or a measure does.
    assert digest(job()) == digest(job(traffic__0__size="1000KB"))
    assert digest(job()) != digest(job(traffic__0__size="2MB"))
    assert digest(job()) != digest(replace(job(), seed=2))
    assert digest(job()) != digest(replace(job(), measure=other))
    cache = Cache("TEST")
    spelled, longer = job(traffic__0__size="1000KB"), job(traffic__0__size="2MB")
    first, second = cache.results([[job()], [spelled, longer]])
    assert (cache.asked, cache.made) == (3, 2)
    assert second[spelled.key] == first[job().key]
    cache.results([[job()]])
    assert (cache.asked, cache.made) == (4, 2)


def other(_run: Any) -> float:
    return 0.0


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    claims = list(verdicts.load(HERE / "claims.toml").values())
    return survey(PAPER, claims, 2, tmp_path_factory.mktemp("survey"), trials=0)


def test_claims_are_told_apart_by_where_they_hold(found: Survey) -> None:
    # Two flows that share the receiver's link take about twice their time: neither ideal nor beyond 10. Nothing is
    # faster than ideal.
    kinds = {claim.name: found.kind(claim) for claim in found.claims}
    assert kinds == {"ideal": "hanging", "bounded": "robust", "faster": "never met"}
    ideal = found.claims[0]
    verdicts_of_ideal = {reading.name: found.verdict(reading, ideal) for reading in found.findings}
    assert verdicts_of_ideal == {
        "default": "reproduced",
        "rival=meanwhile": "contradicted",
        "size=binary": "reproduced",
        "size=spelled": "reproduced",
        "rival=meanwhile, size=binary": "contradicted",
        "rival=meanwhile, size=spelled": "contradicted",
    }
    # Two seeds of four scenarios that differ, and of two that are spelled otherwise.
    assert (found.asked, found.made) == (12, 8)
    assert found.best.name == "default"


@pytest.mark.parametrize(
    ("outcomes", "kind"),
    [
        (["holds", "holds"], "robust"),
        (["holds", "fails"], "hanging"),
        (["open", "fails"], "never met"),
        (["fails", "fails"], "never met"),
        # Noise alone makes no claim hang.
        (["holds", "open"], "undecided"),
        (["open", "open"], "undecided"),
    ],
)
def test_what_is_not_decided_neither_hangs_nor_fails(found: Survey, outcomes: list[Outcome], kind: str) -> None:
    ideal = found.claims[0]
    first, second = list(found.findings)[:2]
    made = {
        reading: {"ideal": Finding(ideal, [Check("x", outcome, exact(1))], {}, [1], "s.toml")}
        for reading, outcome in zip((first, second), outcomes, strict=True)
    }
    assert Survey([ideal], made).kind(ideal) == kind


def test_the_tables_say_what_hangs_on_what(found: Survey) -> None:
    assert summary(found) == [
        "6 readings of 3 claims, 8 runs (4 more were equal).",
        "Holds under every reading: bounded.",
        "Hangs on the reading: ideal.",
        "Holds under no reading: faster.",
        "Under the default 2 of 3 claims hold; the reading under which most hold is `default`, with 2.",
    ]
    _, _, _, rows = claims_of(found)
    assert [(row[0], row[3], row[4]) for row in rows] == [
        ("bounded", "✓ reproduced", "nothing tried"),
        ("ideal", "✓ reproduced", "rival=meanwhile (✗)"),
        ("faster", "✗ contradicted", "nothing tried"),
    ]
    columns, cells = map_table(found)
    assert columns[:4] == ["claim", "kind", "default", "rival=meanwhile"]
    # The pairs do what the rival does alone, and are left out.
    assert cells[1] == ["ideal", "Hangs on the reading", "✓", "✗", "✓", "✓"]
    text = markdown(found, "T", summary(found))
    assert "| rival=meanwhile | ✓ | ✗ | ✗ | 1 |" in text
    _, _, _, questions = open_table(SPACE)
    assert questions[0][0] == "rival"
    assert questions[1][2:] == ["meanwhile", "another flow starts with it", "none"]


def test_a_pair_interacts_if_it_does_what_neither_answer_does_alone(found: Survey) -> None:
    def turned(**verdicts_of_ideal: str) -> bool:
        names = {"both": "rival=meanwhile, size=binary", "rival": "rival=meanwhile", "size": "size=binary"}
        changed = dict(found.findings)
        for name, verdict in verdicts_of_ideal.items():
            reading = next(reading for reading in changed if reading.name == names[name])
            check = Check("x", "holds" if verdict == "reproduced" else "fails", exact(1))
            ideal = replace(changed[reading]["ideal"], checks=[check])
            changed[reading] = {**changed[reading], "ideal": ideal}
        survey_of = replace(found, findings=changed)
        (pair,) = [reading for reading in changed if reading.name == names["both"]]
        assert (pair in survey_of.shown) is survey_of.interacts(pair)
        return survey_of.interacts(pair)

    # By default `ideal` holds; the rival alone turns it, and so do both together.
    assert not turned()
    # Together they leave what the rival turns.
    assert turned(both="reproduced")
    # Together they turn what neither turns.
    assert turned(rival="reproduced")
    assert not turned(rival="reproduced", size="contradicted")


def test_a_search_finds_the_reading_under_which_most_claims_hold(tmp_path: Path) -> None:
    # The same paper whose default is the reading under which a claim fails.
    rival = SPACE.choices[0]
    turned = replace(
        rival,
        alternatives=(
            Alternative("meanwhile", "another flow starts with it", "paper 1", {"all": {"traffic.1.start": "0ps"}}),
            Alternative("later", "another flow starts 10 ms later", "none"),
        ),
        default="meanwhile",
    )
    claims = list(verdicts.load(HERE / "claims.toml").values())
    names = []
    for _ in range(2):
        paper = replace(PAPER, space=Space((turned, SPACE.choices[1]), SPACE.scopes))
        result = survey(paper, claims, 2, tmp_path, trials=6)
        assert result.best.name == "rival=later"
        # Nothing is run that the design has run, and no reading is judged twice: two seeds of 2 x 3 readings.
        assert (result.asked, result.made) == (12, 8)
        names.append([reading.name for reading in result.findings])
    assert names[0] == names[1]


def test_a_paper_is_surveyed_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert survey_readings(PAPER, tmp_path, None, quick=True, trials=2) == 0
    assert "Hangs on the reading: ideal." in capsys.readouterr().out
    with (tmp_path / "readings.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    (row,) = [row for row in rows if (row["reading"], row["claim"]) == ("rival=meanwhile", "ideal")]
    assert (row["verdict"], row["kind"], row["n"]) == ("contradicted", "hanging", "2")
    assert float(row["low"]) == float(row["high"]) == pytest.approx(2.0, rel=0.1)
    for name in ("readings-map.png", "readings-map.svg", "readings-map.csv", "readings.md"):
        assert (tmp_path / name).stat().st_size > 0
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "What the paper leaves open" in page
    assert "data:image/svg+xml;base64," in page


def test_one_reading_is_re_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(PAPER, tmp_path, "ideal", quick=True, readings=["rival=meanwhile"]) == 0
    assert "contradicted" in capsys.readouterr().out
    assert "Reading: rival=meanwhile." in (tmp_path / "index.html").read_text("utf-8")


def test_a_paper_without_choices_has_no_readings_to_try(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="own_paper: declares no choices"):
        survey_readings(CLOSED, tmp_path, None, quick=True, trials=0)


def test_options_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--trials belongs to --readings"):
        registry.run("sqcc", tmp_path / "out", True, trials=3)
    with pytest.raises(UserError, match="give one of the two"):
        registry.run("sqcc", tmp_path / "out", True, ["a=b"], survey=True)
    with pytest.raises(UserError, match="no choice `a`"):
        registry.run("fncc", tmp_path / "out", True, ["a=b"])
    assert not (tmp_path / "out").exists()


def test_readings_are_equal_by_their_answers() -> None:
    assert Reading(SPACE, (("size", "binary"),)) == SPACE.reading({"size": "binary"})
    assert len({SPACE.default, SPACE.reading({}), SPACE.parse(["size=decimal"])}) == 1


def page_table(paper: str, head: str) -> list[list[str]]:
    """The rows of the table of a paper's page whose first line begins so."""
    text = (ROOT / "papers" / paper / "README.md").read_text("utf-8")
    lines = [*text[text.index(head) :].splitlines(), ""]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2 : lines.index("")]]


def readings_of(cell: str) -> list[str]:
    """The readings that a cell names: `a=x`, `y` is a=x and a=y; `a=x` with `b=y` or `z` is a=x, b=y and a=x, b=z."""
    if cell == "default":
        return [cell]
    if " with `" in cell:
        first, others = cell.split(" with ")
        return [f"{first.strip('`')}, {each}" for each in readings_of(others)]
    found: list[str] = []
    for name in re.findall("`([^`]+)`", cell):
        found.append(name if "=" in name else f"{found[-1].partition('=')[0]}={name}")
    return found


def pft_table() -> dict[str, str]:
    # The text above the table has the default's number, whose interval covers 1, and "What holds" its other verdict.
    rows = page_table("pft", "| reading | F_C |")
    return {"default": "?✓"} | {name: fc[0] + rate for cell, fc, rate, _ in rows for name in readings_of(cell)}


def sqcc_table() -> dict[str, str]:
    rows = page_table("sqcc", "| reading | `patched")
    return {name: "".join(verdicts) for cell, *verdicts in rows for name in readings_of(cell)}


def fncc_table() -> dict[str, str]:
    default = {row[0].strip("`"): row[4] for row in page_table("fncc", "| claim | where | measured | full")}
    found = {"default": "".join(default.values())}
    for choice, _, _, alternatives, changes in page_table("fncc", "| choice | question"):
        changed = dict(re.findall("`([^`]+)`: ([^;]+)", changes))
        assert list(changed) == re.findall("(?:^|; )`([^`]+)`: ", alternatives)
        for name, parts in changed.items():
            turned = dict(part.rsplit(" ", 1) for part in parts.split(", ")) if parts != "none" else {}
            assert turned.keys() <= default.keys()
            found[f"{choice.strip('`')}={name}"] = "".join((default | turned).values())
    return found


@pytest.mark.parametrize(("paper", "table"), [("pft", pft_table), ("sqcc", sqcc_table), ("fncc", fncc_table)])
def test_a_papers_map_is_the_table_of_its_page(paper: str, table: Callable[[], dict[str, str]]) -> None:
    assert reference_map.load(ROOT / "papers" / paper / "map.toml").readings == table()


def test_the_map_of_tcd_is_the_table_of_its_page() -> None:
    found = reference_map.load(ROOT / "papers" / "tcd" / "map.toml")
    rows = page_table("tcd", "| claim | by default | turns with |")
    by_claim = {claim: row for row in rows for claim in re.findall("`([^`]+)`", row[0])}
    assert list(by_claim) == found.claims
    bursts = {"at once": "at-once", "back to back": "back-to-back", "each 200 us": "each-200us"}
    for number, (claim, (_, default, turns)) in enumerate(by_claim.items()):
        column = {reading: symbols[number] for reading, symbols in found.readings.items()}
        expected = dict.fromkeys(column, "·") | {"default": default[0]}
        # `a=x` ✓ and `a=x` with `b=y` ✓; the latter with neither alone.
        for one, other, symbol in re.findall("`([a-z-]+=[^`]+)`(?: with `([^`]+)`)?[^✓≈?✗`]* ([✓≈?✗])", turns):
            expected[f"{one}, {other}" if other else one] = symbol
            expected |= {one: default[0], other: default[0]} if "neither alone" in turns else {}
        if match := re.match("other bursts (.): ", turns):
            choice = "ib-bursts" if claim.startswith("ib-") else "bursts"
            expected |= {f"{choice}={name}": match[1] for words, name in bursts.items() if words in turns}
        assert column == expected, claim


def test_the_map_of_srcc_is_what_its_page_says() -> None:
    found = reference_map.load(ROOT / "papers" / "srcc" / "map.toml")
    text = " ".join((ROOT / "papers" / "srcc" / "README.md").read_text("utf-8").split())
    said = re.search("Under (.*?), (`hadoop-afct` and `tail`) turn from contradicted into undecided", text)
    assert said
    assert found.claims == re.findall("`([^`]+)`", said[2])
    # The first column of the table names the readings, the text their last words.
    named = [name for cell, *_ in page_table("srcc", "| reading | Hadoop") for name in readings_of(cell)]
    turned = [name for name in named if name in said[1] or f"`{name.partition('=')[2]}`" in said[1]]
    assert found.readings == {"default": "✗✗"} | dict.fromkeys(turned, "??")


@pytest.mark.parametrize("paper", ["fncc", "pft", "sqcc", "srcc", "tcd"])
def test_a_papers_map_names_claims_and_readings_that_there_are(paper: str) -> None:
    found, known = reference_map.load(ROOT / "papers" / paper / "map.toml"), registry.paper(paper)
    assert set(found.claims) <= verdicts.load(known.folder / "claims.toml").keys()
    for name in list(found.readings)[1:]:
        assert set(known.space.parse(name.split(", ")).name.split(", ")) == set(name.split(", "))


def test_a_map_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "map.toml"
    head = 'section = "S"\nnote = "N"\nclaims = ["a", "b"]\n[readings]\n'
    for readings, message in (
        ('"x=y" = "✓✓"', "expected `default` as the first"),
        ('"default" = "✓"', "`default` is `✓`; expected 2 symbols of ✓≈"),
        ('"default" = "✓✓"\n"x=y" = "✓!"', "`x=y` is `✓!`; expected 2 symbols"),
    ):
        file.write_text(head + readings, "utf-8")
        with pytest.raises(UserError, match=re.escape(message)):
            reference_map.load(file)


def test_a_papers_map_is_drawn_with_each_claim_and_reading() -> None:
    found = reference_map.ReferenceMap("S", "N", ["held", "hung"], {"default": "✓?", "x=y": "✗·"})
    first, again = (reference_map.draw(found) for _ in range(2))
    assert first == again
    # Matplotlib writes each text as a comment beside its outlines.
    for text in ("held", "hung", "default", "x=y"):
        assert f"<!-- {text} -->" in first
