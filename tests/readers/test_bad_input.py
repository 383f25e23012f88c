"""Malformed input of every kind: one clear line that names the place and the fix, and nothing left behind."""

import gzip
import io
import os
import pickle
import re
import sys
import zipfile

import networkx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData, TemporalData

from sgcl.errors import InputError
from sgcl.readers import read_graph

EDGES = "source,target\na,b\nb,c\n"
NUMBERED = "source,target\n0,1\n1,2\n"

CSV, PARQUET, NPZ, XML = ({"edges": name} for name in ("edges.csv", "edges.parquet", "edges.npz", "g.graphml"))
X_CSV, X_PARQUET, X_NPY, X_NPZ, X_PT = ({**CSV, "features": name}
                                        for name in ("x.csv", "x.parquet", "x.npy", "x.npz", "x.pt"))
Y_CSV = {**CSV, "labels": "y.csv"}


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def sparse_npz(matrix, **changes):
    """What save_npz writes, with some of its arrays changed."""
    matrix = scipy.sparse.csr_array(matrix)
    parts = {"format": b"csr", "shape": matrix.shape, "data": matrix.data, "indices": matrix.indices,
             "indptr": matrix.indptr, "_is_array": True}
    return npz(**{**parts, **changes})


def parquet(**columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def graphml(inside, edgedefault="undirected", before=""):
    return (f'<?xml version="1.0"?>\n{before}<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
            f'<graph edgedefault="{edgedefault}">\n{inside}\n</graph></graphml>')


# name of the case: (files by name, arguments with file names, what the message says)
FILES = {
    # edge lists: the file itself
    "missing file": ({}, CSV, r"there is no file .*edges\.csv"),
    "folder": ({}, {"edges": "folder.csv"}, r"^\S*folder\.csv is a folder: give the file in it"),
    "empty file": ({"edges.csv": ""}, CSV, r"^\S*edges\.csv is empty"),
    "blank lines only": ({"edges.csv": "\n \n"}, CSV, r"edges\.csv holds no rows"),
    "comments only": ({"edges.csv": "# a\n# b\n"}, CSV, r"edges\.csv holds no rows"),
    "header only": ({"edges.csv": "source,target\n"}, CSV, r"edges\.csv holds no edges"),
    "wrong suffix": ({"edges.xlsx": "x"}, {"edges": "edges.xlsx"}, r"edges\.xlsx: cannot tell .* end in one of \.csv"),
    "no suffix": ({"edges": "x"}, {"edges": "edges"}, r"cannot tell what is in a file named so"),
    "latin-1": ({"edges.csv": EDGES.encode() + "é,c\n".encode("latin-1")}, CSV,
                r"edges\.csv, line 4: byte 0xe9 is not UTF-8; save the file as UTF-8"),
    "latin-1 header": ({"edges.csv": "sourcé,target\n".encode("latin-1")}, CSV,
                       r"line 1: byte 0xe9 is not UTF-8"),
    "UTF-16": ({"edges.csv": EDGES.encode("utf-16")}, CSV, r"is UTF-16 text: save it as UTF-8"),
    "UTF-16 without its mark": ({"edges.csv": EDGES.encode("utf-16-le")}, CSV,
                                r"line 1: holds a NUL byte; it is no text file, or not UTF-8"),
    "NUL byte": ({"edges.csv": EDGES + "c,\0\n"}, CSV, r"line 4: holds a NUL byte"),
    "bare carriage returns": ({"edges.csv": EDGES + "c,\rd\n"}, CSV, r"bare carriage return; save it"),
    "Parquet under .csv": ({"edges.csv": parquet(source=[1], target=[2])}, CSV,
                           r"is a Parquet file: name it \.parquet"),
    "gzip under .csv": ({"edges.csv": gzip.compress(EDGES.encode())}, CSV,
                        r"is gzip-compressed: name it \.gz"),
    "zip under .csv": ({"edges.csv": npz(a=np.ones(3))}, CSV, r"is a zip archive"),
    "npy under .csv": ({"edges.csv": npy(np.ones(3))}, CSV, r"is a NumPy array: name it \.npy"),
    "truncated gzip": ({"edges.csv.gz": gzip.compress(EDGES.encode() * 9)[:-9]}, {"edges": "edges.csv.gz"},
                       r"edges\.csv\.gz is damaged or cut short .*; write it again"),
    "no gzip": ({"edges.csv.gz": EDGES}, {"edges": "edges.csv.gz"}, r"damaged or cut short \(Not a gzipped file"),
    "damaged gzip": ({"edges.csv.gz": gzip.compress(EDGES.encode())[:12] + b"\xff" * 30}, {"edges": "edges.csv.gz"},
                     r"damaged or cut short"),
    # edge lists: rows and columns
    "missing column": ({"edges.csv": "source,to\na,b\n"}, CSV,
                       r"no column 'target' \(it has 'source', 'to'\): name it with target="),
    "named column missing": ({"edges.csv": EDGES}, {**CSV, "source": "from"},
                             r"no column 'from' .*: name it with source="),
    "same column twice": ({"edges.csv": EDGES}, {**CSV, "target": "source"},
                          r"column 'source' is named for two things"),
    "weight column missing": ({"edges.csv": EDGES}, {**CSV, "weight": "w"},
                              r"no column 'w' .*: name it with weight="),
    "other header": ({"edges.csv": "From,To\na,b\n"}, CSV,
                     r"name them with source='From' and target='To'"),
    "other header, integers below": ({"edges.csv": "alpha,beta\n1,2\n2,3\n"}, CSV,
                                     r"line 1: looks like a header, for all ids below it are integers"),
    "no header, four columns": ({"edges.csv": "a,b,1,x\n"}, CSV,
                                r"4 column\(s\), none called 'source' or 'target'; name two"),
    "one column": ({"edges.csv": "a|b\n"}, CSV, r"1 column\(s\).*set apart by commas, tabs"),
    "two columns of one name": ({"edges.csv": "source,target,source\na,b,c\n"}, CSV,
                                r"2 columns are called 'source'; give each a name of its own"),
    "short row": ({"edges.csv": EDGES + "\nc\n"}, CSV,
                  r"line 5: 1 field where line 1 has 2; every row needs as many"),
    "long row": ({"edges.csv": "#\n" + EDGES + "c,d,e\n"}, CSV, r"line 5: 3 fields where line 2 has 2"),
    "empty id": ({"edges.csv": EDGES + "c,\n"}, CSV,
                 r"line 4: column 'target' is empty; every row needs an id"),
    "blank id": ({"edges.csv": NUMBERED + " ,3\n"}, CSV, r"line 4: column 'source' is empty"),
    "open quote": ({"edges.csv": EDGES + '"c,d\ne,f\n'}, CSV, r"line 5: .*check its quotes"),
    "line break in an id": ({"edges.csv": EDGES + 'c,"d\ne"\n'}, CSV,
                            r"line 5: column 'target' holds a line break; is a quote left open\?"),
    "endless id": ({"edges.csv": EDGES + "c," + "d" * 2000 + "\n"}, CSV, r"more than 1000 characters"),
    "decimal ids": ({"edges.csv": "source,target\n1,2\n2,3.0\n"}, CSV,
                    r"line 3: the id '3.0' in column 'target' has a decimal point; write ids as integers or as text"),
    "weight no number": ({"edges.csv": "source,target,weight\na,b,1\nb,c,heavy\n"}, CSV,
                         r"line 3: column 'weight' holds 'heavy', expected a number"),
    "weight with an underscore": ({"edges.csv": "source,target,weight\na,b,1_0\n"}, CSV,
                                  r"line 2: column 'weight' holds '1_0'"),
    "weight empty": ({"edges.csv": "source,target,weight\na,b,\n"}, CSV,
                     r"line 2: column 'weight' is empty, expected a number"),
    "third column no number": ({"edges.csv": "a,b,c\nb,c,d\n"}, CSV,
                               r"line 1: column 'weight' holds 'c', expected a number; if line 1 is a header, name"),
    "weight negative": ({"edges.csv": "source,target,weight\na,b,1\n\nb,c,-0.5\n"}, CSV,
                        r"line 4: the weight -0.5 is negative; weights must be numbers >= 0"),
    "weight NaN": ({"edges.csv": "source,target,weight\na,b,nan\n"}, CSV, r"line 2: the weight nan"),
    "weight infinite": ({"edges.csv": "source,target,weight\na,b,inf\n"}, CSV, r"the weight inf"),
    "weight too large": ({"edges.csv": "source,target,weight\na,b,1e99\n"}, CSV, r"or too large"),
    "loops only": ({"edges.csv": "source,target\na,a\n"}, CSV, r"no edges besides self-loops"),
    # Parquet
    "truncated Parquet": ({"edges.parquet": parquet(source=[1, 2], target=[2, 3])[:-20]}, PARQUET,
                          r"edges\.parquet is no whole Parquet file .*; write it again"),
    "damaged Parquet": ({"edges.parquet": b"PAR1" + b"\x15" * 64 + parquet(source=[1, 2], target=[2, 3])[68:]},
                        PARQUET, r"is no whole Parquet file"),
    "CSV under .parquet": ({"edges.parquet": EDGES}, PARQUET, r"is no whole Parquet file"),
    "Parquet without rows": ({"edges.parquet": parquet(source=pa.array([], "int64"), target=pa.array([], "int64"))},
                             PARQUET, r"edges\.parquet holds no edges"),
    "Parquet missing column": ({"edges.parquet": parquet(src=[1], dst=[2])}, PARQUET,
                               r"no column 'source' \(it has 'src', 'dst'\): name it with source="),
    "Parquet float ids": ({"edges.parquet": parquet(source=[1.0], target=[2.0])}, PARQUET,
                          r"column 'source' holds double; cast it to integers or to text"),
    "Parquet null id": ({"edges.parquet": parquet(source=[1, 2], target=[2, None])}, PARQUET,
                        r"row 2: column 'target' is empty; every row needs an id"),
    "Parquet empty id": ({"edges.parquet": parquet(source=["a", ""], target=["b", "c"])}, PARQUET,
                         r"row 2: column 'source' is empty"),
    "Parquet NUL in an id": ({"edges.parquet": parquet(source=["a", "b\0"], target=["b", "c"])},
                             PARQUET, r"row 2: column 'source' holds a NUL character"),
    "Parquet endless id": ({"edges.parquet": parquet(source=["a" * 2000], target=["b"])}, PARQUET,
                           r"row 1: column 'source' holds more than 1000 characters"),
    "Parquet huge integers": ({"edges.parquet": parquet(source=pa.array([2**64 - 1], "uint64"), target=[1])},
                              PARQUET, r"beyond 64 bits with sign; cast it to text"),
    "Parquet text weight": ({"edges.parquet": parquet(source=[1], target=[2], weight=["x"])}, PARQUET,
                            r"column 'weight' holds string, expected numbers"),
    "Parquet null weight": ({"edges.parquet": parquet(source=[1, 2], target=[2, 3], weight=[1.0, None])},
                            PARQUET, r"row 2: column 'weight' is empty, expected a number"),
    # features
    "features missing file": ({"edges.csv": EDGES}, X_CSV, r"there is no file .*x"),
    "features without id": ({"edges.csv": EDGES, "x.csv": "name,f\na,1\n"}, X_CSV,
                            r"x\.csv has no column 'id' .*: name it with id_column="),
    "features no number": ({"edges.csv": EDGES, "x.csv": "id,f,g\na,1,2\nb,1,red\nc,1,2\n"},
                           X_CSV,
                           r"x\.csv, line 3: column 'g' holds 'red', expected a number"),
    "features empty cell": ({"edges.csv": EDGES, "x.csv": "id,f\na,1\nb,\nc,1\n"},
                            X_CSV, r"line 3: column 'f' is empty"),
    "features NaN": ({"edges.csv": EDGES, "x.csv": "id,f,g\na,1,2\nb,1,2\n\nc,nan,1\n"},
                     X_CSV, r"line 5: column 'f' holds a NaN, infinite or"),
    "features infinite": ({"edges.csv": EDGES, "x.csv": "id,f\na,1\nb,-inf\nc,1\n"},
                          X_CSV, r"line 3: column 'f' holds a NaN, infinite or"),
    "features same id twice": ({"edges.csv": EDGES, "x.csv": "id,f\na,1\nb,1\nc,1\nb,2\n"},
                               X_CSV,
                               r"x\.csv, line 5: node 'b' is there a second time; give each node one row"),
    "features lack a node": ({"edges.csv": EDGES, "x.csv": "id,f\na,1\nb,1\n"},
                             X_CSV,
                             r"edges\.csv, line 3: node 'c' is not in .*x\.csv; add it there, or leave the edge out"),
    "features lack an integer": ({"edges.csv": "source,target\n5,9\n7,5\n", "x.csv": "id,f\n5,1\n9,1\n"},
                                 X_CSV, r"line 3: node 7 is not in"),
    "features without columns": ({"edges.csv": EDGES, "x.csv": "id\na\nb\nc\n"},
                                 X_CSV, r"no feature columns, only 'id'"),
    "features header only": ({"edges.csv": EDGES, "x.csv": "id,f\n"}, X_CSV,
                             r"x\.csv holds no rows of features"),
    "features Parquet text": ({"edges.csv": EDGES, "x.parquet": parquet(id=["a", "b", "c"], f=["1", "2", "3"])},
                              X_PARQUET, r"column 'f' holds string, expected numbers"),
    "features Parquet NaN": ({"edges.csv": EDGES, "x.parquet": parquet(id=["a", "b", "c"], f=[1.0, np.nan, 1.0])},
                             X_PARQUET, r"x\.parquet, row 2: column 'f' holds a NaN"),
    "features misspelt": ({"edges.csv": EDGES}, {**CSV, "features": "degre"},
                          r"no file or features named '.*degre'; did you mean 'degree'\?"),
    "features wrong suffix": ({"edges.csv": EDGES, "x.pt": "x"}, X_PT,
                              r"cannot tell what is in a file named so; .*\.npy, \.npz"),
    # arrays
    "truncated npy": ({"edges.csv": NUMBERED, "x.npy": npy(np.ones((3, 4)))[:-8]},
                      X_NPY, r"x\.npy is no whole NumPy file .*; write it again"),
    "npy header cut": ({"edges.csv": NUMBERED, "x.npy": npy(np.ones((3, 4)))[:20]},
                       X_NPY, r"x\.npy is no whole NumPy file"),
    "npy of objects": ({"edges.csv": NUMBERED, "x.npy": npy(np.array([{}, 1, "a"], dtype=object), allow_pickle=True)},
                       X_NPY, r"x\.npy holds Python objects or is no NumPy file"),
    "npz of objects": ({"edges.csv": NUMBERED, "x.npz": npz(x=np.array([{}, 1], dtype=object))},
                       X_NPZ, r"x\.npz holds Python objects"),
    "pickle under .npy": ({"edges.csv": NUMBERED, "x.npy": pickle.dumps({"x": 1})},
                          X_NPY, r"holds Python objects or is no NumPy file"),
    "pickle under .npz": ({"edges.npz": pickle.dumps([1])}, NPZ, r"Python objects or is no NumPy file"),
    "truncated npz": ({"edges.csv": NUMBERED, "x.npz": npz(x=np.ones((3, 4)))[:-30]},
                      X_NPZ, r"x\.npz is no whole NumPy file"),
    "npz of two arrays": ({"edges.csv": NUMBERED, "x.npz": npz(a=np.ones((3, 1)), b=np.ones((3, 1)))},
                          X_NPZ, r"holds 2 arrays, expected one array or a matrix"),
    "npy one-dimensional": ({"edges.csv": NUMBERED, "x.npy": npy(np.ones(3))},
                            X_NPY, r"shape \(3,\); expected \(N, F\)"),
    "npy without columns": ({"edges.csv": NUMBERED, "x.npy": npy(np.ones((3, 0)))},
                            X_NPY, r"shape \(3, 0\); expected at least one row"),
    "npy of text": ({"edges.csv": NUMBERED, "x.npy": npy(np.array([["a"], ["b"], ["c"]]))},
                    X_NPY, r"type <U1; expected an \(N, F\) array of numbers"),
    "npy with NaN": ({"edges.csv": NUMBERED, "x.npy": npy(np.array([[1.0], [np.nan], [1.0]]))},
                     X_NPY, r"x\.npy, row 2: holds a NaN"),
    "npy too short": ({"edges.csv": NUMBERED, "x.npy": npy(np.ones((2, 4)))},
                      X_NPY, r"line 3: node 2 is not in .*x\.npy \(rows for the ids 0 to 1\)"),
    "npy for text ids": ({"edges.csv": EDGES, "x.npy": npy(np.ones((3, 4)))},
                         X_NPY, r"rows go by number, but the ids in .* are text such as 'a'; give the ids of the rows"),
    "sparse with NaN": ({"edges.csv": NUMBERED, "x.npz": sparse_npz(np.array([[0, 1], [0, 0], [np.nan, 0]]))},
                        X_NPZ, r"x\.npz, row 3: holds a NaN"),
    "sparse index out of range": ({"edges.csv": NUMBERED, "x.npz": sparse_npz(np.eye(3), indices=np.array([0, 1, 9]))},
                                  X_NPZ, r"not a valid sparse matrix"),
    "sparse of unknown format": ({"edges.npz": sparse_npz(np.eye(3), format=b"xyz")}, NPZ,
                                 r"edges\.npz is no whole NumPy file"),
    "sparse without parts": ({"edges.npz": npz(format=b"csr", shape=(3, 3))}, NPZ,
                             r"edges\.npz is no whole NumPy file"),
    "adjacency dense": ({"edges.npz": npz(a=np.eye(3))}, NPZ, r"a dense array; save the adjacency by"),
    "adjacency not square": ({"edges.npz": sparse_npz(np.ones((2, 3)))}, NPZ,
                             r"shape \(2, 3\); expected as many rows as columns"),
    "adjacency negative": ({"edges.npz": sparse_npz(np.array([[0, 1], [-2, 0]]))}, NPZ,
                           r"edges\.npz, entry \(1, 0\): the weight -2 is negative"),
    "adjacency without entries": ({"edges.npz": sparse_npz(np.zeros((3, 3)))}, NPZ, r"holds no edges"),
    "ids of another length": ({"edges.npz": sparse_npz(np.ones((3, 3))), "ids.npy": npy(np.arange(4))},
                              {**NPZ, "ids": "ids.npy"}, r"3 rows, but 4 ids; give one for each row"),
    "ids twice": ({"edges.npz": sparse_npz(np.ones((2, 2))), "ids.npy": npy(np.array(["a", "a"]))},
                  {**NPZ, "ids": "ids.npy"}, r"ids\.npy: 'a' is there twice"),
    "ids of floats": ({"edges.npz": sparse_npz(np.ones((2, 2))), "ids.npy": npy(np.ones(2))},
                      {**NPZ, "ids": "ids.npy"}, r"one-dimensional array of integers or text"),
    "ids of nothing": ({"edges.csv": EDGES, "ids.npy": npy(np.arange(3))}, {**CSV, "ids": "ids.npy"},
                       r"but neither is given; leave it out"),
    # labels
    "labels without label": ({"edges.csv": EDGES, "y.csv": "id,class\na,1\n"}, Y_CSV,
                             r"y\.csv has no column 'label' .*: name it with label_column="),
    "labels without id": ({"edges.csv": EDGES, "y.csv": "node,label\na,1\n"}, Y_CSV,
                          r"no column 'id' .*: name it with id_column="),
    "labels of another graph": ({"edges.csv": EDGES, "y.csv": "id,label\nx,1\ny,2\n"},
                                Y_CSV,
                                r"none of its ids, such as 'x', is in .*edges\.csv; give the labels of this graph"),
    "labels of unknown nodes": ({"edges.csv": EDGES, "x.csv": "id,f\na,1\nb,1\nc,1\n", "y.csv": "id,label\na,1\nz,2\n"},
                                {**CSV, "features": "x.csv", "labels": "y.csv"},
                                r"y\.csv, line 3: node 'z' is not in the graph"),
    "labels twice": ({"edges.csv": EDGES, "y.csv": "id,label\na,1\nb,2\na,2\n"}, Y_CSV,
                     r"y\.csv, line 4: node 'a' is there a second time"),
    "labels header only": ({"edges.csv": EDGES, "y.csv": "id,label\n"}, Y_CSV,
                           r"y\.csv holds no labels"),
    "labels all empty": ({"edges.csv": EDGES, "y.csv": "id,label\na,\nb,\n"}, Y_CSV,
                         r"column 'label' is empty in every row"),
    "labels of floats": ({"edges.csv": EDGES, "y.parquet": parquet(id=["a"], label=[1.0])},
                         {**CSV, "labels": "y.parquet"}, r"column 'label' holds double; cast it to"),
    # GraphML
    "no XML": ({"g.graphml": "source,target\n"}, XML, r"line 1: not well-formed XML"),
    "XML cut short": ({"g.graphml": graphml("<node id='a'/>")[:-12]}, XML, r"not well-formed XML"),
    "not GraphML": ({"g.graphml": "<gexf/>"}, XML, r"outermost element is <gexf>, expected <graphml>"),
    "no graph": ({"g.graphml": "<graphml/>"}, XML, r"holds no <graph>"),
    "entities": ({"g.graphml": graphml("", before='<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n')},
                 XML, r"line 2: a DOCTYPE is not accepted; remove it"),
    "outer entity": ({"g.graphml": graphml("&e;", before='<!DOCTYPE g [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n')},
                     XML, r"a DOCTYPE is not accepted"),
    "edge without target": ({"g.graphml": graphml("<edge source='a'/>")}, XML,
                            r"line 4: <edge> without 'target'; add it"),
    "node without id": ({"g.graphml": graphml("<node/>")}, XML, r"<node> without 'id'; add it"),
    "node twice": ({"g.graphml": graphml("<node id='a'/>\n<node id='a'/>")}, XML,
                   r"line 5: node 'a' is given twice"),
    "nested graph": ({"g.graphml": graphml("<node id='a'><graph edgedefault='directed'/></node>")},
                     XML, r"a second or nested <graph>"),
    "hyperedge": ({"g.graphml": graphml("<hyperedge/>")}, XML, r"hyperedges are not supported"),
    "edge turned": ({"g.graphml": graphml("<edge source='a' target='b' directed='true'/>")}, XML,
                    r"the edge is directed otherwise than the graph"),
    "GraphML weight no number": (
        {"g.graphml": graphml("<edge source='a' target='b'><data key='w'>x</data></edge>").replace(
            "<graph ", "<key id='w' for='edge' attr.name='weight'/><graph ")}, XML,
        r"line 4: the weight 'x' is no number"),
    "GraphML weight missing": (
        {"g.graphml": graphml("<edge source='a' target='b'/>").replace(
            "<graph ", "<key id='w' for='edge' attr.name='weight'/><graph ")}, XML,
        r"line 4: the edge has no weight; give one to every edge, or weight=False"),
    "GraphML attribute missing": ({"g.graphml": graphml("<edge source='a' target='b'/>")},
                                  {**XML, "weight": "w"}, r"no edge attribute 'w': name it with weight="),
}


@pytest.fixture(params=["pyarrow", "csv"])
def text_reader(request, monkeypatch):
    """Text files read by pyarrow first, and by the csv module alone."""
    if request.param == "csv":
        monkeypatch.setattr("sgcl.readers.text.fast_columns", lambda *_, **__: None)


@pytest.mark.parametrize("case", FILES)
def test_a_bad_file_is_told_in_one_line(case, tmp_path, text_reader):
    files, arguments, message = FILES[case]
    (tmp_path / "folder.csv").mkdir()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    before = sorted(tmp_path.iterdir())
    given = {key: str(tmp_path / value) if key in ("edges", "features", "labels", "ids") else value
             for key, value in arguments.items()}
    if case == "features misspelt":
        given["features"] = "degre"
    with pytest.raises(InputError) as caught:
        read_graph(given.pop("edges"), **given)
    assert re.search(message, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before


def pair(**attributes):
    return Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2, **attributes)


def graph_of(*edges, **weights):
    graph = networkx.Graph()
    graph.add_edges_from(edges)
    networkx.set_edge_attributes(graph, weights or {}, "weight")
    return graph


OBJECTS = {
    "a list": ([[0, 1]], {}, r"cannot read a graph from list; give the path of a file"),
    "HeteroData": (HeteroData(), {}, r"HeteroData\) are not supported; use data.to_homogeneous"),
    "TemporalData": (TemporalData(src=torch.tensor([0]), dst=torch.tensor([1]), t=torch.tensor([0])), {},
                     r"temporal graphs \(TemporalData\) are not supported"),
    "Data with times": (pair(time=torch.tensor([3])), {}, r"temporal graphs \(data\.time\) are not supported"),
    "Data without edges": (Data(x=torch.ones(2, 1)), {}, r"data\.edge_index must be a \(2, E\) integer tensor"),
    "Data with an edge too far": (Data(edge_index=torch.tensor([[0], [5]]), num_nodes=2), {}, r"names node 5, but"),
    "Data with negative weights": (pair(edge_weight=torch.tensor([-1.0])), {}, r"the graph, edge 0: the weight -1"),
    "Data with too many weights": (pair(edge_weight=torch.ones(3)), {}, r"edge_weight has 3 entries for 1 edges"),
    "Data with too many ids": (pair(), {"ids": ["a", "b", "c"]}, r"2 nodes, but 3 ids"),
    "Data with repeated ids": (pair(), {"ids": ["a", "a"]}, r"'a' is there twice"),
    "Data with object ids": (pair(ids=np.array([(1,), 2], dtype=object)), {}, r"array of integers or text"),
    "Data and short features": (pair(), {"features": np.ones((1, 1))}, r"features has no row for node 1 \(1 of 2"),
    "Data and long features": (pair(), {"features": np.ones((3, 1))}, r"features, row 3: node 2 is not in the graph"),
    "features of lists": (pair(), {"features": [[1.0], [2.0]]}, r"type list; expected an \(N, F\) array"),
    "ids beyond 64 bits": (pair(), {"ids": np.array([1, 2**64 - 1], dtype=np.uint64)}, r"beyond 64 bits with sign"),
    "ids of unequal depth": (pair(), {"ids": [["a"], ["a", "b"]]}, r"^ids: expected a one-"),
    "an empty id": (pair(), {"ids": ["a", ""]}, r"an id is empty or longer"),
    "nodes of two kinds": (graph_of((1, "a")), {}, r"nodes of type int, str; relabel them as all integers or all text"),
    "nodes that are tuples": (graph_of(((0, 0), (0, 1))), {}, r"nodes of type tuple"),
    "nodes that are floats": (graph_of((0.5, 1.5)), {}, r"nodes of type float"),
    "nodes beyond 64 bits": (graph_of((1, 2**70)), {}, r"an integer beyond 64 bits; relabel it as text"),
    "an empty node": (graph_of(("a", "")), {}, r"the node '' is empty"),
    "some weights missing": (networkx.Graph([("a", "b", {"weight": 2}), ("b", "c")]), {},
                             r"the edge 'b' to 'c' has no weight under 'weight'; give every edge a number"),
    "a weight of text": (networkx.Graph([("a", "b", {"weight": "x"})]), {}, r"has the weight 'x' under 'weight'"),
    "a negative weight": (networkx.Graph([("a", "b", {"weight": -1})]), {}, r"edge 'a' to 'b': the weight -1"),
    "NetworkX without edges": (networkx.empty_graph(3), {}, r"the NetworkX graph holds no edges"),
    "a block matrix": (scipy.sparse.bsr_array(np.eye(2)), {}, r"format 'bsr'; give \.tocsr\(\) of it"),
    "complex entries": (scipy.sparse.csr_array(np.eye(2) * 1j), {}, r"entries of type complex128"),
    "features for more rows": (scipy.sparse.csr_array(1 - np.eye(2)), {"features": np.ones((3, 1))},
                               r"features, row 3: node 2 is not in the graph"),
    "features for fewer rows": (scipy.sparse.csr_array(1 - np.eye(3)), {"features": np.ones((2, 1))},
                                r"features has no row for node 2"),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_a_bad_object_is_told_in_one_line(case):
    edges, arguments, message = OBJECTS[case]
    with pytest.raises(InputError) as caught:
        read_graph(edges, **arguments)
    assert re.search(message, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)


WHOLE = {
    "edges.csv": EDGES.encode() + b'"d, e",f\n', "edges.csv.gz": gzip.compress(EDGES.encode()),
    "edges.parquet": parquet(source=["a", "b"], target=["b", "c"], weight=[1.0, 2.0]),
    "edges.npz": sparse_npz(np.array([[0, 1, 0], [0, 0, 2], [1, 0, 0]])), "x.npy": npy(np.ones((3, 2))),
    "x.npz": npz(x=np.ones((3, 2))), "g.graphml": graphml("<node id='a'/><edge source='a' target='b'/>").encode(),
}


@pytest.mark.parametrize("name", WHOLE)
@given(st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 4), st.binary(max_size=3)), min_size=1, max_size=4))
def test_damage_anywhere_is_told_or_does_no_harm(tmp_path_factory, name, damages):
    """Some bytes cut out and others put in."""
    content = bytearray(WHOLE[name])
    for place, length, others in damages:
        start = place % (len(content) + 1)
        content[start:start + length] = others
    folder = tmp_path_factory.mktemp("damage")
    (folder / name).write_bytes(content)
    (folder / "numbered.csv").write_text(NUMBERED)
    given = {"edges": folder / name}
    if name.startswith("x"):
        given = {"edges": folder / "numbered.csv", "features": folder / name}
    told = ""
    try:
        read_graph(**given)
    except InputError as error:
        told = str(error)
    assert "\n" not in told


def test_a_header_that_numpy_reads_with_a_warning_is_read_in_silence(tmp_path):
    """Written as Python 2 did, with a long integer; the tests take every warning for an error."""
    (tmp_path / "numbered.csv").write_text(NUMBERED)
    (tmp_path / "x.npy").write_bytes(npy(np.ones((3, 2))).replace(b"(3, 2), }", b"(3L,2), }"))
    assert read_graph(tmp_path / "numbered.csv", features=tmp_path / "x.npy").x.shape == (3, 2)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    file = tmp_path / "edges.csv"
    file.write_text(EDGES)
    file.chmod(0)
    with pytest.raises(InputError, match=r"cannot read .*edges\.csv: Permission denied"):
        read_graph(file)


def test_a_path_that_no_file_can_have():
    with pytest.raises(InputError, match="cannot read"):
        read_graph("edges\0.csv")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "edges.parquet").write_bytes(parquet(source=[1], target=[2]))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"Parquet files need pyarrow: pip install 'sgcl\[parquet\]'"):
        read_graph(tmp_path / "edges.parquet")


def test_an_archive_that_is_no_npz(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("note.txt", "hello")
    (tmp_path / "edges.csv").write_text(NUMBERED)
    with pytest.raises(InputError, match=r"x\.npz: features of type bytes"):
        read_graph(tmp_path / "edges.csv", features=tmp_path / "x.npz")
