"""Elements of HTML and SVG as text: attributes escaped, lengths to a tenth of a pixel."""

from __future__ import annotations

from html import escape


def element(name: str, *inner: str, **attributes: float | str | None) -> str:
    """``<name …>inner</name>``; ``inner`` is markup already, an attribute that is None is left out.

    >>> element("rect", class_="bar", stroke_width=1.25, y=-0.01)
    '<rect class="bar" stroke-width="1.2" y="0"></rect>'
    """
    words = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(_word(value))}"'
                    for key, value in attributes.items() if value is not None)
    return f"<{name}{words}>{''.join(inner)}</{name}>"


def shortened(text: str, longest: int = 22) -> str:
    """``text`` escaped and cut to ``longest`` characters; what is cut stands in a tooltip."""
    if len(text) <= longest:
        return escape(text)
    return escape(text[:longest - 1].rstrip()) + "…" + element("title", escape(text))


def points(*places: tuple[float, float]) -> str:
    """Places as the ``points`` of a line or a polygon."""
    return " ".join(f"{_word(x)},{_word(y)}" for x, y in places)


def _word(value: float | str) -> str:
    if isinstance(value, str):
        return value
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
