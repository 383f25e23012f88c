"""What a benchmark is: rows by datasets by seeds, how each is scored, and the page that shows it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sgcl import datasets
from sgcl.bench.cells import Cell, Row, default_way
from sgcl.bench.lines import Lines
from sgcl.errors import unknown_name
from sgcl.report.page import Page

Way = tuple[str | None, str | None]     # protocol and probe


def usual(row: Row, dataset: str) -> Sequence[Way]:
    """Scored by the protocol of the dataset."""
    return [default_way(dataset)]


def unscored(row: Row, dataset: str) -> Sequence[Way]:
    """Measured without a score."""
    return [(None, None)]


@dataclass(frozen=True)
class Bench:
    """A table or figure of the paper, or a study beside it.

    Args:
        name: the word a user types; also of its published figures and of its page.
        title, text: of its page, the text in Markdown.
        rows: what is compared.
        seeds: how many for each dataset, unless asked otherwise.
        page: what shows it.
        fewer: how many seeds some rows have at the most, by row.
        measure: what is measured.
        ways: protocols and probes by row and dataset; none leaves the pair out.
        file: where its lines go in a results folder; ``<name>.jsonl`` unless given.
    """

    name: str
    title: str
    text: str
    rows: tuple[Row, ...]
    seeds: Mapping[str, int]
    page: Callable[[Any, Lines], Page]
    fewer: Callable[[Row, str], int | None] = lambda row, dataset: None
    measure: str = "probe"
    ways: Callable[[Row, str], Sequence[Way]] = usual
    file: str = ""

    def cells(self, lines: Lines, *, names: Sequence[str] | None = None, methods: Sequence[str] | None = None,
              seeds: int | None = None) -> Iterator[Cell]:
        """All cells, or those of some datasets (also others of the catalogue), rows or methods, and seeds 0 to
        ``seeds`` - 1. ``lines`` is what is there, for a benchmark whose cells depend on the outcome of others."""
        for dataset in self.seeds if names is None else names:
            for row in self.chosen_rows(methods):
                yield from self.of(row, dataset, *self.ways(row, dataset), seeds=seeds)

    def of(self, row: Row, dataset: str, *ways: Way, seeds: int | None = None) -> Iterator[Cell]:
        """The cells of one row on one dataset, scored in these ways."""
        chosen = row.chosen(dataset)
        for seed in range(self.seeds_of(row, dataset, seeds)):
            for protocol, probe in ways:
                yield Cell(row.name, row.method, dataset, seed, protocol, probe, self.measure, chosen)

    def seeds_of(self, row: Row, dataset: str, asked: int | None = None) -> int:
        """How many seeds a row has on a dataset; a dataset that is not of this benchmark has one."""
        wanted = self.seeds.get(dataset, 1) if asked is None or not self.is_seeded else asked
        most = None if asked is not None else self.fewer(row, dataset)
        return wanted if most is None else min(wanted, most)

    @property
    def is_seeded(self) -> bool:
        return self.measure in ("probe", "attributes", "hindsight", "validation")

    def chosen_rows(self, methods: Sequence[str] | None) -> list[Row]:
        """The rows that are called so, or whose method is."""
        if methods is None:
            return list(self.rows)
        known = {word for row in self.rows for word in (row.name, row.method)}
        for word in methods:
            if word not in known:
                raise unknown_name(f"row or method of {self.name}", word, known)
        return [row for row in self.rows if {row.name, row.method} & set(methods)]

    def check_datasets(self, names: Iterable[str]) -> None:
        """Raise on a name that is unknown, or is of a collection where graphs are asked for, or the other way round."""
        level = {datasets.DATASETS[name].task for name in self.seeds if name in datasets.DATASETS}
        for name in names:
            if name not in self.seeds and datasets.DATASETS[name].task not in level:
                raise unknown_name(f"dataset of {self.name}", name, self.seeds)

    def command(self, dataset: str | None = None, *rows: str) -> str:
        """The command that runs it, or a part of it."""
        words = ["sgcl", "bench", self.name]
        words += [] if dataset is None else ["--datasets", dataset]
        words += ["--methods", *rows] if rows else []
        return shlex.join(words)

    @property
    def lines_file(self) -> str:
        return self.file or f"{self.name}.jsonl"
