"""failgraph: root-cause knowledge of GPU training clusters, kept in a graph.

The rooms, and the only direction imports may go:
``failgraph`` (front door) -> ``loaders`` -> ``graph`` -> ``queries`` -> ``schema``.
"""

__version__ = "0.1.0"
