"""Links with bit errors: what a run's tables and `xoff explain` say of them, with link-level retry and without."""

from __future__ import annotations

import polars as pl
import pytest

import xoff
from conftest import ROOT
from xoff.analysis.explain.facts import Facts
from xoff.analysis.explain.rules import links

LOSSY = ROOT / "scenarios" / "lossy_link.toml"


def test_without_retry_packets_are_lost() -> None:
    run = xoff.run(LOSSY)
    drops = pl.from_arrow(run.drops)
    assert isinstance(drops, pl.DataFrame)
    assert run.retries.num_rows == 0
    assert run.manifest["link_retry"] is None
    assert set(drops["cause"]) == {"bit_errors"}
    assert drops["id"].is_null().all()
    finding = links.link_errors(Facts(run))
    assert finding is not None
    assert f"{int(drops['packets'].sum()):,} packets" in finding.title
    assert links.link_retries(Facts(run)) is None


def test_with_retry_links_send_again_and_nothing_is_lost() -> None:
    run = xoff.run(LOSSY, sets={"link.llr": {}})
    assert run.drops.num_rows == 0
    assert run.manifest["dropped_packets"] == 0
    retries = pl.from_arrow(run.retries)
    assert isinstance(retries, pl.DataFrame)
    # Eight links of two directions; each frame sent is taken, spoiled or discarded.
    assert len(retries) == 16
    assert (retries["replayed"] == retries["corrupt"] + retries["discarded"]).all()
    assert run.manifest["link_retry"]["replayed"] == retries["replayed"].sum() > 0
    finding = links.link_retries(Facts(run))
    assert finding is not None
    assert finding.severity == "warning"
    assert links.link_errors(Facts(run)) is None


def test_a_full_replay_buffer_is_named() -> None:
    # 4 KB are three frames of 1,062 B, where a round trip of the link carries a dozen.
    with pytest.warns(RuntimeWarning, match="waits for ACKs although nothing is lost"):
        run = xoff.run(LOSSY, sets={"link.llr": {"replay_buffer": "4KB"}, "link.ber": 1e-12})
    finding = links.link_retries(Facts(run))
    assert finding is not None
    assert "replay buffers were full" in finding.title
    assert any("replay_buffer" in advice for advice in finding.advice)
