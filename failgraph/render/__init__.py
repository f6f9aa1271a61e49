"""How an answer and the catalogue look: for a terminal, for a ticket, as a drawing.

``outline`` says what is shown and in which order, once; ``text`` and ``markdown`` say how. ``escape`` makes text
from outside harmless on each surface. Nothing here reads the database or decides anything.
"""
