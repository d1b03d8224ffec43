"""Papers whose experiments can be re-run: a package each, with scenarios, claims and figures.

`xoff reproduce PAPER -o DIR` calls `xoff.papers.PAPER.reproduce`. Modules with a leading underscore are shared.
"""
