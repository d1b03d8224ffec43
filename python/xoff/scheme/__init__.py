"""A scheme of your own, as a class in Python: what it is given, what it states, and how a run gets it.

May import `xoff.errors`.
"""

from xoff._xoff import Ack, Cnp, Flow, Hop, HopChange, Sent
from xoff.scheme.base import Scheme, Signals

__all__ = ["Ack", "Cnp", "Flow", "Hop", "HopChange", "Scheme", "Sent", "Signals"]
