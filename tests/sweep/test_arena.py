import pytest
import torch
from torch_geometric.data import Data

from sgcl import InputError
from sgcl.datasets import load
from sgcl.evaluation import PROTOCOLS, effective_rank, linear_probe, link_auc, split_links
from sgcl.graph import Graph
from sgcl.sweep import arena_of

pytestmark = pytest.mark.usefixtures("datasets")


def blocks_arena(select: str, protocol: str = "random", **more):
    return arena_of(select, load("blocks"), seed=1, protocol=protocol, dataset="blocks", **more)


def embedding(width: int = 5) -> torch.Tensor:
    data = load("blocks")
    return torch.randn(100, width, generator=torch.Generator().manual_seed(0)) + data.y[:, None]


def test_the_validation_score_is_that_of_the_probe():
    data, where = load("blocks"), blocks_arena("validation")
    split = PROTOCOLS["random"].split(data, 1)
    assert where.score(embedding()) == linear_probe(embedding(), data.y, split).val
    assert where.metric == "validation accuracy"


def test_a_protocol_without_validation_nodes_is_judged_by_its_folds():
    data, where = load("blocks"), blocks_arena("validation", "grace")
    split = PROTOCOLS["grace"].split(data, 1)
    assert where.score(embedding()) == PROTOCOLS["grace"].probe(embedding(), data.y, split, seed=1).val


def test_test_nodes_have_no_part_in_the_score():
    data, where = load("blocks"), blocks_arena("validation")
    test = PROTOCOLS["random"].split(data, 1).test
    assert (where.score.y[test] == -1).all()
    assert (data.y >= 0).all()                                             # the graph itself keeps them
    other = embedding()
    other[test] = torch.nan                                                # nobody reads their rows either
    assert where.score(other) == where.score(embedding())


def test_hidden_links_are_not_in_the_graph_that_is_trained_on():
    where, links = blocks_arena("links"), split_links(load("blocks"), seed=1)
    assert where.score(embedding()) == link_auc(embedding(), links.positives, links.negatives)
    assert where.graph.num_edges == Graph.from_data(load("blocks")).num_edges - links.positives.size(1)
    dense = where.graph.adj.to_dense()
    assert dense[links.positives[0], links.positives[1]].sum() == 0


def test_features_made_of_the_links_are_made_anew():
    where = arena_of("links", load("blocks"), seed=1, protocol="random", dataset="own",
                     files={"edges": "e.csv", "features": "degree"})
    whole = arena_of("rank", load("blocks"), seed=1, protocol="random", dataset="own",
                     files={"edges": "e.csv", "features": "degree"})
    assert where.graph.num_features != whole.graph.num_features            # not those that came


def test_the_effective_rank_needs_neither():
    data = load("blocks")
    where = arena_of("rank", Data(x=data.x, edge_index=data.edge_index), seed=0, protocol="random", dataset="own",
                     files={})
    assert where.score(embedding()) == effective_rank(embedding())


def test_a_protocol_restricts_the_graph():
    isolated = Data(x=torch.ones(4, 2), edge_index=torch.tensor([[0, 1], [1, 2]]))
    where = arena_of("rank", isolated, seed=0, protocol="development", dataset="own", files={})
    assert where.graph.num_nodes == 3


def test_what_cannot_be_judged():
    with pytest.raises(InputError, match=r"no way to select named 'test'; .*known: links, rank, validation"):
        blocks_arena("test")
    data = load("blocks")
    with pytest.raises(InputError, match="the graph has no labels to select by: give --labels FILE, or --select links"):
        arena_of("validation", Data(x=data.x, edge_index=data.edge_index), seed=0, protocol="random", dataset="own",
                 files={})
