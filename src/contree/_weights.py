"""From the user's weights to the integers that the core adds up, and back to the user's unit.

A float64 is an integer times a power of two, and a balanced class weight is a rational number, so
almost all weights are multiples of one unit.  The core gets these multiples and its sums are exact;
what it answers is multiplied by the unit.  Only where the multiples sum to 2**60 or more are they
rounded, and then `Weights.tolerance` says what that can do.  (Where leaves cost something, sums of
weights are multiplied on the way, and the limit is lower: see `_objective.widest_sum`.)
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from contree._typing import Number

LIMIT = 1 << 60  # what the core's sums stay below
WIDEST = 62  # bits of a multiple that int64 holds with room for its sign

Exact = int | Fraction
Unit = Exact  # an int where every weight was one: then all that is reported is whole
ClassWeight = list[Exact] | str | None  # one for each class; the only string is "balanced"


@dataclass(frozen=True)
class Weights:
    """The weights of the rows as multiples of a unit.

    Attributes
    ----------
    multiples : array of int64, shape (n_rows,), or None
        At least 1 each, below 2**60 in all.  None: all are 1, and the core searches without
        weights, which is several times faster.
    unit : int or Fraction
        What one of them is in the user's unit.
    total : int
        The sum of the multiples.
    tolerance : float
        0.0 where multiples times unit are the weights exactly; otherwise a bound on the sum over
        all rows of the difference between the two, in the user's unit.

    Notes
    -----
    Let E(T) be the true weight of the rows that a tree T gets wrong, R(T) the rounded one, and d
    the tolerance.  Both sum over the same rows, so R(T) - E(T) is at most the sum p of the
    differences that are positive, and at least minus the sum q of the sizes of the others, where
    p + q <= d.  Hence what is reported of a tree is at most d off.  Further, if R(T) <= R(S) + g
    for the tree T that was found and every permitted tree S, then
    E(T) <= R(T) + q <= R(S) + g + q <= E(S) + p + g + q <= E(S) + g + d:
    the tree is at most d further from the optimum than the search has proved.  (Which trees are
    permitted depends on the weights only by ``min_weight_fraction_leaf``: see
    `_check_parameters.resolve_leaf_size`.)
    """

    multiples: np.ndarray | None
    unit: Unit
    total: int
    tolerance: float = 0.0


def in_user_unit(multiple: int, unit: Unit) -> Number:
    """Return a sum of multiples in the user's unit: exact, or correctly rounded to a float."""
    return multiple * unit if isinstance(unit, int) else float(multiple * unit)


def rounded_down(exact: Exact) -> Number:
    """Return an int as it is, and a fraction as the largest float that is not above it."""
    if isinstance(exact, int):
        return exact
    nearest = float(exact)
    return math.nextafter(nearest, -math.inf) if Fraction(nearest) > exact else nearest


def weigh(
    sample_weight: np.ndarray | None,
    class_weight: ClassWeight,
    codes: np.ndarray,
    limit: int = LIMIT,
) -> Weights:
    """Return the weights of the rows: those of the rows times those of their classes.

    Parameters
    ----------
    sample_weight : array of shape (n_rows,), or None
        Positive integers or float64.
    class_weight : list of int or Fraction, "balanced", or None
        One for each class, positive where the class has rows.  "balanced" gives every class the
        same total and keeps the sum of all: a row's weight times W / (K W_c), where W is the
        weight of all rows, W_c that of its class, and K the number of classes that have rows.
    codes : array of int32, shape (n_rows,)
        The class of each row.
    limit : int, default=2**60
        What the multiples must sum to less than.
    """
    if sample_weight is None:
        if class_weight is None:
            return Weights(None, 1, len(codes))
        sample_weight = np.ones(len(codes), dtype=np.int64)
    groups = _Groups(codes)
    whole = sample_weight.dtype.kind in "iu" and (
        class_weight is None or (isinstance(class_weight, list) and _all_int(class_weight))
    )
    found = _exact(sample_weight, class_weight, groups, limit) or _rounded(
        sample_weight, class_weight, groups, limit
    )
    if whole and found.tolerance == 0 and found.total * found.unit < 1 << 63:
        return Weights(found.multiples, int(found.unit), found.total)
    return found


class _Groups:
    """The rows by class, for sums over each; classes without rows are left out."""

    def __init__(self, codes: np.ndarray) -> None:
        self.order = np.argsort(codes, kind="stable")
        self.classes, self.starts, self.of_row = np.unique(
            codes[self.order], return_index=True, return_inverse=True
        )
        self.of_row = self.of_row[np.argsort(self.order)]

    def sums(self, integers: np.ndarray) -> list[int]:
        """Return the sum of each class, in halves that cannot overflow below 2**32 rows."""
        sorted_ = integers[self.order]
        high = np.add.reduceat(sorted_ >> 31, self.starts)
        low = np.add.reduceat(sorted_ & ((1 << 31) - 1), self.starts)
        return [(int(h) << 31) + int(part) for h, part in zip(high, low, strict=True)]

    def rounded_sums(self, values: np.ndarray) -> list[Fraction]:
        """Return the sum of each class, correctly rounded to a float64."""
        parts = np.split(values[self.order], self.starts[1:])
        return [Fraction(math.fsum(part)) for part in parts]

    def exponents(self, values: np.ndarray) -> np.ndarray:
        """Return the power of two that is just above the values of each class."""
        return np.frexp(np.maximum.reduceat(values[self.order], self.starts))[1]

    def divisors(self, integers: np.ndarray) -> list[int]:
        """Return the greatest common divisor of each class."""
        return list(map(int, np.gcd.reduceat(integers[self.order], self.starts)))


def _exact(
    sample_weight: np.ndarray, class_weight: ClassWeight, groups: _Groups, limit: int
) -> Weights | None:
    """Return the weights without any rounding, or None where they sum to the limit or more."""
    found = _as_integers(sample_weight)
    if found is None:
        return None
    integers, unit = found
    sums, divisors = groups.sums(integers), groups.divisors(integers)
    factors = _class_factors(class_weight, groups, sums)
    denominator = math.lcm(*(factor.denominator for factor in factors))
    whole = [int(factor * denominator) for factor in factors]
    common = math.gcd(*(d * factor for d, factor in zip(divisors, whole, strict=True)))
    total = sum(s * factor for s, factor in zip(sums, whole, strict=True)) // common
    if total >= limit:
        return None
    # Divided before it is multiplied, so that nothing on the way is larger than the result.
    divisor = np.array(divisors, dtype=np.int64)
    times = [d * factor // common for d, factor in zip(divisors, whole, strict=True)]
    of_row = groups.of_row
    multiples = integers // divisor[of_row] * np.array(times, dtype=np.int64)[of_row]
    plain = total == len(multiples)  # each is at least 1
    unit *= Fraction(common, denominator)
    _check_sum(total * unit)
    return Weights(None if plain else multiples, unit, total)


def _rounded(
    sample_weight: np.ndarray, class_weight: ClassWeight, groups: _Groups, limit: int
) -> Weights:
    """Return the weights rounded to multiples of a power of two that sum to just below the limit.

    Everything is scaled by powers of two first, each class by its own, so that it is at most 1.
    The relative error of a scaled product is below 2**-50, because it is rounded at most four times
    (the sums of all rows and of the class for "balanced", the class's factor, the product); what
    underflows is off by less than 2**-1000.  To these come the differences by rounding to whole
    multiples, which are exact; their sum is off by less than 2**-21 of itself.  So the last factor
    makes the tolerance a bound, with room for the rounding of a sum that is reported as a float.
    """
    values = sample_weight.astype(np.float64)
    exponents = groups.exponents(values)
    values = np.ldexp(values, -exponents[groups.of_row])
    scales = [Fraction(2) ** int(exponent) for exponent in exponents]
    sums = [scale * one for scale, one in zip(scales, groups.rounded_sums(values), strict=True)]
    factors = _class_factors(class_weight, groups, sums)
    factors = [scale * factor for scale, factor in zip(scales, factors, strict=True)]
    largest = max(factors)
    above = largest.numerator.bit_length() - largest.denominator.bit_length() + 1
    values *= np.array([float(factor / Fraction(2) ** above) for factor in factors])[groups.of_row]

    # Rounding to at least 1 adds less than 1 for each row; the sum of floats is a little off too.
    room = max(len(values), limit >> 20)
    power = int(np.frexp((limit - room) / values.sum())[1]) - 1
    values = np.ldexp(values, power)
    multiples = np.maximum(np.rint(values), 1.0)
    off = float(np.abs(multiples - values).sum() + values.sum() * 2.0**-50) * (1 + 2.0**-20)
    multiples = multiples.astype(np.int64)
    total, unit = int(multiples.sum()), Fraction(2) ** (above - power)
    _check_sum(total * unit)
    tolerance = math.nextafter(float(Fraction(off) * unit), math.inf)
    return Weights(multiples, unit, total, tolerance)


def _check_sum(weight: Fraction) -> None:
    if weight > sys.float_info.max:
        raise ValueError("The weights of all rows sum to more than float64 can hold.")


def _as_integers(weights: np.ndarray) -> tuple[np.ndarray, Fraction] | None:
    """Return integers and what they are multiples of, if int64 holds them.

    Only where it would not hold them, they are divided by their greatest common divisor here.
    """
    if weights.dtype.kind in "iu":
        unit = 1
        if int(weights.max()).bit_length() > WIDEST:
            unit = int(np.gcd.reduce(weights))
            weights = weights // weights.dtype.type(unit)
        fits = int(weights.max()).bit_length() <= WIDEST
        return (weights.astype(np.int64), Fraction(unit)) if fits else None
    fraction, exponent = np.frexp(weights)
    odd, exponent = np.ldexp(fraction, 53).astype(np.int64), exponent.astype(np.int64) - 53
    zeros = np.frexp((odd & -odd).astype(np.float64))[1] - 1  # at the end of the binary number
    odd, exponent = odd >> zeros, exponent + zeros
    lowest, unit = int(exponent.min()), 1
    shift = exponent - lowest
    if _widest(odd, shift) > WIDEST:
        unit = int(np.gcd.reduce(odd))
        odd //= unit
        if _widest(odd, shift) > WIDEST:
            return None
    return odd << shift, unit * Fraction(2) ** lowest


def _widest(odd: np.ndarray, shift: np.ndarray) -> int:
    """Return the bits of the largest of the integers ``odd << shift``."""
    return int((np.frexp(odd.astype(np.float64))[1] + shift).max())


def _class_factors(
    class_weight: ClassWeight, groups: _Groups, sums: Sequence[Exact]
) -> list[Fraction]:
    """Return the weight of each class that has rows, from the sums of the rows' weights."""
    if class_weight is None:
        return [Fraction(1)] * len(sums)
    if isinstance(class_weight, str):
        whole = sum(sums)
        return [Fraction(whole) / (len(sums) * one) for one in sums]
    return [Fraction(class_weight[c]) for c in groups.classes]


def _all_int(class_weight: list[Exact]) -> bool:
    return all(isinstance(one, int) for one in class_weight)
