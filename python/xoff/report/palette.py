"""The colours of all figures."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A8A")
"""Okabe and Ito's colours for all kinds of colour vision, without yellow, which white hides, and black."""

PAUSED = COLOURS[4]
"""What is paused, in every figure."""
