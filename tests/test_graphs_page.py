"""What docs/graphs.md shows is so: its files are read, its commands and its Python run, its figures were measured."""

import re
import shlex
from pathlib import Path

import pytest

from sgcl import runs
from sgcl.cli import main
from sgcl.report import mean_and_deviation

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "graphs.md").read_text(encoding="utf-8")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = re.findall(r"`(\w+\.csv)`, [^\n]*\n[^\n]*\n*```\n(.*?)```", PAGE, flags=re.DOTALL)
    assert [name for name, _ in found] == ["edges.csv", "x.csv", "y.csv"]
    for name, text in found:
        Path(name).write_text(text)


@pytest.mark.usefixtures("files")
@pytest.mark.filterwarnings("ignore:.*the embedding has collapsed")  # five nodes
def test_the_commands_run(capsys):
    commands = re.findall(r"^sgcl .*", PAGE, flags=re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        assert main([*shlex.split(command)[1:], "-q"]) == 0, capsys.readouterr().err
    out, err = capsys.readouterr()
    assert "all.parquet: 5 nodes" in out
    assert "4 of 4 edges are given in one direction only: both directions are used" in err


@pytest.mark.usefixtures("files")
def test_the_python_runs(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names = {}
    exec(block, names)
    assert names["embedding"].shape == (5, 64)
    assert names["mine"].ids.tolist() == ["ann", "bob", "cleo", "dan", "eve"]
    assert capsys.readouterr().out.count("Data(") == 3


@pytest.mark.parametrize("num_nodes", [10, 107, 2708])
def test_unseen_nodes_are_unseen_and_only_they_are_scored(num_nodes, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from inductive import drawn

    seen, split = drawn(num_nodes, seed=3)
    train, val, test = (set(nodes.tolist()) for nodes in (split.train, split.val, split.test))
    assert train | val <= set(seen.tolist())
    assert test == set(range(num_nodes)) - set(seen.tolist())
    assert (len(test), len(train), len(val)) == (num_nodes // 5, num_nodes // 10, num_nodes // 10)


def test_the_inductive_figures_are_those_of_the_lines():
    lines = runs.read_lines(ROOT / "results" / "inductive.jsonl")
    for name in ("raw features", "untrained encoder", "SGCL-T inductive", "SGCL-T transductive"):
        mine = [line for line in lines if line["name"] == name]
        cells = [mean_and_deviation([line["test"] for line in mine if line["dataset"] == dataset])
                 for dataset in ("cora", "pubmed")]
        assert f"| {name} | {' | '.join(cells)} |" in PAGE
