"""What FNCC's paper leaves open, with the sources of each alternative. No code of its authors was found."""

from __future__ import annotations

from xoff.papers.space import Alternative, Choice, Sets, Space

SCOPES = ("all", "int", "fncc", "dcqcn", "rocc", "fat-tree", "join", "verdict")
"""All runs; those of HPCC and FNCC, of FNCC, of DCQCN, of RoCC; those in the fat-tree; when flow1 joins, and what a
verdict takes for a quantity, in the words of the experiments and of the findings."""

HEADER = 62
"""Bytes of a data packet's headers without telemetry."""
TELEMETRY = 42
"""Bytes of telemetry in each data packet under HPCC: 2, and 8 for each of five hops."""

_OWN_ECN: Sets = {"detector.name": "red", "detector.k_min": "5KB", "detector.k_max": "200KB", "detector.p_max": 0.01}
_OWN_ROCC: Sets = {"scheme.q_ref": "300KB", "scheme.q_mid": "600KB", "scheme.q_max": "660KB"}


def _refresh(period: str, what: str) -> Alternative:
    return Alternative(period, what, "none", {"fncc": {"packets.int_refresh": period}})


FEEDBACK = (
    Choice(
        "int-refresh",
        'How often is All_INT_Table updated? Section 4.1 says "periodically", without a period.',
        (
            _refresh("1us", "each 1 us"),
            _refresh("0ps", "always: an ACK reads live counters, against 4.1"),
            _refresh("0.5us", "each 0.5 us"),
            _refresh("2us", "each 2 us"),
            _refresh("5us", "each 5 us"),
        ),
        default="1us",
        why="No value has a source. 1 us is eight frames at 100 Gbps.",
    ),
    Choice(
        "int-format",
        "How wide are the telemetry's counters?",
        (
            Alternative("hardware", "64 bits a hop", "paper 4.3: 4 bits B, 24 TS, 20 txBytes, 16 qLen"),
            Alternative("exact", "as wide as needed", "none", {"all": {"packets.int_format": "exact"}}),
        ),
        default="hardware",
        why="4.3 gives the widths.",
    ),
    Choice(
        "ack-class",
        "In which class do ACKs travel?",
        (
            Alternative("data", "in that of data", "paper 5: packets from all sources on the same service level"),
            Alternative(
                "control", "in one of their own, ahead of data", "none", {"all": {"host.ack_class": "control"}}
            ),
        ),
        default="data",
        why="5's words.",
    ),
    Choice(
        "flows",
        "Which flows does a receiver count into N?",
        (
            Alternative("recent", "those with data in the last T", 'paper 3.2.3: "concurrent congested flows"'),
            Alternative(
                "open",
                "all that are not complete",
                'paper 3.2.3: "the number of RDMA QP connections"',
                {"fncc": {"host.flow_count": "all_open_qps"}},
            ),
        ),
        default="recent",
        why="Both are the paper's; N divides the bandwidth among flows that use it.",
    ),
    Choice(
        "headers",
        "Do HPCC's data packets have 42 B that FNCC's have not?",
        (
            Alternative("own", "yes: HPCC has its telemetry on data, FNCC on ACKs", "paper 3.1, Fig. 4"),
            Alternative(
                "equal",
                "no: FNCC's data packets are given as many bytes of header",
                "none",
                {"fncc": {"packets.header": f"{HEADER + TELEMETRY}B"}},
            ),
        ),
        default="own",
        why="Fig. 4 draws HPCC's telemetry on data.",
    ),
)
"""What the sender learns, and what that costs."""

ALGORITHM = (
    Choice(
        "max-stage",
        "How many additive steps come between two multiplicative ones?",
        (
            Alternative("0", "none", "cited HPCC [17]: what its authors say that they simulated"),
            Alternative("5", "five", "cited HPCC [17], 5.1", {"int": {"scheme.max_stage": 5}}),
        ),
        default="0",
        why="HPCC's authors call the printed 5 a slip for simulations.",
    ),
    Choice(
        "w-ai",
        "What is W_AI?",
        (
            Alternative("80B", "80 B", "cited HPCC [17], 5.1"),
            Alternative("800B", "800 B", "none", {"int": {"scheme.w_ai": "800B"}}),
        ),
        default="80B",
        why="HPCC's value.",
    ),
    Choice(
        "reaction-to",
        "Does each ACK change the window?",
        (
            Alternative("each-ack", "yes, from a reference of each RTT", "paper 3.2.2, Eq. 6"),
            Alternative("rtt", "no, one ACK of each RTT", "none", {"int": {"scheme.fast_react": False}}),
        ),
        default="each-ack",
        why="3.2.2 integrates both.",
    ),
    Choice(
        "lhcs",
        "What does an ACK do when LHCS fires?",
        (
            Alternative(
                "share", "the window is the share times beta", "paper 5.4.2: the rate is the fair one times beta"
            ),
            Alternative(
                "literal",
                "that becomes the reference, and Eq. 6 divides it once more",
                "paper Algorithm 3, lines 30 to 32",
                {"fncc": {"scheme.lhcs_bypass": False}},
            ),
            Alternative("off", "nothing: FNCC without LHCS", "none", {"fncc": {"scheme.lhcs": False}}),
        ),
        default="share",
        why="The printed order cannot give the rates that 5.4.2 reports.",
    ),
    Choice(
        "base-rtt",
        "What is T?",
        (
            Alternative("max", "one for the network", "paper 3.2.2: mirrors HPCC, whose T is one constant"),
            Alternative(
                "per-pair",
                "that of each pair of hosts",
                'paper 3.2.2: "between the sender and receiver"',
                {"all": {"host.base_rtt": "per_pair"}},
            ),
        ),
        default="max",
        why="Both are the paper's; Algorithm 3 is HPCC's, T with it.",
    ),
)
"""The sender's algorithm."""

NETWORK = (
    Choice(
        "pfc",
        "Of what is the PFC threshold 500 KB?",
        (
            Alternative("ingress", "each ingress port's packets", "paper 5.1, with 802.1Qbb [2]"),
            Alternative(
                "queue",
                "the queue that two senders share: 250 KB of each ingress port",
                "none",
                {"all": {"flow_control.xoff": "250KB"}},
            ),
        ),
        default="ingress",
        why="A PAUSE frame stops an ingress port's sender.",
        interacts=("dcqcn",),
    ),
    Choice(
        "dcqcn",
        "Which DCQCN?",
        (
            Alternative("paper", "that of its paper", "paper 5: default values of [31]"),
            Alternative(
                "periodic",
                "that, with CNPs on a grid of 50 us",
                "cited SIGCOMM 2015 [31]: its simulator",
                {"dcqcn": {"scheme.np": "periodic"}},
            ),
            Alternative(
                "mellanox",
                "that of NICs",
                "cited HPCC [17]: its simulator",
                {"dcqcn": {"scheme.variant": "mellanox"}},
            ),
        ),
        default="paper",
        why="Section 5 refers to [31].",
        interacts=("ecn",),
    ),
    Choice(
        "ecn",
        "At which queue is DCQCN's ECN?",
        (
            Alternative(
                "5-200KB",
                "5 and 200 KB, 1 %, at all speeds",
                "paper 5: default values of [31], which scales none",
                {"dcqcn": _OWN_ECN},
            ),
            Alternative(
                "100-400KB",
                "100 and 400 KB for each 25 Gbps, 20 %",
                "cited HPCC [17]: its simulator",
                {"dcqcn": dict.fromkeys(_OWN_ECN)},
            ),
        ),
        default="5-200KB",
        why="Section 5 refers to [31].",
    ),
    Choice(
        "rocc",
        "What are RoCC's queue thresholds at 200 and 400 Gbps?",
        (
            Alternative(
                "printed",
                "300, 600 and 660 KB, as at 100 Gbps",
                "paper 5: default values of [25], which scales none beyond 100 Gbps",
                {"rocc": _OWN_ROCC},
            ),
            Alternative("scaled", "in proportion to the speed", "none", {"rocc": dict.fromkeys(_OWN_ROCC)}),
        ),
        default="printed",
        why="Section 5 refers to [25].",
    ),
    Choice(
        "join",
        "When does flow1 join, seen from RoCC's controller, which ticks each 40 us?",
        (
            Alternative("any", "at moments spread over 41 us", "none", {"join": {"over_us": 41.0}}),
            Alternative("one", "within 1 us, 20 us before a tick", "none", {"join": {"over_us": 1.0}}),
        ),
        default="any",
        why="The paper does not say when a controller begins: the moments stand for all phases.",
    ),
)
"""The rivals, and the network of the two-flow experiments."""

FAT_TREE = (
    Choice(
        "routing",
        "By which routing do ACKs take the data's path backwards?",
        (
            Alternative("ecmp", "symmetric ECMP", "paper 5.5: ECMP on the ToR and aggregation switches"),
            Alternative(
                "trees",
                "16 spanning trees, one for each core switch",
                'paper 3.1: "In our research, we employ this method"',
                {"fat-tree": {"routing.name": "spanning_trees"}},
            ),
        ),
        default="ecmp",
        why="Both are the paper's; 5.5 describes this experiment, 3.1 the design.",
    ),
    Choice(
        "ideal",
        "What is the ideal FCT under HPCC?",
        (
            Alternative(
                "bare",
                "that of packets without telemetry",
                "cited HPCC [17]: its simulator",
                {"verdict": {"ideal": "bare"}},
            ),
            Alternative("own", "that of HPCC's packets, with telemetry", "none", {"verdict": {"ideal": "own"}}),
        ),
        default="bare",
        why='"When the network only has this flow" (5.5) fits both; HPCC\'s authors divide by the first.',
    ),
    Choice(
        "load",
        "What is the load?",
        (
            Alternative("50%", "50 % of the hosts' links", "paper 5.5"),
            Alternative("70%", "70 % of them", "none", {"fat-tree": {"traffic.0.load": 0.7}}),
        ),
        default="50%",
        why="5.5's load.",
    ),
)
"""The large-scale simulations."""

QUANTITIES = (
    Choice(
        "depth",
        "What is the queue depth of 5.4?",
        (
            Alternative(
                "peak", "the peak", "paper 5.1: minimize the queue length peak", {"verdict": {"depth": "peak_kb"}}
            ),
            Alternative("mean-150us", "the mean over 150 us", "none", {"verdict": {"depth": "mean150_kb"}}),
            Alternative("mean", "the mean to the end", "none", {"verdict": {"depth": "mean_kb"}}),
        ),
        default="peak",
        why="The only statistic of a queue that the paper names.",
        interacts=("int-refresh",),
    ),
    Choice(
        "reaction",
        'When is a flow "the first to slow down" (5.1)?',
        (
            Alternative(
                "own",
                "below 95 % of its own mean before the join",
                "none",
                {"verdict": {"reaction": "rates.reaction_us"}},
            ),
            Alternative(
                "line", "below 95 % of the line rate", "none", {"verdict": {"reaction": "rates.below_line_us"}}
            ),
        ),
        default="own",
        why="HPCC and FNCC aim at 95 % of the line rate, and are below it without congestion.",
    ),
    Choice(
        "utilization",
        "Over which time is utilization taken?",
        (
            Alternative("650us", "650 us after the join", "none", {"verdict": {"use": "utilization"}}),
            Alternative("300us", "300 us after it", "none", {"verdict": {"use": "utilization300"}}),
        ),
        default="650us",
        why="The paper does not say; the whole run after the join.",
        interacts=("int-refresh",),
    ),
    Choice(
        "fair-band",
        "How near to half of the line is a rate that has converged?",
        (
            Alternative("10%", "within 10 %", "none", {"verdict": {"settled": "rates.settled10_us"}}),
            Alternative("25%", "within 25 %", "none", {"verdict": {"settled": "rates.settled25_us"}}),
        ),
        default="10%",
        why="The paper does not say; both flows of a scheme that aims at 95 % can be so near.",
    ),
)
"""What verdicts are taken from."""

SPACE = Space((*FEEDBACK, *ALGORITHM, *NETWORK, *FAT_TREE, *QUANTITIES), SCOPES)
