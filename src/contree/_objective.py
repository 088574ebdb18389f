"""From ``ccp_alpha`` to the integers that the core minimises, and back.

The objective is e + c l, with e the weight of the errors, l the number of leaves and
c = ccp_alpha times the weight of all rows, all in multiples of the weights' unit.  `ccp_alpha` is
read as the decimal that stands in the user's program, so that 0.01 of 1000 rows is 10 errors for a
leaf, and a tie is a tie.  The core adds up integers, q e + p l; `LeafCost` chooses p and q.

Any order of trees by e + c l is one by q e + p l, with q no larger than twice the most leaves, n,
that count.  Two trees differ by a whole number of errors and by d <= n leaves, so how they compare
says only on which side of a fraction with a denominator of at most n the number c lies.  If c is
such a fraction, p / q is c.  Otherwise let a and b be its neighbours among these fractions (Farey's
sequence of order n): their mediant lies between them as c does, and no other fraction lies there,
so c and the mediant compare alike with all of them.  Its denominator is the sum of theirs.

The most leaves that count are those that the depth, the limit and the rows allow, and no more than
K = floor(1 / ccp_alpha) + 1.  For a tree with K + 1 leaves or more has a cost of splits of at least
c K, more than all rows weigh, and a single leaf is better; since c > W / K, the same holds for the
mediant of order K.  A `ccp_alpha` of 1 or more has the optimum that 1 has, a leaf.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from contree._check_parameters import resolve_max_gap
from contree._typing import Number
from contree._weights import Exact, Unit, Weights, in_user_unit, rounded_down

FREE = Fraction(0)  # leaves that cost nothing, the usual case, which is kept short
FEW = 4096  # numbers of leaves that are worth trying one by one


def exact_share(ccp_alpha: Number) -> Fraction:
    """Return ``ccp_alpha`` as the decimal that is written."""
    return FREE if ccp_alpha == 0 else Fraction(str(float(ccp_alpha)))


def most_leaves(ccp_alpha: Number, max_depth: int, max_leaf_nodes: int | None, n_rows: int) -> int:
    """Return the number of leaves above which no tree can be optimal."""
    most = n_rows if max_depth >= 31 else min(n_rows, 2**max_depth)
    if max_leaf_nodes is not None:
        most = min(most, int(max_leaf_nodes))
    alpha = exact_share(ccp_alpha)
    return most if alpha == 0 else min(most, math.floor(1 / alpha) + 1)


def widest_sum(most: int) -> int:
    """Return what the multiples of the weights must stay below, so that no objective reaches 2**60.

    `most` is the most leaves that count, or 0 if leaves cost nothing.  No score on the way is more
    than q times the weight of all rows and two leaves' costs, each of at most as much.
    """
    return (1 << 60) // (6 * most) if most else 1 << 60


def between_neighbours(number: Fraction, order: int) -> Fraction:
    """Return a fraction that compares with all of a denominator up to `order` as `number` does.

    The number itself if it is such a fraction, else the mediant of its neighbours.  These are the
    last convergent of its continued fraction with such a denominator, and the last intermediate
    fraction after the convergent before it.
    """
    if number.denominator <= order:
        return number
    (p0, q0), (p1, q1) = (0, 1), (1, 0)
    n, d = number.numerator, number.denominator
    while True:
        a = n // d
        if q0 + a * q1 > order:
            break
        (p0, q0), (p1, q1) = (p1, q1), (p0 + a * p1, q0 + a * q1)
        n, d = d, n - a * d
    k = (order - q0) // q1
    return Fraction(p0 + k * p1 + p1, q0 + k * q1 + q1)


class Objective(Protocol):
    """What the core minimises: error_cost times the loss plus leaf_cost times the leaves.

    `LeafCost` counts errors, `LeavesSecond` errors and then leaves, `SquaredErrorCost` squared
    errors.
    """

    @property
    def loss(self) -> str:
        """The name of what leaves lose."""

    @property
    def error_cost(self) -> int: ...

    @property
    def leaf_cost(self) -> int: ...

    @property
    def core_options(self) -> dict[str, Any]:
        """The options of the core's searcher that say what a leaf loses."""

    def gap(self, max_gap: Number) -> int:
        """Return the parameter ``max_gap`` in the core's integers."""

    def bounds(self, counted: int, counted_bound: int) -> tuple[Number, Number]:
        """Return the objective of a tree and a proved bound, in the user's unit."""

    def proved(self, counted: int, counted_bound: int) -> bool:
        """Tell whether no tree can be better than one, by what the core counted of both."""

    def least_leaves(self, counted: int, counted_bound: int) -> int:
        """Return the proved number of leaves of a tree with no more loss; 1 if none is proved."""


@dataclass(frozen=True)
class LeafCost:
    """What a leaf costs, exactly and as the core counts it, where errors are counted.

    Attributes
    ----------
    cost : Fraction
        c, in multiples of the weights' unit.
    error_cost, leaf_cost : int
        q and p.
    most : int
        The most leaves that count.
    total : int
        The weight of all rows.
    unit : int or Fraction
        What one multiple is in the user's unit.
    """

    cost: Fraction
    error_cost: int
    leaf_cost: int
    most: int
    total: int
    unit: Unit

    @classmethod
    def free(cls, most: int, weights: Weights) -> LeafCost:
        """Return the cost of leaves that cost nothing."""
        return cls(FREE, 1, 0, most, weights.total, weights.unit)

    @classmethod
    def of(cls, ccp_alpha: Number, most: int, weights: Weights) -> LeafCost:
        if ccp_alpha == 0:
            return cls.free(most, weights)
        cost = exact_share(ccp_alpha) * weights.total
        if (cost * most + weights.total) * weights.unit > sys.float_info.max:
            raise ValueError(
                f"ccp_alpha={ccp_alpha} times the weight of all rows is more than float64 can hold."
            )
        counted = between_neighbours(min(cost, Fraction(weights.total)), most)
        return cls(cost, counted.denominator, counted.numerator, most, weights.total, weights.unit)

    loss: ClassVar[str] = "errors"

    @property
    def core_options(self) -> dict[str, Any]:
        return {}

    def gap(self, max_gap: Number) -> int:
        """Return ``max_gap``, a number of errors or a share, in the core's integers."""
        return self.scaled_gap(resolve_max_gap(max_gap, self.total, self.unit))

    def scaled_gap(self, max_gap: int) -> int:
        """Return a gap of the core's objective that is within `max_gap` of the true one.

        The two differ by cost - p / q for each leaf, and trees by fewer than `most` leaves.
        """
        if self.cost is FREE:
            return max_gap
        off = abs(min(self.cost, Fraction(self.total)) - Fraction(self.leaf_cost, self.error_cost))
        return max(0, math.floor(self.error_cost * (max_gap - off * self.most)))

    def objective(self, counted: int) -> Number:
        """Return the objective of a tree in the user's unit, from what the core counted."""
        return self._reported(self._exact(counted))

    def bounds(self, counted: int, counted_bound: int) -> tuple[Number, Number]:
        """Return the objective of a tree and a proved bound, in the user's unit.

        A bound is rounded down; where no tree can be better it is the objective itself, rounded as
        that is, so that the two are equal just when that is proved.
        """
        objective = self.objective(counted)
        if self.proved(counted, counted_bound):
            return objective, objective
        bound: Exact = counted_bound
        if self.cost is not FREE:
            bound = max(self._least(counted_bound), Fraction(0))
        lower = rounded_down(bound * self.unit)
        # One float64 may be the nearest to both; a smaller bound holds too.
        if lower == objective and isinstance(lower, float):
            lower = math.nextafter(lower, -math.inf)
        return objective, lower

    def proved(self, counted: int, counted_bound: int) -> bool:
        """Tell whether no tree can be better than one, by what the core counted of both."""
        if self.cost is FREE or counted_bound >= counted:
            return counted_bound >= counted
        return self._least(counted_bound) >= self._exact(counted)

    def least_leaves(self, counted: int, counted_bound: int) -> int:
        """Return 1: leaves are a part of the objective, or do not count."""
        return 1

    def _reported(self, exact: Fraction) -> Number:
        if self.cost == 0:
            return in_user_unit(int(exact), self.unit)
        return float(exact * self.unit)

    def _exact(self, counted: int) -> Fraction:
        """Return e + c l of a tree of which q e + p l is known.

        Where p / q is not c, q is more than the most leaves, so l is known by its remainder; or c
        is at least the weight of all rows, which e is below.
        """
        p, q = self.leaf_cost, self.error_cost
        if Fraction(p, q) == self.cost:
            return Fraction(counted, q)
        leaves = counted // p if self.cost > self.total else counted * pow(p, -1, q) % q
        return (counted - p * leaves) // q + self.cost * leaves

    def _least(self, counted_bound: int) -> Fraction:
        """Return the least e + c l of a tree with q e + p l of at least the bound.

        Errors are whole.  Where there are too many numbers of leaves to try, parts of errors count
        too, which gives a smaller bound.
        """
        p, q = self.leaf_cost, self.error_cost
        if p == 0:
            return Fraction(counted_bound)
        last = min(self.most, max(1, -(-counted_bound // p)))
        if last <= FEW:
            return min(
                max(0, -((p * leaves - counted_bound) // q)) + self.cost * leaves
                for leaves in range(1, last + 1)
            )
        off = self.cost - Fraction(p, q)
        return Fraction(counted_bound, q) + min(off, off * last)
