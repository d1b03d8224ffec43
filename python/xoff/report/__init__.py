"""What people look at: the HTML report with its plots and the congestion tree, other pages, and figures for papers.

May import `xoff.fluid`, `xoff.analysis` and what those may import.
"""
