"""Baselines that stay far below a published figure: what becomes of them with other settings and another probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sgcl.bench import published
from sgcl.bench.bench import Bench, Way, usual
from sgcl.bench.cells import Row
from sgcl.bench.lines import Lines
from sgcl.bench.pages import compared, mean, seeds_of, shown, text_of
from sgcl.bench.rows import named
from sgcl.report.page import Page, Table

_NARROW = {"projector_channels": 128}
_LONG = {"epochs": 1_000, "patience": None}
_TRIED: dict[str, dict[str, dict[str, Any]]] = {
    "DGI": {"100 epochs": {"epochs": 100, "patience": None}, "1,000 epochs": _LONG},
    "GRACE": {"100 epochs": {"epochs": 100}, "400 epochs": {"epochs": 400}},
    "MVGRL": {"1,000 epochs": _LONG, "alpha 0.1": {"alpha": 0.1}, "prune 0.0001, top 512": {"prune": 1e-4, "top": 512}},
    "BGRL": {"width 1,024": {"hidden_channels": 1024, "out_channels": 1024}},
    "CGRA": {"projector of 128": _NARROW, "projector of 128, 1,000 epochs": {**_NARROW, "epochs": 1_000}},
    "GRLC": {"250 epochs": {"epochs": 250}},
    "GREET": {"600 epochs": {"epochs": 600}},
    "GSCL": {"listwise": {"ranking": "listwise"}, "3 hops": {"hops": 3},
             "no gate": {"threshold": 1.0}, "temperature 0.1": {"temperature": 0.1},
             "no projector": {"projection_channels": 0}, "2 layers, dropout 0.5": {"num_layers": 2, "dropout": 0.5},
             "features as they are": {"normalize_features": False},
             "2 layers, 500 epochs": {"num_layers": 2, "epochs": 500}},
    "ProGCL-mix": {"400 epochs": {"epochs": 400, "start_epoch": 201}},
}
_CONVERGED, _PUBLISHED, _FOLDS = ("public", "converged"), ("public", "published"), ("public", "cross-validated")
_BELOW: dict[tuple[str, str], tuple[Way, ...]] = {     # by more than 1.5 points, and how they are scored
    ("DGI", "citeseer"): (_CONVERGED, _PUBLISHED), ("GRACE", "cora"): (("grace", "converged"),),
    ("MVGRL", "citeseer"): (_CONVERGED, _PUBLISHED), ("BGRL", "cora"): (("grace", "converged"),),
    ("CGRA", "cora"): (_FOLDS,), ("CGRA", "citeseer"): (_FOLDS,), ("GRLC", "cora"): (_CONVERGED,),
    ("GREET", "cora"): (_FOLDS,), ("GSCL", "cora"): (_CONVERGED, _PUBLISHED),
    ("GSCL", "citeseer"): (_CONVERGED, _PUBLISHED),
    ("ProGCL-mix", "cora"): (("random", "converged"), ("random", "published"))}
_SEEDS = {"cora": 3, "citeseer": 3}


def ways(row: Row, dataset: str) -> Sequence[Way]:
    """Those under which a method is far below its figure; on datasets of one's own, the usual one."""
    return _BELOW.get((_method(row), dataset), ()) if dataset in _SEEDS else usual(row, dataset)


def _method(row: Row) -> str:
    return row.name.split(", ")[0]


def tried_page(bench: Bench, lines: Lines) -> Page:
    parts = []
    for dataset in bench.seeds:
        rows = []
        for row in bench.rows:
            for way in bench.ways(row, dataset):
                mine = lines.of(bench.of(row, dataset, way))
                claim = next((claim.figures.get(dataset) for claim in published.claims()
                              if claim.row == _method(row) and (claim.protocol, claim.probe) == way), None)
                rows.append((row.name, f"{way[0]}, {way[1]}", shown(bench, lines, row, dataset, way),
                             mean(mine, "val", 100), seeds_of(bench, row, dataset, mine), *compared(mine, claim)[:2]))
        parts.append(Table(("", "split, probe", "test %", "validation %", "seeds", "published", "difference"),
                           tuple(rows), dataset))
    return Page(bench.name, bench.title, text_of(bench), tuple(parts))


BASELINES_TRIED = Bench(
    "baselines-tried", "Baselines: what was tried", """
Where [our figures](baselines.md) lie more than 1.5 points below the published ones on Cora and CiteSeer: is it the
settings, or the probe? One change at a time, scored with both probes: logistic regression run to its optimum, C chosen
on validation nodes, and the gradient steps of the protocol's papers; the *grace* split has one probe, C chosen by folds
of the training nodes. The test nodes are those of the table, and no setting was chosen by them; but that a low
temperature is worse for GSCL led to a sweep of it on validation nodes, from which its recipe for CiteSeer is.

What came out: on Cora it is the number of epochs for three of them. GRACE and ProGCL-mix are still learning after the
200 epochs of GRACE's settings, and come to within 1 and 1.5 points of their figures with 400; GREET has its figure
with half of its epochs (its paper keeps the epoch that is best on validation nodes). In each case the validation
column asks for the same. Half of GRLC's epochs change nothing, and BGRL's gain by width lies within its noise. The
probe is worth one to two points on the public split, and most of what DGI lacks on CiteSeer; longer trainings and less
pruning bring MVGRL there to about 1.5 points below. CGRA's projector was too narrow inside in earlier runs: mending it
brought a point on CiteSeer, which is within the noise, and none on Cora, where fewer epochs bring none either. Nothing
brings GSCL near its figures: low temperatures and embeddings that are ranked without a projector are far worse, a third
hop is no better, nor are two layers on Cora, with dropout or for the 500 epochs of the independent implementation; the
gate, the ranking and, on Cora, features that are not scaled change little.
""", tuple(replace(row, name=", ".join([row.name, *how]), settings={**row.settings, **changed})
           for row in named(*_TRIED)
           for how, changed in [((), {}), *(((name,), given) for name, given in _TRIED[row.name].items())]),
    _SEEDS, tried_page, ways=ways)
