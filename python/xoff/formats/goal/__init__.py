"""GOAL: schedules of parallel programs, as LogGOPSim and ATLAHS read them."""
