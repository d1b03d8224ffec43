"""What the functions of this package give, and the types that they share."""

from __future__ import annotations

from collections.abc import Mapping

Table = dict[str, object]
"""A table of a scenario, by key, as `xoff.Scenario` and `xoff.run` take it."""

Time = str
"""A time with its unit, such as `"1.5us"`: s, ms, us, ns or ps."""

Rate = str
"""A rate with its unit, such as `"100Gbps"`: Tbps, Gbps, Mbps, Kbps or bps."""

Bytes = str
"""A size with its unit, such as `"320KB"` or `"320KiB"`; B for bytes."""


def table(keys: Mapping[str, object]) -> Table:
    """The table of those keys that have a value."""
    return {key: value for key, value in keys.items() if value is not None}
