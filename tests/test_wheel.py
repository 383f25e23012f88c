"""The wheel, built and tried where the source is not."""

import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sgcl.methods import METHODS

PROJECT = Path(__file__).parents[1]

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="needs hatchling"),
    pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="needs pip"),
]


def run(*words: str, cwd: Path, **environment: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True, timeout=300,
                          env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=PROJECT)
    [file] = folder.glob("sgcl-*.whl")
    return file


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--target",
        str(folder), str(wheel), cwd=folder)
    return folder


def test_the_wheel_holds_the_whole_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    source = {file.relative_to(PROJECT).as_posix() for file in (PROJECT / "sgcl").rglob("*")
              if file.is_file() and "__pycache__" not in file.parts}
    assert {"sgcl/py.typed", "sgcl/datasets/checksums.json", "sgcl/recipes/sgcl/digits.toml"} <= source
    assert {name for name in names if ".dist-info/" not in name} == source
    assert {name.split("/")[1] for name in names if ".dist-info/" in name} >= {"METADATA", "entry_points.txt",
                                                                               "licenses"}


def test_the_wheel_offers_the_command(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        assert "sgcl = sgcl.cli:main" in archive.read(name).decode()


def test_the_package_works_from_another_place(installed, tmp_path):
    script = ("import sgcl, json; from sgcl.recipes import recipe; from sgcl.datasets import DATASETS; "
              "print(json.dumps([sgcl.__file__, recipe('sgcl', 'digits'), len(DATASETS['cora'].checksums)]))")
    file, recipe, checksums = json.loads(run("-c", script, cwd=tmp_path, PYTHONPATH=str(installed)))
    assert Path(file).is_relative_to(installed)
    assert recipe["epochs"] > 0
    assert checksums > 0


def test_the_command_works_from_another_place(installed, tmp_path):
    out = run("-m", "sgcl", "methods", "--json", cwd=tmp_path, PYTHONPATH=str(installed))
    assert [row["name"] for row in json.loads(out)] == list(METHODS)
