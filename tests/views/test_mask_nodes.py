import pytest
import torch
from collections_of import collection_of, seeded, some_collections, values_of
from hypothesis import given
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.views import MaskNodes


@given(some_collections(), st.floats(0, 1), st.integers(0, 1000))
def test_so_many_nodes_of_each_graph_get_other_features(graph, p, seed):
    view = MaskNodes(p)(graph, seeded(seed))
    changed = (values_of(view.x) != values_of(graph.x)).any(1)
    counts = torch.zeros(graph.num_graphs, dtype=torch.long).index_add(0, graph.graph_of, changed.long())
    assert counts.tolist() == [int(p * int(size)) for size in graph.graph_ptr.diff()]
    assert bool((values_of(view.x)[changed] != values_of(graph.x)[changed]).all())
    assert type(view.x) is type(graph.x)
    assert view.adj is graph.adj
    assert view.graph_ptr is graph.graph_ptr


def test_scaled_columns_of_sparse_features_stay_scaled():
    graph = collection_of([(10, [])], sparse=True)
    scaled = graph.replace(x=graph.x.scale_columns(torch.tensor([0.0, 1, 2, 3])))
    view = MaskNodes(0.5)(scaled, seeded())
    same = MaskNodes(0.5)(graph.replace(x=values_of(scaled.x)), seeded())
    assert torch.equal(values_of(view.x), same.x)


def test_new_features_are_normal():
    view = MaskNodes(0.5, mean=2, std=3)(collection_of([(1000, [])], features=100), seeded())
    old = collection_of([(1000, [])], features=100).x
    drawn = view.x[(view.x != old).any(1)]
    assert drawn.shape == (500, 100)
    assert float(drawn.mean()) == pytest.approx(2, abs=5 * 3 / 50_000**0.5)
    assert float(drawn.std()) == pytest.approx(3, abs=5 * 3 / 100_000**0.5)


@pytest.mark.parametrize("sparse", [False, True])
def test_without_a_spread_they_are_the_mean(sparse):
    graph = collection_of([(4, [])], sparse=sparse)
    assert values_of(MaskNodes(1, mean=0, std=0)(graph, seeded()).x).abs().sum() == 0
    assert MaskNodes(0)(graph, seeded()) is graph


@pytest.mark.parametrize(("settings", "message"), [
    ({"p": 2}, r"MaskNodes: p is 2, expected a probability in \[0, 1\]"),
    ({"std": -1}, "MaskNodes: std is -1, expected a finite number of at least 0"),
    ({"mean": float("inf")}, "MaskNodes: mean is inf, expected a finite number$")])
def test_bad_settings_are_told(settings, message):
    with pytest.raises(InputError, match=message):
        MaskNodes(**settings)
