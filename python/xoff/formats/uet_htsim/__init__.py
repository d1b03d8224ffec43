"""Command lines of the Ultra Ethernet Consortium's simulator (uet-htsim, program `htsim_uec`)."""
