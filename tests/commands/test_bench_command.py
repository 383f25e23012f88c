"""`sgcl bench`: names, lists, plans and pages."""

import json

import pytest

from sgcl.bench import BENCHES, Cell, Lines, pages, read_lines
from sgcl.bench.catalogue import rendered
from sgcl.cli import main


@pytest.mark.parametrize(("words", "told"), [
    (["nodesmall"], "no benchmark named 'nodesmall'; did you mean 'node-small'?"),
    (["node-small", "graphs", "--datasets", "cora"], "no dataset of graphs named 'cora'"),
    (["node-small", "nodesmall"], "no benchmark named 'nodesmall'; did you mean 'node-small'?"),
    (["node-small", "--datasets", "coraa"], "no dataset named 'coraa'; did you mean 'cora'?"),
    (["node-small", "--datasets", "mutag"], "no dataset of node-small named 'mutag'"),
    (["graphs", "--methods", "SGCL-X"], "no row or method of graphs named 'SGCL-X'; did you mean 'SGCL-"),
    (["node-small", "--seeds", "0"], "--seeds is 0, expected more than 0"),
    (["node-small", "--budget", "-1"], "--budget is -1.0, expected more than 0"),
    (["node-small", "--sedes", "3"], "no argument '--sedes'; did you mean '--seeds'?"),
    ([], "the following arguments are required: NAME")])
def test_a_misspelt_request_is_one_line_and_leaves_nothing(words, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert told in err
    assert list(tmp_path.iterdir()) == []


def test_the_list_says_what_there_is_and_what_was_run(tmp_path, capsys):
    assert main(["bench", "list", "--results", str(tmp_path), "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == set(BENCHES)
    assert rows["taubin-grid"] == {"name": "taubin-grid", "title": "Taubin: mu and tau", "cells": 60, "run": 0}
    assert main(["bench", "list", "--results", str(tmp_path)]) == 0
    assert "node-small" in capsys.readouterr().out


def test_a_dry_run_lists_cells_and_runs_none(tmp_path, capsys):
    assert main(["bench", "all", "--datasets", "digits", "--methods", "sgcl", "--seeds", "1", "--dry-run", "--results",
                 str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.count("digits SGCL-T seed 0, random split, converged probe\n") == 1  # though many tables ask for it
    assert "cells in" in out.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_several_tables_share_their_trainings(tmp_path, capsys):
    def planned(*names):
        assert main(["bench", *names, "--datasets", "digits", "--methods", "sgcl", "--dry-run", "--json", "--results",
                     str(tmp_path)]) == 0
        return json.loads(capsys.readouterr().out)

    together = planned("node-small", "baselines")
    cells = {cell for job in together for cell in job["cells"]}
    assert cells == {cell for name in ("node-small", "baselines") for job in planned(name) for cell in job["cells"]}
    assert len(together) < len(planned("node-small")) + len(planned("baselines"))


def test_data_that_is_not_here_is_told_and_noted(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sgcl.datasets.available", lambda name: False)
    assert main(["bench", "taubin-steps", "--results", str(tmp_path)]) == 0
    assert "pubmed: its data is not on this machine, 7 cells left out" in capsys.readouterr().err
    lines = read_lines(tmp_path)
    assert lines.absent == {"cora", "pubmed"}
    page = BENCHES["taubin-steps"].page(BENCHES["taubin-steps"], lines)
    assert "its data was not on the machine: `sgcl bench taubin-steps --datasets cora --methods K=1`" in str(page)


def test_pages_are_the_same_every_time(tmp_path, capsys):
    lines = Lines(tmp_path, ["accuracy.jsonl"])
    (row,) = BENCHES["node-small"].chosen_rows(["SGCL-T"])
    for seed, test in enumerate((0.84, 0.85)):
        cell = Cell(row.name, row.method, "cora", seed, "development", "converged", settings=row.chosen("cora"))
        lines.add("accuracy.jsonl", cell.line(test=test, val=0.8, settings=dict(cell.settings), seconds_cpu=7.0))
    for out in ("a", "b"):
        assert main(["bench", "render", "--results", str(tmp_path), "--out", str(tmp_path / out)]) == 0
    assert f"{len(BENCHES) + 1} pages" in capsys.readouterr().out
    written = {file.name: file.read_text() for file in (tmp_path / "a").iterdir()}
    assert written == {file.name: file.read_text() for file in (tmp_path / "b").iterdir()} == rendered(
        pages(read_lines(tmp_path)))
    assert {"README.md", "node-small.md"} <= set(written)
    assert ("| SGCL-T | 84.50 ± 0.71 | 80.00 ± 0.00 | 2 of 5 | 84.33 ± 0.45 | +0.17 | yes | 7 | as told above |"
            in written["node-small.md"])
    assert "on 0 of 6 datasets with the paper's own split" in written["README.md"]
