"""How two tables of :mod:`failgraph.graph.elimination` are multiplied, without a single subtraction.

Every variable is binary. The axis of an ordinary variable holds one number per state, and two tables that share
the variable are multiplied state by state. The axis of an *OR variable* is of one of two kinds:

- a *part* holds the weight of "no cause of this part has fired" (0) and "at least one has" (1);
- a *whole* is a function of the OR over all parts that are not yet joined to it.

Part and part give a part: none fired is ``a0 b0``, one fired is ``a1 (b0 + b1) + a0 b1``. Part and whole give a
whole: ``a0 w0 + a1 w1`` and ``(a0 + a1) w1``. Two wholes never meet. When the last part meets the whole the
variable is gone: ``a0 w0 + a1 w1``, which is an ordinary sum.

The usual way (an extra variable with weights +1 and -1) needs two products instead of three for an axis, but it
subtracts nearly equal numbers: each nested noisy-OR with a leak of .001 costs three of the sixteen digits. Sums
and products of numbers of at least 0 keep all their digits, however small the result is.

The derivative by a part is a whole and the reverse, so the backward pass needs no other rules than these.

Shapes: a leading batch axis (1 is broadcast), then one axis of length 2 per variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
Axes = tuple[tuple[int, int], ...]

PART_PART: Final = 0
PART_WHOLE: Final = 1
WHOLE_PART: Final = 2
_BACK_TO_LEFT: Final = (WHOLE_PART, PART_WHOLE, PART_PART)
"""Kind of join of (derivative of the result, right) that gives the derivative by left, by the kind forwards."""
_BACK_TO_RIGHT: Final = (WHOLE_PART, PART_PART, PART_WHOLE)
"""The same for (derivative of the result, left) and right."""
_SPLIT_ABOVE: Final = 60_000
"""Cells of a widened table above which the work is done in thirds, which stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """How two tables are joined, and how the derivative goes back to each of them.

    The axes run over the common scope after the batch axis. ``*_or`` are pairs (axis, kind of join), ``*_sum``
    are axes to be summed, last first; shapes have -1 for the batch axis and 1 where a table lacks a variable.
    """

    shape_left: tuple[int, ...]
    shape_right: tuple[int, ...]
    shape_result: tuple[int, ...]
    join_or: Axes
    join_sum: tuple[int, ...]
    left_or: Axes
    left_sum: tuple[int, ...]
    right_or: Axes
    right_sum: tuple[int, ...]
    cells: float

    def join(self, left: Table, right: Table) -> Table:
        """Return the join of two tables, summed over the variables that the result lacks."""
        left, right = left.reshape(self.shape_left), right.reshape(self.shape_right)
        product = or_join(left, right, self.join_or, self.cells) if self.join_or else left * right
        return sum_out(product, self.join_sum)

    def back_to_left(self, derivative: Table, right: Table) -> Table:
        """Return the derivative by the left table from the derivative by the result."""
        left, right = derivative.reshape(self.shape_result), right.reshape(self.shape_right)
        product = or_join(left, right, self.left_or, self.cells) if self.left_or else left * right
        return sum_out(product, self.left_sum)

    def back_to_right(self, derivative: Table, left: Table) -> Table:
        """Return the derivative by the right table from the derivative by the result."""
        right, left = derivative.reshape(self.shape_result), left.reshape(self.shape_left)
        product = or_join(right, left, self.right_or, self.cells) if self.right_or else right * left
        return sum_out(product, self.right_sum)


@lru_cache(maxsize=16384)
def make_pattern(codes: bytes) -> Pattern:
    """Return the pattern of a join.

    Args:
        codes: one number per axis of the common scope: 1 if left has it, plus 2 if right has it, plus 4 if the
            result has it, plus 8 * (1 + kind of join) if all three have it and it is an OR variable.
    """
    axes = list(enumerate(codes, start=1))
    joined = tuple((axis, (code >> 3) - 1) for axis, code in axes if code >> 3)
    last_first = axes[::-1]
    return Pattern(
        shape_left=(-1, *(2 if code & 1 else 1 for code in codes)),
        shape_right=(-1, *(2 if code & 2 else 1 for code in codes)),
        shape_result=(-1, *(2 if code & 4 else 1 for code in codes)),
        join_or=joined,
        join_sum=tuple(axis for axis, code in last_first if not code & 4),
        left_or=tuple((axis, _BACK_TO_LEFT[kind]) for axis, kind in joined),
        left_sum=tuple(axis for axis, code in last_first if not code & 1),
        right_or=tuple((axis, _BACK_TO_RIGHT[kind]) for axis, kind in joined),
        right_sum=tuple(axis for axis, code in last_first if not code & 2),
        cells=2.0 ** len(codes) * 1.5 ** len(joined),
    )


_Index = tuple[slice | int, ...]
_BEFORE: Final[tuple[_Index, ...]] = tuple((slice(None),) * axis for axis in range(64))
_LOW: Final[tuple[_Index, ...]] = tuple((*before, slice(0, 1)) for before in _BEFORE)
_HIGH: Final[tuple[_Index, ...]] = tuple((*before, slice(1, 2)) for before in _BEFORE)
_FIRST: Final[tuple[_Index, ...]] = tuple((*before, 0) for before in _BEFORE)
_SECOND: Final[tuple[_Index, ...]] = tuple((*before, 1) for before in _BEFORE)


def sum_out(table: Table, axes: tuple[int, ...]) -> Table:
    """Return the table summed over axes of length 2, which are named last first."""
    for axis in axes:
        table = table[_FIRST[axis]] + table[_SECOND[axis]]
    return table


def or_join(left: Table, right: Table, axes: Axes, cells: float) -> Table:
    """Return the product of two aligned tables, joined by OR along the given axes.

    Args:
        left: a table with axes of length 2, or 1 where it is broadcast.
        right: another, aligned to it.
        axes: pairs (axis, kind of join).
        cells: how many products are made: the cells of the result times 1.5 for each of the axes.
    """
    if not axes:
        product: Table = left * right
        return product
    if len(axes) > 1 and cells * max(left.shape[0], right.shape[0]) <= _SPLIT_ABOVE:
        return _or_join_at_once(left, right, axes)
    axis, kind = axes[0]
    rest, third = axes[1:], cells / 3.0
    low, high = _LOW[axis], _HIGH[axis]
    left_low, left_high, right_low, right_high = left[low], left[high], right[low], right[high]
    first = or_join(left_low, right_low, rest, third)
    if kind == PART_PART:
        second = or_join(left_high, right_low + right_high, rest, third)
        second += or_join(left_low, right_high, rest, third)
    else:
        first += or_join(left_high, right_high, rest, third)
        if kind == PART_WHOLE:
            second = or_join(left_low + left_high, right_high, rest, third)
        else:
            second = or_join(left_high, right_low + right_high, rest, third)
    return np.concatenate((first, second), axis)


def _or_join_at_once(left: Table, right: Table, axes: Axes) -> Table:
    """Do the same for all axes in one product, over tables that are widened from 2 to 3 along each axis."""
    order, back, kinds = _arrangement(axes, left.ndim)
    left, right = left.transpose(order), right.transpose(order)
    others = left.ndim - len(axes)
    wide_left = _widen(left, kinds, (0, 1, 0), (2, 0, 1), (1, 0, 1)).reshape((-1, *left.shape[:others]))
    wide_right = _widen(right, kinds, (0, 2, 1), (1, 0, 1), (2, 0, 1)).reshape((-1, *right.shape[:others]))
    product = wide_left * wide_right
    shape = (*product.shape[1:], *(2,) * len(axes))
    for _, kind in axes:
        thirds = product.reshape(3, -1)
        product = np.empty((thirds.shape[1], 2))
        # The first third is "none fired" of two parts, else "one fired"; the other two are summed.
        alone = 0 if kind == PART_PART else 1
        product[:, alone] = thirds[0]
        np.add(thirds[1], thirds[2], out=product[:, 1 - alone])
    return product.reshape(shape).transpose(back)


@lru_cache(maxsize=16384)
def _arrangement(axes: Axes, dimensions: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return the transposition that puts the OR axes last, its inverse, and the kinds, last axis first."""
    joined = [axis for axis, _ in axes]
    order = [axis for axis in range(dimensions) if axis not in joined] + joined
    back = sorted(range(dimensions), key=order.__getitem__)
    return tuple(order), tuple(back), tuple(kind for _, kind in reversed(axes))


def _widen(
    table: Table,
    kinds: tuple[int, ...],
    part_part: tuple[int, int, int],
    part_whole: tuple[int, int, int],
    whole_part: tuple[int, int, int],
) -> Table:
    """Return the table with the last axes widened to 3 and moved to the front, one after the other.

    For each kind of join three numbers say what the widened axis holds: state 0, state 1 or (2) their sum.
    """
    choices = (part_part, part_whole, whole_part)
    for kind in kinds:
        pairs = table.reshape(-1, 2)
        states = (pairs[:, 0], pairs[:, 1])
        table = np.empty((3, pairs.shape[0]))
        for place, choice in enumerate(choices[kind]):
            if choice == 2:
                np.add(states[0], states[1], out=table[place])
            else:
                table[place] = states[choice]
    return table
