"""Inputs of the htsim family (csg-htsim, uet-htsim): connection matrices and topologies."""
