"""Inputs and outputs of the ns-3 HPCC simulator and its family (alibaba-edu/High-Precision-Congestion-Control).

`importer.import_config` makes a scenario of its input files, `exporter.export_run` writes a run in its formats.
"""
