"""Writes the traces of this folder: `python make_traces.py`; with RANKS, NODES and FOLDER a large one, to measure.

The format needs no library: a file is a sequence of messages of protocol buffers, each behind its length.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
ALL_REDUCE = 0


def varint(value: int) -> bytes:
    """A whole number, seven bits a byte."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def number(field: int, value: int) -> bytes:
    """A field with a whole number."""
    return varint(field << 3) + varint(value)


def content(field: int, value: bytes) -> bytes:
    """A field with bytes: a text, a message or a list of numbers."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def node(
    ident: int, name: str, kind: int, after: Iterable[int] = (), micros: int = 0, **attributes: int | str
) -> bytes:
    """A node of Chakra's schema; whole numbers of attributes are of 64 bits."""
    out = number(1, ident) + content(2, name.encode()) + number(3, kind)
    out += content(5, b"".join(map(varint, after)))
    if micros:
        out += number(7, micros)
    for key, value in {"is_cpu_op": 0, **attributes}.items():
        given = content(29, value.encode()) if isinstance(value, str) else number(9, value)
        out += content(10, content(1, key.encode()) + given)
    return out


def write(file: Path, nodes: Iterable[bytes]) -> None:
    """A rank's file."""
    with file.open("wb") as out:
        for message in (content(1, b"0.0.4"), *nodes):
            out.write(varint(len(message)) + message)


def training(layers: int, forward: int, backward: int, gradients: int) -> list[bytes]:
    """A step of data-parallel training: while a layer's gradients are computed, those of later ones are summed.

    Parameters
    ----------
    layers
        Number of layers.
    forward, backward
        Time of a layer, us.
    gradients
        Bytes of a layer's gradients.
    """
    nodes = [node(layer, f"forward_{layer}", COMPUTE, [layer - 1] if layer else [], forward) for layer in range(layers)]
    sums = []
    for layer in reversed(range(layers)):
        ident = len(nodes)
        nodes.append(node(ident, f"backward_{layer}", COMPUTE, [ident - (1 if layer == layers - 1 else 2)], backward))
        nodes.append(
            node(ident + 1, f"gradients_{layer}", COLLECTIVE, [ident], comm_type=ALL_REDUCE, comm_size=gradients)
        )
        sums.append(ident + 1)
    nodes.append(node(len(nodes), "optimizer", COMPUTE, sums, forward))
    return nodes


def chain(rank: int, ranks: int, count: int) -> Iterable[bytes]:
    """Computations one after the other, of which each tenth is followed by a message around the ring of ranks."""
    yield node(0, "begin", COMPUTE, micros=1)
    ident = 1
    while ident < count:
        if ident % 10:
            yield node(ident, f"gemm_{ident % 97}", COMPUTE, [ident - 1], 1)
            ident += 1
        else:
            yield node(ident, "send", SEND, [ident - 1], comm_dst=(rank + 1) % ranks, comm_size=4096)
            yield node(ident + 1, "receive", RECEIVE, [ident - 1], comm_src=(rank - 1) % ranks, comm_size=4096)
            ident += 2


if __name__ == "__main__":
    here = Path(__file__).parent
    if sys.argv[1:]:
        ranks, nodes, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
        for rank in range(ranks):
            write(folder / f"chain.{rank}.et", chain(rank, ranks, nodes // ranks))
    else:
        for rank in range(4):
            write(here / f"training_4.{rank}.et", training(4, 100, 200, 4 << 20))
