import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgcl.datasets import tables
from sgcl.datasets.tables import blocks, check_nodes, count_rows, read_columns, read_table
from sgcl.errors import InputError


def write(folder, text, name="table.csv"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return path


@given(rows=st.lists(st.tuples(*[st.integers(-10**9, 10**9)] * 3), min_size=1, max_size=40),
       end=st.sampled_from(["\n", "\r\n"]), last=st.booleans(), space=st.sampled_from(["", " "]),
       name=st.sampled_from(["a.csv", "a.csv.gz"]), block=st.sampled_from([1, 7, 64, 1 << 20]))
def test_any_table_in_blocks_of_any_size(tmp_path, rows, end, last, space, name, block):
    text = end.join(f",{space}".join(map(str, row)) for row in rows) + (end if last else "")
    path = write(tmp_path, text, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_BLOCK", block)
        assert np.concatenate(list(blocks(path, np.int64))).tolist() == [list(row) for row in rows]
        assert read_table(path, np.float64, len(rows)).tolist() == [list(row) for row in rows]
        if not name.endswith("gz"):
            assert count_rows(path) == len(rows)


def test_a_single_column_is_a_vector(tmp_path):
    assert read_table(write(tmp_path, "3\n1\n2\n"), np.int64, 3).tolist() == [3, 1, 2]


def test_edges_are_transposed_and_a_header_is_skipped(tmp_path):
    path = write(tmp_path, "from,to\n3,1\n2,0\n")
    assert read_columns(path, np.int64, 2, skip=1).tolist() == [[3, 2], [1, 0]]
    assert count_rows(path, skip=1) == 2


def test_missing_values_are_nan(tmp_path):
    assert np.isnan(read_table(write(tmp_path, "1.5,nan\n"), np.float32, 1)).tolist() == [[False, True]]


@pytest.mark.parametrize(("text", "dtype", "message"), [
    ("1,2\n3,x\n", np.int64, "row 2 is not 2 whole numbers between commas"),
    ("1,2\n3,4.5\n5,6\n", np.int64, "row 2 is not 2 whole numbers between commas"),
    ("1,2\n3\n", np.float32, "row 2 is not 2 numbers between commas"),
    ("1,2\n3,\n", np.float32, "row 2 is not 2 numbers between commas"),
    ("1,2\n\n3,4\n", np.float32, "row 2 is not 2 numbers between commas"),
    ("1,2\n3,4,5\n", np.float32, "row 2 is not 2 numbers between commas")])
def test_the_first_bad_row_is_named(tmp_path, text, dtype, message):
    with pytest.raises(InputError, match=rf"table\.csv: {message}"):
        read_table(write(tmp_path, text), dtype, 2)


def test_rows_are_counted(tmp_path):
    path = write(tmp_path, "1,2\n3,4\n")
    for rows in (1, 3):
        with pytest.raises(InputError, match=f"table.csv has 2 rows, expected {rows}"):
            read_table(path, np.int64, rows)
        with pytest.raises(InputError, match=f"table.csv has 2 rows, expected {rows}"):
            read_columns(path, np.int64, rows)
    with pytest.raises(InputError, match=r"empty\.csv has 0 rows, expected 1"):
        read_table(write(tmp_path, "", "empty.csv"), np.int64, 1)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    path = write(tmp_path, "1,2\n" * 1000, "t.csv.gz")
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(InputError, match=r"t\.csv\.gz cannot be read: .*; get the file again"):
        read_table(path, np.int64, 1000)
    (tmp_path / "text.csv.gz").write_text("1,2\n")
    with pytest.raises(InputError, match=r"text\.csv\.gz cannot be read: Not a gzipped file"):
        read_table(tmp_path / "text.csv.gz", np.int64, 1)
    with pytest.raises(InputError, match=r"gone\.csv cannot be read: "):
        count_rows(tmp_path / "gone.csv")


@pytest.mark.parametrize("numbers", [[[0, 3]], [[-1, 2]]])
def test_nodes_that_there_are_not(tmp_path, numbers):
    with pytest.raises(InputError, match=r"edges.csv names nodes -?\d to \d, but there are 3, counted from 0"):
        check_nodes(tmp_path / "edges.csv", np.array(numbers), 3)
    check_nodes(tmp_path / "edges.csv", np.array([[0, 2]]), 3)
