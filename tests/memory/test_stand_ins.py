import torch
from graphs import lattice
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_data

from sgcl.graph import Graph
from sgcl.memory.stand_ins import piece, shuffled
from sgcl.sparse import CSR


def chance() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_a_piece_keeps_triangles_and_a_shuffled_graph_keeps_degrees():
    adj = lattice(1000, 5)
    nodes, part = piece(adj, 200, chance())
    assert len(nodes) == 200
    assert torch.equal(part.idx, adj.submatrix(nodes).idx)
    dense = part.to_dense()
    assert ((dense @ dense) * dense).sum() > 0.8 * 200 * 10 * 7            # about what the ring has: 7 for each edge
    _, part = shuffled(adj, 200, chance())
    assert 9 < part.nnz / 200 <= 10
    dense = part.to_dense()
    assert ((dense @ dense) * dense).sum() < 0.2 * 200 * 10 * 7


@given(data=random_data(max_nodes=30, weighted=True), seed=st.integers(0, 1000))
def test_stand_ins_are_graphs(data, seed):
    adj = Graph.from_data(data).adj
    size = max(2, adj.shape[0] // 2)
    for stand_in in (piece, shuffled):
        nodes, part = stand_in(adj, size, torch.Generator().manual_seed(seed))
        assert len(torch.unique(nodes)) == size
        assert part.shape == (size, size)
        dense = part.to_dense()
        assert torch.allclose(dense, dense.T)                              # weights of edges drawn twice are added up
        assert (dense.diagonal() == 0).all()
        assert part.value is None or (part.value > 0).all()


def test_a_hub_keeps_what_degree_there_is_room_for():
    star = torch.stack([torch.zeros(499, dtype=torch.long), torch.arange(1, 500)])
    adj = CSR.from_coo(torch.cat([star[0], star[1]]), torch.cat([star[1], star[0]]), shape=(500, 500), symmetric=True)
    nodes, part = shuffled(adj, 500, chance())
    assert part.ptr.diff()[(nodes == 0).nonzero()] > 200
