import inspect
import json
import os
import pickle
import stat
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

import sgcl
from sgcl import SGCL, Bilateral, Estimator, Graph, InputError, Taubin, methods, runs
from sgcl.estimator import device_for, estimator_for
from sgcl.readers import read_graph

QUICK = {"hidden_channels": 8, "epochs": 2}


class Bomb:
    """A pickle that leaves a mark where it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


@pytest.fixture
def saved(ring: Data, tmp_path: Path) -> Path:
    SGCL(**QUICK).fit(ring).save(tmp_path / "model")
    return tmp_path / "model"


def edit(folder: Path, **changes) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))


def test_fit_transform_save_load(ring, tmp_path):
    model = SGCL(smoothing=Taubin(), **QUICK).fit(ring)
    embedding = model.transform(ring)
    assert embedding.shape == (40, 8)
    assert embedding.dtype == torch.float32
    assert not embedding.requires_grad
    model.save(tmp_path / "model")
    assert torch.equal(sgcl.load(tmp_path / "model").transform(ring), embedding)
    assert torch.equal(SGCL.load(str(tmp_path / "model")).transform(ring), embedding)
    assert torch.equal(SGCL(**QUICK).fit_transform(ring), embedding)


def test_a_graph_does_as_well_as_data(ring):
    graph = Graph.from_data(ring)
    assert torch.equal(SGCL(**QUICK).fit_transform(graph), SGCL(**QUICK).fit_transform(ring))


def test_in_bounded_memory_the_embedding_is_the_same(ring, tmp_path):
    model = SGCL(**QUICK).fit(ring)
    blocks = model.transform(ring, memory="4KB", folder=tmp_path)
    assert torch.allclose(blocks, model.transform(ring), rtol=0, atol=1e-6)
    with pytest.raises(InputError, match="memory is 'much', expected a size such as 500MB or 2GB"):
        model.transform(ring, memory="much")


def test_learned_features_of_other_nodes_are_told(ring):
    learned = read_graph(ring, features="learned")
    assert SGCL(**QUICK).fit_transform(learned).shape == (40, 8)
    fewer = read_graph(Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3), features="learned")
    with pytest.raises(InputError, match="the graph has 3 features, the model was fitted on 40: learned features are "
                                         "for the nodes they were learned with"):
        SGCL(**QUICK).fit(learned).transform(fewer)


def test_another_graph_with_the_same_features_can_be_embedded(ring, path):
    part = ring.subgraph(torch.arange(20))
    assert SGCL(**QUICK).fit(ring).transform(part).shape == (20, 8)
    with pytest.raises(InputError, match="the graph has 2 features, the model was fitted on 6"):
        SGCL(**QUICK).fit(ring).transform(path)


def test_features_are_normalised_in_fit_and_transform_where_asked(ring):
    model = SGCL(**QUICK, normalize_features=True).fit(ring)
    scaled = ring.clone()
    scaled.x = 3 * ring.x
    assert torch.allclose(model.transform(scaled), model.transform(ring), atol=1e-6)
    plain = SGCL(**QUICK).fit(ring)
    assert not torch.allclose(plain.transform(scaled), plain.transform(ring), atol=1e-2)


def test_fitting_again_starts_anew(ring):
    model = SGCL(**QUICK)
    assert torch.equal(model.fit(ring).transform(ring), model.fit(ring).transform(ring))
    assert len(model.history) == 2


def test_callbacks_and_history(ring):
    heard = []
    model = SGCL(**QUICK).fit(ring, callbacks=[heard.append])
    assert heard == model.history
    assert [epoch.epoch for epoch in heard] == [1, 2]


def test_the_weights_it_starts_from_are_a_function_of_the_seed():
    first, again, other = (SGCL(**QUICK, seed=seed).untrained(6).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not torch.equal(first["encoders.0.layers.0.weight"], other["encoders.0.layers.0.weight"])


def test_before_fit_it_says_so(ring, tmp_path):
    for call in (lambda: SGCL().transform(ring), lambda: SGCL().save(tmp_path / "model")):
        with pytest.raises(InputError, match=r"this SGCL is not fitted: call fit\(data\) first"):
            call()
    assert not (tmp_path / "model").exists()


def test_a_training_that_fails_leaves_the_fitted_model_as_it_was(ring):
    def stop(epoch):
        raise KeyboardInterrupt

    model = SGCL(**QUICK).fit(ring)
    embedding = model.transform(ring)
    with pytest.raises(KeyboardInterrupt):
        model.fit(ring, callbacks=[stop])
    assert torch.equal(model.transform(ring), embedding)


def test_signature_and_repr_show_the_settings():
    parameters = inspect.signature(SGCL).parameters
    assert parameters["epochs"].default == 200
    assert parameters["smoothing"].default == Taubin()
    assert repr(SGCL(epochs=3, smoothing=Bilateral())) == f"SGCL(smoothing={Bilateral()!r}, epochs=3)"
    assert repr(SGCL()) == "SGCL()"


def test_the_settings_in_json_make_the_same_estimator():
    model = SGCL(smoothing="bilateral", sampler={"name": "walk", "length": 2}, seed=4)
    assert SGCL(**json.loads(json.dumps(model.config(6)["settings"]))).settings == model.settings


def test_what_is_saved_is_json_and_safetensors_with_ordinary_permissions(ring, tmp_path):
    mask = os.umask(0o022)
    try:
        SGCL(**QUICK).fit(ring).save(tmp_path / "deep" / "model")
    finally:
        os.umask(mask)
    files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "deep" / "model").iterdir()}
    assert files == {"config.json": 0o644, "weights.safetensors": 0o644}
    config = runs.read_config(tmp_path / "deep" / "model")
    assert (config["format"], config["method"], config["in_channels"]) == (runs.FORMAT, "sgcl", 6)
    assert config["settings"]["smoothing"] == {"name": "taubin", "mu": -0.4, "tau": 0.3, "steps": 2, "prune": 0.02,
                                               "top": None}


def test_estimators_by_method_name():
    assert estimator_for("sgcl") is SGCL
    with pytest.raises(InputError, match=r"no method named 'sgc'; did you mean 'sgcl'\?"):
        estimator_for("sgc")


def test_a_method_of_another_package_gets_an_estimator(ring, tmp_path, monkeypatch):
    class Other(methods.SGCL):
        pass

    monkeypatch.setitem(methods.METHODS._parts, "other", Other)
    made = estimator_for("other")
    assert made.__name__ == "Other"
    assert estimator_for("other") is made
    model = made(**QUICK).fit(ring)
    model.save(tmp_path)
    loaded = Estimator.load(tmp_path)
    assert type(loaded) is made
    assert torch.equal(loaded.transform(ring), model.transform(ring))


@pytest.mark.parametrize(("changes", "message"), [
    ({"format": 99}, r"was written by a newer sgcl \(format 99, this one reads up to 2\): upgrade sgcl"),
    ({"format": None}, "config.json is damaged: format is None"),
    ({"method": "sgclx"}, "no method named 'sgclx'; did you mean 'sgcl'"),
    ({"settings": {"epochs": "x"}}, "epochs is 'x', expected a whole number"),
    ({"settings": {"nothing": 1}}, "no sgcl setting named 'nothing'"),
    ({"settings": {"smoothing": {}}}, "{} is not a smoothing"),
    ({"settings": {"hidden_channels": 16}}, "weights.safetensors does not fit its config.json or is damaged"),
    ({"settings": {"hidden_channels": 8, "num_layers": 3}}, "weights.safetensors does not fit its config.json"),
    ({"in_channels": 0}, "in_channels is 0, expected at least 1"),
    ({"in_channels": 7}, "weights.safetensors does not fit its config.json"),
])
def test_a_config_that_does_not_fit_is_told_in_one_line(saved, changes, message):
    edit(saved, **changes)
    with pytest.raises(InputError, match=message) as error:
        Estimator.load(saved)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"not tensors", None], ids=["empty", "zeros", "text", "half"])
def test_damaged_weights_are_told_in_one_line(saved, content):
    weights = saved / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-40] if content is None else content)
    with pytest.raises(InputError, match=r"weights\.safetensors does not fit its config.json or is damaged") as error:
        Estimator.load(saved)
    assert "\n" not in str(error.value)


def test_missing_weights_are_told(saved):
    (saved / "weights.safetensors").unlink()
    with pytest.raises(InputError, match=r"model holds no weights\.safetensors: train the run to its end first"):
        Estimator.load(saved)


@pytest.mark.parametrize("write", [lambda bomb, file: file.write_bytes(pickle.dumps(bomb)), torch.save],
                         ids=["pickle", "torch"])
def test_a_pickle_in_the_place_of_the_weights_is_refused_and_never_run(saved, tmp_path, write):
    mark = tmp_path / "it-ran"
    write(Bomb(mark), saved / "weights.safetensors")
    with pytest.raises(InputError, match=r"weights\.safetensors does not fit its config.json or is damaged"):
        Estimator.load(saved)
    assert not mark.exists()
    pickle.loads(pickle.dumps(Bomb(mark)))                                 # it would have
    assert mark.exists()


def test_auto_is_the_best_device_there_is():
    assert device_for("auto") in ("cuda", "mps", "cpu")
    assert device_for("cpu") == "cpu"


@pytest.mark.parametrize("name", ["gpu", "CUDA", "cuda:x", "meta", "cuda:-1", "", "cpu:0"])
def test_a_device_that_does_not_exist_is_told(name):
    with pytest.raises(InputError, match=f"no device named {name!r}: use cpu, cuda, cuda:1, mps or auto"):
        SGCL(device=name)


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "cuda:7", "mps"])
def test_a_device_that_is_not_here_is_told_before_anything_is_done(name, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(InputError, match=f"device {name!r} is not available here: use cpu or auto"):
        SGCL(device=name)


def test_a_model_trained_elsewhere_works_on_what_is_here(saved, ring, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    expected = Estimator.load(saved).transform(ring)
    edit(saved, settings={**QUICK, "device": "cuda"})
    assert Estimator.load(saved).settings["device"] == "cpu"
    assert torch.equal(Estimator.load(saved).transform(ring), expected)
    with pytest.raises(InputError, match="device 'cuda' is not available here"):
        Estimator.load(saved, device="cuda")
    assert Estimator.load(saved, device="auto").settings["device"] == "auto"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_fit_and_transform_on_cuda(ring, tmp_path):
    model = SGCL(**QUICK, device="cuda").fit(ring)
    model.save(tmp_path)
    assert model.transform(ring).device.type == "cpu"
    assert torch.allclose(Estimator.load(tmp_path, device="cpu").transform(ring), model.transform(ring), atol=1e-4)


@pytest.mark.skipif(not torch.backends.mps.is_available(), reason="needs MPS")
def test_fit_and_transform_on_mps(ring):
    assert SGCL(**QUICK, device="mps").fit_transform(ring).device.type == "cpu"


def test_bad_settings_are_told_by_the_constructor():
    for given, message in (({"epochs": -1}, "epochs is -1"), ({"seed": -3}, "seed is -3"), ({"dropout": 2}, "dropout"),
                           ({"view1": {"name": "drop-edges", "p": 1.5}}, "p is 1.5, expected a probability")):
        with pytest.raises(InputError, match=message):
            SGCL(**given)
