"""Runs: reading a scenario, making one run or many, benchmarks, and the results in memory and as a folder.

May import `xoff.scheme`, `xoff.errors` and `xoff.text`.
"""
