"""What the prose of a report says as a whole, beside the findings that were read from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TextWitness:
    """How a report reads: which classes are reported in such words.

    Args:
        log_ratios: natural log of how much likelier these words are for a class than on average, by class id.
        none: the same for troubles outside all classes.
        words: for the likeliest classes the words that weighed most, most first.
    """

    log_ratios: Mapping[str, float] = field(default_factory=dict)
    none: float = 0.0
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
