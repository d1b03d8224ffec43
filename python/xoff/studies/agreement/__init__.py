"""How far runs of the ns-3 HPCC simulator's inputs agree with that simulator's results: `xoff agreement`."""
