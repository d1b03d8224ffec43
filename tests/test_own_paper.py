"""The example of a paper, through the driver of all papers."""

from __future__ import annotations

import json
from pathlib import Path

from own_paper import PAPER
from xoff.papers.reproduction import reproduce


def test_a_paper_of_one_claim_is_reproduced(tmp_path: Path) -> None:
    # A flow that is alone takes its ideal time, which is what a slowdown of 1 means.
    assert reproduce(PAPER, tmp_path, "alone", quick=False) == 0
    (found,) = json.loads((tmp_path / "claims.json").read_text("utf-8"))
    assert (found["id"], found["verdict"]) == ("own_paper.alone", "reproduced")
    assert found["measured"] == {"slowdown": {"value": 1.0, "low": 1.0, "high": 1.0, "n": 2}}
    assert "A paper of one claim, reproduced" in (tmp_path / "index.html").read_text("utf-8")
