"""Composition, JSON and what every view keeps to."""

import json

import pytest
import torch

import sgcl.views
from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.sparse import CSR, SparseFeatures
from sgcl.views import (
    VIEWS,
    Compose,
    DropEdges,
    DropNodes,
    FlipEdges,
    MaskFeatures,
    MaskNodes,
    NoiseFeatures,
    Subgraph,
    View,
    build_view,
    describe_view,
    parts_of,
)

EVERY = [DropEdges(0.4), MaskFeatures(0.3), FlipEdges(0.2), NoiseFeatures(0.2), MaskNodes(0.4),
         Compose([DropEdges(0.4), MaskFeatures(0.3), FlipEdges(0.2), NoiseFeatures(0.2)])]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def square(sparse: bool = False) -> Graph:
    """Four nodes in a ring, one apart."""
    adj = CSR(torch.tensor([0, 2, 4, 6, 8, 8]), torch.tensor([1, 3, 0, 2, 1, 3, 0, 2]),
              torch.tensor([1.0, 4, 1, 2, 2, 3, 4, 3]), symmetric=True)
    x = torch.arange(30.0).view(5, 6) % 4
    return Graph(SparseFeatures.from_dense(x) if sparse else x, adj, n_id=torch.arange(5) * 7)


def dense_x(graph: Graph) -> torch.Tensor:
    return graph.x.to_dense() if isinstance(graph.x, SparseFeatures) else graph.x


@pytest.mark.parametrize("view", EVERY)
@pytest.mark.parametrize("sparse", [False, True])
def test_same_seed_same_view_and_the_input_is_untouched(view, sparse):
    graph, fresh = square(sparse), square(sparse)
    torch.manual_seed(1)
    first = view(graph, seeded(3))
    torch.manual_seed(2)  # the global generator plays no part
    again, other = view(graph, seeded(3)), [view(graph, seeded(seed)) for seed in range(4, 12)]
    assert torch.equal(first.adj.to_dense(), again.adj.to_dense())
    assert torch.equal(dense_x(first), dense_x(again))
    assert any(not (torch.equal(first.adj.to_dense(), view.adj.to_dense())
                    and torch.equal(dense_x(first), dense_x(view))) for view in other)
    assert torch.equal(graph.adj.to_dense(), fresh.adj.to_dense())
    assert torch.equal(dense_x(graph), dense_x(fresh))
    assert first.n_id is graph.n_id
    assert (first.num_nodes, first.num_features) == (5, 6)


@pytest.mark.parametrize("view", EVERY)
def test_dense_and_sparse_features_give_the_same_view(view):
    dense, sparse = view(square(), seeded(5)), view(square(sparse=True), seeded(5))
    torch.testing.assert_close(dense_x(sparse), dense_x(dense))
    assert torch.equal(dense.adj.to_dense(), sparse.adj.to_dense())


def test_parts_are_applied_in_order():
    one, two = DropEdges(0.5), FlipEdges(0.3)
    generator = seeded()
    expected = two(one(square(), generator), generator)
    assert torch.equal(Compose([one, two])(square(), seeded()).adj.to_dense(), expected.adj.to_dense())


def test_no_parts_leave_the_graph():
    graph = square()
    assert Compose()(graph, seeded()) is graph


def test_all_gone_is_still_a_graph():
    bare = Compose([DropEdges(1), MaskFeatures(1), FlipEdges(0.5), NoiseFeatures()])(square(), seeded())
    assert bare.num_nodes == 5
    assert float(bare.x.abs().sum()) == 0


def test_any_sequence_of_views_is_kept_as_a_tuple():
    parts = [DropEdges(), MaskFeatures()]
    assert Compose(parts).views == tuple(parts)
    assert Compose(parts) == Compose(tuple(parts))
    assert Compose(DropEdges()).views == (DropEdges(),)
    assert hash(Compose(parts)) == hash(Compose(tuple(parts)))


def test_something_else_is_not_a_view():
    with pytest.raises(InputError, match=r"Compose: 0.5 is not a view; give e.g. Compose"):
        Compose([0.5])


@pytest.mark.parametrize("view", EVERY)
def test_json_and_back(view):
    specs = json.loads(json.dumps(describe_view(view)))
    built = build_view(specs)
    assert built == (view if isinstance(view, Compose) else Compose([view]))
    assert describe_view(built) == specs


def test_nested_views_are_written_flat():
    nested = Compose([Compose([DropEdges(0.1)]), Compose([]), MaskFeatures(0.2)])
    assert describe_view(nested) == [{"name": "drop-edges", "p": 0.1}, {"name": "mask-features", "p": 0.2}]
    assert build_view(describe_view(nested)) == Compose([DropEdges(0.1), MaskFeatures(0.2)])


def test_names_take_defaults_and_a_single_part_needs_no_list():
    assert build_view(["drop-edges", {"name": "mask-features", "p": 0.3}]) == Compose([DropEdges(), MaskFeatures(0.3)])
    assert build_view("flip-edges") == build_view({"name": "flip-edges"}) == Compose([FlipEdges()])
    assert build_view([]) == Compose()


def test_parts_are_those_of_nested_views_in_order():
    assert parts_of(Compose([Compose([DropEdges()]), Compose(), DropNodes()])) == (DropEdges(), DropNodes())
    assert parts_of(DropEdges()) == (DropEdges(),)


def test_a_view_keeps_the_nodes_if_all_its_parts_do():
    assert Compose(EVERY).keeps_nodes
    for part in (DropNodes(), Subgraph()):
        assert not part.keeps_nodes
        assert not Compose([DropEdges(), Compose([part])]).keeps_nodes


def test_misspelt_names_and_settings():
    with pytest.raises(InputError, match="no view named 'drop-edge'; did you mean 'drop-edges'"):
        build_view(["drop-edge"])
    with pytest.raises(InputError, match="no view setting named 'rate'; known: p"):
        build_view([{"name": "drop-edges", "rate": 0.1}])


def test_a_view_without_a_name_cannot_be_written_down():
    class Mine(View):
        def __call__(self, graph, generator):
            return graph

    with pytest.raises(InputError, match="Mine is not a known view: offer it under the entry-point group"):
        describe_view(Mine())


def test_every_registered_view_has_defaults_that_work():
    for name in ("drop-edges", "mask-features", "flip-edges", "noise-features", "drop-nodes", "mask-nodes", "subgraph"):
        assert name in VIEWS
        view = VIEWS[name]()(square(), seeded())
        assert 1 <= view.num_nodes <= 5
        assert (view.num_nodes == 5) >= VIEWS[name]().keeps_nodes


def test_public_names():
    found = {name for name, value in vars(sgcl.views).items()
             if not name.startswith("_") and not isinstance(value, type(sgcl.views))}
    assert found == set(sgcl.views.__all__)
