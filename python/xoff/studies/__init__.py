"""Many runs for one question: sweeps, tuning, the comparison of schemes, the agreement with another simulator.

May import `xoff.formats`, `xoff.report` and what those may import.
"""
