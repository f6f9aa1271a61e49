"""From the figures of a candidate to the chance that the attachment is right.

A logistic model over six figures. Its weights were fitted on written first reports of which only the failure class
is known, taking an attachment to an observable that the class lists as right with a known rate of chance hits
(0.05) and of true traces that the class does not list (0.15); the phrases of the catalogue alone, each looked for
without itself, are far easier than running text and would promise too much.
"""

from __future__ import annotations

import math
from typing import Final

from failgraph.loaders.prose.index import Candidate

INTERCEPT: Final = -8.39
WEIGHTS: Final = (2.70, 2.40, -2.56, 2.93, 2.28, 2.17)


def figures(candidate: Candidate) -> tuple[float, ...]:
    """Return what the model weighs, in the order of ``WEIGHTS``."""
    return (
        math.log(candidate.mass + 0.5),
        candidate.cover_phrase,
        candidate.cover_clause,
        candidate.support,
        candidate.margin,
        min(candidate.owned, 1.0),
    )


def chance(candidate: Candidate) -> float:
    """Return the chance that the clause speaks of the candidate's observable."""
    total = INTERCEPT + sum(
        weight * figure for weight, figure in zip(WEIGHTS, figures(candidate), strict=True)
    )
    return 1.0 / (1.0 + math.exp(-total))
