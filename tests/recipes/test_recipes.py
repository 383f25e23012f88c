import tomllib
from importlib.resources import files

import pytest

from sgcl import InputError
from sgcl.datasets import DATASETS
from sgcl.estimator import estimator_for
from sgcl.methods import METHODS
from sgcl.recipes import recipe
from sgcl.settings import known
from sgcl.smoothing import SMOOTHINGS

ALL = [(folder.name, file.name.removesuffix(".toml"), file) for folder in (files("sgcl.recipes")).iterdir()
       if folder.is_dir() and folder.name != "__pycache__" for file in folder.iterdir()]


@pytest.mark.parametrize(("method", "dataset", "file"), ALL, ids=[f"{method}-{name}" for method, name, _ in ALL])
def test_every_recipe_is_for_a_known_dataset_and_holds_known_settings(method, dataset, file):
    assert method in METHODS
    assert dataset in DATASETS or f"{dataset}-0.0" in DATASETS
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    assert set(tables) <= {"settings", *SMOOTHINGS}
    assert "smoothing" not in tables.get("settings", {})
    for smoothing in SMOOTHINGS if "smoothing" in known(method) else [None]:
        chosen = recipe(method, dataset, smoothing)
        made = estimator_for(method)(**{**({"smoothing": smoothing} if smoothing else {}), **chosen})
        if smoothing:
            assert SMOOTHINGS.name_of(made.settings["smoothing"]) == smoothing
        for name, value in chosen.items():
            if not isinstance(value, (dict, list)):
                assert made.settings[name] == value


def test_the_demonstration_has_a_recipe():
    assert ("sgcl", "digits") in [(method, dataset) for method, dataset, _ in ALL]


def test_a_table_of_a_smoothing_goes_over_the_one_for_all(tmp_path, monkeypatch):
    (tmp_path / "sgcl").mkdir()
    (tmp_path / "sgcl" / "cora.toml").write_text(
        '[settings]\nepochs = 5\nlr = 0.1\n[bilateral]\nlr = 0.2\nsmoothing = {name = "bilateral", hops = 2}\n')
    monkeypatch.setattr("sgcl.recipes.files", lambda package: tmp_path)
    assert recipe("sgcl", "cora", "taubin") == {"epochs": 5, "lr": 0.1}
    assert recipe("sgcl", "cora", "bilateral") == {"epochs": 5, "lr": 0.2,
                                                   "smoothing": {"name": "bilateral", "hops": 2}}
    assert recipe("sgcl", "cora") == {"epochs": 5, "lr": 0.1}


def test_a_series_shares_a_recipe():
    assert recipe("sgcl", "homophily-0.0") == recipe("sgcl", "homophily-0.9") != {}


@pytest.mark.parametrize(("method", "dataset"), [("sgcl", "grid"), ("nothing", "cora")])
def test_where_there_is_no_recipe_there_are_no_settings(method, dataset):
    assert recipe(method, dataset, "taubin") == {}


def test_a_recipe_that_cannot_be_read_is_told(tmp_path, monkeypatch):
    (tmp_path / "sgcl").mkdir()
    (tmp_path / "sgcl" / "cora.toml").write_text("epochs = = 5\n")
    monkeypatch.setattr("sgcl.recipes.files", lambda package: tmp_path)
    with pytest.raises(InputError, match=r"the recipe cora.toml is not TOML \(Invalid value"):
        recipe("sgcl", "cora", "taubin")
