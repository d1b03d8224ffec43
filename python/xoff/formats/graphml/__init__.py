"""GraphML, as networkx writes and reads it."""
