import json

import numpy as np
import pytest

from sgcl import SGCL, InputError, settings
from sgcl.methods import METHODS
from sgcl.samplers import SAMPLERS, EgoGraph, FullGraph, RandomNode, RandomWalk
from sgcl.smoothing import SMOOTHINGS, Bilateral, Taubin
from sgcl.views import VIEWS, Compose, DropEdges, FlipEdges, MaskFeatures, NoiseFeatures

OTHERS = {  # parts with other settings than their defaults
    "smoothing": [Taubin(mu=-0.8, tau=0.1, steps=3, prune=0.0), Bilateral(hops=2, include_self=True)],
    "sampler": [RandomWalk(batch_size=7, roots=3), EgoGraph(max_neighbors=2), FullGraph(batches=3),
                RandomNode(batch_size=2, probability=(0.5, 0.25, 0.25))],
    "view1": [Compose((DropEdges(0.1), MaskFeatures(0.2), FlipEdges(1e-3), NoiseFeatures(0.3))), Compose()],
}
PARTS = [*(("smoothing", SMOOTHINGS.build(name)) for name in SMOOTHINGS),
         *(("sampler", SAMPLERS.build(name)) for name in SAMPLERS),
         *(("view2", Compose((VIEWS.build(name),))) for name in VIEWS),
         *((name, part) for name, parts in OTHERS.items() for part in parts)]


@pytest.mark.parametrize(("name", "part"), PARTS, ids=lambda value: value if isinstance(value, str) else repr(value))
def test_every_part_survives_json(name, part):
    written = json.loads(json.dumps(settings.encode({name: part})))
    assert settings.decode(written) == {name: part}
    assert json.loads(json.dumps(settings.encode(settings.decode(written)))) == written


@pytest.mark.parametrize("method", METHODS)
def test_all_settings_of_a_method_survive_json(method):
    resolved = settings.resolve(method, {"seed": 3, "lr": 0.5})
    written = json.loads(json.dumps(settings.encode(resolved)))
    assert settings.resolve(method, written) == resolved
    assert set(written) == set(settings.defaults(method))


def test_what_is_given_goes_over_the_defaults():
    resolved = settings.resolve("sgcl", {"smoothing": "bilateral", "epochs": 7})
    assert resolved["smoothing"] == Bilateral()
    assert resolved["epochs"] == 7
    assert resolved["lr"] == settings.defaults("sgcl")["lr"] == 1e-3
    assert resolved["view1"] == Compose((DropEdges(0.5), MaskFeatures(0.5)))


def test_settings_are_those_of_the_method_the_training_and_the_graph():
    method, training, graph = settings.split(settings.defaults("sgcl"))
    assert {"hidden_channels", "smoothing", "view1", "negative_weight"} <= set(method)
    assert {"sampler", "epochs", "lr", "seed", "device", "accumulate", "patience"} <= set(training)
    assert set(graph) == {"normalize_features"}
    assert not {"in_channels", "method", "graph", "callbacks", "data"} & {*method, *training, *graph}


@pytest.mark.parametrize("view", [
    DropEdges(0.2), [DropEdges(0.2)], {"name": "drop-edges", "p": 0.2}, [{"name": "drop-edges", "p": 0.2}]])
def test_a_view_is_given_as_a_part_or_as_json_alone_or_in_a_list(view):
    written = settings.encode(settings.resolve("sgcl", {"view1": view}))
    assert written["view1"] == [{"name": "drop-edges", "p": 0.2}]


def test_numbers_become_plain_ones():
    resolved = settings.resolve("sgcl", {"epochs": np.int64(3), "lr": np.float32(0.5), "weight_decay": 1})
    assert (resolved["epochs"], resolved["lr"], resolved["weight_decay"]) == (3, 0.5, 1.0)
    assert [type(resolved[name]) for name in ("epochs", "lr", "weight_decay")] == [int, float, float]


@pytest.mark.parametrize(("given", "message"), [
    ({"smothing": "taubin"}, r"no sgcl setting named 'smothing'; did you mean 'smoothing'\?"),
    ({"in_channels": 3}, "no sgcl setting named 'in_channels'"),
    ({"callbacks": []}, "no sgcl setting named 'callbacks'"),
    ({"smoothing": "tabuin"}, r"no smoothing named 'tabuin'; did you mean 'taubin'\?"),
    ({"sampler": "walks"}, r"no sampler named 'walks'; did you mean 'walk'\?"),
    ({"view1": ["drop-edge"]}, r"no view named 'drop-edge'; did you mean 'drop-edges'\?"),
    ({"view1": 5}, "5 is not a view"),
    ({"view1": None}, "view1 is None, expected a View"),
    ({"smoothing": None}, "smoothing is None, expected a Smoothing"),
    ({"smoothing": {"mu": -0.5}}, "{'mu': -0.5} is not a smoothing"),
    ({"smoothing": RandomWalk()}, "is not a smoothing: give a name"),
    ({"epochs": 2.5}, "epochs is 2.5, expected a whole number"),
    ({"epochs": "many"}, "epochs is 'many', expected a whole number"),
    ({"epochs": True}, "epochs is True, expected a whole number"),
    ({"epochs": None}, "epochs is None, expected a whole number"),
    ({"lr": "fast"}, "lr is 'fast', expected a number"),
    ({"lr": [0.1]}, r"lr is \[0.1\], expected a number"),
    ({"shared": "yes"}, "shared is 'yes', expected true or false"),
    ({"shared": 1}, "shared is 1, expected true or false"),
    ({"layer": 3}, "layer is 3, expected a word"),
    ({"similarity": "cosin"}, "similarity is 'cosin', expected one of cosine, correlation"),
    ({"negative_weight": {}}, "negative_weight is {}, expected a number"),
])
def test_what_is_no_setting_is_told_in_one_line(given, message):
    with pytest.raises(InputError, match=message) as error:
        SGCL(**given)
    assert "\n" not in str(error.value)


def test_settings_that_may_be_left_out_may_be_none():
    resolved = settings.resolve("sgcl", {"negative_weight": None, "patience": None})
    assert resolved["negative_weight"] is None
    assert resolved["patience"] is None


def test_runs_from_when_accumulate_was_a_yes_or_no_mean_what_they_meant():
    assert settings.resolve("sgcl", {"accumulate": True})["accumulate"] == 0
    assert settings.resolve("sgcl", {"accumulate": False})["accumulate"] == 1


def test_an_unknown_method_is_told():
    with pytest.raises(InputError, match=r"no method named 'sgclx'; did you mean 'sgcl'\?"):
        settings.resolve("sgclx", {})


def test_half_of_the_epochs_moves_what_begins_in_one_of_them():
    given = {"epochs": 200, "start_epoch": 101, "warmup": 20, "scheme": "mix"}
    for epochs, start, warmup in ((100, 50, 10), (1, 1, 0)):
        expected = {"epochs": epochs, "start_epoch": start, "warmup": warmup, "scheme": "mix"}
        assert settings.with_epochs("progcl", given, epochs) == expected
