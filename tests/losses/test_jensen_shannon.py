import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl import InputError
from sgcl.losses import jensen_shannon


def slow_jensen_shannon(nodes, graphs, graph_of):
    """As the authors write it: log 2 - sp(-T) of a node with its own graph, sp(-T) + T - log 2 with another."""
    own, other = [], []
    for v, mine in enumerate(graph_of.tolist()):
        for g in range(len(graphs)):
            score = nodes[v] @ graphs[g]
            if g == mine:
                own.append(math.log(2) - torch.log(1 + torch.exp(-score)))
            else:
                other.append(torch.log(1 + torch.exp(-score)) + score - math.log(2))
    return sum(other) / len(other) - sum(own) / len(own)


@given(st.integers(1, 12), st.integers(2, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_equals_plain_loops(num_nodes, num_graphs, width, seed):
    generator = torch.Generator().manual_seed(seed)
    nodes = torch.randn(num_nodes, width, generator=generator, dtype=torch.double).requires_grad_()
    graphs = torch.randn(num_graphs, width, generator=generator, dtype=torch.double).requires_grad_()
    graph_of = torch.randint(num_graphs, (num_nodes,), generator=generator)
    ours, theirs = (loss(nodes, graphs, graph_of) for loss in (jensen_shannon, slow_jensen_shannon))
    torch.testing.assert_close(ours, theirs)
    for mine, reference in zip(torch.autograd.grad(ours, (nodes, graphs)), torch.autograd.grad(theirs, (nodes, graphs)),
                               strict=True):
        torch.testing.assert_close(mine, reference)


def test_by_hand():
    """Scores of 0 tell nothing; scores that tell all come near -2 log 2, however large they are."""
    graph_of = torch.tensor([0, 0, 1])
    assert float(jensen_shannon(torch.zeros(3, 2), torch.ones(2, 2), graph_of)) == pytest.approx(0, abs=1e-6)
    apart = torch.tensor([[1.0, -1], [-1, 1]])
    assert float(jensen_shannon(1e4 * apart[graph_of], apart, graph_of)) == pytest.approx(-2 * math.log(2))
    wrong = jensen_shannon(-1e4 * apart[graph_of], apart, graph_of)
    assert float(wrong) == pytest.approx(4e4 - 2 * math.log(2))


@pytest.mark.parametrize(("shapes", "message"), [
    (((3, 2), (2, 4), 3), r"jensen_shannon: nodes, graphs and graph_of have shapes \(3, 2\), \(2, 4\) and \(3,\)"),
    (((3, 2), (2, 2), 4), r"expected \(N, D\), \(G, D\) and \(N,\)"),
    (((3, 2), (1, 2), 3), "a batch of a single graph has nothing to tell it from; give at least 2")])
def test_bad_input_is_told(shapes, message):
    nodes, graphs, count = shapes
    with pytest.raises(InputError, match=message):
        jensen_shannon(torch.ones(nodes), torch.ones(graphs), torch.zeros(count, dtype=torch.long))
