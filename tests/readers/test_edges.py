import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.readers import ids
from sgcl.readers.edges import EdgeList, tidy
from sgcl.readers.ids import Ids


def edge_list(edges, weight=None, **options):
    source, target = np.array(edges, np.int64).reshape(-1, 2).T.copy()
    return EdgeList("the edges", Ids(source), Ids(target),
                    None if weight is None else np.array(weight, np.float32), **options)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(ids.blocks, "__defaults__", (3,))


def test_loops_go_duplicates_merge_and_directions_stay():
    edge_index, weight, notes = tidy(edge_list([(2, 1), (0, 1), (1, 1), (1, 2), (0, 1), (3, 0)]), 4)
    assert edge_index.tolist() == [[0, 3, 1, 2], [1, 0, 2, 1]]
    assert weight is None
    assert notes == ["1 self-loop is left out", "1 duplicate edge is merged",
                     "2 of 4 edges are given in one direction only: both directions are used"]


def test_weights_of_duplicates_are_added_and_zeros_are_no_edges():
    edge_index, weight, notes = tidy(edge_list([(0, 1), (1, 0), (0, 1), (1, 2), (2, 2)], [1, 5, 2, 0, 3]), 3)
    assert edge_index.tolist() == [[0, 1], [1, 0]]
    assert weight.tolist() == [3, 5]
    assert notes == ["1 self-loop is left out", "1 edge of weight 0 is left out",
                     "1 duplicate edge is merged, weights added up"]


def test_undirected_edges_come_out_in_both_directions():
    edge_index, weight, notes = tidy(edge_list([(2, 0), (0, 2), (0, 1)], [1, 2, 4], directed=False), 3)
    assert edge_index.tolist() == [[0, 1, 0, 2], [1, 0, 2, 0]]
    assert weight.tolist() == [4, 4, 3, 3]
    assert notes == ["1 duplicate edge is merged, weights added up"]


def test_weights_that_are_all_one_are_not_kept():
    assert tidy(edge_list([(0, 1), (1, 2)], [1, 1]), 3)[1] is None


def test_the_arrays_are_taken_out_of_the_list():
    edges = edge_list([(0, 1)], [2])
    tidy(edges, 2)
    assert len(edges.source) == len(edges.target) == 0
    assert edges.weight is None


def test_loops_alone_are_no_edges():
    with pytest.raises(InputError, match="the edges holds no edges besides self-loops"):
        tidy(edge_list([(1, 1)]), 2)


EDGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=30)


@given(EDGES, st.booleans(), st.booleans(), st.randoms())
def test_tidy_is_what_a_dictionary_does_whatever_the_order_of_the_rows(edges, weighted, directed, chance):
    total = {}
    for one, other, weight in edges:
        if one == other or (weighted and weight == 0):
            continue
        for way in [(one, other)] if directed else [(one, other), (other, one)]:
            total[way] = total.get(way, 0) + weight if weighted else 1
    if not total:
        return
    chance.shuffle(edges)
    edge_index, weight, notes = tidy(edge_list([edge[:2] for edge in edges], [edge[2] for edge in edges]
                                               if weighted else None, directed=directed), 6)
    assert sorted(total, key=lambda way: (min(way), max(way), way[0] > way[1])) == list(zip(*edge_index, strict=True))
    assert (weight is None) == all(value == 1 for value in total.values())
    if weight is not None:
        assert weight.tolist() == [total[way] for way in zip(*edge_index.tolist(), strict=True)]
    one_way = sum(way[::-1] not in total for way in total)
    assert any(note.startswith(f"{one_way} of {len(total)} edges") for note in notes) == (one_way > 0)


@given(st.lists(st.floats(0, 1e6, width=32), min_size=2, max_size=8), st.randoms())
def test_a_sum_of_weights_does_not_depend_on_their_order(weights, chance):
    sums = set()
    for _ in range(3):
        chance.shuffle(weights)
        edges = edge_list([(0, 1)] * len(weights) + [(1, 2)], [*weights, 2])
        sums.add(tuple(tidy(edges, 3)[1].tolist()))
    assert len(sums) == 1


def test_a_bad_weight_and_an_unknown_node_are_placed():
    with pytest.raises(InputError, match="the edges, edge 1: the weight -1 is negative"):
        edge_list([(0, 1), (1, 2)], [1, -1]).check()
    with pytest.raises(InputError, match=r"the edges, row 5: node 7 is not in nodes\.csv; add it there"):
        edge_list([(0, 1), (1, 7)], where=lambda row: f"row {row + 4}").number(np.arange(3), "nodes.csv")
