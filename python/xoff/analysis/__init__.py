"""What is computed from a run's tables: statistics, PAUSE and marks against the ground truth, explanations. No drawing.

May import `xoff.runs` and what that may import.
"""
