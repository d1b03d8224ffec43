"""Papers whose experiments can be re-run: a package each, which defines its `PAPER`.

`xoff reproduce PAPER -o DIR` reproduces `xoff.papers.<paper>.PAPER`. May import `xoff.report` and what that may import.
"""
