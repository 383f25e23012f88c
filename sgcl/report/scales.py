"""Axes of a plot: where a number or a name stands between the ends, and which ticks are worth a label."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Numbers:
    """From ``low`` to ``high``, evenly with a tick each ``step``, or by logarithms."""

    low: float
    high: float
    step: float = 1.0
    log: bool = False

    @staticmethod
    def around(values: Iterable[float], log: bool = False, zero: bool = True) -> Numbers:
        """The axis that holds all values and ends at round numbers; a logarithmic one holds the positive ones alone.

        With ``zero``, numbers of one sign start from there, unless they would fill less than half of the axis.
        """
        known = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
        low, high = (min(known), max(known)) if known else (1.0, 10.0) if log else (0.0, 1.0)
        if log:
            low, high = max(_rounds(low / 10, low)), min(_rounds(high, 10 * high))
            return Numbers(low, high if high > low else 10 * low, log=True)
        single = high - low <= 1e-9 * max(abs(low), abs(high))
        if low > 0 and (single or (zero and low <= high / 2)):
            low = 0.0
        elif high < 0 and (single or (zero and high >= low / 2)):
            high = 0.0
        elif single:
            high = 1.0
        step = min(_rounds((high - low) / 5, high - low))
        return Numbers(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, step)

    def share(self, value: float | str) -> float:
        """Where ``value`` stands: 0 at ``low``, 1 at ``high``; what lies beyond stands at the end."""
        value = float(value)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low) if value > 0 else 0.0
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0)

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """(share, label) of the round numbers: of each decade, or of 1, 2 and 5 where there are few decades."""
        if self.log:
            decades = _rounds(self.low, self.high, (1,))
            chosen = decades[::math.ceil(len(decades) / 7)] if len(decades) > 2 else _rounds(self.low, self.high)
            return tuple((self.share(value), number(value)) for value in chosen)
        counts = range(round(self.low / self.step), round(self.high / self.step) + 1)
        decimals: int | None = max(0, -math.floor(math.log10(self.step) + 1e-9))
        largest = max(abs(self.low), abs(self.high))
        if (self.step < 1e-4 or largest >= 1e6) and largest < 100 * self.step:
            decimals = None                 # powers of ten read better, and three digits tell the ticks apart
        return tuple((self.share(count * self.step), number(count * self.step, decimals) if count else "0")
                     for count in counts)


@dataclass(frozen=True)
class Names:
    """Names side by side, each in the middle of a slot of its own."""

    names: tuple[str, ...]

    def share(self, name: float | str) -> float:
        """Where a name stands between 0 and 1."""
        return (self.names.index(str(name)) + 0.5) / len(self.names)

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """(share, label) of every name."""
        return tuple(((place + 0.5) / len(self.names), name) for place, name in enumerate(self.names))


def number(value: float, decimals: int | None = None) -> str:
    """A number as it is read: ``84.31``, ``12,400``, ``−0.5``, ``3×10⁻⁷``; to five digits, or ``decimals``."""
    if decimals is None and value and not 1e-4 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.2e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".").replace("-", "−")
        power = "10" + str(int(exponent)).translate(_SUPERSCRIPTS)
        return power if mantissa == "1" else f"{mantissa}×{power}"
    if decimals is not None:
        text = f"{value:,.{decimals}f}"
    else:
        text = f"{value:,.{max(0, 4 - math.floor(math.log10(abs(value) or 1)))}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−") if float(text.replace(",", "")) else text.removeprefix("-")


def decimals_of(values: Iterable[float]) -> int:
    """How many decimals tell these values apart to about a hundredth of what they span."""
    known = list(values)
    span = (max(known) - min(known)) or abs(known[0]) / 10 or 1.0
    return min(max(2 - math.floor(math.log10(span)), 0), 6)


def _rounds(low: float, high: float, digits: tuple[int, ...] = (1, 2, 5)) -> list[float]:
    """1, 2 and 5 times the powers of ten from ``low`` to ``high``."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    found = [float(f"{digit}e{power}") for power in powers for digit in digits]
    return [value for value in found if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
