"""Other programs' files: a package for each format, with `importer` and `exporter`, beside what these share.

May import `xoff.runs` and what that may import.
"""
