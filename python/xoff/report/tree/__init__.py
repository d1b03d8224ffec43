"""The congestion tree: where congestion began, how PAUSE spread from there, and which flows were its victims.

A run's tables become what the report's page draws: the network in tiers, the state of every port over time as change
points, roots with the ports that stopped for their sake, and flows with their paths and where they may have waited.
"""
