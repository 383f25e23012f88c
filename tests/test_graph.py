import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_data
from torch_geometric.data import Data, HeteroData

from sgcl import Graph, InputError
from sgcl.graph import join, largest_component, one_column_each, prepare, scale_columns, scale_rows, side_by_side
from sgcl.sparse import SparseFeatures


@given(random_data())
def test_the_adjacency_is_symmetric_without_loops_and_says_what_the_edges_say(data):
    before = data.edge_index.clone()
    expected = np.zeros((data.num_nodes, data.num_nodes))
    for i, j in data.edge_index.T.tolist():
        if i != j:
            expected[i, j] = expected[j, i] = 1
    if not expected.any():
        with pytest.raises(InputError, match="self-loops"):
            Graph.from_data(data)
        return
    graph = Graph.from_data(data)
    assert np.array_equal(graph.adj.to_dense().numpy(), expected)
    assert graph.num_edges == expected.sum() / 2
    assert torch.equal(data.edge_index, before)


@given(random_data(weighted=True))
def test_weights_of_repeated_edges_add_up_and_the_larger_direction_wins(data):
    expected = np.zeros((data.num_nodes, data.num_nodes))
    for (i, j), weight in zip(data.edge_index.T.tolist(), data.edge_weight.tolist(), strict=True):
        if i != j:
            expected[i, j] += weight
    graph = Graph.from_data(data)
    assert np.allclose(graph.adj.to_dense().numpy(), np.maximum(expected, expected.T), atol=1e-6)


def test_isolated_nodes_are_nodes(path):
    path.x = torch.randn(5, 2)
    graph = Graph.from_data(path)
    assert graph.num_nodes == 5
    assert graph.adj.ptr.diff().tolist() == [1, 2, 1, 0, 0]


def test_mostly_empty_features_are_kept_sparse_and_equal():
    x = torch.zeros(6, 40)
    x[torch.arange(6), torch.arange(6) * 5] = torch.rand(6) + 1
    edge_index = torch.tensor([[0, 1], [1, 2]])
    graph = Graph.from_data(Data(x=x, edge_index=edge_index))
    assert isinstance(graph.x, SparseFeatures)
    assert torch.equal(graph.x.to_dense(), x)
    assert torch.equal(Graph.from_data(Data(x=x.to_sparse_csr(), edge_index=edge_index, num_nodes=6)).x.to_dense(), x)
    scale = torch.rand(40)
    assert torch.allclose(scale_columns(graph.x, scale).to_dense(), scale_columns(x, scale))
    assert torch.allclose(scale_rows(graph.x, scale[:6]).to_dense(), scale_rows(x, scale[:6]))
    assert torch.equal(scale_rows(x, torch.arange(6.0))[2], 2 * x[2])


def test_subgraph_keeps_the_original_numbers(ring):
    graph = Graph.from_data(ring)
    once = graph.subgraph(torch.tensor([3, 8, 9, 30]))
    twice = once.subgraph(torch.tensor([1, 2]))
    assert twice.n_id.tolist() == [8, 9]
    assert torch.equal(twice.x, ring.x[[8, 9]])
    assert twice.adj.to_dense().tolist() == [[0, 1], [1, 0]]


def test_largest_component_keeps_order_and_numbers():
    data = Data(x=torch.arange(6.0)[:, None], edge_index=torch.tensor([[0, 5, 2, 3], [1, 3, 3, 2]]),
                y=torch.arange(6))
    part = largest_component(data)
    assert part.n_id.tolist() == [2, 3, 5]
    assert part.y.tolist() == [2, 3, 5]
    assert part.x.view(-1).tolist() == [2, 3, 5]


@pytest.mark.parametrize("sparse", [False, True])
def test_largest_component_takes_ids_and_sparse_features_along(sparse):
    x = torch.eye(5)
    data = Data(x=x.to_sparse_csr() if sparse else x, edge_index=torch.tensor([[0, 4], [4, 2]]), num_nodes=5,
                ids=np.array(["a", "b", "c", "d", "e"]), notes=["as it came"], classes=np.array(["left"]))
    part = largest_component(data)
    assert part.ids.tolist() == ["a", "c", "e"]
    assert part.notes == ["as it came"]
    assert part.classes.tolist() == ["left"]
    assert part.num_nodes == 3
    features = Graph.from_data(part).x
    assert torch.equal(features if isinstance(features, torch.Tensor) else features.to_dense(), x[[0, 2, 4]])
    assert data.ids.tolist() == ["a", "b", "c", "d", "e"]


EDGES = torch.tensor([[0, 1], [1, 2]])


@pytest.mark.parametrize(("data", "message"), [
    (Data(x=torch.tensor([[1.0], [float("nan")], [0.0]]), edge_index=EDGES), r"NaN or infinite.*node 1, column 0"),
    (Data(x=torch.tensor([[1.0], [2.0], [float("inf")]]), edge_index=EDGES), "NaN or infinite"),
    (Data(x=torch.ones(2, 3), edge_index=EDGES), "names node 2, but nodes are numbered 0 to 1"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES - 1), "names node -1"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES, num_nodes=4), "3 rows but the graph has 4 nodes"),
    (Data(x=torch.ones(0, 3), edge_index=EDGES), "empty"),
    (Data(x=torch.ones(3, 0), edge_index=EDGES), "no columns"),
    (Data(x=torch.ones(1, 3), edge_index=torch.tensor([[0], [0]])), "single node"),
    (Data(x=torch.ones(3), edge_index=EDGES), "must be an"),
    (Data(x=torch.ones(3, 3), edge_index=torch.empty(2, 0, dtype=torch.long)), "no edges"),
    (Data(x=torch.ones(3, 3)), "no edges"),
    (Data(x=torch.ones(3, 3), edge_index=torch.tensor([[1], [1]])), "besides self-loops"),
    (Data(x=torch.ones(3, 3), edge_index=torch.zeros(3, 2, dtype=torch.long)), "integer tensor"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES.float()), "integer tensor"),
    (Data(edge_index=EDGES), "no node features"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES, edge_weight=torch.ones(3)), "3 entries for 2 edges"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES, edge_weight=torch.tensor([1.0, -1.0])), "negative"),
    (HeteroData(), "heterogeneous"),
    ([1, 2], "expected a torch_geometric.data.Data")])
def test_bad_graphs_are_told_in_one_line(data, message):
    with pytest.raises(InputError, match=message) as error:
        Graph.from_data(data)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("x", "answer"), [
    (torch.eye(3), True), (torch.eye(4)[[0, 2, 3]], True), (torch.eye(3)[[0, 1, 1]], False),
    (torch.eye(3)[[1, 0, 2]], False), (torch.ones(2, 2).triu(), False), (torch.tensor([[1.0, 1], [0, 0]]), False)])
def test_nodes_with_a_column_each(x, answer):
    assert one_column_each(SparseFeatures.from_dense(x)) is answer
    assert not one_column_each(x)


def test_normalised_features_add_up_to_one_dense_and_sparse():
    x = torch.tensor([[1.0, -3.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    expected = torch.tensor([[0.25, -0.75, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    dense = prepare(Data(x=x, edge_index=EDGES), normalize_features=True)
    sparse = prepare(Graph(SparseFeatures.from_dense(x), dense.adj), normalize_features=True)
    assert torch.equal(dense.x, expected)
    assert torch.equal(sparse.x.to_dense(), expected)


@st.composite
def collections(draw) -> list[Data]:
    """A few small graphs; the features fill a tenth of the matrix or more, or far less."""
    graphs = draw(st.lists(random_data(max_nodes=5, weighted=draw(st.booleans())), min_size=1, max_size=5))
    if draw(st.booleans()):                                                # kept sparse
        for graph in graphs:
            graph.x = torch.nn.functional.pad(graph.x[:, :1], (0, 30))
    return graphs


def dense(graph: Graph) -> tuple[torch.Tensor, torch.Tensor]:
    return graph.x.to_dense() if isinstance(graph.x, SparseFeatures) else graph.x, graph.adj.to_dense()


def check_blocks(collection: Graph, graphs: list[Data]) -> None:
    """The collection holds these graphs, in this order, and nothing between them."""
    assert collection.num_graphs == len(graphs)
    blocks = [dense(Graph.from_data(graph)) for graph in graphs]
    x, adj = dense(collection)
    assert torch.equal(x, torch.cat([block[0] for block in blocks]))
    assert torch.allclose(adj, torch.block_diag(*(block[1] for block in blocks)))
    assert collection.graph_ptr.tolist() == [sum(g.num_nodes for g in graphs[:n]) for n in range(len(graphs) + 1)]
    assert collection.graph_of.tolist() == [n for n, graph in enumerate(graphs) for _ in range(graph.num_nodes)]
    assert collection.adj.symmetric


@given(collections())
def test_a_collection_is_its_graphs_block_after_block(graphs):
    check_blocks(Graph.from_data(graphs), graphs)
    check_blocks(join([Graph.from_data(graph) for graph in graphs]), graphs)


@given(collections(), st.data())
def test_take_gives_graphs_by_number_in_any_order(graphs, data):
    numbers = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, max_size=6))
    collection = Graph.from_data(graphs)
    taken = collection.take(torch.tensor(numbers))
    check_blocks(taken, [graphs[number] for number in numbers])
    assert torch.equal(dense(collection)[0][taken.n_id], dense(taken)[0])
    again = data.draw(st.integers(0, len(numbers) - 1))
    assert torch.equal(taken.take(torch.tensor([again])).n_id,
                       collection.take(torch.tensor([numbers[again]])).n_id)


@given(collections(), st.integers(0, 2**16))
def test_a_part_of_a_collection_knows_whose_nodes_it_has(graphs, seed):
    collection = Graph.from_data(graphs)
    kept = torch.rand(collection.num_nodes, generator=torch.Generator().manual_seed(seed)) < 0.6
    part = collection.subgraph(kept.nonzero().view(-1))
    assert part.num_graphs == len(graphs)
    assert torch.equal(part.graph_of, collection.graph_of[kept])
    assert torch.equal(dense(part)[1], dense(collection)[1][kept][:, kept])


@given(collections(), collections())
def test_join_puts_collections_one_after_the_other(first, second):
    for graph in second:
        graph.x = torch.nn.functional.pad(graph.x, (0, first[0].num_features))[:, :first[0].num_features]
    check_blocks(join([Graph.from_data(first), Graph.from_data(second)]), first + second)


def test_side_by_side_keeps_labels_and_weights():
    graphs = [Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([4])),
              Data(x=torch.ones(1, 1)),
              Data(x=torch.ones(3, 1), edge_index=EDGES, edge_weight=torch.tensor([0.5, 2.0]))]
    one = side_by_side(graphs)
    assert one.batch.tolist() == [0, 0, 1, 2, 2, 2]
    assert one.edge_index.tolist() == [[0, 3, 4], [1, 4, 5]]
    assert one.edge_weight.tolist() == [1, 0.5, 2]
    assert one.y.tolist() == [4, -1, -1]
    assert Graph.from_data(graphs).graph_ptr.tolist() == [0, 2, 3, 6]


PAIR = Data(x=torch.ones(2, 3), edge_index=torch.tensor([[0], [1]]))


@pytest.mark.parametrize(("graphs", "message"), [
    ([], "the collection is empty: it has no graphs"),
    ([PAIR, 7], "graph 1 of the collection is a int"),
    ([PAIR, Data(edge_index=EDGES)], "graph 1 of the collection has no node features"),
    ([PAIR, Data(x=torch.ones(3, 2), edge_index=EDGES)], "graph 1 of the collection has 2 features, the first has 3"),
    ([PAIR, Data(x=torch.ones(2, 3), edge_index=EDGES)], "graph 1 of the collection has edges to nodes that it does"),
    ([PAIR, Data(x=torch.ones(0, 3)), PAIR], "graph 1 of the collection has no nodes"),
    ([PAIR, PAIR, Data(x=torch.ones(0, 3))], "graph 2 of the collection has no nodes"),
    ([Data(x=torch.ones(2, 3)), Data(x=torch.ones(3, 3))], "no edges"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES, batch=torch.tensor([0, 0])), "data.batch must give the number"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES, batch=torch.tensor([1, 0, 0])), "count the graphs in order"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES, batch=torch.tensor([0, 0, 1])), "edges from one graph to another"),
    (Data(x=torch.ones(3, 3), edge_index=EDGES, batch=torch.tensor([1, 1, 1])), "graph 0 of the collection has no")])
def test_bad_collections_are_told_in_one_line(graphs, message):
    with pytest.raises(InputError, match=message) as error:
        Graph.from_data(graphs)
    assert "\n" not in str(error.value)
