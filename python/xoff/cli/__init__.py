"""The command `xoff` and what it prints; and the writer of the reference pages.

May import every other room. Nothing imports this one.
"""
