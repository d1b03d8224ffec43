"""The colours of all figures."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A8A")
"""Okabe and Ito's colours for all kinds of colour vision, without yellow, which white hides, and black."""

SERIES = (*COLOURS, "#446611", "#0044FF", "#8877FF", "#885577", "#CC33BB", "#CC1133", "#FF5577")
"""Colours of series of which there may be many.

Each stands out by at least 2:1 from light and dark pages. The colours after the first seven are as far as possible from
each other and from the first seven, for people with and without deuteranopia (by distance in Oklab).
"""

PAUSED = COLOURS[4]
"""What is paused, in every figure."""
