"""Topologies of htsim (`.topo`): fat-trees of two or three tiers, by radix, speed and latency of each tier."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from xoff.errors import UserError, nearest
from xoff.formats.lines import Line, quoted, read_lines
from xoff.formats.networks import Link, Network, listed

FORMAT = "a topology of htsim"

_HEAD = ("nodes", "tiers", "podsize")
_TIER = (
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "queue_up",
    "queue_down",
    "oversubscribed",
    "bundle",
    "switch_latency_ns",
    "downlink_latency_ns",
)
_TOR, _AGG, _CORE = 0, 1, 2
_MAX = {"downlink_speed_gbps": 100_000, "switch_latency_ns": 10**9, "downlink_latency_ns": 10**9}
_NS = 1000

Warn = Callable[[str], None]


@dataclass(frozen=True)
class _Tier:
    """The settings of a tier, each with the line that it is in."""

    line: Line
    values: dict[str, int]
    lines: dict[str, Line]

    def get(self, key: str, default: int | None = None) -> int:
        value = self.values.get(key, default)
        if value is None:
            name = next(name for name in _TIER if name == key)
            raise self.line.wrong(f"this tier has no `{_written(name)}`", "it in the lines below")
        return value

    def at(self, key: str) -> Line:
        return self.lines.get(key, self.line)


@dataclass(frozen=True)
class Topology:
    """A fat-tree: its sizes, and what its links are like."""

    file: Path
    hosts: int
    pods: int
    tors: int
    """Of each pod."""
    aggs: int
    """Of each pod; of all if there are two tiers."""
    cores: int
    uplinks: int
    """Bundles from each aggregation switch to the core."""
    tiers: list[_Tier]

    def network(self, failed: Iterable[tuple[int, int]] = ()) -> Network:
        """Its nodes and links, without those that have `failed`: an aggregation switch, and which of its uplinks."""
        nodes = {f"host{n}": "host" for n in range(self.hosts)}
        nodes |= {f"tor{n}": "switch" for n in range(self.pods * self.tors)}
        nodes |= {f"agg{n}": "switch" for n in range(self.pods * self.aggs)}
        nodes |= {f"core{n}": "switch" for n in range(self.cores)}
        down = self.tiers[_TOR].get("radix_down")
        links = [self._link(f"host{n}", f"tor{n // down}", _TOR) for n in range(self.hosts)]
        for tor in range(self.pods * self.tors):
            first = tor // self.tors * self.aggs
            for agg in range(first, first + self.aggs):
                bundle = self.tiers[_AGG].get("bundle", 1)
                links += [self._link(f"tor{tor}", f"agg{agg}", _AGG)] * bundle
        gone = set(failed)
        for agg in range(self.pods * self.aggs if self.cores else 0):
            for uplink in range(self.uplinks):
                core = agg % self.aggs + self.aggs * uplink
                # As in htsim, a failure takes the first link of a bundle.
                bundle = self.tiers[_CORE].get("bundle", 1) - ((agg, uplink) in gone)
                links += [self._link(f"agg{agg}", f"core{core}", _CORE)] * bundle
        return listed(nodes, links, self.file, FORMAT)

    def _link(self, below: str, above: str, tier: int) -> Link:
        """A link below a tier. Each delay includes the time that the switch at its end needs for a packet."""
        rate = self.tiers[tier].get("downlink_speed_gbps") * 10**9
        delay = self.tiers[tier].get("downlink_latency_ns") * _NS
        at_above = self.tiers[tier].get("switch_latency_ns", 0) * _NS
        at_below = self.tiers[tier - 1].get("switch_latency_ns", 0) * _NS if tier else 0
        return Link(below, above, rate, delay + at_above, rate, delay + at_below)


def read_topology(file: Path, warn: Warn) -> Topology:
    """The topology in a file.

    Raises
    ------
    UserError
        The file cannot be read, is malformed, or its numbers do not fit together.
    """
    head, tiers = _read(file)
    queues = sorted({line.number for tier in tiers for key, line in tier.lines.items() if key.startswith("queue_")})
    if queues:
        warn(f"{file}:{queues[0]}: sizes of queues are not used: switches share their memory; set `buffer` in [switch]")
    return _fit(file, head, tiers)


def read_network(file: Path, warn: Warn) -> Network:
    """The network of the topology in a file."""
    return read_topology(file, warn).network()


def _written(key: str) -> str:
    """A key in the spelling of the files."""
    return "_".join(part.capitalize() if part not in ("ns",) else part for part in key.split("_"))


def _read(file: Path) -> tuple[_Tier, list[_Tier]]:
    lines = [_without_comment(line) for line in read_lines(file, "topology")]
    lines = [line for line in lines if line.words]
    if not lines:
        raise UserError(f"{file}: it is empty: expected `Nodes N`, `Tiers N` and `Podsize N`")
    head, tiers = _Tier(lines[0], {}, {}), dict[int, _Tier]()
    current, known = head, tuple[str, ...](_HEAD)
    for line in lines:
        line.has("KEY VALUE")
        key = line.words[0].lower()
        if key == "tier":
            if not all(name in head.values for name in _HEAD):
                missing = next(name for name in _HEAD if name not in head.values)
                raise line.wrong("a tier", f"`{_written(missing)} N` before it")
            number = line.count(1, "the tier", 0, head.values["tiers"] - 1)
            if number in tiers:
                raise line.wrong(f"tier {number} again, beside line {tiers[number].line.number}", "each once")
            current = tiers[number] = _Tier(line, {}, {})
            known = tuple(name for name in _TIER if number < head.values["tiers"] - 1 or not name.endswith("_up"))
            continue
        if key not in known:
            names = [_written(name) for name in known]
            expected = f"one of {', '.join(names)}{nearest(line.words[0], names)}"
            raise line.wrong(f"the unknown key {quoted(line.words[0])}", expected)
        if key in current.values:
            raise line.wrong(f"`{line.words[0]}` again, beside line {current.lines[key].number}", "each once")
        minimum = 0 if key.endswith("_latency_ns") or key.startswith("queue_") else 1
        current.values[key] = line.count(1, f"`{line.words[0]}`", minimum, _MAX.get(key, 10**6))
        current.lines[key] = line
        if key == "tiers" and current.values[key] not in (2, 3):
            raise line.wrong(f"{current.values[key]} tiers", "2 or 3")
    for name in _HEAD:
        if name not in head.values:
            raise UserError(f"{file}: it has no `{_written(name)}`: expected it before the first tier")
    for number in range(head.values["tiers"]):
        if number not in tiers:
            raise UserError(f"{file}: it has no `Tier {number}`: expected tiers 0 to {head.values['tiers'] - 1}")
    return head, [tiers[number] for number in sorted(tiers)]


def _without_comment(line: Line) -> Line:
    words: list[str] = []
    for word in line.words:
        kept, comment, _ = word.partition("#")
        words += [kept] if kept else []
        if comment:
            break
    return Line(line.file, line.number, tuple(words))


def _fit(file: Path, head: _Tier, tiers: list[_Tier]) -> Topology:
    """The sizes of the tree; refuses numbers that make no tree."""
    hosts, podsize, three = head.get("nodes"), head.get("podsize"), len(tiers) == 3
    if hosts < 2:
        raise head.at("nodes").wrong("1 node", "two or more")
    if not three and podsize != hosts:
        raise head.at("podsize").wrong(f"pods of {podsize} hosts in a tree of two tiers", f"one of all {hosts}")
    pods = _part(head.at("podsize"), hosts, podsize, "nodes", "hosts of a pod")
    tor, agg = tiers[_TOR], tiers[_AGG]
    if tor.get("bundle", 1) != 1:
        # FatTreeTopology::set_params asserts it: "we don't allow multi-port hosts yet".
        what = f"bundles of {tor.get('bundle')} links to a host"
        raise tor.at("bundle").wrong(what, "1, since htsim's hosts have one port")
    down = tor.get("radix_down")
    tors = _part(tor.at("radix_down"), podsize, down, "hosts of a pod", "hosts of a switch")
    aggs = _above(tor, agg, tors, "switch of tier 1")
    cores = uplinks = 0
    if three:
        bundle = tiers[_CORE].get("bundle", 1)
        uplinks = _part(agg.at("radix_up"), agg.get("radix_up"), bundle, "uplinks", "links of a bundle of tier 2")
        cores = aggs * uplinks
        wanted = pods * bundle
        if tiers[_CORE].get("radix_down") != wanted:
            what = f"{tiers[_CORE].get('radix_down')} links down, for {pods} pods with {bundle} each"
            raise tiers[_CORE].at("radix_down").wrong(what, str(wanted))
    for lower, upper in itertools.pairwise(tiers):
        _check_ratio(lower, upper)
    return Topology(file, hosts, pods, tors, aggs, cores, uplinks, tiers)


def _part(line: Line, whole: int, part: int, wholes: str, parts: str) -> int:
    if whole % part:
        raise line.wrong(f"{part} {parts}, of {whole} {wholes}", f"a number that divides {whole}")
    return whole // part


def _above(lower: _Tier, upper: _Tier, count: int, name: str) -> int:
    """How many switches stand above `count`, each of which connects to each."""
    bundle = upper.get("bundle", 1)
    above = _part(lower.at("radix_up"), lower.get("radix_up"), bundle, "uplinks", "links of a bundle above")
    if upper.get("radix_down") != count * bundle:
        what = f"{upper.get('radix_down')} links down of a {name}, for {count} switches below with {bundle} each"
        raise upper.at("radix_down").wrong(what, str(count * bundle))
    return above


def _check_ratio(lower: _Tier, upper: _Tier) -> None:
    """Refuse an `Oversubscribed` that does not follow from the links, from which htsim computes its switches."""
    below = lower.get("radix_down") * lower.get("downlink_speed_gbps")
    above = lower.get("radix_up") * upper.get("downlink_speed_gbps")
    stated = lower.get("oversubscribed", 1)
    if below != stated * above:
        ratio = f"{below / above:g}"
        what = f"{below} Gbps from below and {above} Gbps up make {ratio}:1, and `Oversubscribed` is {stated}"
        raise lower.at("oversubscribed").wrong(what, f"numbers that agree, as with `Oversubscribed {ratio}`")
