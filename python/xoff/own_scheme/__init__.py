"""A scheme of one's own, as a class in Python: what it is given, what it states, and how a run gets it."""

from xoff._xoff import Ack, Cnp, Flow, Hop, HopChange, Sent
from xoff.own_scheme.base import Scheme, Signals

__all__ = ["Ack", "Cnp", "Flow", "Hop", "HopChange", "Scheme", "Sent", "Signals"]
