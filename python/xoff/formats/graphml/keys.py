"""Attributes of nodes and edges in GraphML, with their types."""

from __future__ import annotations

NODE_KEYS = {"kind": "string"}
EDGE_KEYS = {
    "rate_bps": "long",
    "delay_ps": "long",
    "from": "string",
    "rate_back_bps": "long",
    "delay_back_ps": "long",
}
