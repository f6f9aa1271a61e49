"""Every Cypher text that runs after set-up, one query a file, and the code that reads them.

- ``explain``, ``match``, ``report``, ``incident``, ``pack``, ``database``: the texts, by what they are about.
- ``registry``: finds a query by its name; ``header`` reads a file into a ``query``, or says what is wrong with it.
- ``lint``: checks over all files: do they fit the schema, and do they run alike on both engines.
- ``readonly``: refuses a user's Cypher that does more than read.
- ``tokens``, ``pattern``: Cypher as tokens and as node and relationship patterns, which the others stand on.
"""
