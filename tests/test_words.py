import argparse
import shlex

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from sgcl import options, settings
from sgcl.methods import METHODS
from sgcl.samplers import SAMPLERS
from sgcl.smoothing import SMOOTHINGS
from sgcl.words import flags, train_command

RATES = st.sampled_from([0.0, 0.1, 0.25, 1e-05])
STEPS = st.fixed_dictionaries({"drop-edges": RATES, "mask-features": RATES, "noise-features": RATES})


def read(words: list[str], method: str) -> dict:
    """The settings that these words of a command line give."""
    parser = options.Parser(allow_abbrev=False)
    options.add_options(parser, method)
    return settings.encode(settings.resolve(method, options.collect(parser.parse_args(words), {}, method)))


def steps(rates: dict[str, float]) -> list[dict]:
    keys = {"drop-edges": "p", "mask-features": "p", "noise-features": "sigma"}
    return [{"name": name, key: rates[name]} for name, key in keys.items() if rates[name]]


@effort(max_examples=15)
@given(lr=st.floats(1e-9, 10), layers=st.integers(1, 5), shared=st.booleans(), layer=st.sampled_from(["gcn", "gat"]),
       patience=st.none() | st.integers(1, 9), smoothing=st.sampled_from(list(SMOOTHINGS)),
       sampler=st.sampled_from(list(SAMPLERS)), first=STEPS, second=STEPS, mu=st.floats(-0.9, -0.4))
def test_words_give_back_the_settings_they_came_from(lr, layers, shared, layer, patience, smoothing, sampler, first,
                                                     second, mu):
    chosen = {"lr": lr, "num_layers": layers, "shared": shared, "layer": layer, "patience": patience,
              "smoothing": {"name": smoothing, **({"mu": mu} if smoothing == "taubin" else {})},
              "sampler": {"name": sampler, "batches": 3}, "view1": steps(first), "view2": steps(second)}
    wanted = settings.encode(settings.resolve("sgcl", chosen))
    assert read(flags("sgcl", chosen), "sgcl") == wanted


@pytest.mark.parametrize("method", METHODS)
def test_defaults_need_no_words(method):
    assert flags(method, {}) == []
    assert flags(method, settings.encode(settings.defaults(method))) == []


def test_what_no_flags_can_say():
    backwards = [{"name": "mask-features", "p": 0.5}, {"name": "drop-edges", "p": 0.5}]
    assert flags("sgcl", {"view1": backwards}) is None
    assert train_command("sgcl", {"view1": backwards}, dataset="digits") is None


def test_a_command_names_the_graph_and_leaves_the_recipe_out():
    assert train_command("sgcl", {"lr": 0.01}, dataset="digits", protocol="random") == (
        "sgcl train sgcl --dataset digits --no-recipe --protocol random --lr 0.01")
    assert train_command("sgcl", {}, dataset="unknown", data_root="my data") == (
        "sgcl train sgcl --dataset unknown --data-root 'my data'")
    own = {"edges": "/my graph/e.csv", "features": "degree", "weight": "w", "source": "a b", "id_column": "name"}
    assert shlex.split(train_command("sgcl", {}, dataset="e", files=own)) == [
        "sgcl", "train", "sgcl", "--graph", "/my graph/e.csv", "--features", "degree", "--edge-weight", "w",
        "--source", "a b", "--id-column", "name"]
    assert train_command("sgcl", {}, dataset="e", files={"edges": "e.csv", "weight": False}) == (
        "sgcl train sgcl --graph e.csv --no-edge-weight")


def test_flags_by_name_are_those_of_the_command_line():
    given = vars(options.given_by_name({"hidden_channels": "64", "drop-edges": "0.3 0.5", "shared": "No",
                                        "taubin-mu": "-5e-1", "layer": "gat"}, "sgcl"))
    parser = argparse.ArgumentParser()
    options.add_options(parser, "sgcl")
    words = "--hidden-channels 64 --drop-edges 0.3 0.5 --no-shared --taubin-mu=-5e-1 --layer gat"
    assert given == vars(parser.parse_args(words.split()))


@pytest.mark.parametrize(("values", "message"), [
    ({"hiden-channels": "64"}, r"no setting of sgcl 'hiden-channels'; did you mean 'hidden-channels'\?"),
    ({"out": "x"}, "no setting of sgcl 'out'"),
    ({"no-shared": "yes"}, "no setting of sgcl 'no-shared'"),
    ({"lr": "fast"}, "argument --lr: invalid float value: 'fast'"),
    ({"terms": "all"}, "argument --terms: invalid choice: 'all'"),
    ({"shared": "1"}, "shared is '1', expected one of true, yes, false, no"),
    ({"drop-edges": ""}, "argument --drop-edges: expected at least one argument"),
])
def test_bad_names_and_values_are_told_in_one_line(values, message):
    with pytest.raises(options.InputError, match=message):
        options.given_by_name(values, "sgcl")
