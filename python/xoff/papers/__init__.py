"""Papers whose experiments can be re-run: a package each, with scenarios, claims and figures.

`xoff reproduce PAPER -o DIR` calls `xoff.papers.PAPER.reproduce`. May import `xoff.report` and what that may import.
"""
