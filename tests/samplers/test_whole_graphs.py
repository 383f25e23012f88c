"""Batches of whole graphs: every graph once an epoch, in batches of nearly one size, the same whoever makes them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

from sgcl.errors import InputError
from sgcl.estimator import SGCLGraphs
from sgcl.graph import Graph
from sgcl.samplers import SAMPLERS, WholeGraphs


def collection(count: int) -> Graph:
    """Paths of 2, 3, 4, 2, 3, ... nodes; the feature of a node is the number of its graph."""
    paths = []
    for number in range(count):
        nodes = torch.arange(2 + number % 3)
        x = torch.full((len(nodes), 2), float(number))
        paths.append(Data(x=x, edge_index=torch.stack([nodes[:-1], nodes[1:]])))
    return Graph.from_data(paths)


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def numbers_of(batch: Graph) -> list[int]:
    """Which graphs a batch holds, each whole."""
    x = batch.x if isinstance(batch.x, torch.Tensor) else batch.x.to_dense()
    found = x[batch.graph_ptr[:-1], 0].long()
    assert batch.graph_ptr.diff().tolist() == [2 + number % 3 for number in found.tolist()]
    assert torch.equal(x[:, 0].long(), found[batch.graph_of])
    return found.tolist()


@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 100))
def test_an_epoch_sees_every_graph_once_in_batches_of_nearly_one_size(count, size, seed):
    graphs = collection(count)
    sampler = WholeGraphs(size=size).on(graphs)
    batches = [numbers_of(sampler.part(graphs, number, seeded(seed), seeded(number)))
               for number in range(sampler.batches)]
    assert sorted(number for batch in batches for number in batch) == list(range(count))
    sizes = [len(batch) for batch in batches]
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1
    assert all(batch == sorted(batch) for batch in batches)


def test_epochs_differ_and_fewer_batches_leave_graphs_out():
    graphs = collection(20)
    sampler = WholeGraphs(size=5, batches=2).on(graphs)
    assert sampler.batches == 2
    assert WholeGraphs(size=5, batches=9).on(graphs).batches == 4
    first, other = (numbers_of(sampler.part(graphs, 0, seeded(seed), seeded(0))) for seed in (1, 2))
    assert first != other


def test_a_batch_of_its_own_holds_whole_graphs():
    graphs, sampler = collection(10), WholeGraphs(size=4)
    batch = sampler(graphs, seeded(0))
    assert len(numbers_of(batch)) == 4
    assert torch.equal(batch.n_id, sampler.nodes(graphs, seeded(0)))
    assert numbers_of(WholeGraphs(size=40)(collection(10), seeded(0))) == list(range(10))


def test_workers_change_nothing():
    fitted = [SGCLGraphs(hidden_channels=4, epochs=2, sampler=WholeGraphs(size=3), workers=workers).fit(collection(10))
              for workers in (0, 2)]
    assert [epoch.loss for epoch in fitted[0].history] == [epoch.loss for epoch in fitted[1].history]
    assert torch.equal(*(one.transform(collection(10)) for one in fitted))


def test_name_and_bad_settings():
    assert SAMPLERS.build("graphs") == WholeGraphs(size=128)
    assert SAMPLERS.build(SAMPLERS.describe(WholeGraphs(size=3, batches=2))) == WholeGraphs(size=3, batches=2)
    with pytest.raises(InputError, match="WholeGraphs: size is 0, expected a whole number of at least 1"):
        WholeGraphs(size=0)
    with pytest.raises(InputError, match="draws graphs of a collection, this is a single graph"):
        WholeGraphs().on(collection(3).replace(graph_ptr=None))
