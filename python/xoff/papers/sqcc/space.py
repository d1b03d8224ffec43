"""What SQCC's paper leaves open, with the sources of each alternative. No code of its authors was found."""

from __future__ import annotations

from xoff.papers.space import Alternative, Choice, Sets, Space

SCOPES = ("all", "patched", "sqcc", "start", "phases")
"""All runs; those of patched TIMELY and of SQCC's variants; how a flow starts, and when, in the experiments' words."""

_PFC: Sets = {"flow_control.name": "pfc", "flow_control.xoff": "100KB"}


def _segment(scope: str, size: str) -> dict[str, Sets]:
    return {scope: {"scheme.segment": size}}


SPACE = Space(
    (
        Choice(
            "segment",
            "After how many bytes does SQCC update a rate: what is seg (Eq. 3)?",
            (
                Alternative(
                    "62.5KB",
                    "C x 50 us",
                    "paper III.D: Eq. 20 to 25 take low = seg/C, IV has low = 50 us",
                    _segment("sqcc", "62500B"),
                ),
                Alternative("16KB", "patched TIMELY's", "cited CoNEXT 2016", _segment("sqcc", "16KB")),
                # A frame of 1000 B has 62 B of headers and 8 B of timestamp.
                Alternative("4-packets", "four packets", "none", _segment("sqcc", f"{4 * 930}B")),
                Alternative("1-packet", "one packet", "none", _segment("sqcc", "1B")),
            ),
            default="62.5KB",
            why="It follows from the paper's own numbers.",
            interacts=("pacing",),
        ),
        Choice(
            "baseline",
            "And patched TIMELY?",
            (
                Alternative(
                    "16KB",
                    "16 KB",
                    "paper IV: consistent with the patched TIMELY (CoNEXT 2016)",
                    _segment("patched", "16KB"),
                ),
                Alternative("as-sqcc", "62.5 KB", "none", _segment("patched", "62500B")),
                Alternative("1-packet", "one packet", "none", _segment("patched", "1B")),
            ),
            default="16KB",
            why="IV takes patched TIMELY's parameters.",
            interacts=("pacing",),
        ),
        Choice(
            "pacing",
            "Do the packets of a segment go back to back?",
            (
                Alternative("packet", "no, each in its time", "cited CoNEXT 2016: validation of patched TIMELY"),
                Alternative(
                    "segment",
                    "yes",
                    "cited SIGCOMM 2015 3.2 (TIMELY)",
                    {"all": {"scheme.pacing": "segment"}},
                ),
            ),
            default="packet",
            why="The nearer of two cited papers: the one that SQCC starts from.",
        ),
        Choice(
            "start",
            "At which rate does a flow start?",
            (
                Alternative("share", "C/N", "cited CoNEXT 2016: validation", {"start": {"rate": "share"}}),
                Alternative(
                    "line",
                    "line rate, with PFC at 100 KB a sender to hold the storm back",
                    "cited CoNEXT 2016: C over the host's own flows",
                    {"start": {"rate": "10Gbps"}, "all": _PFC},
                ),
                Alternative("100Mbps", "100 Mbps", "none", {"start": {"rate": "100Mbps"}}),
            ),
            default="share",
            why="The validation runs of patched TIMELY are incasts.",
        ),
        Choice(
            "phases",
            "When do the flows of an incast start?",
            (
                Alternative(
                    "spread", "at random within the time of N packets at C", "none", {"phases": {"at": "spread"}}
                ),
                Alternative("at-once", "at the same moment", "none", {"phases": {"at": "once"}}),
            ),
            default="spread",
            why="The paper does not say.",
        ),
        Choice(
            "min-rtt",
            "What is D_minRTT (Eq. 3)?",
            (
                Alternative("20us", "20 us", "cited CoNEXT 2016"),
                Alternative("base", "the base RTT, 5.8 us", "none", {"all": {"scheme.base_min_rtt": True}}),
            ),
            default="20us",
            why="Patched TIMELY's value.",
        ),
        Choice(
            "gap",
            "May two updates follow each other within D_minRTT?",
            (
                Alternative("min-rtt", "no", "paper Eq. 3"),
                Alternative("none", "yes", "none", {"all": {"scheme.update_gap": "0ps"}}),
            ),
            default="min-rtt",
            why="Eq. 3's maximum.",
        ),
        Choice(
            "rtt",
            "Is a packet's own time on the wire part of the RTT?",
            (
                Alternative("deducted", "no", "paper Eq. 10: RTT = D + q/C"),
                Alternative(
                    "whole", "yes", "paper Eq. 4: q/C + MTU/C + D", {"all": {"scheme.deduct_serialization": False}}
                ),
            ),
            default="deducted",
            why="Eq. 10 is what the thresholds are derived with; Eq. 4 is the model's delay.",
        ),
    ),
    SCOPES,
)
