"""What every sampler keeps to: induced sub-graphs, original numbers, seeds, fair draws, cost of the batch alone."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

import sgcl.samplers
from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.samplers import SAMPLERS, EgoGraph, FullGraph, RandomEdge, RandomNode, RandomWalk
from sgcl.samplers.base import fill, first_distinct
from sgcl.sparse import CSR, SparseFeatures

SMALL = [RandomWalk(batch_size=8, length=2), RandomWalk(roots=3, length=2), RandomNode(batch_size=8),
         RandomNode(batch_size=8, by="degree"), RandomEdge(batch_size=8), RandomEdge(edges=4),
         EgoGraph(batch_size=8, hops=1), EgoGraph(batch_size=8, roots=2), EgoGraph(batch_size=8, max_neighbors=1)]
EVERY = [FullGraph(), *SMALL]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def graph_of(pairs: list[tuple[int, int]], num_nodes: int, *, weighted: bool = False, sparse: bool = False) -> Graph:
    row, col = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T
    value = (torch.arange(len(pairs)) + 2.0).repeat(2) if weighted else None
    adj = CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), value, shape=(num_nodes, num_nodes),
                       symmetric=True)
    x = torch.arange(3.0 * num_nodes).view(num_nodes, 3)
    return Graph(SparseFeatures.from_dense(x) if sparse else x, adj)


def lattice(num_nodes: int) -> Graph:
    """A ring in which each node knows the two nodes on either side."""
    node = torch.arange(num_nodes)
    row = node.repeat(4)
    col = torch.cat([node + 1, node + 2, node - 1, node - 2]) % num_nodes
    return Graph(torch.ones(num_nodes, 2), CSR.from_coo(row, col, shape=(num_nodes, num_nodes), symmetric=True))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(2, 24))
    every = [(i, j) for i in range(n) for j in range(i)]
    pairs = draw(st.lists(st.sampled_from(every), unique=True, min_size=1, max_size=60))
    return graph_of(pairs, n, weighted=draw(st.booleans()), sparse=draw(st.booleans()))


def dense(x: torch.Tensor | SparseFeatures) -> torch.Tensor:
    return x.to_dense() if isinstance(x, SparseFeatures) else x


@given(graphs(), st.sampled_from(SMALL), st.integers(0, 1000))
@settings(deadline=None, max_examples=150)
def test_a_batch_is_the_sub_graph_its_nodes_induce(graph, sampler, seed):
    before = graph.adj.to_dense().clone()
    batch = sampler(graph, seeded(seed))
    nodes = batch.n_id.tolist()
    assert nodes == sorted(set(nodes))
    assert nodes == sampler.nodes(graph, seeded(seed)).tolist()
    assert nodes[0] >= 0
    assert nodes[-1] < graph.num_nodes
    expected = torch.zeros(len(nodes), len(nodes))
    for a, old_a in enumerate(nodes):
        for b, old_b in enumerate(nodes):
            expected[a, b] = before[old_a, old_b]
    assert torch.equal(batch.adj.to_dense(), expected)
    assert batch.adj.nnz == int((expected != 0).sum())
    assert batch.adj.symmetric
    for a, old in enumerate(nodes):
        assert torch.equal(dense(batch.x)[a], dense(graph.x)[old])
    assert torch.equal(graph.adj.to_dense(), before)


@pytest.mark.parametrize("sampler", SMALL)
def test_same_seed_same_batch_and_no_other_chance(sampler):
    ring = lattice(60)
    torch.manual_seed(1)
    first = sampler.nodes(ring, seeded(3))
    torch.manual_seed(2)
    assert torch.equal(first, sampler.nodes(ring, seeded(3)))
    assert any(first.tolist() != sampler.nodes(ring, seeded(seed)).tolist() for seed in range(4, 8))


@pytest.mark.parametrize("sampler", SMALL)
def test_a_generator_moves_on_from_batch_to_batch(sampler):
    ring, generator = lattice(60), seeded()
    batches = {tuple(sampler.nodes(ring, generator).tolist()) for _ in range(5)}
    assert len(batches) > 1


@pytest.mark.parametrize("sampler", SMALL)
def test_nodes_that_look_alike_are_drawn_equally_often(sampler):
    ring, generator, rounds = lattice(25), seeded(), 800
    count = torch.zeros(25)
    for _ in range(rounds):
        count[sampler.nodes(ring, generator)] += 1
    share = float(count.mean()) / rounds
    assert float((count / rounds - share).abs().max()) < 5 * (share * (1 - share) / rounds) ** 0.5


@pytest.mark.parametrize("sampler", [s for s in SMALL if getattr(s, "roots", None) is None
                                     and getattr(s, "edges", None) is None])
@pytest.mark.parametrize("num_nodes", [9, 10, 60])
def test_batch_size_is_met_exactly_also_close_to_the_size_of_the_graph(sampler, num_nodes):
    generator = seeded()
    for _ in range(30):
        assert len(sampler.nodes(lattice(num_nodes), generator)) == 8


@pytest.mark.parametrize("sampler", [RandomWalk(), RandomNode(), RandomNode(by="degree"), RandomEdge(), EgoGraph()])
def test_a_batch_size_beyond_the_graph_gives_all_of_it(sampler):
    assert sampler.nodes(lattice(40), seeded()).tolist() == list(range(40))


@pytest.mark.parametrize("sampler", SMALL)
def test_numbers_of_a_part_of_a_graph_stay_those_of_the_whole(sampler):
    part = lattice(60).subgraph(torch.arange(20, 50))
    batch = sampler(part, seeded())
    assert torch.equal(batch.n_id, sampler.nodes(part, seeded()) + 20)


@pytest.mark.parametrize("sampler", [RandomWalk(batch_size=5), RandomWalk(roots=5), RandomNode(batch_size=5),
                                     EgoGraph(batch_size=5), EgoGraph(batch_size=5, roots=5),
                                     EgoGraph(batch_size=5, max_neighbors=2)])
def test_a_graph_without_edges_still_gives_batches(sampler):
    batch = sampler(graph_of([], 12), seeded())
    assert batch.adj.nnz == 0
    assert batch.adj.shape == (len(batch.n_id), len(batch.n_id))
    assert 1 <= len(batch.n_id) <= 5


def test_a_batch_without_edges_is_a_graph():
    batch = RandomNode(batch_size=1)(lattice(30), seeded())
    assert batch.num_nodes == 1
    assert batch.num_edges == 0
    assert batch.adj.to_dense().tolist() == [[0.0]]


def repr_start(sampler: object) -> str:
    return repr(sampler)[:60]


class LargestTensor(TorchDispatchMode):
    """Records the largest tensor that any operation makes anew."""

    def __init__(self, known: set[int]) -> None:
        super().__init__()
        self.known, self.largest = known, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, (tuple, list)) else [out]:
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage().data_ptr() not in self.known:
                self.largest = max(self.largest, tensor.numel())
        return out


@pytest.mark.parametrize("sampler", [
    RandomWalk(batch_size=300), RandomWalk(roots=100), RandomNode(batch_size=300), RandomEdge(batch_size=300),
    RandomNode(batch_size=300, by="degree"), RandomEdge(edges=150), EgoGraph(batch_size=300),
    EgoGraph(batch_size=300, roots=20, max_neighbors=2), RandomNode(batch_size=300, probability=torch.ones(100_000))],
    ids=repr_start)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_batch_costs_what_it_holds_not_what_the_graph_holds(sampler, sparse):
    ring = lattice(100_000)
    ring = ring.replace(x=SparseFeatures.from_dense(ring.x)) if sparse else ring
    generator = seeded()
    sampler(ring, generator)  # a table may be made once for a graph
    parts = [ring.adj.ptr, ring.adj.idx, *([ring.x] if not sparse else
                                           [ring.x.matrix.ptr, ring.x.matrix.idx, ring.x.matrix.value])]
    with LargestTensor({part.untyped_storage().data_ptr() for part in parts}) as spy:
        sampler(ring, generator)
    assert 100 <= spy.largest < 5000


def test_the_spy_sees_work_on_the_whole_graph():
    ring = lattice(100_000)
    with LargestTensor({ring.adj.ptr.untyped_storage().data_ptr()}) as spy:
        torch.randperm(ring.num_nodes)[:300]
    assert spy.largest == 100_000


@given(st.lists(st.integers(0, 9)), st.integers(1, 12))
@settings(deadline=None, max_examples=100)
def test_first_distinct_equals_its_slow_twin(stream, size):
    seen: list[int] = []
    for value in stream:
        if value not in seen and len(seen) < size:
            seen.append(value)
    given_stream = torch.tensor(stream, dtype=torch.long)
    assert first_distinct(given_stream, size).tolist() == sorted(seen)
    assert first_distinct(given_stream).tolist() == sorted(set(stream))


def test_fill_takes_the_stream_in_order_and_no_more_rounds_than_allowed():
    stretches = [[5, 5, 1], [1, 7, 2, 3]]
    calls = []

    def draw(wanted: int) -> torch.Tensor:
        calls.append(wanted)
        return torch.tensor(stretches[len(calls) - 1])

    assert fill(3, 10, draw).tolist() == [1, 5, 7]
    assert calls == [3, 8]  # one missing of three, and 8 of 10 nodes not seen: 4 times 1 * 10 / 8, rounded up
    assert fill(3, 10, lambda wanted: torch.tensor([4]), rounds=5).tolist() == [4]


@pytest.mark.parametrize("sampler", [*EVERY, RandomNode(probability=(0.5, 0.25, 0.25))])
def test_json_and_back(sampler):
    spec = json.loads(json.dumps(SAMPLERS.describe(sampler)))
    assert SAMPLERS.build(spec) == sampler


@pytest.mark.parametrize(("name", "kind"), [("full", FullGraph), ("walk", RandomWalk), ("node", RandomNode),
                                            ("edge", RandomEdge), ("ego", EgoGraph)])
def test_names(name, kind):
    sampler = SAMPLERS.build(name)
    assert type(sampler) is kind
    assert sampler.batches == (1 if name == "full" else 4)


@pytest.mark.parametrize("kind", [FullGraph, RandomWalk, RandomNode, RandomEdge, EgoGraph])
@pytest.mark.parametrize("count", [0, -1, 2.5, True, "4"])
def test_counts_are_whole_and_positive(kind, count):
    with pytest.raises(InputError, match=f"{kind.__name__}: batches is .*, expected a whole number of at least 1"):
        kind(batches=count)


def test_public_names():
    found = {name for name, value in vars(sgcl.samplers).items()
             if not name.startswith("_") and not isinstance(value, type(sgcl.samplers)) and name != "Registry"}
    assert found == set(sgcl.samplers.__all__)
