"""Pages of results as one HTML file that asks for nothing from anywhere: text, sortable tables and plots."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

from sgcl.report.elements import element
from sgcl.report.page import Page, Plot, Table, Value
from sgcl.report.svg import HATCHES, draw

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'"
_INLINE = re.compile(r"`(?P<code>[^`]+)`|\[(?P<said>[^\]]+)\]\((?P<to>[^()\s]+)\)|"
                     r"\*\*(?P<strong>\S(?:.*?\S)?)\*\*|\*(?P<em>[^\s*](?:[^*]*[^\s*])?)\*", re.DOTALL)
_BRIEF = 30                                 # letters that a cell without a number may have on its face


def document(pages: Sequence[Page], title: str) -> str:
    """The file's text; the same pages give the same text.

    A link to ``NAME.md`` leads to the page of that name in the file; a cell's text may hold the same marks as a
    paragraph (``code``, emphasis, links), and everything else in it is shown as it is.
    """
    anchors = _anchors(pages)
    links = {f"{page.name}.md": f"#{anchor}" for page, anchor in zip(pages, anchors, strict=True)}
    contents = (element("li", element("a", escape(page.title), href=f"#{anchor}"))
                for page, anchor in zip(pages, anchors, strict=True))
    sections = (_section(page, anchor, links) for page, anchor in zip(pages, anchors, strict=True))
    style, script = ((files("sgcl.report") / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return "\n".join([
        "<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        element("title", escape(title)), f"<style>\n{style}</style>", "</head>", "<body>", HATCHES,
        element("header", element("h1", escape(title))),
        element("nav", element("h2", "Contents"), element("ol", *contents), aria_label="Contents"),
        element("main", "\n", *sections), f"<script>\n{script}</script>", "</body>", "</html>", ""])


def _anchors(pages: Sequence[Page]) -> list[str]:
    """An id for each page, made of its name; a name met before gets a number."""
    found: list[str] = []
    for page in pages:
        anchor = re.sub(r"[^\w.-]+", "-", page.name).strip("-") or "page"
        met = sum(re.sub(r"~\d+$", "", other) == anchor for other in found)
        found.append(f"{anchor}~{met + 1}" if met else anchor)
    return found


def _section(page: Page, anchor: str, links: Mapping[str, str]) -> str:
    parts = (_table(part, links) if isinstance(part, Table) else _plot(part) for part in page.parts)
    return element("section", "\n", element("h2", element("a", escape(page.title), href=f"#{anchor}")), "\n",
                   _prose(page.text, links), element("div", *parts, class_="parts"), id=anchor) + "\n"


def _prose(text: str, links: Mapping[str, str]) -> str:
    """Paragraphs, parted by empty lines, and lists, an item from each ``-`` or ``*`` at the beginning of a line."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        paragraph, *items = re.split(r"(?:^|\n) *[-*] +", block)
        if paragraph.strip():
            blocks.append(element("p", _inline(paragraph.strip(), links)))
        if items:
            blocks.append(element("ul", *(element("li", _inline(item.strip(), links)) for item in items)))
    return "\n".join(blocks) + "\n"


def _inline(text: str, links: Mapping[str, str]) -> str:
    """``code``, emphasis and links as elements, all else escaped; a link leads to the web, a file or a page here."""
    out, end = [], 0
    for found in _INLINE.finditer(text):
        out.append(escape(text[end:found.start()]))
        kind, inner = found.lastgroup or "", found[found.lastgroup or 0]
        if kind == "code":
            out.append(element("code", escape(inner)))
        elif kind == "to":
            said, to = _inline(found["said"], links), links.get(inner, inner)
            plain = re.match(r"https?://|[^:]*$", to)
            out.append(element("a", said, href=to) if plain else said)
        else:
            out.append(element(kind, _inline(inner, links)))
        end = found.end()
    return "".join(out) + escape(text[end:])


def _table(table: Table, links: Mapping[str, str]) -> str:
    """A table in a box of its own; a column with a :class:`Value` is of numbers, and the first names the rows."""
    columns = [[cell for cell in column if isinstance(cell, Value)] for column in zip(*table.rows, strict=True)]
    columns = columns or [[] for _ in table.columns]
    heads = (element("th", _inline(name, links), scope="col", class_="number" if values else None)
             for name, values in zip(table.columns, columns, strict=True))
    looks = ["number spread" if any("±" in value.text for value in values) else "number" if values else None
             for values in columns]
    rows = [element("tr", *(_cell(cell, "td" if place else "th", look, links)
                            for place, (cell, look) in enumerate(zip(row, looks, strict=True)))) + "\n"
            for row in table.rows]
    empty = element("tr", element("td", "No rows yet.", colspan=str(len(table.columns)), class_="none"))
    body = element("table", element("thead", element("tr", *heads)), "\n", element("tbody", *(rows or [empty])))
    caption = element("figcaption", _inline(table.caption, links)) if table.caption else ""
    return element("figure", caption, element("div", body, class_="box", tabindex="0", role="region",
                                              aria_label=table.caption or "Table"), class_="table") + "\n"


def _cell(cell: Value | str, kind: str, look: str | None, links: Mapping[str, str]) -> str:
    scope = "row" if kind == "th" else None
    if isinstance(cell, str):
        return element(kind, _inline(cell, links), scope=scope, class_=look)
    if cell.number is None or not math.isfinite(cell.number):
        return element(kind, _folded(cell.text, links), scope=scope, class_="number absent")
    mean, sign, deviation = cell.text.partition("±")
    inner = _inline(mean.rstrip(), links) + element("span", escape(f" ±{deviation}" if sign else ""),
                                                    class_="deviation")
    return element(kind, inner, scope=scope, class_=look, data_number=repr(float(cell.number)),
                   title=None if sign or cell.deviation is None else f"± {cell.deviation:.4g}")


def _folded(text: str, links: Mapping[str, str]) -> str:
    """A long reason why there is no number, such as ``not run here: command``, unfolds what comes after its colon."""
    reason, colon, more = text.partition(": ")
    if not colon or len(text) <= _BRIEF:
        return _inline(text, links)
    return element("details", element("summary", _inline(reason, links)), _inline(more, links))


def _plot(plot: Plot) -> str:
    return element("figure", element("figcaption", escape(plot.title)),
                   element("div", draw(plot), class_="box", tabindex="0", role="region", aria_label=plot.title),
                   class_="plot") + "\n"
