import argparse
import dataclasses

import pytest

from sgcl import InputError, options, settings
from sgcl.estimator import SGCL, SGCLGraphs
from sgcl.samplers import SAMPLERS, RandomNode
from sgcl.smoothing import SMOOTHINGS

ANOTHER = {"layer": "gat", "activation": "relu", "similarity": "correlation", "terms": "negative",
           "embedding": "concat", "device": "auto", "negative_weight": 0.25, "patience": 9, "dropout": 0.25,
           "optimizer": "adamw", "schedule": "cosine", "norm": "batch"}
ANOTHER_FIELD = {"taubin.mu": -0.9, "heat.prune": 0.25, "pagerank.alpha": 0.5, "node.by": "degree"}
DEFAULT = settings.encode(settings.defaults("sgcl"))
DROP_AND_MASK = [{"name": "drop-edges", "p": 0.5}, {"name": "mask-features", "p": 0.5}]


def chosen(*words: str, base: dict | None = None) -> dict:
    parser = argparse.ArgumentParser(exit_on_error=False)
    options.add_options(parser, "sgcl")
    return options.collect(parser.parse_args(words), base or {}, "sgcl")


def other_than(value: object) -> object:
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value / 2 + 0.1


def as_flag(flag: str, value: object) -> list[str]:
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    return [f"--{flag}={value}"]


@pytest.mark.parametrize("name", [name for name, value in DEFAULT.items() if not isinstance(value, (dict, list))])
def test_every_plain_setting_is_a_flag_of_its_name(name):
    value = ANOTHER[name] if name in ANOTHER else other_than(DEFAULT[name])
    made = chosen(*as_flag(name.replace("_", "-"), value))
    assert made[name] == value != DEFAULT[name]
    assert SGCL(**made).settings == {**SGCL().settings, name: value}


FIELDS = [(kind, part, field) for kind, registry in (("smoothing", SMOOTHINGS), ("sampler", SAMPLERS))
          for part in registry for field in dataclasses.fields(registry[part]) if field.name != "probability"]


@pytest.mark.parametrize(("kind", "part", "field"), FIELDS, ids=[f"{part}-{field.name}" for _, part, field in FIELDS])
def test_every_setting_of_a_part_is_a_flag_with_the_name_of_the_part(kind, part, field):
    value = ANOTHER_FIELD.get(f"{part}.{field.name}", 3 if field.default is None else None)
    value = other_than(field.default) if value is None else value
    made = chosen(f"--{kind}", part, *as_flag(f"{part}-{field.name.replace('_', '-')}", value))
    registry = SMOOTHINGS if kind == "smoothing" else SAMPLERS
    estimator = SGCLGraphs if part == "graphs" else SGCL
    assert estimator(**made).settings[kind] == registry[part](**{field.name: value})


def test_the_one_setting_without_a_flag_is_the_one_that_no_flag_can_hold():
    parser = argparse.ArgumentParser()
    options.add_options(parser, "sgcl")
    assert "--node-probability" not in parser.format_help()
    assert RandomNode(probability=(1, 2)).probability == (1, 2)


def test_without_flags_all_is_as_by_default():
    assert SGCL(**chosen()).settings == SGCL().settings


@pytest.mark.parametrize(("words", "view1", "view2"), [
    ([], DROP_AND_MASK, DROP_AND_MASK),
    (["--drop-edges", "0.2"], [{"name": "drop-edges", "p": 0.2}, DROP_AND_MASK[1]],
     [{"name": "drop-edges", "p": 0.2}, DROP_AND_MASK[1]]),
    (["--drop-edges", "0.2", "0.4"], [{"name": "drop-edges", "p": 0.2}, DROP_AND_MASK[1]],
     [{"name": "drop-edges", "p": 0.4}, DROP_AND_MASK[1]]),
    (["--drop-edges", "0"], DROP_AND_MASK[1:], DROP_AND_MASK[1:]),
    (["--drop-edges", "0", "0.4"], DROP_AND_MASK[1:], [{"name": "drop-edges", "p": 0.4}, DROP_AND_MASK[1]]),
    (["--mask-features", "0", "--drop-edges", "0"], [], []),
    (["--noise-features", "0.1", "--flip-edges", "0.001", "0"],
     [*DROP_AND_MASK, {"name": "flip-edges", "p": 0.001}, {"name": "noise-features", "sigma": 0.1}],
     [*DROP_AND_MASK, {"name": "noise-features", "sigma": 0.1}]),
])
def test_a_view_flag_takes_one_number_or_two_and_0_leaves_it_out(words, view1, view2):
    made = chosen(*words)
    assert made["view1"] == view1
    assert made["view2"] == view2


def test_flags_go_over_a_base():
    base = {"epochs": 30, "lr": 0.2, "smoothing": {"name": "diffusion", "eta": 0.5, "steps": 1},
            "view1": [{"name": "mask-features", "p": 0.9}], "view2": "drop-edges"}
    made = chosen("--lr", "0.1", "--diffusion-steps", "3", "--mask-features", "0.3", base=base)
    assert made["epochs"] == 30
    assert made["lr"] == 0.1
    assert made["smoothing"] == {**SMOOTHINGS.describe(SMOOTHINGS.build("diffusion")), "eta": 0.5, "steps": 3}
    assert made["view1"] == [{"name": "mask-features", "p": 0.3}]
    assert made["view2"] == [{"name": "drop-edges", "p": 0.5}, {"name": "mask-features", "p": 0.3}]


def test_a_view_keeps_its_other_settings_under_a_flag():
    made = chosen("--mask-nodes", "0.3", base={"view1": [{"name": "mask-nodes", "p": 0.1, "std": 0.0}]})
    assert made["view1"] == [{"name": "mask-nodes", "p": 0.3, "mean": 0.5, "std": 0.0}]
    assert made["view2"] == [*DROP_AND_MASK, {"name": "mask-nodes", "p": 0.3}]


def test_another_smoothing_than_that_of_the_base_starts_from_its_own_defaults():
    made = chosen("--smoothing", "bilateral", base={"smoothing": {"name": "diffusion", "eta": 0.5}})
    assert made["smoothing"] == SMOOTHINGS.describe(SMOOTHINGS.build("bilateral"))


@pytest.mark.parametrize(("words", "base", "message"), [
    (["--bilateral-hops", "2"], {}, "--bilateral-hops does nothing: the smoothing is 'taubin'; "
                                    "add --smoothing bilateral"),
    (["--smoothing", "heat", "--taubin-mu=-0.5"], {}, "--taubin-mu does nothing: the smoothing is 'heat'"),
    (["--walk-length", "2"], {}, "--walk-length does nothing: the sampler is 'full'; add --sampler walk"),
    (["--bilateral-include-self"], {}, "--bilateral-include-self does nothing"),
    (["--drop-edges", "0.1", "0.2", "0.3"], {}, "--drop-edges takes one number for both views or two, got 3"),
    (["--smoothing", "tabuin"], {}, r"no smoothing named 'tabuin'; did you mean 'taubin'\?"),
    (["--taubin-mu", "-0.2"], {}, "Taubin: mu is -0.2 and tau is 0.3, expected mu < -tau < 0"),
    ([], {"smoothing": {"name": "taubin", "nu": 1}}, r"no smoothing setting named 'nu'; did you mean 'mu'\?"),
    ([], {"smoothing": {"mu": -0.5}}, "is not a smoothing"),
    ([], {"view1": [{"name": "drop-edges", "q": 1}]}, "no view setting named 'q'"),
    ([], {"view1": 3}, "3 is not a view"),
])
def test_flags_and_bases_that_do_not_fit_are_told_in_one_line(words, base, message):
    with pytest.raises(InputError, match=message) as error:
        chosen(*words, base=base)
    assert "\n" not in str(error.value)


def test_a_key_of_a_base_that_is_no_setting_is_told_by_the_estimator():
    with pytest.raises(InputError, match=r"no sgcl setting named 'epoch'; did you mean 'epochs'\?"):
        SGCL(**chosen(base={"epoch": 3}))


def test_the_help_says_what_each_flag_does_and_its_default():
    parser = argparse.ArgumentParser()
    options.add_options(parser, "sgcl")
    text = " ".join(parser.format_help().split())
    assert "--hidden-channels INT D, the width of the embedding and of the layers before it; default 512" in text
    assert "--weight-decay FLOAT of the optimiser; default 0.0" in text
    assert "--taubin-steps INT K of the paper; default 2" in text
    assert "taubin, bilateral, diffusion, identity, heat, pagerank; default taubin" in text
    assert "Each feature column is set to 0 with probability p, for all nodes alike" in text
    assert "``" not in text
    for action in parser._actions:
        assert action.help, action.option_strings
