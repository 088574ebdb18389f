"""From the user's targets to the centred integers that the core adds up.

The core gets y = centre + unit * integer, where the integers times the weight of all rows stay
below 2**53, so that every sum in float64 is exact.  Three ways are tried, in this order:

1. The decimals that the user wrote: the shortest that give these float64 values, up to 15 digits.
2. The float64 values themselves, which are integers times a power of two.
3. The nearest points of a grid.  Then `IntegerTargets.off` bounds what that changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

BITS = 53  # of the integers times the weight of all rows
WIDEST = 61  # bits of an integer before it is centred
DIGITS = 10**15  # decimals with fewer digits are told apart by float64
TEN_POWERS = 22  # float64 holds 10**22 exactly and no higher power


@dataclass(frozen=True)
class IntegerTargets:
    """Targets as integers: each is centre + unit * integer, up to the rounding.

    Attributes
    ----------
    integers : array of int64
        Below 2**53 divided by the weight of all rows, in size.
    unit : Fraction
        The distance of two neighbouring integers in the user's unit.
    centre : Fraction
        What the integer 0 stands for.
    off : array of float64, or None
        The rounding of each target in units of the grid; None where there is none.
    """

    integers: np.ndarray
    unit: Fraction
    centre: Fraction
    off: np.ndarray | None = None


def exact_targets(y: np.ndarray) -> list[IntegerTargets]:
    """Return the ways to write targets as integers without rounding, the most faithful first."""
    if y.dtype.kind in "iu":
        ways = [(_differences(y), Fraction(1), Fraction(int(y.min())))]
    else:
        ways = [way for way in (_as_decimals(y), _as_binary(y)) if way is not None]
    return [_centred(*way) for way in ways if int(way[0].max()).bit_length() <= WIDEST]


def widest(targets: IntegerTargets) -> int:
    """Return the largest integer, in size."""
    return max(int(targets.integers.max()), -int(targets.integers.min()))


def _centred(above: np.ndarray, unit: Fraction, least: Fraction) -> IntegerTargets:
    """Return targets least + unit * above, with the greatest unit and the centre in the middle."""
    above = above.astype(np.int64)
    divisor = max(1, int(np.gcd.reduce(above)))
    above = above // divisor
    middle = int(above.max()) // 2
    unit = unit * divisor
    return IntegerTargets(above - middle, unit, least + unit * middle)


def _differences(y: np.ndarray) -> np.ndarray:
    """Return integers less the least of them; uint64 holds any difference of two int64."""
    return y.astype(np.uint64) - np.uint64(int(y.min()) % (1 << 64))


def _as_binary(y: np.ndarray) -> tuple[np.ndarray, Fraction, Fraction] | None:
    """Return float64 values as integers times a power of two; None if these are too wide."""
    fraction, exponent = np.frexp(y)
    odd = np.ldexp(fraction, 53).astype(np.int64)
    zeros = np.where(odd == 0, 0, np.frexp((odd & -odd).astype(np.float64))[1] - 1)
    odd, exponent = odd >> zeros, exponent.astype(np.int64) - 53 + zeros
    if not odd.any():
        return np.zeros(len(y), dtype=np.int64), Fraction(1), Fraction(0)
    lowest = int(exponent[odd != 0].min())
    shift = np.where(odd == 0, 0, exponent - lowest)
    if int((np.frexp(np.abs(odd).astype(np.float64))[1] + shift).max()) > WIDEST - 1:
        return None
    integers = odd << shift
    least, unit = int(integers.min()), Fraction(2) ** lowest
    return integers - least, unit, unit * least


def _as_decimals(y: np.ndarray) -> tuple[np.ndarray, Fraction, Fraction] | None:
    """Return float64 values as integers times a power of ten, by their shortest decimals.

    An integer below 10**15 divided by a power of ten up to 10**22 is correctly rounded.  So if the
    quotient is the value again, the value is the one float64 nearest to that decimal.
    """
    for power in range(TEN_POWERS + 1):
        with np.errstate(over="ignore"):
            integers = np.rint(y * 10.0**power)
        if np.abs(integers).max() >= DIGITS:
            break
        if np.array_equal(integers / 10.0**power, y):
            return _from_least(integers.astype(np.int64), -power)
    return _as_long_decimals(y)


def _as_long_decimals(y: np.ndarray) -> tuple[np.ndarray, Fraction, Fraction] | None:
    """Return the same for values whose decimals are far behind the point, or far before it."""
    values, inverse = np.unique(y, return_inverse=True)
    parts = []
    for value in values.tolist():
        sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
        if len(digits) > 15 or not isinstance(exponent, int):
            return None
        parts.append(((-1) ** sign * int("".join(map(str, digits))), exponent))
    lowest = min((exponent for number, exponent in parts if number), default=0)
    if max((exponent - lowest for number, exponent in parts if number), default=0) > 18:
        return None
    integers = [number * 10 ** (exponent - lowest) if number else 0 for number, exponent in parts]
    if max(map(abs, integers)).bit_length() > WIDEST - 1:
        return None
    return _from_least(np.array(integers, dtype=np.int64)[inverse], lowest)


def _from_least(integers: np.ndarray, power: int) -> tuple[np.ndarray, Fraction, Fraction]:
    least, unit = int(integers.min()), Fraction(10) ** power
    return integers - least, unit, unit * least


def fits(targets: IntegerTargets, total: int) -> bool:
    """Tell whether sums of targets are exact in float64, for rows of this weight."""
    return widest(targets) * total < 1 << BITS


def grid_targets(y: np.ndarray, total: int) -> IntegerTargets:
    """Return targets rounded to multiples of a power of two, the finest that fits.

    y / unit is below 2**53 in size.  Else the values would all be multiples of one power of two,
    so few of them that `exact_targets` had found them narrow enough.
    """
    most = ((1 << BITS) - 1) // total
    integers_given = y.dtype.kind in "iu"
    y = y.astype(np.float64)
    low, high = Fraction(float(y.min())), Fraction(float(y.max()))
    ratio = (high - low) / 2 / max(most - 1, 1)
    power = ratio.numerator.bit_length() - ratio.denominator.bit_length() + 1
    scaled = np.ldexp(y, -power)
    rounded = np.rint(scaled)
    integers = rounded.astype(np.int64)
    least = int(integers.min())
    middle = least + (int(integers.max()) - least) // 2
    unit = Fraction(2) ** power
    off = np.abs(scaled - rounded)
    if integers_given:  # float64 is at most half a step off
        off += np.ldexp(np.spacing(np.abs(y)), -power - 1)
    return IntegerTargets(integers - middle, unit, unit * middle, off)


def exact_dot(a: np.ndarray, b: np.ndarray) -> int:
    """Return the sum of the products of two arrays of int64 below 2**53 in size, exactly."""
    half = 27
    mask = (1 << half) - 1
    a_high, a_low, b_high, b_low = a >> half, a & mask, b >> half, b & mask
    return (
        (_exact_sum(a_high * b_high) << 2 * half)
        + (_exact_sum(a_high * b_low + a_low * b_high) << half)
        + _exact_sum(a_low * b_low)
    )


def _exact_sum(products: np.ndarray) -> int:
    """Return a sum of int64, in halves that cannot overflow below 2**31 rows."""
    return (int((products >> 31).sum()) << 31) + int((products & ((1 << 31) - 1)).sum())


def sums(integers: np.ndarray, weights: np.ndarray | None) -> tuple[int, int, int]:
    """Return the weight of some rows, and the sums of w y and of w y^2, exactly."""
    weighted = integers if weights is None else integers * weights
    mass = len(integers) if weights is None else int(weights.sum())
    return mass, int(weighted.sum()), exact_dot(weighted, integers)


def rounding_norm(targets: IntegerTargets, weights: np.ndarray | None) -> float:
    """Return a bound on the root of the weighted sum of squares of what was rounded, in units."""
    if targets.off is None:
        return 0.0
    squares = np.square(targets.off) if weights is None else np.square(targets.off) * weights
    return math.sqrt(float(squares.sum())) * (1 + 2.0**-20)
