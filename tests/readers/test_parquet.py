import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgcl.readers import parquet as module
from sgcl.readers.arrow_texts import ArrowTexts
from sgcl.readers.ids import Texts
from sgcl.readers.parquet import ParquetTable


def written(folder, **columns):
    pq.write_table(pa.table(columns), folder / "t.parquet", row_group_size=3)
    return ParquetTable(folder / "t.parquet")


def column(ids):
    return [value if ids.texts is None else ids.texts[value] for value in ids.values.tolist()]


@pytest.mark.parametrize("kind", ["int8", "int32", "int64", "uint8", "uint64"])
def test_integer_columns_are_integers(kind, tmp_path):
    assert column(written(tmp_path, id=pa.array([5, 0, 7], kind)).read(["id"]).ids[0]) == [5, 0, 7]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary("int8", pa.string())])
def test_text_columns_are_text_even_where_they_hold_digits(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_TEXT_ROWS", 2)
    found = written(tmp_path, id=pa.array(["7", "007", " a", "7", "b"]).cast(kind)).read(["id"])
    assert column(found.ids[0]) == ["7", "007", " a", "7", "b"]


def test_two_id_columns_share_their_texts_and_may_differ_in_kind(tmp_path):
    source, target, number = written(tmp_path, s=["a", "b"], t=["b", "c"], n=[4, 5]).read(["s", "t", "n"]).ids
    assert source.texts is target.texts
    assert [column(ids) for ids in (source, target, number)] == [["a", "b"], ["b", "c"], [4, 5]]


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint8(), pa.float32(), pa.float64(), pa.decimal128(25, 2)])
def test_number_columns_of_any_kind(kind, tmp_path):
    table = written(tmp_path, id=[1, 2, 3], x=pa.array([1, 0, 3]).cast(kind))
    assert table.read(["id"], ["x"]).numbers.tolist() == [[1], [0], [3]]


def test_truth_values_are_numbers(tmp_path):
    assert written(tmp_path, id=[1, 2], x=[True, False]).read(["id"], ["x"]).numbers.tolist() == [[1], [0]]


@pytest.mark.parametrize("label", [["red", None, "blue"], [3, None, 4]])
def test_labels_may_be_missing(label, tmp_path):
    found = written(tmp_path, id=[1, 2, 3], label=label).read(["id"], label="label").ids
    assert column(found[1]) == ["" if name is None else str(name) for name in label]
    assert column(found[0]) == [1, 2, 3]


@given(st.lists(st.lists(st.text(max_size=2), max_size=6), max_size=4))
def test_texts_of_pyarrow_are_numbered_as_those_of_python(batches):
    fast, slow = ArrowTexts(), Texts()
    for batch in batches:
        assert np.array_equal(fast.encode(pa.array(batch, pa.string())), slow.encode(batch))
    assert fast.list() == slow.list()
