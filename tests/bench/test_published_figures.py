"""The published figures are all there, as printed."""

import pytest

from sgcl.bench import BENCHES, published
from sgcl.bench.published import Figure, best, claims, figure, tables
from sgcl.datasets import DATASETS
from sgcl.evaluation import PROTOCOLS

SIZES = {  # rows and columns of the paper's tables, in their order, and how many cells are empty
    "node-small": (15, 6, 7), "node-large": (9, 3, 1), "graphs": (12, 5, 4), "datasets": (9, 8, 0),
    "datasets-graphs": (5, 5, 0), "disparity": (4, 7, 0), "datasets-heterophily": (7, 5, 0), "heterophily": (4, 7, 0),
    "runtime": (24, 3, 6), "memory": (21, 3, 3), "samplers": (12, 6, 0), "loss-terms": (9, 3, 0),
    "taubin-grid": (15, 2, 0), "taubin-steps": (14, 2, 0), "bilateral-grid": (25, 2, 0), "diffusion-grid": (25, 2, 0)}


def test_every_table_is_there():
    assert [about["table"] for about in tables().values()] == [f"Table {number}" for number in range(1, 17)]
    assert list(tables()) == list(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_every_row_and_column_is_there(name):
    about, (rows, columns, empty) = tables()[name], SIZES[name]
    cells = [figure(name, row, column) for row in about["rows"] for column in about["columns"]]
    assert (len(about["rows"]), len(about["columns"])) == (rows, columns)
    assert all(len(row) == columns for row in about["rows"].values())
    assert sum(cell is None for cell in cells) == empty
    assert about["what"]
    assert about.get("protocol") or name.startswith("datasets")


@pytest.mark.parametrize(("place", "expected"), [
    (("node-small", "DGI", "cora"), Figure(82.3, 0.6)), (("node-small", "GraphMAE2", "cora"), Figure(84.5, 0.6)),
    (("node-small", "SGCL-D", "photo"), Figure(92.87, 0.6)), (("node-small", "GraphMAE2", "photo"), None),
    (("node-large", "G-BT", "ogbn-arxiv"), Figure(69.05, 0.3)), (("graphs", "BGRL", "enzymes"), Figure(50.7, 9.0)),
    (("datasets", "ogbn-proteins", "diameter"), Figure(9)),
    (("datasets-graphs", "enzymes", "mean edges"), Figure(124.3)),
    (("datasets-heterophily", "twitch-gamers", "homophily"), Figure(0.545)),
    (("disparity", "GCL (GRACE)", "ogbn-arxiv"), Figure(0.56, 0.03)),
    (("heterophily", "SGCL-D", "cornell"), Figure(53.12, 5.4)), (("runtime", "GREET/pre-training", "coauthor-cs"),
                                                               Figure(2.5811)),
    (("runtime", "SGCL-D/downstream", "ogbn-arxiv"), Figure(0.0841)), (("memory", "SGCL-D/edge", "ogbn-arxiv"),
                                                                     Figure(3163)),
    (("samplers", "SGCL-T/edge", "cora"), Figure(84.53, 0.5)), (("loss-terms", "SGCL-B/B", "coauthor-cs"),
                                                               Figure(91.66, 0.7)),
    (("taubin-grid", "mu=-0.6,tau=0.5", "pubmed"), Figure(82.26)), (("taubin-steps", "K=7", "cora"), Figure(84.11)),
    (("taubin-steps", "K=7/seconds", "pubmed"), Figure(3.1376)),
    (("bilateral-grid", "spatial=0.2,intensity=5", "pubmed"), Figure(83.8)),
    (("diffusion-grid", "eta=0.5,K=1", "cora"), Figure(84.11)), (("nothing", "SGCL-T", "cora"), None)])
def test_figures_are_as_printed(place, expected):
    assert figure(*place) == expected


def test_the_best_rows_of_the_first_table():
    names = {"cora": "SGCL-B", "citeseer": "SGCL-D", "pubmed": "SGCL-D", "coauthor-cs": "GREET", "computers": "CGRA",
             "photo": "SGCL-B"}
    assert {dataset: best("node-small", dataset)[0] for dataset in names} == names
    assert best("node-small", "digits") is None


def test_every_published_row_is_a_row_of_its_benchmark():
    for name, about in tables().items():
        if name in BENCHES and name != "datasets":
            rows = {row.name for row in BENCHES[name].rows}
            assert {row.removesuffix("/seconds").removesuffix("/pre-training").removesuffix("/downstream")
                    for row in about["rows"]} <= rows
            assert set(about["columns"]) <= set(BENCHES[name].seeds)


def test_the_protocol_of_every_row_of_the_first_table_is_told():
    assert all(published.protocol("node-small", row) for row in tables()["node-small"]["rows"])


def test_what_other_papers_say_is_scored_in_ways_that_exist():
    for claim in claims():
        assert claim.protocol in PROTOCOLS
        assert claim.probe in ("converged", "published", "cross-validated")
        assert set(claim.figures) <= set(DATASETS)
    dgi = next(claim for claim in claims() if claim.row == "DGI")
    assert dgi.figures["cora"] == Figure(82.3, 0.6, "paper")


def test_a_figure_is_shown_with_its_deviation():
    assert str(Figure(84.5, 0.6)) == "84.50 ± 0.60"
    assert str(Figure(0.0391)) == "0.0391"
