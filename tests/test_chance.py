import json
import random

import numpy as np
import pytest
import torch

from sgcl import chance

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")


def draws() -> list[float]:
    """Some numbers of every generator; the normal ones leave half a pair behind."""
    return [random.random(), random.gauss(0, 1), float(np.random.rand()), float(np.random.randn()),
            float(torch.rand(())), float(torch.randn(()))]


def test_the_states_of_all_generators_come_back_through_json():
    with chance.own_chance("cpu"):
        chance.seed_model("cpu", chance.step_generator(1, 2, 3))
        draws()
        kept = json.loads(json.dumps(chance.states("cpu")))
        expected = draws() + draws()
        chance.seed_model("cpu", chance.step_generator(0, 0, 0))
        assert draws() + draws() != expected
        chance.set_states("cpu", kept)
        assert draws() + draws() == expected


def test_the_model_draws_the_same_for_the_same_step_whatever_the_source():
    found = []
    with chance.own_chance("cpu"):
        for place in ((1, 2, 3), (1, 2, 3), (1, 2, 4)):
            chance.seed_model("cpu", chance.step_generator(*place))
            found.append(draws())
    assert found[0] == found[1]
    assert not set(found[0]) & set(found[2])


def draw_and_fail() -> None:
    with chance.own_chance("cpu"):
        draws()
        raise ZeroDivisionError


def test_the_callers_generators_are_left_alone():
    with chance.own_chance("cpu"):
        random.seed(5), np.random.seed(5), torch.manual_seed(5)
        expected = draws()
        random.seed(5), np.random.seed(5), torch.manual_seed(5)
        with pytest.raises(ZeroDivisionError):
            draw_and_fail()
        assert draws() == expected


@needs_cuda
def test_the_state_of_the_device_comes_back():
    with chance.own_chance("cuda"):
        kept = chance.states("cuda")
        expected = torch.rand(3, device="cuda")
        chance.set_states("cuda", kept)
        assert torch.equal(torch.rand(3, device="cuda"), expected)
