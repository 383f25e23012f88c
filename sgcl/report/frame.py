"""The axes of a plot in SVG: grid, ticks, labels, and where a value stands in pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sgcl.report.elements import element, shortened
from sgcl.report.scales import Names, Numbers

_TOP, _RIGHT = 34.0, 28.0
_LETTER, _LONGEST = 6.8, 22                 # width of a letter in pixels, about; letters of a name
_SLANT = math.radians(35)                   # of names too long to stand side by side


@dataclass(frozen=True)
class Frame:
    """Axes of ``width`` by ``height`` pixels and the labels around them; names on the y axis run from below."""

    x_axis: Numbers | Names
    y_axis: Numbers | Names
    x_label: str
    y_label: str
    width: float
    height: float = 230.0

    def x(self, value: float | str) -> float:
        """Pixels from the left edge of the drawing."""
        return self.left + self.x_axis.share(value) * self.width

    def y(self, value: float | str) -> float:
        """Pixels from its upper edge."""
        return self.bottom - self.y_axis.share(value) * self.height

    @property
    def bottom(self) -> float:
        """Pixels from the upper edge to the lower end of the y axis."""
        return _TOP + self.height

    def svg(self, title: str, marks: Iterable[str]) -> str:
        """The whole drawing, marks over the grid."""
        wide, high = self.left + self.width + _RIGHT, self.bottom + self._below + (24 if self.x_label else 0)
        most, half = int(wide / _LETTER), min(_LETTER * len(self.x_label), wide) / 2
        middle = min(max(self.left + self.width / 2, half), wide - half)
        inner = (*self._grid(), *marks, *self._ticks_below(),
                 element("text", shortened(self.y_label, most), x=0, y=14, class_="label"),
                 element("text", shortened(self.x_label, most), x=middle, y=high - 8, class_="label middle"))
        return element("svg", *inner, viewBox=f"0 0 {wide:.0f} {high:.0f}", width=f"{wide:.0f}", height=f"{high:.0f}",
                       role="img", aria_label=title, style=f"min-width:{0.85 * wide:.0f}px")    # not tiny on a phone

    @property
    def left(self) -> float:
        """Room for the labels of the y axis, and for the first of those below when they are slanted."""
        return max(_breadth(self.y_axis) + 14, (_breadth(self.x_axis) * math.cos(_SLANT) + 10
                   - self.width * self.x_axis.ticks[0][0]) if self._slanted else 0)

    @property
    def _slanted(self) -> bool:
        return isinstance(self.x_axis, Names) and room(self.x_axis) > self.width

    @property
    def _below(self) -> float:
        """Room for the labels of the x axis."""
        return _breadth(self.x_axis) * math.sin(_SLANT) + 20 if self._slanted else 24

    def _grid(self) -> Iterable[str]:
        right = self.left + self.width
        for share, label in self.y_axis.ticks:
            y = self.bottom - share * self.height
            if isinstance(self.y_axis, Numbers):
                yield element("line", x1=self.left, x2=right, y1=y, y2=y, class_="grid")
            yield element("text", shortened(label, _LONGEST), x=self.left - 8, y=y + 4, class_="tick end")
        if isinstance(self.x_axis, Numbers):
            for share, _ in self.x_axis.ticks:
                x = self.left + share * self.width
                yield element("line", x1=x, x2=x, y1=_TOP, y2=self.bottom, class_="grid")
        if isinstance(self.y_axis, Numbers):
            zero = self.bottom - self.y_axis.share(0) * self.height
            yield element("line", x1=self.left, x2=right, y1=zero, y2=zero, class_="axis")

    def _ticks_below(self) -> Iterable[str]:
        for share, label in self.x_axis.ticks:
            x = self.left + share * self.width
            if self._slanted:
                yield element("text", shortened(label, _LONGEST), class_="tick end",
                              transform=f"translate({x + 4:.1f} {self.bottom + 16:.1f}) rotate(-35)")
            else:
                yield element("text", shortened(label, _LONGEST), x=x, y=self.bottom + 19, class_="tick middle")


def room(names: Names) -> float:
    """Pixels in which all names can stand side by side."""
    return (_breadth(names) + 8) * len(names.names)


def _breadth(axis: Numbers | Names) -> float:
    """Pixels of its longest label, about."""
    return _LETTER * max(min(len(label), _LONGEST) for _, label in axis.ticks)
