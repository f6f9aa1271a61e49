"""The words of the catalogue as probabilities, and the constants of the structure term.

Strength is how often a trace is seen, where one looks, when its mechanism is active (or its class is true).
Specificity is how often the trace is seen although no mechanism that shows it is active (its leak).
All values are judgement; ``failgraph pack fit`` turns them into the numbers of the graph.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Strength(StrEnum):
    """How often a finding is seen, given its cause."""

    ALWAYS = "always"
    USUALLY = "usually"
    SOMETIMES = "sometimes"
    RARELY = "rarely"


class Specificity(StrEnum):
    """What a finding says when it is present."""

    GENERIC = "generic"
    SUGGESTIVE = "suggestive"
    STRONG = "strong"
    PATHOGNOMONIC = "pathognomonic"


STRENGTH_PROBABILITY: Final = MappingProxyType(
    {Strength.ALWAYS: 0.97, Strength.USUALLY: 0.75, Strength.SOMETIMES: 0.35, Strength.RARELY: 0.08}
)
LEAK_PROBABILITY: Final = MappingProxyType(
    {
        Specificity.GENERIC: 0.15,
        Specificity.SUGGESTIVE: 0.03,
        Specificity.STRONG: 0.005,
        Specificity.PATHOGNOMONIC: 0.0005,
    }
)
MECHANISM_LEAK: Final = 0.001
"""Chance that a mechanism is active although none of its causes is."""
REFUTER_FACTOR: Final = 0.2
"""A present refuter multiplies a class by this, to the power of the reader's confidence."""
REFUTER_FLOOR: Final = 0.02
"""All refuters together never multiply a class by less than this."""
EXPECTED_FROM: Final = 0.5
"""A finding counts as expected of a class from this probability on."""
NONE_PRIOR: Final = 0.15
"""Prior probability that no known class is the cause."""
