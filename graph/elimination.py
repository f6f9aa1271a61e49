"""Exact sum-product over binary variables: the value of a set of factors, and its derivatives.

A *factor* is a table of numbers of at least 0 over a few binary variables. The *value* of a set of factors is the
sum, over all states of all variables, of the product of the factors. Variables are removed one at a time, in an
order that keeps the tables small; a backward pass over the same steps gives the derivative of the logarithm of
the value by every entry of every wanted factor. A noisy-OR with many causes is an *OR variable* with one small
factor per cause; :mod:`failgraph.graph.joins` says how these are multiplied so that no digit is lost.

Equal input gives equal bytes: the order depends on the variables' numbers only, and every sum has a fixed order.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from failgraph.graph.joins import PART_PART, PART_WHOLE, WHOLE_PART, Pattern, Table, make_pattern

_SCALE_AFTER: Final = 12
"""Size of a product (see :class:`Factor`) above which it is scaled, so that it stays far from the least float."""


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor.

    Args:
        variables: numbers of its variables, in the order of the table's axes.
        table: shape ``(batch or 1, 2, ..., 2)``, no entry below 0.
        whole: the OR variable whose axis is a *whole* here, or -1. Each OR variable has exactly one such factor.
        size: its largest entry is about 1, and the others are 0 or above 1e-12 to this power.
    """

    variables: tuple[int, ...]
    table: Table
    whole: int = -1
    size: int = 1


@dataclass(frozen=True)
class Order:
    """An elimination order.

    Args:
        variables: the variables, the one that is removed first first.
        clusters: for each step the variables of its largest table, as bit masks over the variables' numbers.
        width: size of the largest cluster, minus 1.
    """

    variables: tuple[int, ...]
    clusters: tuple[int, ...]
    width: int


@dataclass(frozen=True)
class Evaluation:
    """The value of a set of factors.

    Args:
        log_value: natural logarithm of the value, shape ``(batch,)``.
        derivatives: for each factor the derivative of ``log_value`` by the entries of its table, in the same
            axes and with the batch that reaches it; ``None`` where it was not wanted.
    """

    log_value: Table
    derivatives: tuple[Table | None, ...]

    def derivative(self, number: int) -> Table:
        """Return the derivative by a factor that was wanted."""
        table = self.derivatives[number]
        if table is None:
            raise LookupError(f"the derivative by factor {number} was not asked for")
        return table


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the set bits, lowest first.

    >>> list(bits(0b1010))
    [1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def find_order(count: int, scopes: Sequence[tuple[int, ...]]) -> Order:
    """Return the min-fill order: always remove the variable that would join the fewest strangers.

    Ties go to the variable with fewer neighbours, then to the lower number.

    Args:
        count: number of variables, numbered from 0.
        scopes: the variables of each factor.

    >>> find_order(3, [(0, 1), (1, 2)]).variables
    (0, 1, 2)
    """
    near = [0] * count
    for scope in scopes:
        mask = 0
        for variable in scope:
            mask |= 1 << variable
        for variable in scope:
            near[variable] |= mask
    for variable in range(count):
        near[variable] &= ~(1 << variable)

    def missing(variable: int) -> int:
        """Count the pairs of neighbours that are no neighbours of each other."""
        mask = rest = near[variable]
        total = 0
        while rest:
            low = rest & -rest
            rest ^= low
            total += (mask & ~near[low.bit_length() - 1]).bit_count() - 1
        return total >> 1

    current: list[tuple[int, int, int] | None] = [
        (missing(variable), near[variable].bit_count(), variable) for variable in range(count)
    ]
    heap = [entry for entry in current if entry is not None]
    heapq.heapify(heap)
    order: list[int] = []
    clusters: list[int] = []
    width = 0
    while heap:
        entry = heapq.heappop(heap)
        fill, degree, variable = entry
        if current[variable] != entry:
            continue
        current[variable] = None
        order.append(variable)
        itself = 1 << variable
        mask = near[variable]
        clusters.append(mask | itself)
        width = max(width, degree)
        touched = mask
        if fill:
            for one in bits(mask):
                for other in bits(mask & ~near[one] & ~((2 << one) - 1)):
                    touched |= near[one] & near[other]
            for one in bits(mask):
                near[one] = (near[one] | mask) & ~itself & ~(1 << one)
            touched &= ~itself
        rest = touched
        while rest:
            low = rest & -rest
            rest ^= low
            one = low.bit_length() - 1
            before = current[one]
            if before is None:
                continue
            if fill:
                changed = (missing(one), near[one].bit_count(), one)
            else:
                # Nothing was joined: only the removed variable's own strangers are gone from the count.
                near[one] &= ~itself
                changed = (before[0] - (near[one] & ~mask).bit_count(), before[1] - 1, one)
            if changed != before:
                current[one] = changed
                heapq.heappush(heap, changed)
    return Order(tuple(order), tuple(clusters), width)


class _Stored(NamedTuple):
    """A factor, or what a step made of two of them.

    ``scope`` and ``wholes`` are bit masks over *places* in the elimination order. The axes of the table run from
    the last place to the first, so the variable that is removed next is the last axis. ``size`` adds up since it
    was last scaled.
    """

    table: Table
    scope: int
    wholes: int
    wanted: bool
    size: int


class _Step(NamedTuple):
    """A join of two tables, or (``right`` is -1) the removal of a variable from one; divided by ``scale``."""

    result: int
    left: int
    right: int
    pattern: Pattern | None
    scale: Table | None


class _Sheet:
    """The tables of one evaluation: first the factors, then what the steps make of them."""

    def __init__(self, order: Order, or_variables: Sequence[int]) -> None:
        self.place = [0] * len(order.variables)
        for place, variable in enumerate(order.variables):
            self.place[variable] = place
        self.or_mask = 0
        for variable in or_variables:
            self.or_mask |= 1 << self.place[variable]
        self.stored: list[_Stored] = []
        self.steps: list[_Step] = []
        self.log_value: Table = np.zeros(1)

    def add_factor(self, factor: Factor, wanted: bool) -> tuple[int, ...]:
        """Store a factor and return the axes (from 1) of its table in the sheet's order."""
        places = [self.place[variable] for variable in factor.variables]
        scope = 0
        for place in places:
            scope |= 1 << place
        wholes = 1 << self.place[factor.whole] if factor.whole >= 0 else 0
        table = factor.table
        axes: tuple[int, ...] = ()
        if len(places) > 1:
            axes = tuple(sorted(range(1, len(places) + 1), key=lambda axis: -places[axis - 1]))
            table = table.transpose(0, *axes)
        self.stored.append(_Stored(table, scope, wholes, wanted, factor.size))
        return axes

    def pattern(self, left: _Stored, right: _Stored, result: int) -> Pattern:
        """Return how two tables are joined into one with the scope ``result``."""
        in_left, in_right = left.scope, right.scope
        or_axes = in_left & in_right & result & self.or_mask
        rest = in_left | in_right
        codes = bytearray()
        while rest:
            bit = 1 << (rest.bit_length() - 1)
            rest ^= bit
            code = (1 if in_left & bit else 0) | (2 if in_right & bit else 0) | (4 if result & bit else 0)
            if or_axes & bit:
                kind = PART_PART
                if left.wholes & bit:
                    kind = WHOLE_PART
                elif right.wholes & bit:
                    kind = PART_WHOLE
                code |= 8 * (1 + kind)
            codes.append(code)
        return make_pattern(bytes(codes))

    def join(self, first: int, second: int, removed: int) -> int:
        """Join two tables, sum out the variables of the mask ``removed``, and return the result's number."""
        left, right = self.stored[first], self.stored[second]
        scope = (left.scope | right.scope) & ~removed
        wholes = (left.wholes | right.wholes) & ~removed
        pattern = self.pattern(left, right, scope)
        table = pattern.join(left.table, right.table)
        size = left.size + right.size
        scale: Table | None = None
        if size > _SCALE_AFTER:
            scale = table.reshape(table.shape[0], -1).max(axis=1)
            self.log_value = self.log_value + np.log(scale)
            scale = scale.reshape(-1, *(1,) * (table.ndim - 1))
            table, size = table / scale, 1
        return self._store(
            _Stored(table, scope, wholes, left.wanted or right.wanted, size), first, second, pattern, scale
        )

    def remove(self, place: int, bucket: list[int]) -> int:
        """Join all tables of a bucket, small ones first, and remove its variable; return the result's number."""
        bit = 1 << place
        if len(bucket) == 1:
            only = self.stored[bucket[0]]
            # The OR over no part at all is 0.
            table = only.table[..., 0]
            if not self.or_mask & bit:
                table = table + only.table[..., 1]
            result = _Stored(table, only.scope & ~bit, only.wholes & ~bit, only.wanted, only.size)
            return self._store(result, bucket[0], -1, None, None)
        if len(bucket) > 2:
            stored = self.stored
            bucket.sort(key=lambda number: (stored[number].scope.bit_count(), stored[number].wanted, number))
        left = bucket[0]
        for right in bucket[1:-1]:
            left = self.join(left, right, 0)
        return self.join(left, bucket[-1], bit)

    def _store(
        self, result: _Stored, left: int, right: int, pattern: Pattern | None, scale: Table | None
    ) -> int:
        number = len(self.stored)
        self.stored.append(result)
        self.steps.append(_Step(number, left, right, pattern, scale))
        return number


def evaluate(
    count: int,
    or_variables: Sequence[int],
    factors: Sequence[Factor],
    *,
    wanted: Collection[int] = (),
    order: Order | None = None,
) -> Evaluation:
    """Return the logarithm of the value of the factors, and the derivatives that are wanted.

    Args:
        count: number of variables.
        or_variables: those that stand for an OR.
        factors: the factors; their tables have a batch axis of 1 or of one common length.
        wanted: numbers of the factors whose derivative is asked for.
        order: the order for these scopes, where it is known already.
    """
    order = order or find_order(count, [factor.variables for factor in factors])
    sheet = _Sheet(order, or_variables)
    axes_of = [sheet.add_factor(factor, number in wanted) for number, factor in enumerate(factors)]
    buckets: list[list[int]] = [[] for _ in range(count + 1)]  # the last one is for tables without variables

    def put(number: int) -> None:
        scope = sheet.stored[number].scope
        buckets[(scope & -scope).bit_length() - 1].append(number)

    for number in range(len(factors)):
        put(number)
    for place in range(count):
        if buckets[place]:
            put(sheet.remove(place, buckets[place]))
    log_value = sheet.log_value
    for number in buckets[-1]:
        log_value = log_value + np.log(sheet.stored[number].table)
    gradients = _backward(sheet, buckets[-1])
    derivatives: list[Table | None] = []
    for axes, gradient in zip(axes_of, gradients, strict=False):  # what follows is no derivative of a factor
        if gradient is not None and axes:
            back = sorted(range(len(axes)), key=axes.__getitem__)
            gradient = gradient.transpose(0, *(axis + 1 for axis in back))
        derivatives.append(gradient)
    return Evaluation(log_value, tuple(derivatives))


def _backward(sheet: _Sheet, constants: list[int]) -> list[Table | None]:
    """Return the derivative of the logarithm of the value by each stored table (``None``: not wanted)."""
    stored = sheet.stored
    gradients: list[Table | None] = [None] * len(stored)
    for number in constants:
        if stored[number].wanted:
            gradients[number] = 1.0 / stored[number].table
    for result, first, second, pattern, scale in reversed(sheet.steps):
        gradient = gradients[result]
        if gradient is None:
            continue
        gradients[result] = None  # not needed any more
        if scale is not None:
            gradient = gradient / scale
        left = stored[first]
        if pattern is None:
            removed = left.scope & ~stored[result].scope
            other = np.zeros_like(gradient) if removed & sheet.or_mask else gradient
            gradients[first] = np.stack((gradient, other), -1)
            continue
        right = stored[second]
        if left.wanted:
            gradients[first] = pattern.back_to_left(gradient, right.table)
        if right.wanted:
            gradients[second] = pattern.back_to_right(gradient, left.table)
    return gradients
