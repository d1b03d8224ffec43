"""The page to explore a run: tables become typed arrays of bytes, which a browser filters and draws by itself.

The page holds every message, sample and pause up to the bounds of `Limits`; what it draws is decimated by its
scripts, by view.
"""
