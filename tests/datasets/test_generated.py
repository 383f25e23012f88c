import pytest

from sgcl.datasets import grid
from sgcl.errors import InputError


def test_the_smallest_grid_is_a_square():
    data = grid(2)
    edges = sorted(map(tuple, data.edge_index.T.tolist()))
    assert edges == [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2)]
    assert data.x.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert data.y is None


@pytest.mark.parametrize("n", [2, 3, 6])
def test_nodes_one_step_apart_are_joined_and_no_others(n):
    data = grid(n)
    edges = set(map(tuple, data.edge_index.T.tolist()))
    assert len(edges) == data.num_edges == 4 * n * (n - 1)
    for a in range(n * n):
        for b in range(n * n):
            steps = abs(a // n - b // n) + abs(a % n - b % n)
            assert ((a, b) in edges) == (steps == 1)


def test_a_grid_of_one_node_is_refused():
    with pytest.raises(InputError, match="grid: n is 1, expected at least 2 nodes a side"):
        grid(1)
