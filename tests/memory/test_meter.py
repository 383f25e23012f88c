import tracemalloc

import numpy as np
import torch

from sgcl.memory import Meter
from sgcl.sparse import CSR, spmm

MB = 2**20


def mb(count: int) -> torch.Tensor:
    return torch.ones(count * MB // 4)


def test_what_torch_holds_and_what_it_held_at_the_most():
    with Meter() as meter:
        kept = mb(2)
        passing = mb(3) + 1                                                # two of three at a time
        assert 8 * MB <= meter.peak() < 9 * MB
        del passing
        assert 2 * MB <= meter.now() < 3 * MB
        assert 2 * MB <= meter.peak() < 6 * MB                             # the peak since it was last asked
        assert kept.sum() > 0


def test_what_numpy_holds_counts_too_and_once():
    with Meter() as meter:
        array = np.ones(2 * MB // 8)
        tensor = torch.from_numpy(array)
        view = tensor[1:].view(-1)                                         # the same memory
        assert 2 * MB <= meter.now() < 3 * MB
        del array, tensor, view
        assert meter.now() < MB


def test_what_was_there_before_does_not_count():
    before = mb(4)
    with Meter() as meter:
        seen = before.view(2, -1)[0]
        assert meter.peak() < MB
        before.add_(1)
        assert meter.peak() < MB
        assert seen[0] == 2


def test_saved_tensors_are_held_until_the_backward():
    weight = torch.ones(MB // 4, requires_grad=True)
    with Meter() as meter:
        out = (weight * 2).exp().sin().exp().sum()                         # what both exp gave is saved
        assert 2 * MB <= meter.now() < 4 * MB
        out.backward()
        assert MB <= meter.now() < 2 * MB                                  # the gradient


def test_memory_that_comes_again_at_an_old_address_is_counted():
    with Meter() as meter:
        for _ in range(20):
            array = np.ones(MB // 8)
            torch.from_numpy(array).sum()
            del array
        held = [mb(1) for _ in range(20)]
        assert 20 * MB <= meter.now() < 21 * MB
        assert len(held) == 20


def test_sparse_products_are_seen():
    matrix = CSR.from_coo(torch.arange(1000), torch.arange(1000), shape=(1000, 1000))
    with Meter() as meter:
        x = spmm(matrix, torch.ones(1000, 500))
        assert 2 * 2_000_000 <= meter.peak() < 3 * 2_000_000
        assert len(x) == 1000
        assert matrix.to_dense().sum() == 1000


def test_a_trace_of_someone_else_goes_on():
    tracemalloc.start()
    try:
        with Meter():
            pass
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()
    with Meter():
        pass
    assert not tracemalloc.is_tracing()
