"""Figures of an evaluation: shares with bootstrap intervals, calibration, rank figures. Pure functions of lists."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

RESAMPLES: Final = 1000
BINS: Final = 10
LEAST_PROBABILITY: Final = 1e-6
"""A probability of zero for what is right counts as this much in the log loss."""


@dataclass(frozen=True)
class Measure:
    """One figure with its 95 % bootstrap interval; ``count`` is how many cases it rests on."""

    value: float
    low: float
    high: float
    count: int


def mean(values: Sequence[float]) -> float:
    """Return the mean; 0 for no values."""
    return math.fsum(values) / len(values) if values else 0.0


def bootstrap(
    items: Sequence[object],
    figure: Callable[[Sequence[object]], float],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Measure:
    """Return a figure of a sample with its percentile interval over resamples with replacement.

    Args:
        items: the cases, in a stable order.
        figure: what is measured; called with a sample of the same length.
        seed: makes the resamples the same in every run.
        resamples: how many.

    >>> bootstrap([1.0, 1.0, 1.0], lambda sample: float(len(sample)))
    Measure(value=3.0, low=3.0, high=3.0, count=3)
    """
    if not items:
        return Measure(0.0, 0.0, 0.0, 0)
    chooser = random.Random(seed)  # noqa: S311 - a resample is no secret
    values = sorted(figure(chooser.choices(items, k=len(items))) for _ in range(resamples))
    low, high = values[int(0.025 * (resamples - 1))], values[math.ceil(0.975 * (resamples - 1))]
    return Measure(figure(items), low, high, len(items))


def share(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Measure:
    """Return the mean of numbers (a share, where they are 0 and 1) with its bootstrap interval."""
    if not values:
        return Measure(0.0, 0.0, 0.0, 0)
    chooser = random.Random(seed)  # noqa: S311 - a resample is no secret
    size = len(values)
    means = sorted(math.fsum(chooser.choices(values, k=size)) / size for _ in range(resamples))
    low, high = means[int(0.025 * (resamples - 1))], means[math.ceil(0.975 * (resamples - 1))]
    return Measure(mean(values), low, high, size)


def macro_f1(predicted: Sequence[str], actual: Sequence[str]) -> float:
    """Return the F1 score averaged over the classes that are right for some case.

    >>> macro_f1(["a", "b", "b"], ["a", "b", "a"])
    0.6666666666666666
    """
    hits = Counter(right for guess, right in zip(predicted, actual, strict=True) if guess == right)
    guesses, truths = Counter(predicted), Counter(actual)
    return mean([2 * hits[name] / (guesses[name] + truths[name]) for name in sorted(truths)])


def brier(probabilities: Sequence[float], right: Sequence[bool]) -> float:
    """Return the mean squared difference between a stated probability and what happened (0 is best)."""
    return mean([(p - float(r)) ** 2 for p, r in zip(probabilities, right, strict=True)])


def log_loss(probabilities: Sequence[float]) -> float:
    """Return the mean negative natural logarithm of the probability given to what is right."""
    return mean([-math.log(min(1.0, max(p, LEAST_PROBABILITY))) for p in probabilities])


def calibration_error(probabilities: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """Return the expected calibration error over bins of equal width.

    >>> round(calibration_error([0.8, 0.8, 0.8, 0.8, 0.8], [True, True, True, True, False]), 3)
    0.0
    """
    sums = [[0.0, 0.0] for _ in range(bins)]
    for probability, is_right in zip(probabilities, right, strict=True):
        part = sums[min(bins - 1, int(probability * bins))]
        part[0] += probability
        part[1] += is_right
    return math.fsum(abs(said - held) for said, held in sums) / len(right) if right else 0.0


def calibration_band(probabilities: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """Return the 95 % band of the calibration error that a perfectly calibrated model of this size would have."""
    if not probabilities:
        return 0.0, 0.0
    chooser = random.Random(seed)  # noqa: S311 - a simulation is no secret
    errors = sorted(
        calibration_error(probabilities, [chooser.random() < p for p in probabilities])
        for _ in range(RESAMPLES)
    )
    return errors[int(0.025 * (RESAMPLES - 1))], errors[math.ceil(0.975 * (RESAMPLES - 1))]


def area_under_curve(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """Return the chance that a positive scores above a negative (ties count half); None without both.

    >>> area_under_curve([0.9, 0.8], [0.1, 0.8])
    0.875
    """
    if not positives or not negatives:
        return None
    wins = math.fsum((above > below) + 0.5 * (above == below) for above in positives for below in negatives)
    return wins / (len(positives) * len(negatives))
