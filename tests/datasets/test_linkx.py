"""The readers of genius and twitch-gamers, on tiny files in the true format."""

import dataclasses

import numpy as np
import pytest
import scipy.io
import torch

from sgcl.datasets import DATASETS, load
from sgcl.errors import InputError
from sgcl.evaluation import PROTOCOLS

HEADER = "views,mature,life_time,created_at,updated_at,numeric_id,dead_account,language,affiliate"
ROWS = ["7879,1,969,2016-02-16,2018-10-12,1,0,EN,1", "500,0,2699,2011-05-19,2018-10-08,0,0,FR,1",
        "382502,1,3149,2010-02-27,2018-10-12,2,1,EN,0", "386,0,1344,2015-01-26,2018-10-01,3,0,DE,0"]
EDGES = ["0,1", "2,1", "1,0", "3,2"]


@pytest.fixture
def genius(tmp_path, monkeypatch):
    entry = dataclasses.replace(DATASETS["genius"], nodes=4, edges=3, features=2, classes=2)
    monkeypatch.setitem(DATASETS, "genius", entry)
    folder = tmp_path / "LINKX/genius/raw"
    folder.mkdir(parents=True)
    arrays = {"edge_index": np.array([[0, 1, 3], [1, 2, 1]]), "node_feat": np.array([[1.5, 2], [0, 1], [3, 4], [5, 6]]),
              "label": np.array([0, 1, 1, 0])}

    def put(**changes):
        wanted = {name: value for name, value in {**arrays, **changes}.items() if value is not None}
        scipy.io.savemat(folder / "genius.mat", wanted)
        return tmp_path
    return put


@pytest.fixture
def twitch(tmp_path, monkeypatch):
    entry = dataclasses.replace(DATASETS["twitch-gamers"], nodes=4, edges=4)
    monkeypatch.setitem(DATASETS, "twitch-gamers", entry)
    folder = tmp_path / "LINKX/twitch-gamers/raw"
    folder.mkdir(parents=True)

    def put(rows=ROWS, edges=EDGES, header=HEADER):
        (folder / "twitch-gamer_feat.csv").write_text("\n".join([header, *rows, ""]))
        (folder / "twitch-gamer_edges.csv").write_text("\n".join(["numeric_id_1,numeric_id_2", *edges, ""]))
        return tmp_path
    return put


def test_genius(genius):
    data = load("genius", genius())
    assert data.edge_index.tolist() == [[0, 1, 3], [1, 2, 1]]
    assert data.x.tolist() == [[1.5, 2], [0, 1], [3, 4], [5, 6]]
    assert data.x.dtype == torch.float32
    assert data.y.tolist() == [0, 1, 1, 0]
    assert PROTOCOLS[DATASETS["genius"].protocol].split(data, 0).sizes == (2, 1, 1)
    assert DATASETS["genius"].metric == "roc-auc"


@pytest.mark.parametrize(("changes", "message"), [
    ({"label": np.array([{"a": 1}, 2], dtype=object)}, "genius: .*genius.mat holds no numeric array 'label'"),
    ({"node_feat": None}, "genius: .*genius.mat holds no numeric array 'node_feat'"),
    ({"node_feat": "text"}, "holds no numeric array 'node_feat'"),
    ({"node_feat": scipy.sparse.csc_matrix(np.eye(4, 2))}, "holds no numeric array 'node_feat'"),
    ({"label": np.array([0, 1])}, r"has arrays of shapes \(2, 3\), \(4, 2\) and \(2,\), expected"),
    ({"edge_index": np.array([[0, 1], [1, 4]])}, "genius.mat names nodes 0 to 4, but there are 4"),
    ({"edge_index": np.array([[0, 1], [1, 2]])}, r"genius: the raw files hold \(4, 2, 2, 2\) nodes")])
def test_arrays_of_genius_are_checked(genius, changes, message):
    with pytest.raises(InputError, match=message):
        load("genius", genius(**changes))


def test_a_file_that_is_no_matlab_file(genius):
    root = genius()
    (root / "LINKX/genius/raw/genius.mat").write_bytes(b"version https://git-lfs.github.com/spec/v1\n" * 9)
    with pytest.raises(InputError, match=r"genius: .*genius\.mat is not a MATLAB file that can be read: "):
        load("genius", root)


def test_twitch_gamers_by_hand(twitch):
    data = load("twitch-gamers", twitch())
    assert data.edge_index.T.tolist() == [[0, 1], [2, 1], [1, 0], [3, 2]]
    assert data.y.tolist() == [0, 1, 1, 0]  # the second row is node 0
    # views, life_time, created_at, updated_at, dead_account, language in the order of appearance, affiliate
    raw = torch.tensor([[500, 2699, 20110519, 20181008, 0, 1, 1], [7879, 969, 20160216, 20181012, 0, 0, 1],
                        [382502, 3149, 20100227, 20181012, 1, 0, 0], [386, 1344, 20150126, 20181001, 0, 2, 0]]).double()
    expected = (raw - raw.mean(0)) / raw.std(0)
    assert torch.allclose(data.x.double(), expected, atol=1e-6)


def test_a_column_without_variation_stays_finite(twitch):
    data = load("twitch-gamers", twitch(rows=[row[:-1] + "1" for row in ROWS]))
    assert data.x[:, 6].tolist() == [0] * 4


@pytest.mark.parametrize(("changes", "message"), [
    ({"header": HEADER.replace("views", "vues")}, r"the columns of .*twitch-gamer_feat.csv are \['vues', "),
    ({"rows": [*ROWS[:3], ROWS[3].replace("386", "many")]}, r"row 5 of .*feat.csv is not as published: could not"),
    ({"rows": [*ROWS[:3], "1,2,3"]}, r"twitch-gamer_feat.csv cannot be read: "),
    ({"rows": [*ROWS[:3], ROWS[0]]}, r"the numeric_id of .*feat.csv are not 0 to 3, each once"),
    ({"edges": [*EDGES[:3], "3,4"]}, r"twitch-gamer_edges.csv names nodes 0 to 4, but there are 4"),
    ({"edges": [*EDGES[:3], "3,x"]}, r"twitch-gamer_edges.csv: row 5 is not 2 whole numbers"),
    ({"edges": EDGES[:3]}, r"twitch-gamers: the raw files hold \(4, 3, 7, 2\) nodes, edges")])
def test_tables_of_twitch_gamers_are_checked(twitch, changes, message):
    with pytest.raises(InputError, match=message):
        load("twitch-gamers", twitch(**changes))
