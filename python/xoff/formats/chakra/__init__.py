"""Chakra: execution traces of training jobs, as ASTRA-sim reads them."""
