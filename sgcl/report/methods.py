"""A page of methods in Markdown, made of their docstrings."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class About(NamedTuple):
    """What is said of a method."""

    name: str
    embeds: str                  # nodes or graphs
    idea: str                    # in a line
    paper: str
    text: str                    # formula, cost, arguments and departures, as in a docstring
    defaults: Mapping[str, str]  # by the argument's name; what has none is not told


def methods_page(methods: Sequence[About]) -> str:
    """A table of all, then a section for each."""
    rows = [f"| [{one.name}](#{one.name}) | {one.embeds} | {_prose(one.idea)} |" for one in methods]
    return "\n".join([
        "# Methods", "", "What each method computes, what that costs and where it departs from its paper, for N nodes, "
        "E edges, F features and D columns of the embedding.", "", "Figures beside those of the papers: of methods for "
        "[nodes](results/baselines.md), for [graphs](results/graphs.md). This page is made of the docstrings by "
        "`sgcl methods --markdown`.", "",
        "| method | embeds | idea |", "| --- | --- | --- |", *rows, "",
        *(line for one in methods for line in (f"## {one.name}", "", *_section(one)))])


def _section(one: About) -> list[str]:
    summary, *blocks = re.split(r"\n\n+", one.text)
    made = [_arguments(block, one.defaults) if block.startswith("Args:") else _block(block) for block in blocks]
    return [line for block in (f"{_prose(summary)} {_prose(one.paper)}", *made) for line in (block, "")]


def _block(block: str) -> str:
    if block.startswith(".. math::"):
        return "```math\n" + textwrap.dedent(block.removeprefix(".. math::").strip("\n")).strip() + "\n```"
    return _prose(block)


def _arguments(block: str, defaults: Mapping[str, str]) -> str:
    """A list with defaults; of ``name, name: text`` each name has its own."""
    found = re.findall(r"^    (\S.*?): (.*(?:\n {8}.*)*)", block, flags=re.MULTILINE)
    points = []
    for names, text in found:
        known = [name for name in names.split(", ") if name in defaults]
        if known:
            told = ", ".join(f"`{name}` ({defaults[name]})" for name in known)
            points.append(f"- {told}: {_prose(text)}")
    return "\n".join(points)


def _prose(text: str) -> str:
    """One line, with Markdown's marks for code and no tags."""
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"``\1``", " ".join(text.split())).replace("``", "`")
    return "".join(part if number % 2 else part.replace("<", "\\<") for number, part in enumerate(
        re.split(r"(`[^`]*`)", text)))
