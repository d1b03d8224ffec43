"""What SRCC's paper leaves open, with the sources of each alternative. No code of its authors was found."""

from __future__ import annotations

from xoff.papers.space import Alternative, Choice, Sets, Space

SCOPES = (
    "all",
    "srcc",
    "computed",
    "testbed",
    "large",
    "bursts",
    "motivation",
    "arrivals",
    "fixed",
    "marks",
)
"""All runs; SRCC's; of these those that compute their threshold; scenarios; and in the experiments' words when the mice
of Fig. 2 begin, for how long flows arrive, of what the fixed thresholds of Fig. 8a are shares, and whether SRCC's base
has marks."""


def _srcc(sets: Sets) -> dict[str, Sets]:
    return {"srcc": sets}


def _burst(senders: int, size: str, rounds: Sets | None = None) -> dict[str, Sets]:
    return {"large": {"traffic.1.senders": senders, "traffic.1.size": size, **(rounds or {})}}


SPACE = Space(
    (
        Choice(
            "base",
            "How does a rate recover after a message, and what does a message do to the scheme under SRCC (III-E)?",
            (
                Alternative(
                    "cut",
                    "DCQCN: a message lowers its current rate, and the next CNP its target rate to what that left",
                    'paper III-E: "resets the target sending rate"; IV: "the received CNM or CNP"',
                ),
                Alternative(
                    "cap",
                    "DCQCN is left alone: the lower of its rate and the target holds",
                    'paper III-E: "friendly compatible with the end-to-end congestion control"',
                    _srcc({"scheme.composition": "cap"}),
                ),
                Alternative(
                    "cut-unclamped",
                    "as `cut`, but a CNP lowers DCQCN's target rate only after an increase",
                    "none",
                    _srcc({"scheme.dcqcn.clamp_target": False}),
                ),
                Alternative(
                    "cut-100Mbps",
                    "as `cut`, with an increase of 100 in place of 40 Mbps: 2.5 times, as the link is",
                    "none",
                    _srcc({"scheme.dcqcn.r_ai": "100Mbps"}),
                ),
                Alternative(
                    "none",
                    "no scheme: a rate doubles each base RTT without a message",
                    "none",
                    _srcc({"scheme.base": "none"}),
                ),
            ),
            default="cut",
            why="The sender takes the target as its rate, and IV has it react to CNPs too, which are DCQCN's.",
            interacts=("ecn",),
        ),
        Choice(
            "ecn",
            "Do switches mark packets for the scheme under SRCC?",
            (
                Alternative(
                    "red", "RED, as for DCQCN", 'paper IV: "the received CNM or CNP"', {"marks": {"ecn": "red"}}
                ),
                Alternative("off", "never, so that no CNP is sent", "none", {"marks": {"ecn": "off"}}),
            ),
            default="red",
            why="There are no CNPs without marks.",
        ),
        Choice(
            "threshold",
            "What is the congestion threshold (III-C)?",
            (
                Alternative("eq5", "Eq. 5 with arrivals measured over 1 us, at least two frames", "paper III-C, Eq. 5"),
                Alternative(
                    "eq5-4us",
                    "the same with arrivals measured over 4 us",
                    "none",
                    {"computed": {"scheme.rate_time": "4us"}},
                ),
                Alternative(
                    "eq5-round-trip",
                    "the same with the way of the slower data beside that of the message",
                    "none",
                    {"computed": {"scheme.rtt_factor": 2.0}},
                ),
                Alternative(
                    "eq6",
                    "Eq. 6 as printed, at least two frames",
                    "paper III-C, Eq. 6",
                    {"computed": {"scheme.threshold": "literal"}},
                ),
            ),
            default="eq5",
            why="III-A and V name the queue's derivative, which Eq. 5 has; Eq. 6 is below zero for a handful of flows.",
        ),
        Choice(
            "window",
            "What is T, outside Fig. 8b?",
            (
                Alternative("3rtt", "3 base RTTs", 'paper V-B: "a reasonable empirical value of 3RTT"'),
                Alternative("2rtt", "2 base RTTs", "none", _srcc({"scheme.window_rtts": 2.0})),
                Alternative("4rtt", "4 base RTTs", "none", _srcc({"scheme.window_rtts": 4.0})),
            ),
            default="3rtt",
            why="The value that V-B recommends.",
        ),
        Choice(
            "count",
            "How long after its last packet does a flow count in the target C/n (III-D)?",
            (
                Alternative("3rtt", "3 base RTTs", "none"),
                Alternative("1rtt", "1 base RTT", "none", _srcc({"scheme.count_rtts": 1.0})),
            ),
            default="3rtt",
            why="The paper does not say.",
        ),
        Choice(
            "sharing",
            "Do the earlier packets of a congested flow count as uncongested packets of its ingress port (III-B)?",
            (
                Alternative(
                    "any-queue",
                    "yes: all packets that came by that port",
                    "paper III-B: one time for each ingress port; V-C: an incast's senders get messages",
                ),
                Alternative(
                    "other-queue",
                    "no: only packets to other egress queues",
                    "paper III-B, Fig. 4a: a flow that has its ports for itself is left alone",
                    _srcc({"scheme.sharing": "other_queue"}),
                ),
            ),
            default="any-queue",
            why="Both are the paper's; the results of V-C need messages where nobody else is there.",
        ),
        Choice(
            "pfc",
            "What is Q_PFC?",
            (
                Alternative("500KB", "500 KB for each ingress port", "none"),
                Alternative("250KB", "250 KB for each ingress port", "none", {"all": {"flow_control.xoff": "250KB"}}),
                Alternative("1MB", "1 MB for each ingress port", "none", {"all": {"flow_control.xoff": "1MB"}}),
                Alternative(
                    "dynamic",
                    "an eighth of what is free of 22 MB",
                    "none",
                    {"all": {"flow_control": {"name": "pfc", "alpha": 0.125}, "switch.buffer": "22MB"}},
                ),
            ),
            default="500KB",
            why="The paper does not say.",
        ),
        Choice(
            "fixed",
            "Of what are the fixed thresholds of Fig. 8a 40 and 60 %?",
            (
                Alternative(
                    "q-pfc",
                    "of Q_PFC, 500 KB",
                    'paper V-B: with the smaller one "PFC is difficult to be triggered"',
                    {"fixed": {"of_kb": 500}},
                ),
                Alternative("port", "of a port's 32nd part of 22 MB", "none", {"fixed": {"of_kb": 687.5}}),
                Alternative(
                    "switch", "of a switch's 22 MB", "paper V-A: 22 MB shared buffer", {"fixed": {"of_kb": 22_000}}
                ),
            ),
            default="q-pfc",
            why="Both are the paper's; a queue that PFC holds below both thresholds would not tell them apart.",
        ),
        Choice(
            "burst",
            "What is the burst of Fig. 9a and 10a?",
            (
                Alternative(
                    "24x100KB",
                    "100 KB from each of 24 hosts, once",
                    "paper II-B: 24 hosts send 100 KB each; V-C refers to Fig. 2",
                    _burst(24, "100KB"),
                ),
                Alternative(
                    "10x64KB",
                    "64 KB from each of 10 hosts each 16 us, ten times",
                    "paper V-B: the bursts of Fig. 7",
                    _burst(10, "64KB", {"traffic.1.every": "16us", "traffic.1.repeat": 10}),
                ),
                Alternative("24x25KB", "25 KB from each of 24 hosts", "none", _burst(24, "25KB")),
                Alternative("48x100KB", "100 KB from each of 48 hosts", "none", _burst(48, "100KB")),
                Alternative("24x400KB", "400 KB from each of 24 hosts", "none", _burst(24, "400KB")),
            ),
            default="24x100KB",
            why="V-C speaks of bursts without a number and refers to Fig. 2.",
        ),
        Choice(
            "arrivals",
            "For how long do flows arrive (V)?",
            (
                Alternative(
                    "short", "10 ms in the testbed, 2 ms in the large simulation", "none", {"arrivals": {"times": 1}}
                ),
                Alternative("long", "three times as long", "none", {"arrivals": {"times": 3}}),
                Alternative(
                    "10ms",
                    "10 ms in both: the largest flow of web search, 30 MB, alone needs 2.4 ms of a link",
                    "none",
                    {"arrivals": {"ms": 10}},
                    "five times the time of a full run",
                ),
            ),
            default="short",
            why="The paper does not say.",
        ),
        Choice(
            "mice",
            "When do the bursts of Fig. 2 begin?",
            (
                Alternative(
                    "0.9ms",
                    "0.9 ms after the long flows",
                    'paper II-B: "at 0.9 ms, they encounter PFC pausing"',
                    {"motivation": {"burst_ms": 0.9}},
                ),
                Alternative("30.9ms", "30 ms later", "none", {"motivation": {"burst_ms": 30.9}}),
            ),
            default="0.9ms",
            why="Fig. 2c has the first PAUSE then.",
        ),
        Choice(
            "rounds",
            "How many bursts does Fig. 7 have?",
            (
                Alternative("10", "ten", "none"),
                Alternative("20", "twenty", "none", {"bursts": {"traffic.1.repeat": 20}}),
            ),
            default="10",
            why="The paper does not say. Without an end they are 3.2 times what the receiver's link carries.",
        ),
        Choice(
            "testbed-links",
            "How long are the testbed's links?",
            (
                Alternative("1us", "1 us", "none"),
                Alternative(
                    "4us",
                    "4 us, as the simulations' are",
                    "none",
                    {"testbed": {"topology.delay": "4us"}, "bursts": {"topology.delay": "4us"}},
                ),
            ),
            default="1us",
            why="The paper does not say.",
        ),
    ),
    SCOPES,
)
