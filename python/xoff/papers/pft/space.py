"""What PFT's paper leaves open, with the sources of each alternative. No code of its authors was found.

`cited GPCNeT` is the benchmark that the paper runs, version 1.3 (github.com/netbench/GPCNET).
"""

from __future__ import annotations

from xoff.papers.space import Alternative, Choice, Sets, Space

SCOPES = ("fabric", "random", "algorithm", "window", "count", "thresholds", "theory", "measure")
"""All runs; those under RI; Algorithm 2, its windows in cycles, and its counts as shares of them; the thresholds of AT;
the used credits of Fig. 1 and the width of the random number in it; and of what F_C is made."""

LONG, LONGEST = "13 million messages, some 5 GB a run", "23 million messages, some 10 GB a run"
"""What the longer tests take."""


def _fabric(sets: Sets) -> dict[str, Sets]:
    return {"fabric": sets}


def _credits(held: int, more: Sets | None = None) -> dict[str, Sets]:
    return {"fabric": {"flow_control.credits": held, **(more or {})}, "theory": {"credits": held}}


def _bits(width: int) -> dict[str, Sets]:
    return {"random": {"throttle.random_bits": width}, "theory": {"random_bits": width}}


def _tests(latency: int, bandwidth: int, size: str, iterations: int, exchanges: int) -> dict[str, Sets]:
    """Iterations of the tests and their size, and as many iterations of the congestors as these need."""
    return _fabric(
        {
            "traffic.0.latency_iterations": latency,
            "traffic.0.bandwidth_iterations": bandwidth,
            "traffic.0.bandwidth_size": size,
            "traffic.0.congestor_iterations": iterations,
            "traffic.0.all_to_all_iterations": exchanges,
        }
    )


SPACE = Space(
    (
        Choice(
            "tree",
            "Which fat-tree are the 120 nodes on (Fig. 2)?",
            (
                Alternative(
                    "three-tiers", "three tiers of 8-port switches, 1:1, with 128 hosts of which 8 idle", "none"
                ),
                Alternative(
                    "two-tiers",
                    "8 leaves of 15 hosts and 15 spines, 1:1",
                    "none",
                    _fabric(
                        {
                            "topology": {
                                "name": "leaf_spine",
                                "leaves": 8,
                                "spines": 15,
                                "hosts_per_leaf": 15,
                                "rate": "100Gbps",
                            },
                            "traffic.0.hosts": "all",
                        }
                    ),
                ),
            ),
            default="three-tiers",
            why="The text says fat-tree and 120 nodes, and full bisection bandwidth in its introduction.",
        ),
        Choice(
            "links",
            "How long does a link take?",
            (
                Alternative("100ns", "100 ns", "none", _fabric({"topology.delay": "100ns"})),
                Alternative("20ns", "20 ns", "none", _fabric({"topology.delay": "20ns"})),
                Alternative("1us", "1 us", "none", _fabric({"topology.delay": "1us"})),
            ),
            default="100ns",
            why="The paper does not say. A sender alone at full rate then uses 520 credits, below 0x250.",
        ),
        Choice(
            "routing",
            "How are packets routed?",
            (
                Alternative("ecmp", "by a hash of the connection", "none"),
                Alternative(
                    "d-mod-k", "by the destination, as InfiniBand is", "none", _fabric({"routing.name": "d_mod_k"})
                ),
            ),
            default="ecmp",
            why="The paper does not say.",
        ),
        Choice(
            "connection",
            "Which messages share a connection, and so a path?",
            (
                Alternative("process-pair", "those from a process to another", "none"),
                Alternative(
                    "host-pair",
                    "those from a host to another",
                    "none",
                    _fabric({"traffic.0.connection": "per_pair"}),
                ),
                Alternative("message", "none", "none", _fabric({"traffic.0.connection": "per_message"})),
            ),
            default="process-pair",
            why="The paper does not say; MPI has a connection for each pair of processes.",
        ),
        Choice(
            "acks",
            "In which class do ACKs go?",
            (
                Alternative("control", "in one of their own, without credits", "none"),
                Alternative("data", "with the data, for credits", "none", _fabric({"host.ack_class": "data"})),
            ),
            default="control",
            why="The paper does not speak of ACKs.",
        ),
        Choice(
            "packets",
            "How long is a packet?",
            (
                Alternative("4KiB", "4 KiB of payload: a congestor's message", "none"),
                Alternative("2KiB", "2 KiB", "none", _fabric({"packets.mtu": "2112B"})),
                Alternative("1KiB", "1 KiB", "none", _fabric({"packets.mtu": "1088B"})),
            ),
            default="4KiB",
            why="The paper does not say.",
        ),
        Choice(
            "credit",
            "What is a credit, and how many has a buffer?",
            (
                Alternative(
                    "4096-flits",
                    "a flit of 16 B, what 100 Gbps carry in a cycle of 700 MHz; 4096",
                    "paper III.C: intervals are between flits; III.D: n = 12 does nothing below 4096",
                    _credits(4096),
                ),
                Alternative(
                    "flit-by-flit",
                    "likewise, but a packet takes and gives them back one by one",
                    "paper III.C: intervals are between flits, and the state is looked at in every cycle",
                    _credits(4096, {"flow_control.granularity": "flit"}),
                ),
                Alternative("2048-flits", "likewise; 2048", "none", _credits(2048, {"flow_control.undersized": True})),
                Alternative("8192-flits", "likewise; 8192", "paper III.D: n = 12 does nothing below", _credits(8192)),
                Alternative(
                    "16384-flits", "likewise; 16,384", "paper III.D: n = 12 does nothing below", _credits(16384)
                ),
                Alternative(
                    "16-packets",
                    "a packet; 16",
                    'paper III.A: "Each time the transmitter sends a packet, one credit will be deducted"',
                    _credits(16, {"flow_control.unit": "packet"}),
                ),
                Alternative(
                    "4096-packets",
                    "a packet; 4096",
                    'paper III.A: "Each time the transmitter sends a packet, one credit will be deducted"',
                    _credits(4096, {"flow_control.unit": "packet"}),
                ),
            ),
            default="4096-flits",
            why="Both units are the paper's; III.A deducts at once what a packet takes. 592 packets would be 2.4 MB.",
        ),
        Choice(
            "messages",
            "How long are the congestors' messages?",
            (
                Alternative("4KiB", "4 KiB", "cited GPCNeT network_load_test.c"),
                Alternative("2KiB", "2 KiB", "none", _fabric({"traffic.0.congestor_size": "2KiB"})),
                Alternative("16KiB", "16 KiB", "none", _fabric({"traffic.0.congestor_size": "16KiB"})),
                Alternative("64KiB", "64 KiB", "none", _fabric({"traffic.0.congestor_size": "64KiB"})),
            ),
            default="4KiB",
            why="The benchmark's.",
        ),
        Choice(
            "outstanding",
            "How many messages has a process of the two-sided incast under way?",
            (
                Alternative(
                    "256",
                    "up to 256, UCX's send queue",
                    "cited GPCNeT congestors.c: a blocking send, which for 4 KiB returns once MPI has the message",
                ),
                Alternative("16", "up to 16", "none", _fabric({"traffic.0.eager_outstanding": 16})),
                Alternative(
                    "1", "one: a process waits for each ACK", "none", _fabric({"traffic.0.eager_outstanding": 1})
                ),
            ),
            default="256",
            why="The benchmark does not wait for ACKs. Which MPI the paper has, and so how many, is not known.",
        ),
        Choice(
            "tests",
            "How long are the tests?",
            (
                Alternative(
                    "short", "10 and 1 iterations of latency and bandwidth test, the latter with 8 KiB, a ring", "none"
                ),
                Alternative(
                    "long", "40 and 4 iterations, with 8 KiB, a ring", "none", _tests(40, 4, "8KiB", 8_000, 100), LONG
                ),
                Alternative(
                    "gpcnet-size",
                    "10 and 1 iterations, with 128 KiB, a ring",
                    "cited GPCNeT network_test.c: 200 and 8 iterations, with 128 KiB, on each of 30 rings",
                    _tests(10, 1, "128KiB", 15_000, 150),
                    LONGEST,
                ),
            ),
            default="short",
            why="A seed draws hosts and a ring. All of the benchmark's tests would take 50 s of simulated time.",
        ),
        Choice(
            "average",
            "Of what are D and B (IV.A: the network's delay and throughput)?",
            (
                Alternative("mean", "means over the processes", "cited GPCNeT: Avg", {"measure": {"of": "mean"}}),
                Alternative("median", "medians over the processes", "none", {"measure": {"of": "median"}}),
                Alternative(
                    "99", "the 99 % values over all iterations", "cited GPCNeT: 99%", {"measure": {"of": "p99"}}
                ),
            ),
            default="mean",
            why="The first column of the benchmark's table.",
        ),
        Choice(
            "width",
            "How wide is RI's random number?",
            (
                Alternative(
                    "28",
                    "28 bits",
                    'paper III.D: the rate "changes significantly" for each m from 15 to 22',
                    _bits(28),
                ),
                Alternative("30", "30 bits", "none", _bits(30)),
                Alternative("32", "32 bits", "none", _bits(32)),
            ),
            default="28",
            why="With it the curves of m = 15 to 22 end between half of the rate and nothing up to 4096 credits.",
        ),
        Choice(
            "thresholds",
            "Which threshold of AT is the greater one?",
            (
                Alternative(
                    "escape",
                    "that of escape: 0x250 to enter, 0x2a0 to escape",
                    "paper IV.C: threshold_enter = 0x250, threshold_escape = 0x2a0",
                    {"thresholds": {"ordered": False}},
                ),
                Alternative(
                    "enter",
                    "that of entry: the two change places, as they do under FT",
                    "paper III.B: t_e >= t_s, of FT",
                    {"thresholds": {"ordered": True}},
                ),
            ),
            default="escape",
            why="As the best setting is printed. III.B orders the thresholds of FT alone.",
        ),
        Choice(
            "algorithm",
            "How is Algorithm 2 read?",
            (
                Alternative(
                    "repaired",
                    "a change of state begins both counters anew",
                    "paper III.B: the state is left after a long period below the threshold",
                ),
                Alternative(
                    "literal",
                    "the counters survive a change of state",
                    "paper Algorithm 2",
                    {"algorithm": {"throttle.reading": "literal"}},
                ),
            ),
            default="repaired",
            why="As printed, with equal counts, the state is left in the cycle in which it is entered.",
        ),
        Choice(
            "window",
            "How long are the windows T_e and T_s?",
            (
                Alternative("1024", "1024 cycles, 1.46 us", "none", {"window": {"cycles": 1024}}),
                Alternative("64", "64 cycles", "none", {"window": {"cycles": 64}}),
                Alternative("16384", "16,384 cycles", "none", {"window": {"cycles": 16384}}),
            ),
            default="1024",
            why="The paper does not say.",
        ),
        Choice(
            "count",
            "What part of a window are the counts T_e' and T_s'?",
            (
                Alternative("half", "half of it", "none", {"count": {"share": 0.5}}),
                Alternative("sixteenth", "a sixteenth", "none", {"count": {"share": 0.0625}}),
                Alternative("most", "15 sixteenths", "none", {"count": {"share": 0.9375}}),
            ),
            default="half",
            why="The paper does not say.",
        ),
    ),
    SCOPES,
)
