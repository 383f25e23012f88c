"""Every table and figure has a command that runs, and a page."""

import json

import pytest

from sgcl import datasets
from sgcl.bench import BENCHES, pages, read_lines
from sgcl.cli import main

TINY = {  # one row on one small dataset
    "node-small": ("digits", "DGI"), "node-large": ("digits", "DGI"), "graphs": ("mutag", "raw features"),
    "graphs-tried": ("mutag", "SGCL-T, lr 0.01"), "graphs-hindsight": ("mutag", "GraphCL"),
    "graphs-attributes": ("proteins", "raw features"),
    "baselines": ("digits", "CCA-SSG"), "baselines-tried": ("digits", "GSCL, listwise"),
    "equal-budget": ("digits", "CCA-SSG"),
    "disparity-series": ("digits", "raw features"), "disparity": ("digits", "SGCL-Identity"),
    "heterophily": ("digits", "GCL (GRACE)"), "smoothing": ("digits", "SGCL-D"),
    "strength": ("digits", "t=0.3"), "similarity": ("digits", "SGCL-T, correlation"),
    "smoothing-figure": ("grid", "taubin"), "datasets": ("digits", "statistics"), "runtime": ("digits", "DGI"),
    "cost": ("digits", "DGI"),
    "memory": ("digits", "SGCL-D/node"), "samplers": ("digits", "SGCL-D/edge"), "loss-terms": ("digits", "SGCL-D/A"),
    "taubin-grid": ("digits", "mu=-0.2,tau=0.1"), "taubin-steps": ("digits", "K=1"),
    "bilateral-grid": ("digits", "spatial=1,intensity=1"), "diffusion-grid": ("digits", "eta=0.5,K=1")}
SAYS = {"equal-budget": "val", "smoothing-figure": "by_distance", "datasets": "measured", "runtime": "seconds_epoch",
        "cost": "cpu_epoch",
        "memory": "peak"}


def test_every_benchmark_is_tried():
    assert set(TINY) == set(BENCHES)


@pytest.mark.parametrize("name", TINY)
def test_the_command_of_every_table_runs(name, tmp_path, capfd):
    dataset, row = TINY[name]
    if not datasets.available(dataset):
        pytest.skip(f"needs the files of {dataset}")
    words = ["bench", name, "--datasets", dataset, "--methods", row, "--seeds", "1", "--epochs", "1", "--jobs", "1",
             "--results", str(tmp_path), "--json"]
    assert main(words) == 0
    out, err = capfd.readouterr()
    outcome = json.loads(out)
    assert outcome["failed"] == outcome["known"] == 0, err
    assert outcome["done"] == outcome["asked"] == (3 if name == "equal-budget" else 1)  # as many learning rates
    (file,) = tmp_path.iterdir()
    line = json.loads(file.read_text().splitlines()[0])
    assert (file.name, line["name"], line["dataset"], line["shortened"]) == (BENCHES[name].lines_file, row, dataset, 1)
    assert line[SAYS.get(name, "test")] is not None
    assert {"versions", "threads", "seed", "protocol"} <= line.keys()


def test_every_row_of_every_table_has_settings_that_are_known():
    lines = read_lines("nowhere")
    for bench in BENCHES.values():
        cells = list(bench.cells(lines))
        if bench is BENCHES["bilateral-grid"]:  # all cells in which the filter does nothing are one
            cells = [cell for cell in cells if cell.settings["smoothing"]["name"] != "identity"]
        assert len({cell.key for cell in cells}) == len(cells), bench.name
        assert len({row.name for row in bench.rows}) == len(bench.rows)


def test_what_is_far_below_is_tried_under_its_split_and_nothing_else():
    bench = BENCHES["baselines-tried"]
    cells = {(cell.name, cell.dataset, cell.protocol, cell.probe) for cell in bench.cells(read_lines("nowhere"))}
    assert ("DGI, 100 epochs", "citeseer", "public", "published") in cells
    assert ("BGRL, width 1,024", "cora", "grace", "converged") in cells
    assert ("CGRA, projector of 128, 1,000 epochs", "citeseer", "public", "cross-validated") in cells
    assert not any(name.startswith("DGI") and dataset == "cora" for name, dataset, _, _ in cells)
    assert not any(protocol == "grace" and probe != "converged" for _, _, protocol, probe in cells)


def test_every_table_has_a_page_before_anything_was_run():
    made = pages(read_lines("nowhere"))
    assert [page.name for page in made] == ["README", *BENCHES]
    for page in made[1:]:
        assert page.parts, page.name
        assert "not run here" in str(page), page.name
        assert f"sgcl bench {page.name}" in page.text
