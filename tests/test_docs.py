"""What the README, the docs, the examples and the benchmarks say runs, runs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sgcl.methods import METHODS

ROOT = Path(__file__).parent.parent


def run(*words, cwd):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def code_blocks(file):
    return re.findall(r"```python\n(.*?)```", (ROOT / file).read_text(), flags=re.DOTALL)


def test_the_ten_lines_of_the_readme_run(tmp_path):
    (block,) = code_blocks("README.md")
    assert len([line for line in block.splitlines() if line.strip()]) <= 10
    out = run("-c", block.replace("epochs=50", "epochs=1"), cwd=tmp_path)
    assert out.strip() == "torch.Size([1797, 128]) True"


@pytest.mark.parametrize("number", range(len(code_blocks("docs/extending.md"))))
def test_the_parts_of_the_extending_page_work(number, tmp_path):
    uses = {0: "from sgcl import SGCL; from sgcl.datasets import load; "
               "print(SGCL(smoothing=Triangle(), epochs=1, hidden_channels=8).fit_transform(load('digits')).shape)",
            1: "from sgcl import Graph; from sgcl.datasets import load; g = Graph.from_data(load('digits')); "
               "print(ShuffleFeatures()(g, torch.Generator().manual_seed(0)).x.shape)"}
    out = run("-c", code_blocks("docs/extending.md")[number] + "\n" + uses[number], cwd=tmp_path)
    assert out.startswith("torch.Size([1797, ")


def test_the_example_of_the_runs_page_works(tmp_path):
    (block,) = code_blocks("docs/runs.md")
    run("-c", block + "SGCL(epochs=5, hidden_channels=32).fit(load('digits'), checkpoint='kept', resume=True)",
        cwd=tmp_path)
    assert (tmp_path / "kept").is_dir()


def test_the_example_of_the_scale_page_works(tmp_path):
    (block,) = code_blocks("docs/scale.md")
    run("-c", block, cwd=tmp_path)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda file: file.stem)
def test_examples_run_with_one_epoch(example, tmp_path):
    assert "accuracy" in run(example, "1", cwd=tmp_path)


def test_the_loss_benchmark_measures_and_agrees_with_the_dense_form(tmp_path):
    figures = json.loads(run(ROOT / "benchmarks" / "loss_scaling.py", "--quick", "--json", cwd=tmp_path))
    assert {cell["form"] for cell in figures["cells"]} == {"linear", "dense"}
    assert figures["relative_difference_2000"] < 1e-5


def test_the_page_of_methods_is_what_the_docstrings_say():
    out = run("-m", "sgcl", "methods", "--markdown", cwd=ROOT)
    assert out == (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    for name in METHODS:
        section = out.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert "```math" in section, name
        assert "Departures from the paper" in section, name
        assert {"Time", "time", "memory"} & set(section.split()), name


def test_every_link_in_the_docs_leads_somewhere():
    for file in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", file.read_text()):
            assert target.startswith("http") or (file.parent / target).exists(), f"{file.name}: {target}"
