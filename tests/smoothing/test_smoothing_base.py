"""What every smoothing keeps to: the contract, and what must hold whatever the graph."""

import dataclasses
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from types import ModuleType
from unittest import mock

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import random_data
from torch_geometric.data import Data

import sgcl.smoothing
from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.registry import Registry
from sgcl.smoothing import (
    SMOOTHINGS,
    Bilateral,
    Diffusion,
    HeatKernel,
    Identity,
    PageRank,
    Smoothing,
    Taubin,
    edge_coverage,
    rows,
)
from sgcl.sparse import CSR

ALL = [Taubin(), Taubin(steps=3, prune=0.001), Taubin(prune=0.0), Bilateral(), Bilateral(hops=3, sigma_spatial=1.0),
       Bilateral(sigma_spatial=1.0, include_self=True, hops=2, prune=0.05), Diffusion(), Diffusion(prune=0.0, steps=3),
       Diffusion(normalize=True, eta=0.5), Identity(), HeatKernel(), HeatKernel(prune=0.0, time=3.0),
       HeatKernel(symmetric=True, prune=0.02), PageRank(), PageRank(0.4, prune=0.0),
       PageRank(symmetric=True, prune=0.02)]
few = settings(max_examples=12)
every_smoothing = pytest.mark.parametrize("smoothing", ALL, ids=str)


@dataclass(frozen=True)
class Given(Smoothing):
    """A filter whose result is written down, zeros included, last entry first."""

    result: tuple[tuple[float, ...], ...]

    def filter(self, adj):
        result = np.array(self.result)
        n = len(result)
        columns = np.tile(np.arange(n)[::-1], n)
        return scipy.sparse.csr_array((result[:, ::-1].ravel(), columns, n * np.arange(n + 1)), shape=(n, n))


def adjacency(pairs, num_nodes, weights=None) -> CSR:
    row, col = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T
    value = None if weights is None else torch.tensor(weights).repeat(2)
    return CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), value, shape=(num_nodes, num_nodes),
                        symmetric=True)


def numpy(matrix: CSR) -> np.ndarray:
    return matrix.to_dense().double().numpy()


def test_the_ending_clips_drops_zeros_and_sets_the_diagonal():
    smoothing = Given(((0.5, -0.2, 3.0), (0.0, 0.0, 1e-60), (0.25, 1.0, 7.0)))
    positives = smoothing(adjacency([(0, 1)], 3))
    assert numpy(positives).tolist() == [[1, 0, 1], [0, 1, 0], [0.25, 1, 1]]
    assert positives.ptr.tolist() == [0, 2, 3, 6]
    assert positives.idx.tolist() == [0, 2, 1, 0, 1, 2]


def test_the_filter_gets_sorted_float64_edges_without_loops_or_zeros():
    seen = []

    @dataclass(frozen=True)
    class Spy(Smoothing):
        def filter(self, adj):
            seen.append(adj)
            return adj

    loops = CSR.from_coo(torch.tensor([0, 0, 1, 1, 2, 2]), torch.tensor([0, 1, 0, 2, 1, 2]),
                         torch.tensor([5.0, 2.0, 2.0, 0.0, 0.0, 1.0]), shape=(3, 3), symmetric=True)
    Spy()(loops)
    assert seen[0].toarray().tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    assert seen[0].nnz == 2
    assert seen[0].dtype == np.float64


def test_a_rectangular_adjacency_is_refused():
    with pytest.raises(InputError, match=r"Identity: the adjacency has shape \(2, 5\), expected \(N, N\)"):
        Identity()(CSR(torch.tensor([0, 1, 2]), torch.tensor([1, 4]), num_cols=5))


@every_smoothing
@few
@given(data=random_data(), weighted=random_data(weighted=True))
def test_values_in_range_diagonal_one_columns_ascending(smoothing, data, weighted):
    for adj in (Graph.from_data(data).adj, Graph.from_data(weighted).adj):
        before = adj.to_dense().clone()
        positives = smoothing(adj)
        n = adj.shape[0]
        assert positives.shape == (n, n)
        assert not positives.symmetric
        assert positives.value.dtype == torch.float32
        assert positives.ptr.dtype == positives.idx.dtype == torch.int64
        assert bool((positives.value > 0).all())
        assert bool((positives.value <= 1).all())
        assert bool((positives.to_dense().diagonal() == 1).all())
        key = positives.row * n + positives.idx
        assert bool((key.diff() > 0).all())
        assert torch.equal(adj.to_dense(), before)


@every_smoothing
@few
@given(data=random_data(weighted=True), seed=st.integers(0, 999))
def test_the_numbering_of_the_nodes_does_not_matter(smoothing, data, seed):
    graph = Graph.from_data(data)
    order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(seed))
    renumbered = CSR.from_scipy(scipy.sparse.csr_array(numpy(graph.adj)[order][:, order]), symmetric=True)
    expected = numpy(smoothing(graph.adj))[order][:, order]
    np.testing.assert_allclose(numpy(smoothing(renumbered)), expected, atol=1e-6)


@every_smoothing
@few
@given(one=random_data(weighted=True), other=random_data(weighted=True))
def test_nothing_leaks_between_components(smoothing, one, other):
    first, second = numpy(Graph.from_data(one).adj), numpy(Graph.from_data(other).adj)
    union = CSR.from_scipy(scipy.sparse.csr_array(scipy.linalg.block_diag(first, second)), symmetric=True)
    parts = [numpy(smoothing(CSR.from_scipy(scipy.sparse.csr_array(part), symmetric=True)))
             for part in (first, second)]
    np.testing.assert_allclose(numpy(smoothing(union)), scipy.linalg.block_diag(*parts), atol=1e-6)


@every_smoothing
def test_without_edges_only_the_diagonal_is_left(smoothing):
    empty = CSR(torch.zeros(5, dtype=torch.long), torch.zeros(0, dtype=torch.long), symmetric=True)
    assert torch.equal(smoothing(empty).to_dense(), torch.eye(4))


@every_smoothing
def test_an_isolated_node_has_only_itself(smoothing):
    positives = smoothing(adjacency([(0, 1), (1, 3)], 4)).to_dense()
    assert positives[2].tolist() == [0, 0, 1, 0]
    assert positives[:, 2].tolist() == [0, 0, 1, 0]


@every_smoothing
@few
@given(data=random_data(weighted=True))
def test_blocks_of_rows_do_not_change_the_result(smoothing, data):
    adj = Graph.from_data(data).adj
    whole = smoothing(adj)
    with mock.patch.object(rows, "_BLOCK", 4):
        blocks = smoothing(adj)
    assert torch.equal(blocks.idx, whole.idx)
    torch.testing.assert_close(blocks.value, whole.value)


@every_smoothing
def test_self_loops_are_ignored(smoothing):
    edges = torch.tensor([[0, 1, 1, 2], [1, 2, 3, 0]])
    loops = torch.tensor([[0, 2], [0, 2]])
    plain = Graph.from_data(Data(x=torch.eye(4), edge_index=edges)).adj
    looped = Graph.from_data(Data(x=torch.eye(4), edge_index=torch.cat([edges, loops], dim=1))).adj
    assert torch.equal(smoothing(plain).to_dense(), smoothing(looped).to_dense())


@given(data=random_data())
def test_edge_coverage_counts_the_edges_that_are_positives(data):
    adj = Graph.from_data(data).adj
    positives = Taubin(prune=0.2)(adj)
    edges = numpy(adj) > 0
    assert edge_coverage(positives, adj) == pytest.approx((numpy(positives)[edges] > 0).mean())


def test_edge_coverage_of_all_none_and_no_edges():
    adj = adjacency([(0, 1), (1, 2)], 3)
    assert edge_coverage(Bilateral()(adj), adj) == 1.0
    assert edge_coverage(Identity()(adj), adj) == 0.0
    assert edge_coverage(Identity()(adjacency([], 3)), adjacency([], 3)) == 1.0
    one_way = CSR.from_coo(torch.tensor([0, 1, 1, 2]), torch.tensor([0, 0, 1, 2]), torch.ones(4), shape=(3, 3))
    assert edge_coverage(one_way, adj) == 0.25


def test_a_misspelt_name_hears_the_nearest():
    with pytest.raises(InputError, match=r"no smoothing named 'tabuin'; did you mean 'taubin'\?"):
        SMOOTHINGS["tabuin"]
    with pytest.raises(InputError, match=r"no smoothing setting named 'step'; did you mean 'steps'\?"):
        SMOOTHINGS.build({"name": "taubin", "step": 3})


@every_smoothing
def test_settings_survive_being_written_down(smoothing):
    described = SMOOTHINGS.describe(smoothing)
    assert SMOOTHINGS.build(described) == smoothing
    with pytest.raises(dataclasses.FrozenInstanceError):
        smoothing.prune = 0.5


def test_names():
    assert set(SMOOTHINGS) >= {"taubin", "bilateral", "diffusion", "identity", "heat", "pagerank"}
    assert SMOOTHINGS.group == "sgcl.smoothings"
    assert all(hasattr(sgcl.smoothing, name) for name in sgcl.smoothing.__all__)


def test_a_smoothing_of_another_package_joins_by_entry_point(monkeypatch):
    @dataclass(frozen=True)
    class Halves(Smoothing):
        share: float = 0.5

        def filter(self, adj):
            return self.share * (adj > 0)

    package = ModuleType("another_package")
    package.Halves = Halves
    monkeypatch.setitem(sys.modules, "another_package", package)
    point = EntryPoint("halves", "another_package:Halves", "sgcl.smoothings")
    monkeypatch.setattr("sgcl.registry.entry_points", lambda group: [point] if group == "sgcl.smoothings" else [])
    registry = Registry("smoothing", {"identity": Identity}, SMOOTHINGS.group)
    smoothing = registry.build({"name": "halves", "share": 0.25})
    assert registry.describe(smoothing) == {"name": "halves", "share": 0.25, "top": None}
    assert smoothing(adjacency([(0, 1)], 3)).to_dense().tolist() == [[1, 0.25, 0], [0.25, 1, 0], [0, 0, 1]]


@every_smoothing
@few
@given(data=random_data(weighted=True), top=st.integers(1, 4))
def test_of_each_row_the_largest_entries_stay(smoothing, data, top):
    adj = Graph.from_data(data).adj
    whole = numpy(smoothing(adj))
    found = numpy(dataclasses.replace(smoothing, top=top)(adj))
    for i, (row, short) in enumerate(zip(whole, found, strict=True)):
        others = np.delete(row, i)
        assert short[i] == 1
        stays = np.delete(short, i)
        assert (stays > 0).sum() == min(top, (others > 0).sum())
        assert np.isin(stays[stays > 0], others).all()
        if 0 < (stays > 0).sum() < (others > 0).sum():  # nothing that went is larger than what stayed
            assert stays[stays > 0].min() >= others[stays == 0].max() - 1e-6


def test_of_equal_entries_those_of_the_first_nodes_stay():
    star = adjacency([(0, 1), (0, 2), (0, 3), (0, 4)], 5)
    assert numpy(Bilateral(top=2)(star))[0].tolist() == [1, 0.25, 0.25, 0, 0]


def test_a_bound_on_the_rows_is_a_whole_number():
    with pytest.raises(InputError, match="Taubin: top is 0, expected a whole number >= 1"):
        Taubin(top=0)


def test_what_does_not_fit_whole_may_fit_with_a_bound_on_the_rows(monkeypatch):
    star = adjacency([(0, node) for node in range(1, 50)], 50)
    monkeypatch.setattr(sgcl.smoothing.memory, "free_memory", lambda: 48 * 50 * 10.0)
    with pytest.raises(InputError, match=r"unpruned, this graph may fill 2\.5e"):
        Bilateral(hops=2, sigma_spatial=1.0)(star)
    assert Bilateral(hops=2, sigma_spatial=1.0, top=5)(star).nnz == 50 * 6
