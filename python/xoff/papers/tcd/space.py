"""What TCD's paper leaves open, with the sources of each alternative.

`authors` are the simulator of Ethernet that TCD's first author released (github.com/Yi-ran/DCQCN-TCD) and her model of
InfiniBand (github.com/Yi-ran/OMNet-, which has no TCD).
"""

from __future__ import annotations

from xoff.papers.space import Alternative, Choice, Sets, Space

SCOPES = (
    "ethernet",
    "bursts",
    "red",
    "tcd",
    "testbed",
    "dcqcn",
    "dcqcn-tcd-case",
    "timely",
    "timely-tcd",
    "victims",
    "fat-tree",
    "hadoop",
    "infiniband",
    "ib-bursts",
    "fecn",
    "ib-tcd",
    "ib-tcd-case",
    "ib-victims",
    "ib-fat-tree",
)
"""Parts of the experiments: all on Ethernet and on InfiniBand; of these those with the bursts of 3.1.1, without and
with TCD, under DCQCN and TIMELY, with TCD in the case study (5.2) alone, the victims' and the fat-trees. "hadoop" is no
scenario's table: it names the workload of Hadoop's flows for the experiments."""

VICTIM_BYTES, MESSAGE_BYTES = 120_421, 194_865
"""Mean of FB_Hadoop and of `mpi_io.txt`."""


def _bursts(scope: str, back_to_back: str) -> tuple[Alternative, ...]:
    def sets(every: str, count: int) -> dict[str, Sets]:
        return {scope: {"traffic.1.every": every, "traffic.1.count": count}}

    return (
        Alternative(
            "each-47.5us",
            "from each host 64 KB each 47.5 us, for 3 ms",
            "authors DCQCN-TCD config/burstflow_long.txt: 64 units from each of 15 hosts each 47.5 us",
            sets("47.5us", 63),
        ),
        Alternative("at-once", "16 messages from each host at once", "none", sets("1ns", 16)),
        Alternative("back-to-back", "16 messages, one when the last has left", "none", sets(back_to_back, 16)),
        Alternative("each-200us", "from each host 64 KB each 200 us", "none", sets("200us", 15)),
    )


def _rise(ethernet: str, infiniband: str) -> dict[str, Sets]:
    return {"tcd": {"detector.rise": ethernet}, "ib-tcd": {"detector.rise": infiniband}}


def burst_gap_us(mean_bytes: int, share: float) -> float:
    """Time between two moments at which 15 messages of this mean size are a share of 40 Gbps."""
    return 15 * mean_bytes * 8 / (share * 40e3)


def _load(links: float, bursts: float) -> dict[str, Sets]:
    """A load of s0's and s1's links of 20 Gbps, and the bursts' share of P3."""

    def sets(mean_bytes: int) -> Sets:
        every = f"{burst_gap_us(mean_bytes, bursts):.2f}us"
        return {"traffic.0.load": links, "traffic.1.load": links, "traffic.2.every": every}

    return {"victims": sets(VICTIM_BYTES), "ib-victims": sets(MESSAGE_BYTES)}


_AUTHORS: dict[str, Sets] = {
    # Packets of 1,000 B beside their headers; 320 cells of 1,030 B in the shared memory, above two for each port.
    "ethernet": {"packets.mtu": "1018B", "flow_control.xoff": "331660B", "flow_control.xon": "329600B"},
    "dcqcn": {"scheme.np": "periodic"},
    "red": {"detector.k_min": "5150B", "detector.k_max": "206KB"},
    "tcd": {
        "detector.rules": "code",
        "detector.max_on": "97us",
        "detector.low": "2060B",
        "detector.red.k_min": "5150B",
        "detector.red.k_max": "206KB",
    },
    "testbed": {"detector.rules": "code"},
}

SPACE = Space(
    (
        Choice(
            "bursts",
            "How do 64 KB from each of 15 hosts come for about 3 ms (3.1.1)?",
            _bursts("bursts", "13.04us"),
            default="each-47.5us",
            why="The paper gives size and length alone; the authors' file gives the gap.",
            interacts=("growth", "simulator"),
        ),
        Choice(
            "ib-bursts",
            "And on InfiniBand?",
            _bursts("ib-bursts", "12.97us"),
            default="each-47.5us",
            why="3.1.1 describes one set of bursts for both networks.",
            interacts=("credit-period",),
        ),
        Choice(
            "growth",
            "When has a queue grown in a period (4.1, 4.2)?",
            (
                Alternative("increases", "longer by a byte", 'paper 4.2, Fig. 9: "if the queue length increases"'),
                Alternative(
                    "not-fallen",
                    "not shorter",
                    'paper 4.1: no congestion "if the queue length decreases", "otherwise" congestion',
                    _rise("0B", "0B"),
                ),
                Alternative(
                    "0.9-packet",
                    "longer by 0.9 of a packet's payload",
                    "authors DCQCN-TCD qbb-net-device.cc: 900 B",
                    _rise("900B", "1843B"),
                ),
                Alternative("two-packets", "longer by two packets", "none", _rise("2000B", "5000B")),
            ),
            default="increases",
            why="4.2 and Fig. 9 are the rule that a switch runs; 4.1 states the condition in general.",
        ),
        Choice(
            "simulator",
            "Whose rules and numbers, where paper and released simulator of Ethernet differ?",
            (
                Alternative("paper", "max(T_on) 100.4 us by Eq. 3, Xoff 320 KB", "paper 4.2, 4.3, 5.2.1"),
                Alternative(
                    "authors",
                    "max(T_on) 97 us, first look beside the queue at the RESUME, packets of 1,018 B, Xoff 331,660 B",
                    "authors DCQCN-TCD qbb-net-device.cc, config/configburst.txt",
                    _AUTHORS,
                ),
            ),
            default="paper",
            why="The paper's own rules and numbers.",
            interacts=("alpha",),
        ),
        Choice(
            "alpha",
            "What is DCQCN's alpha with TCD (5.2.1)?",
            (
                Alternative("1.2", "alpha starts at 1.2 with TCD", "paper 5.2.1"),
                Alternative(
                    "0.5",
                    "alpha starts at 0.5 with and without TCD",
                    "authors DCQCN-TCD: no 1.2 in it",
                    {"dcqcn-tcd-case": {"scheme.initial_alpha": 0.5}},
                ),
            ),
            default="1.2",
            why="5.2.1 changes it from 0.5 to 1.2.",
        ),
        Choice(
            "ue",
            "What does a CNP with UE do (5.2.1)?",
            (
                Alternative(
                    "hold", "the rate stays and recovery starts anew", "paper 5.2: keeping the flow rate until (...)"
                ),
                Alternative(
                    "ignore",
                    "nothing: increases go on",
                    "paper 5.2.1: senders do not update the sending rate",
                    {"dcqcn-tcd-case": {"scheme.undetermined": "ignore"}},
                ),
            ),
            default="hold",
            why="Both are the paper's; the authors' simulator holds.",
        ),
        Choice(
            "start",
            "At which rate does a TIMELY flow start?",
            (
                Alternative(
                    "line",
                    "line rate",
                    "authors DCQCN-TCD: flows start at line rate",
                    {"timely": {"scheme.start": "line"}},
                ),
                Alternative(
                    "share",
                    "the line over the host's own flows",
                    "cited CoNEXT 2016 (ECN or Delay)",
                    {"timely": {"scheme.start": "share"}},
                ),
            ),
            default="line",
            why="The authors' simulator is nearer than a study of TIMELY.",
            interacts=("beta",),
        ),
        Choice(
            "beta",
            "Is TIMELY's beta raised with TCD (5.2.3)? To tell TCD's marks from the stronger cut.",
            (
                Alternative("1.6", "1.6 with TCD, 0.8 without", "paper 5.2.3"),
                Alternative("0.8", "0.8 with and without", "none", {"timely-tcd": {"scheme.beta": 0.8}}),
            ),
            default="1.6",
            why="5.2.3 changes it from 0.8 to 1.6.",
        ),
        Choice(
            "load",
            "What load have the victims' hosts, and P3 (5.1.3)?",
            (
                Alternative(
                    "60%", "60 % of s0's and s1's links, and of P3 (half of it bursts)", "paper 5.2.1: fat-tree"
                ),
                Alternative("45%", "60 % of the links, 45 % of P3", "none", _load(0.6, 0.15)),
                Alternative("90%", "60 % of the links, 90 % of P3", "none", _load(0.6, 0.6)),
                Alternative("heavy", "95 % of the links, bursts 45 % of P3", "none", _load(0.95, 0.45)),
            ),
            default="60%",
            why="The only load in the paper.",
        ),
        Choice(
            "fat-tree-load",
            "What is a load of 60 % (5.2.1)?",
            (
                Alternative("hosts", "of the hosts' links", "paper 5.2.1: average link loads"),
                Alternative("90%", "90 % of the hosts' links", "none", {"fat-tree": {"traffic.0.load": 0.9}}),
            ),
            default="hosts",
            why="With all-to-all traffic every link of a full fat-tree has the hosts' load on average.",
        ),
        Choice(
            "hadoop",
            "Which sizes have the flows of the fat-tree's Hadoop (5.2.1)?",
            (
                Alternative(
                    "fb-hadoop",
                    "`fb_hadoop`, 120 KB on average",
                    "paper 5.2.1: 90 % of the flows less than 120 KB",
                    {"hadoop": {"sizes": "fb_hadoop"}},
                ),
                Alternative(
                    "generator",
                    "`tcd_hadoop`, 2.83 MB on average: 80 % up to 120 KB, 1 % from 67 to 333 MB",
                    "authors TraceGenerator CDF_hadoop.txt",
                    {"hadoop": {"sizes": "tcd_hadoop"}},
                    "24 times the bytes, some minutes a run",
                ),
            ),
            default="fb-hadoop",
            why="The paper's own figure; the generator is older than the paper.",
        ),
        Choice(
            "delayed",
            "Which packets has a lack of credits delayed, and FECN leaves unmarked (3.1.2)?",
            (
                Alternative(
                    "queued",
                    "those that were queued when credits came",
                    'paper 3.1.2: marked are "packets arriving after the arrival of new credits"',
                    {"fecn": {"detector.delayed": "queued"}, "ib-tcd": {"detector.fecn.delayed": "queued"}},
                ),
                Alternative(
                    "head",
                    "the one at the head of the queue",
                    "cited InfiniBand 1.4, Annex A10: a port with credits is a root",
                    {"fecn": {"detector.delayed": "head"}, "ib-tcd": {"detector.fecn.delayed": "head"}},
                ),
            ),
            default="queued",
            why="3.1.2's words.",
            interacts=("credit-period",),
        ),
        Choice(
            "credit-period",
            "What is T_c at 40 Gbps? 280 KB demand less than 48 us (4.4).",
            (
                Alternative(
                    "4.096us",
                    "4.096 us",
                    "authors OMNet- ib_model: credit timer",
                    {"infiniband": {"flow_control.update_period": "4.096us"}},
                ),
                Alternative("20us", "20 us", "none", {"infiniband": {"flow_control.update_period": "20us"}}),
                Alternative("40us", "40 us", "none", {"infiniband": {"flow_control.update_period": "40us"}}),
            ),
            default="4.096us",
            why="The paper gives a bound; the authors' model has a value within it.",
        ),
        Choice(
            "marking-rate",
            "How many packets above the threshold does FECN mark?",
            (
                Alternative("each", "each", "paper 3.1.1: recommended values of [22]"),
                Alternative(
                    "third",
                    "one in three",
                    "authors OMNet- ib_model: markrate 3",
                    {"fecn": {"detector.marking_rate": 2}, "ib-tcd": {"detector.fecn.marking_rate": 2}},
                ),
            ),
            default="each",
            why="3.1.1 refers to [22].",
        ),
        Choice(
            "ccti-timer",
            "After which time does an index fall?",
            (
                Alternative("153.6us", "150 units of 1.024 us", "paper 3.1.1: recommended values of [22]"),
                Alternative("90us", "90 us", "authors OMNet- ib_model", {"infiniband": {"scheme.ccti_timer": "90us"}}),
            ),
            default="153.6us",
            why="3.1.1 refers to [22].",
        ),
        Choice(
            "step",
            "Is the index raised by 2 with TCD (5.2.2)? To tell TCD's marks from the larger step.",
            (
                Alternative("2", "2 with TCD, 1 without", "paper 5.2.2"),
                Alternative("1", "1 with and without", "none", {"ib-tcd-case": {"scheme.ccti_increase": 1}}),
            ),
            default="2",
            why="5.2.2 changes it from 1 to 2.",
        ),
        Choice(
            "connection",
            "Do messages of a connection share an index (5.2.2)?",
            (
                Alternative(
                    "kept",
                    "a connection of two processes keeps its index from message to message",
                    'paper 5.2.2: "multiple I/O messages are sending in one connection"',
                    {"ib-fat-tree": {"connection": "per_process_pair"}},
                ),
                Alternative(
                    "per-message",
                    "each message begins at index 0",
                    "none",
                    {"ib-fat-tree": {"connection": "per_message"}},
                ),
            ),
            default="kept",
            why="The paper explains its gain by it.",
            interacts=("io-server",),
        ),
        Choice(
            "io-server",
            "To whom does an I/O client send (5.2.2)?",
            (
                Alternative("one", "always to one server, drawn at random", "none", {"ib-fat-tree": {"io": "one"}}),
                Alternative("random", "each message to a server drawn anew", "none", {"ib-fat-tree": {"io": "random"}}),
            ),
            default="one",
            why="The paper does not say.",
        ),
        Choice(
            "io-time",
            "In which time do the messages of the fat-tree come (5.2.2)?",
            (
                Alternative(
                    "60%",
                    "that in which I/O has 60 % of its clients' links",
                    "paper 5.2.1: load of 60 %",
                    {"ib-fat-tree": {"time": 1.0}},
                ),
                Alternative("240%", "a quarter of that time", "none", {"ib-fat-tree": {"time": 0.25}}),
            ),
            default="60%",
            why="The only load in the paper.",
        ),
    ),
    SCOPES,
)
