import pytest
import torch

from sgcl import InputError
from sgcl.encoders.norm import BatchNorm


def batches(count: int) -> list[torch.Tensor]:
    chance = torch.Generator().manual_seed(0)
    return [0.01 * torch.randn(7, 3, generator=chance) + 2 for _ in range(count)]


def test_training_standardises_columns_over_the_nodes():
    h = batches(1)[0].double()
    expected = (h - h.mean(0)) / (h.var(0, correction=0) + 1e-5).sqrt()
    assert torch.allclose(BatchNorm(3).double()(h), expected)


def test_averages_are_plain_means_at_first_and_forget_later():
    norm, seen = BatchNorm(3, momentum=0.25), batches(6)
    mean = variance = None
    for number, h in enumerate(seen, start=1):
        norm(h)
        share = max(1 / number, 0.25)
        mean = h.mean(0) if mean is None else (1 - share) * mean + share * h.mean(0)
        variance = h.var(0) if variance is None else (1 - share) * variance + share * h.var(0)
        if number <= 4:
            assert torch.allclose(norm.running_mean, torch.stack([h.mean(0) for h in seen[:number]]).mean(0))
        assert torch.allclose(norm.running_mean, mean)
        assert torch.allclose(norm.running_var, variance)
    norm.eval()
    assert torch.allclose(norm(seen[0]), (seen[0] - mean) / (variance + 1e-5).sqrt(), atol=1e-4)


def test_a_batch_of_one_node_is_told():
    norm = BatchNorm(3)
    with pytest.raises(InputError, match="a batch of one node has no spread: draw larger batches"):
        norm(torch.ones(1, 3))
    assert norm.eval()(torch.ones(1, 3)).isfinite().all()
