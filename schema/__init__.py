"""What things are: models, labels, ids, exchange models and errors. Pure: knows no database.

- ``errors``: the one exception tree, each class with its exit code.
- ``scales``: the words of the catalogue (strength, specificity) as probabilities.
- ``nodes``, ``relations``: every label, relationship type and property of the graph, declared once.
- ``pack``: the shape of a knowledge pack.
- ``exchange``: what goes into a match and what comes out; shared by command line, API and library.
- ``migration``: finds, orders and checksums ``migrations/*.cypher``.
"""
