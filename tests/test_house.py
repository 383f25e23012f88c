"""The house keeps its order: arrows point one way, rooms list what they offer, examples in docstrings run."""

import ast
import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import sgcl

PACKAGE = Path(sgcl.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
ORDER = [  # a room may import those above it, and of its own; rooms on one line know nothing of each other
    ["errors", "compiled"],
    ["sparse", "registry", "files", "signals", "chance", "ram", "distributed", "launch"],
    ["mapped"],
    ["graph", "checkpoints", "partition"],
    ["samplers", "views", "encoders", "smoothing", "losses", "datasets", "evaluation"],
    ["methods", "readers"],
    ["loader", "embeddings"],
    ["turns"],
    ["trainer", "store"],
    ["settings", "recipes", "runs", "progress", "callbacks", "report", "levels"],
    ["estimator"],
    ["memory"],
    ["workflow", "options"],
    ["words"],
    ["demo", "summary", "sweep", "ray_engine"],
    ["bench", "engines"],
    ["commands"],
    ["cli"],
    ["__main__", "__init__"],
]
HEIGHT = {room: height for height, rooms in enumerate(ORDER) for room in rooms}
ROOMS = sorted(path.parent.relative_to(PACKAGE.parent).as_posix().replace("/", ".")
               for path in PACKAGE.rglob("__init__.py"))
MODULES = ["sgcl", *(found.name for found in pkgutil.walk_packages(sgcl.__path__, "sgcl.")
                     if not found.name.endswith("__main__"))]


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(file: Path) -> set[str]:
    """Every module that a file imports, also inside functions; ``from sgcl import runs`` is ``sgcl.runs``."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute here"
            found |= {f"sgcl.{name.name}" for name in node.names} if node.module == "sgcl" else {node.module or ""}
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_arrows_point_one_way(file):
    own = room_of(file)
    assert own in HEIGHT, f"say in ORDER where {own} stands"
    for module in imported(file):
        if module.split(".")[0] == "sgcl":
            other = module.split(".")[1]
            assert other in HEIGHT, f"{module}: import a module of the package, not a name of it"
            assert other == own or HEIGHT[other] < HEIGHT[own], f"{own} may not import {other}"


def test_a_wrong_arrow_would_be_seen(tmp_path):
    file = tmp_path / "loss.py"
    file.write_text("import torch\ndef late():\n    from sgcl import cli\n    from sgcl.methods.base import Method\n")
    assert imported(file) == {"sgcl.cli", "sgcl.methods.base", "torch"}
    assert HEIGHT["methods"] > HEIGHT["losses"]


def test_reports_need_no_tensors():
    for file in (PACKAGE / "report").glob("*.py"):
        assert not {module.split(".")[0] for module in imported(file)} & {"torch", "torch_geometric"}


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_lists_all_it_offers_and_nothing_else(name):
    """What its __init__ defines, and what it takes from the files of its own."""
    module = importlib.import_module(name)
    offered = set()
    for node in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{name}."):
            offered |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            offered.add(node.name)
        elif isinstance(node, ast.Assign):
            offered |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    assert {word for word in offered if not word.startswith("_")} == set(module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, word) for word in module.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_and_its_examples_run(name):
    module = importlib.import_module(name)
    assert (module.__doc__ or "").strip()
    assert doctest.testmod(module).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    assert sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name))) > 0


@pytest.mark.parametrize("words", ["allow_pickle *= *True", r"pickle\.load", "import pickle", "weights_only *= *False",
                                   r"(?<!safetensors\.)torch\.load\("])
def test_nothing_runs_what_a_file_says(words):
    assert [file for file in FILES if re.search(words, file.read_text(encoding="utf-8"))] == []


def test_there_is_no_room_for_odds_and_ends():
    assert not [file for file in FILES if file.stem in ("utils", "helpers", "common", "misc")]
