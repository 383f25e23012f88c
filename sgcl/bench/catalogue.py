"""All benchmarks by name, and their pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sgcl.bench.bench import Bench
from sgcl.bench.lines import Lines
from sgcl.bench.tables.ablations import (
    BILATERAL_GRID,
    DIFFUSION_GRID,
    LOSS_TERMS,
    SAMPLERS_BENCH,
    TAUBIN_GRID,
    TAUBIN_STEPS,
)
from sgcl.bench.tables.baselines import BASELINES_BENCH, EQUAL_BUDGET
from sgcl.bench.tables.collections import GRAPHS, GRAPHS_ATTRIBUTES, GRAPHS_HINDSIGHT, GRAPHS_TRIED
from sgcl.bench.tables.costs import COST, MEMORY, RUNTIME
from sgcl.bench.tables.data import DATASETS_BENCH, SMOOTHING_FIGURE
from sgcl.bench.tables.homophily import DISPARITY, DISPARITY_SERIES, HETEROPHILY
from sgcl.bench.tables.nodes import NODE_LARGE, NODE_SMALL, headline
from sgcl.bench.tables.study import SIMILARITY, SMOOTHING, STRENGTH
from sgcl.bench.tables.tried import BASELINES_TRIED
from sgcl.errors import unknown_name
from sgcl.report.html import document
from sgcl.report.page import Page, Table, Value, markdown

HTML = "results.html"


class _Benches(dict[str, Bench]):
    """Name to benchmark; an unknown name is answered with the nearest known one."""

    def __missing__(self, name: str) -> Bench:
        raise unknown_name("benchmark", name, [*self, "all", "list", "render"])


BENCHES = _Benches({bench.name: bench for bench in (
    NODE_SMALL, NODE_LARGE, GRAPHS, GRAPHS_TRIED, GRAPHS_HINDSIGHT, GRAPHS_ATTRIBUTES, BASELINES_BENCH,
    BASELINES_TRIED, EQUAL_BUDGET, DISPARITY_SERIES, DISPARITY, HETEROPHILY, SMOOTHING, STRENGTH, SIMILARITY,
    SMOOTHING_FIGURE, DATASETS_BENCH, RUNTIME, COST, MEMORY, SAMPLERS_BENCH, LOSS_TERMS, TAUBIN_GRID, TAUBIN_STEPS,
    BILATERAL_GRID, DIFFUSION_GRID)})


def read_lines(where: str | Path) -> Lines:
    """The lines of a results folder, or of one ``.jsonl`` file."""
    return Lines(Path(where), [bench.lines_file for bench in BENCHES.values()])


def pages(lines: Lines) -> list[Page]:
    """The index, named ``README``, and a page for each benchmark."""
    return [_index(lines), *(bench.page(bench, lines) for bench in BENCHES.values())]


def rendered(made: Sequence[Page]) -> dict[str, str]:
    """File name to text: a Markdown page each, and all of them as one HTML page."""
    texts = {f"{page.name}.md": markdown(page) for page in made}
    return {**texts, HTML: document(made, "SGCL: results beside the paper's")}


def _index(lines: Lines) -> Page:
    rows = []
    for bench in BENCHES.values():
        cells = list({cell.key: cell for cell in bench.cells(lines)}.values())
        run = sum(lines.get(cell) is not None for cell in cells)
        rows.append((f"[{bench.title}]({bench.name}.md)", f"`{bench.command()}`", _share(run, len(cells)),
                     ", ".join(sorted({cell.dataset for cell in cells} & lines.absent))))
    return Page("README", "Results", f"""{headline(NODE_SMALL, lines)}

Every table and figure of the SGCL paper, and some beside, by one command each: ours beside the paper's, with the
difference and whether it is within noise. No figure of ours is typed: a cell is a run with its seed, settings,
protocol, times, versions and commit, a line of JSON in `results/`, and `sgcl bench render` makes these pages from the
lines. What was not run says so, with its command. `sgcl bench all` runs whatever has no line yet, cheap cells first, in
as many processes as there are cores, and goes on where it was when it is stopped, by whatever; `--datasets`,
`--methods` and `--seeds` take a part of it, `--budget MINUTES` begins nothing that would not fit, `--dry-run` lists
what is to be run and how long that may take.

`results.html` has all pages in one, with tables to sort and plots, to be read offline. A time on the pages is of one
core of a shared machine, for orientation.
""", (Table(("", "command", "cells run", "data not on the machine"), tuple(rows)),))


def _share(run: int, asked: int) -> Value:
    return Value(run / asked if asked else None, f"{run} of {asked}")


def named(names: Sequence[str]) -> list[Bench]:
    """The benchmarks of those names; ``all`` is all of them."""
    return list(BENCHES.values()) if "all" in names else [BENCHES[name] for name in names]
