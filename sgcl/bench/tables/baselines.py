"""The baselines: each beside its own paper, all under one protocol, and with an equal budget for their settings."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sgcl.bench import published
from sgcl.bench.bench import Bench, Way
from sgcl.bench.cells import Cell, Row
from sgcl.bench.lines import Lines
from sgcl.bench.measures import SHARED
from sgcl.bench.pages import NOISE, absent, compared, mean, seeds_of, shown, text_of, titled, trained
from sgcl.bench.rows import BASELINES, FLOOR_ROWS, SGCL
from sgcl.report.page import Page, Plot, Series, Table, Value

SEEDS = {"cora": 3, "citeseer": 3, "pubmed": 1, "photo": 1, "computers": 1, "coauthor-cs": 1}
SEARCH_SEED = 100                                                               # reported seeds are below
RATES = (1.0, 2.0, 0.5)     # of the recipe's learning rate
TRIED = 0.25                # of its epochs


def own_ways(row: Row, dataset: str) -> Sequence[Way]:
    """Protocol and probe of each figure published of a row, and those that all rows share."""
    own: list[Way] = [(claim.protocol, claim.probe) for claim in published.claims()
                      if claim.row == row.name and dataset in claim.figures]
    return list(dict.fromkeys([*own, SHARED]))


def baselines_page(bench: Bench, lines: Lines) -> Page:
    parts: list[Table | Plot] = [_beside_papers(bench, lines, dataset) for dataset in bench.seeds]
    for dataset in bench.seeds:
        parts += _together(bench, lines, dataset)
    return Page(bench.name, bench.title, text_of(bench), tuple(parts))


def _beside_papers(bench: Bench, lines: Lines, dataset: str) -> Table:
    known = {row.name: row for row in bench.rows}
    rows = []
    for claim in published.claims():
        if dataset in claim.figures:
            row, way, figure = known[claim.row], (claim.protocol, claim.probe), claim.figures[dataset]
            mine = lines.of(bench.of(row, dataset, way))
            rows.append((row.name, f"{claim.protocol}, {claim.probe}", shown(bench, lines, row, dataset, way),
                         seeds_of(bench, row, dataset, mine), *compared(mine, figure),
                         "" if figure is None else figure.source, trained(mine),
                         row.origin(dataset)))
    return Table(("", "split, probe", "test %", "seeds", "published", "difference", "within noise", "whose",
                  "training s", "settings"), tuple(rows), f"{dataset}, beside the papers of the methods")


def _together(bench: Bench, lines: Lines, dataset: str) -> list[Table | Plot]:
    """Floors, then the methods, the best first; those not run come last."""
    rows = []
    for row in bench.rows:
        mine = lines.of(bench.of(row, dataset, SHARED))
        value = shown(bench, lines, row, dataset, SHARED)
        rows.append((row.name, value, mean(mine, "val", 100), mean(mine, "untrained", 100),
                     seeds_of(bench, row, dataset, mine), trained(mine)))
    floors = {row.name for row in FLOOR_ROWS}
    rows.sort(key=lambda row: (row[0] not in floors, -(row[1].number or 0.0)))
    run = [(row[0], row[1]) for row in rows if row[1].number is not None]
    table = Table(("", "test %", "validation %", "its encoder untrained", "seeds", "training s"), tuple(rows),
                  f"{titled(dataset, SHARED)}, all methods")
    plot = Plot("bars", f"{titled(dataset, SHARED)}, all methods", "", "test accuracy, %", (Series(
        "ours", tuple(name for name, _ in run), tuple(value.number or 0.0 for _, value in run),
        tuple(value.deviation or 0.0 for _, value in run)),))
    return [table, plot] if run else [table]


@dataclass(frozen=True)
class Tuned(Bench):
    """Cells of a search on validation nodes and, of rows for which it is done, those of the best settings."""

    def cells(self, lines: Lines, *, names: Sequence[str] | None = None, methods: Sequence[str] | None = None,
              seeds: int | None = None) -> Iterator[Cell]:
        for dataset in self.seeds if names is None else names:
            for row in self.chosen_rows(methods):
                yield from self.tries(row, dataset)
                yield from self.best(row, dataset, lines, seeds)

    def tries(self, row: Row, dataset: str) -> list[Cell]:
        """One training for each learning rate, scored on the validation nodes of a split that is not reported; none of
        what is not trained."""
        rows = [] if row in FLOOR_ROWS else [replace(row, times={"lr": rate, "epochs": TRIED}) for rate in RATES]
        return [Cell(row.name, row.method, dataset, SEARCH_SEED, SHARED[0], None, "validation", tried.chosen(dataset))
                for tried in rows]

    def best(self, row: Row, dataset: str, lines: Lines, seeds: int | None = None) -> list[Cell]:
        """The reported cells of the settings that did best; none before all have been tried."""
        tries = self.tries(row, dataset)
        scores = [line["val"] for line in lines.of(tries)]
        if len(scores) < len(tries):
            return []
        best = replace(row, times={"lr": RATES[scores.index(max(scores))]}) if scores else row
        return list(self.of(best, dataset, SHARED, seeds=seeds))


def tuned_page(bench: Tuned, lines: Lines) -> Page:
    parts = []
    for dataset in bench.seeds:
        rows = []
        for row in bench.rows:
            tries, best = bench.tries(row, dataset), bench.best(row, dataset, lines)
            mine, tried = lines.of(best), [line["val"] for line in lines.of(tries)]
            value = mean(mine, "test", 100) if mine else absent(bench, lines, row, dataset, [*tries, *best])
            rows.append((row.name, value, seeds_of(bench, row, dataset, mine),
                         f"{len(tried)} of {len(tries)}" if tries else "",
                         f"lr x {RATES[tried.index(max(tried))]:g}" if best and tried else "",
                         Value(100 * max(tried), f"{100 * max(tried):.2f}") if tried else "",
                         "" if not tried else f"{100 * statistics.median(tried):.2f}"))
        parts.append(Table(("", "test %", "seeds", "tried", "best", "its validation %", "median validation %"),
                           tuple(rows), titled(dataset, SHARED)))
    return Page(bench.name, bench.title, text_of(bench), tuple(parts))


BASELINES_BENCH = Bench(
    "baselines", "Baselines", """
Thirteen methods beside SGCL, each in one file on the same contract, trained by the same loop: see
[baselines](../baselines.md) for what each does, for corrections that are kept and for what to know of the published
figures. Means and sample deviations are over seeds, each of which trains an encoder and, but for the public split,
draws a split. Training seconds are those of one core, the median of the seeds.

The first tables score by the split and, where this library has it, the probe of the method's paper:

- *public*: the one split of Planetoid, 20 labels a class; *grace*: 10 % of the nodes train, the rest is tested;
  *random*: 10 / 10 / 80 %.
- *published*: gradient steps as in the paper, 100 on the public split (DGI), 5,000 with the best on validation kept on
  the random one (GCA's kin take 3,000); *cross-validated*: GRACE's one-vs-rest regression, C by five folds of the
  training nodes, which is also the *converged* probe of the grace split; *converged* elsewhere: logistic regression run
  to its optimum, C chosen on validation nodes, in place of probes that this library does not have (the step counts and
  decays of MVGRL, CCA-SSG, GraphMAE2 and GRLC, or none named).

Every encoder is scored as its last epoch left it.

The other tables have the same splits, probe, machine and library for every method, for the features alone and for an
encoder before its training (SGCL's in the row of that name, and each method's own in a column). What was spent on
settings is not the same: [with an equal budget](equal-budget.md) it is. Where a method is far below its figure,
[other settings](baselines-tried.md) were tried.
""" + f"\n{NOISE}\n", (*FLOOR_ROWS, *SGCL, *BASELINES), SEEDS,
    baselines_page, ways=lambda row, dataset: [SHARED] if row in FLOOR_ROWS else own_ways(row, dataset),
    file="methods.jsonl")

EQUAL_BUDGET = Tuned(
    "equal-budget", "All methods with an equal budget for their settings", f"""
What was spent on the settings of a published recipe cannot be known: the authors had whatever budget they had, often
with a look at test nodes; SGCL's recipe for Cora and CiteSeer comes from a search on validation nodes
([results](node-small.md)), those of BGRL and G-BT from a few tries. Here every method has the same: {len(RATES)}
settings, the learning rate of its recipe, twice that and half of it. Each is trained once for a quarter of the epochs,
on a seed that is not reported; the best on the validation nodes of that seed's split goes on, with all epochs, to the
seeds of the table. The test labels of that split are hidden meanwhile; other draws test on some of its validation
nodes. `sgcl sweep` does the like for any grid.
""", (*FLOOR_ROWS, *SGCL, *BASELINES), {"cora": 3}, tuned_page, file="methods-search.jsonl")
