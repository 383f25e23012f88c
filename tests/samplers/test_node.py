"""Random nodes: the law asked for, without replacement, whatever the size of the batch."""

from collections import Counter
from itertools import permutations

import pytest
import torch

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.samplers import RandomNode
from sgcl.sparse import CSR


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def graph_of(pairs: list[tuple[int, int]], num_nodes: int) -> Graph:
    row, col = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T
    adj = CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), shape=(num_nodes, num_nodes), symmetric=True)
    return Graph(torch.ones(num_nodes, 1), adj)


STAR = graph_of([(0, 1), (0, 2), (0, 3), (1, 2)], 5)  # degrees 3, 2, 2, 1, 0


def drawn(sampler: RandomNode, graph: Graph, rounds: int) -> Counter[tuple[int, ...]]:
    generator = seeded()
    return Counter(tuple(sampler.nodes(graph, generator).tolist()) for _ in range(rounds))


@pytest.mark.parametrize(("sampler", "law"), [
    (RandomNode(batch_size=1), [0.2, 0.2, 0.2, 0.2, 0.2]),
    (RandomNode(batch_size=1, by="degree"), [3 / 8, 2 / 8, 2 / 8, 1 / 8, 0]),
    (RandomNode(batch_size=1, probability=(0.1, 0, 0.6, 0.3, 0)), [0.1, 0, 0.6, 0.3, 0]),
    (RandomNode(batch_size=1, probability=[2, 0, 12, 6, 0]), [0.1, 0, 0.6, 0.3, 0])])
def test_a_single_node_follows_the_law(sampler, law):
    rounds = 4000
    seen = drawn(sampler, STAR, rounds)
    for node, p in enumerate(law):
        assert abs(seen[(node,)] - p * rounds) <= 5 * (p * (1 - p) * rounds) ** 0.5


@pytest.mark.parametrize("rounds_before_keys", [8, 1])
def test_several_nodes_follow_the_law_of_draws_without_replacement(rounds_before_keys, monkeypatch):
    monkeypatch.setattr("sgcl.samplers.node._ROUNDS", rounds_before_keys)
    p, rounds = [0.7, 0.15, 0.1, 0.05, 0.0], 4000
    expected: Counter[tuple[int, ...]] = Counter()
    for first, second in permutations(range(5), 2):
        if p[second] > 0:
            expected[tuple(sorted((first, second)))] += p[first] * p[second] / (1 - p[first])
    seen = drawn(RandomNode(batch_size=2, probability=p), STAR, rounds)
    assert all(expected[pair] > 0 for pair in seen)
    for pair, share in expected.items():
        assert abs(seen[pair] - share * rounds) <= 5 * (share * (1 - share) * rounds) ** 0.5


def test_nodes_of_probability_zero_are_never_drawn():
    assert RandomNode(batch_size=4, by="degree").nodes(STAR, seeded()).tolist() == [0, 1, 2, 3]
    assert RandomNode(batch_size=100, by="degree").nodes(STAR, seeded()).tolist() == [0, 1, 2, 3]
    assert RandomNode(batch_size=100, probability=[0, 0, 1, 1e-12, 0]).nodes(STAR, seeded()).tolist() == [2, 3]
    assert RandomNode(batch_size=5).nodes(STAR, seeded()).tolist() == [0, 1, 2, 3, 4]


def test_a_law_that_leaves_one_likely_node_ends():
    probability = torch.full((2000,), 1e-15)
    probability[7] = 1
    graph = graph_of([(0, 1)], 2000)
    for seed in range(5):
        nodes = RandomNode(batch_size=50, probability=probability).nodes(graph, seeded(seed))
        assert len(nodes) == len(set(nodes.tolist())) == 50
        assert nodes.tolist() == sorted(nodes.tolist())
        assert 7 in nodes.tolist()


def test_probability_is_kept_as_a_tuple_of_numbers():
    assert RandomNode(probability=torch.tensor([1, 2, 1])).probability == (1.0, 2.0, 1.0)
    assert RandomNode(probability=[1, 2, 1]) == RandomNode(probability=(1.0, 2.0, 1.0))


@pytest.mark.parametrize("probability", [(0.5, -0.1), (0.5, float("nan")), (0.5, float("inf")), (0, 0), ()])
def test_probability_is_a_law(probability):
    with pytest.raises(InputError, match="RandomNode: probability holds NaN, infinite or negative numbers"):
        RandomNode(probability=probability)


def test_probability_has_one_number_for_each_node():
    with pytest.raises(InputError, match="RandomNode: probability has 2 numbers for a graph of 5 nodes"):
        RandomNode(probability=(0.5, 0.5)).nodes(STAR, seeded())


def test_two_laws_at_once_are_refused():
    with pytest.raises(InputError, match="RandomNode: both by='degree' and probability are given; give one of them"):
        RandomNode(by="degree", probability=(0.5, 0.5))


def test_an_unknown_law_is_named():
    with pytest.raises(InputError, match="no node law named 'degrees'; did you mean 'degree'"):
        RandomNode(by="degrees")


def test_degrees_need_edges():
    with pytest.raises(InputError, match="RandomNode: by='degree' on a graph without edges; use by='uniform'"):
        RandomNode(by="degree").nodes(graph_of([], 5), seeded())


def test_batch_size_is_whole_and_positive():
    with pytest.raises(InputError, match="RandomNode: batch_size is 0, expected a whole number of at least 1"):
        RandomNode(batch_size=0)
