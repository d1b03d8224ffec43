"""What the importers share: reading lines, writing TOML, and the files of a scenario that is checked first."""
