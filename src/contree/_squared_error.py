"""From squared errors to the integers that the core minimises, and back.

A leaf of weight W loses e = sum(w y^2) - sum(w y)^2 / W, in units of weight times squared units of
the targets.  Its score is floor(2**shift * e), an integer.  The shift is as large as the score of
all rows together permits, so a unit of score is about 2**-59 of their squared error.  A leaf costs
c units of score, by ``ccp_alpha``; the core gets p = floor(c).

Let a tree T have l leaves, let O(T) be its true objective in units of score, and o(T) what the core
counts.  Each leaf loses less than one unit by the floor, and c - p by its cost:

    o(T) + (c - p) l <= O(T) < o(T) + (c - p) l + l.

So a bound b of the core, b <= o(T) for all T, proves O(T) >= b + c - p, since l >= 1.  This holds
whatever the rounding.  The tree that is returned has an exact objective, from its sums.  If the
core has proved that o(T) is least, no tree has a true objective of less than b + c - p; the
difference is below 1e-12 of the objective unless the tree fits nearly perfectly.  In that case
``target_tolerance_`` says how much it is.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral
from typing import Any, ClassVar

from contree._integer_targets import IntegerTargets, rounding_norm, sums
from contree._objective import exact_share
from contree._typing import Number
from contree._weights import Weights, rounded_down

SCORE_BITS = 59  # of the score of all rows
SCORE_BITS_WITH_COST = 57  # the same, if leaves have a cost of at most one unit more
LEAST, MOST = 1e-280, sys.float_info.max / 4  # squared errors that float64 holds, with those below
RELATIVE_DIGITS = Fraction(1, 10**12)  # of the objective: what rounding of scores may change unsaid


@dataclass(frozen=True)
class SquaredErrorCost:
    """What the core minimises where leaves predict numbers, exactly and as it counts.

    Attributes
    ----------
    targets : IntegerTargets
        The targets, with their unit.
    shift : int
        A unit of score is 2**-shift units of squared error.
    unit : Fraction
        A unit of score in the user's unit.
    alone : Fraction
        The squared error of all rows as one leaf, in units of score.
    cost : Fraction
        What a leaf costs, in units of score.
    leaf_cost : int
        The same as the core gets it.
    most : int
        The most leaves of a permitted tree.
    settled : (int, Fraction), or None
        What the core counted for the tree that is returned, and its true objective.
    """

    targets: IntegerTargets
    shift: int
    unit: Fraction
    alone: Fraction
    cost: Fraction
    leaf_cost: int
    most: int
    settled: tuple[int, Fraction] | None = None

    error_cost: ClassVar[int] = 1
    loss: ClassVar[str] = "squared error"

    @classmethod
    def of(
        cls, ccp_alpha: Number, most: int, targets: IntegerTargets, weights: Weights
    ) -> SquaredErrorCost:
        """Return the cost for rows with these targets and weights."""
        alpha = exact_share(ccp_alpha)
        alone = squared_error(*sums(targets.integers, weights.multiples))
        in_user_unit = weights.unit * targets.unit**2
        _check_size(alone * in_user_unit)
        bits = SCORE_BITS if alpha == 0 else SCORE_BITS_WITH_COST
        length = alone.numerator.bit_length() - alone.denominator.bit_length() + 1
        shift = bits - length if alone else 0
        scale = Fraction(2) ** shift
        cost = alpha * weights.total / targets.unit**2 * scale
        unit, alone = in_user_unit / scale, alone * scale
        if (cost * most + alone) * unit > sys.float_info.max:
            raise ValueError(
                f"ccp_alpha={ccp_alpha} times the weight of all rows is more than float64 can hold."
            )
        leaf_cost = min(math.floor(cost), math.floor(alone) + 1)
        return cls(targets, shift, unit, alone, cost, leaf_cost, most)

    @property
    def core_options(self) -> dict[str, Any]:
        return {"objective": "squared_error", "score_shift": self.shift}

    def gap(self, max_gap: Number) -> int:
        """Return ``max_gap``, a squared error or a share of that of one leaf, in units of score.

        It is less by what the floors of two trees can differ.
        """
        if isinstance(max_gap, Integral):
            units = min(int(max_gap) / self.unit, self.alone)
        else:
            units = Fraction(str(max_gap)) * self.alone
        return max(0, math.floor(units) - 2 * self.most)

    def settle(self, counted: int, squared_error: Fraction, leaves: int) -> SquaredErrorCost:
        """Return this cost with the true objective of the tree that is returned.

        `squared_error` is in the user's unit.
        """
        return replace(self, settled=(counted, squared_error / self.unit + self.cost * leaves))

    def bounds(self, counted: int, counted_bound: int) -> tuple[float, float]:
        """Return the objective of a tree and a proved bound, in the user's unit.

        The tree's objective is exact if the tree is the one that is returned; else it may be less
        than a unit of score for each leaf too small, but not below that of the returned tree.
        """
        least = max(Fraction(0), counted + self.cost - self.leaf_cost)
        if self.settled is not None:
            least = max(least, self.settled[1])
        objective = float(least * self.unit)
        if counted_bound >= counted:
            return objective, objective
        lower = float(rounded_down(self._least(counted_bound) * self.unit))
        if lower >= objective:  # one float64 may be the nearest to both; a smaller bound holds too
            lower = math.nextafter(objective, -math.inf)
        return objective, max(lower, 0.0)

    def proved(self, counted: int, counted_bound: int) -> bool:
        """Tell whether the core has proved that no tree has a smaller score."""
        return counted_bound >= counted

    def least_leaves(self, counted: int, counted_bound: int) -> int:
        """Return 1: leaves are a part of the objective, or do not count."""
        return 1

    def weight_tolerance(self, weights: Weights) -> float:
        """Return how far rounded weights put a squared error off, in the user's unit.

        A leaf predicts a number between the targets, so the square of each distance is at most
        that of their range.
        """
        integers = self.targets.integers
        width = int(integers.max()) - int(integers.min()) + (self.targets.off is not None)
        return rounded_up(Fraction(weights.tolerance) * (width * self.targets.unit) ** 2)

    def target_tolerance(self, weights: Weights, counted_bound: int) -> float:
        """Return how far rounded targets and scores put a result off, in the user's unit.

        The root of a tree's squared error is the length of a projection of the targets.  So
        rounding the targets by a vector of length d changes this root by at most d, and a squared
        error e by at most 2 d sqrt(e) + d^2.  That also holds for the bound, since
        (sqrt(e) - d)^2 grows with e >= d^2.
        """
        assert self.settled is not None
        objective = self.settled[1]
        d = Fraction(rounding_norm(self.targets, weights.multiples))
        root = math.sqrt(objective / Fraction(2) ** self.shift)
        length = Fraction(math.nextafter(root, math.inf))
        off = (2 * d * length + d * d) * weights.unit * self.targets.unit**2
        return rounded_up(off + self._floors(counted_bound))

    def _floors(self, counted_bound: int) -> Fraction:
        """Return how far the true optimum may be below the objective, if the core has proved it.

        Zero if it is too little for ``objective_`` to show.
        """
        assert self.settled is not None
        counted, objective = self.settled
        if counted_bound < counted:
            return Fraction(0)
        below = objective - self._least(counted_bound)
        return below * self.unit if below > objective * RELATIVE_DIGITS else Fraction(0)

    def _least(self, counted_bound: int) -> Fraction:
        return max(Fraction(0), counted_bound + self.cost - self.leaf_cost)


def squared_error(mass: int, total: int, squares: int) -> Fraction:
    """Return the squared error of a leaf, from its weight and the sums of w y and of w y^2."""
    return squares - Fraction(total * total, mass)


def rounded_up(number: Fraction) -> float:
    """Return the least float64 that is not below a number, or the next."""
    return 0.0 if number == 0 else math.nextafter(float(number), math.inf)


def _check_size(error: Fraction) -> None:
    """Reject targets whose squares float64 cannot hold."""
    if error == 0 or LEAST <= error <= MOST:
        return
    digits = math.log10(error.numerator) - math.log10(error.denominator)
    raise ValueError(
        f"Input y: the squared error of all rows is about 1e{digits:+.0f}, which float64 cannot "
        "hold. Divide y by its standard deviation first."
    )
