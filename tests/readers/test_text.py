import gzip
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgcl.readers import text as module
from sgcl.readers.text import TextTable


def written(folder, content, name="table.csv"):
    path = folder / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return TextTable(path)


def column(ids):
    return [value if ids.texts is None else ids.texts[value] for value in ids.values.tolist()]


@pytest.fixture(params=["pyarrow", "csv"])
def reader(request, monkeypatch):
    """Both readers, each alone."""
    if request.param == "csv":
        monkeypatch.setattr(module, "fast_columns", lambda *_, **__: None)
    else:
        monkeypatch.setattr(TextTable, "_slow_columns", lambda *_: pytest.fail("pyarrow gave up"))


@pytest.mark.parametrize(("name", "content"), [
    ("t.csv", "a,b\n1,2\n3,4\n"), ("t.csv", "a;b\n1;2\n3;4"), ("t.tsv", "a\tb\n1\t2\n3\t4\n"),
    ("t.txt", "a b\n1 2\n3 4\n"),
    ("t.csv.gz", "a,b\n1,2\n3,4\n"), ("t.csv", "a,b\r\n1,2\r\n3,4\r\n"), ("t.csv", "\ufeffa,b\n1,2\n\n3,4\n\n"),
    ("t.csv", 'a,"b"\n"1",2\n3,"4"\n'), ("t.csv", "a, b\n1, 2\n3 ,4\n"), ("t.tsv", "# note, one\n%\na,b\n1,2\n3,4\n"),
    ("t.CSV", "a,b\n1,2\n3,4\n"), ("t.txt", "b,c,a\n2,x,1\n4,y,3\n")])
def test_the_forms_a_table_may_have(name, content, tmp_path, reader):
    found = written(tmp_path, content, name).read(["a"], ["b"])
    assert column(found.ids[0]) == [1, 3]
    assert found.numbers.tolist() == [[2], [4]]


def test_several_spaces_between_columns(tmp_path):
    found = written(tmp_path, " a   b\n1  2\n 3 4 \n", "t.txt").read(["a", "b"])
    assert [column(ids) for ids in found.ids] == [[1, 3], [2, 4]]


@pytest.mark.parametrize(("ids", "expected"), [
    (["1", "-2", "0"], [1, -2, 0]), (["7", "007"], ["7", "007"]), (["0x1F", "31"], ["0x1F", "31"]),
    (["-0", "0"], ["-0", "0"]),
    (["+5", "5"], ["+5", "5"]), (["5", "a"], ["5", "a"]), (["nan", "NULL", "NA"], ["nan", "NULL", "NA"]),
    ([str(2**63), "1"], [str(2**63), "1"]), ([str(2**63 - 1), str(-2**63)], [2**63 - 1, -2**63]),
    (["é", "日本", "a b", '"x"'], ["é", "日本", "a b", '"x"'])])
def test_ids_are_integers_only_if_nothing_of_them_is_lost(ids, expected, tmp_path, reader):
    quoted = ['"' + one.replace('"', '""') + '"' for one in ids]
    table = written(tmp_path, "id,x\n" + "".join(f"{one},1\n" for one in quoted))
    assert column(table.read(["id"], ["x"]).ids[0]) == expected


def test_ids_of_two_kinds_are_text_and_that_is_noted(tmp_path, reader):
    table = written(tmp_path, "id,x\n1,0.5\nx7,0.5\n")
    table.read(["id"])
    assert table.notes == [f"{table.name}: ids are taken as text, for 'x7' is no plain integer"]


def test_leading_zeros_elsewhere_do_not_matter(tmp_path, reader):
    assert column(written(tmp_path, "id,x\n1,05\n10,0.05\n").read(["id"], ["x"]).ids[0]) == [1, 10]


def test_labels_may_be_empty_and_have_texts_of_their_own(tmp_path, reader):
    ids, label = written(tmp_path, "id,label\nb,red\na,\nc,red\n").read(["id"], label="label").ids
    assert column(ids) == ["b", "a", "c"]
    assert column(label) == ["red", "", "red"]
    assert "red" not in ids.texts


def test_the_line_of_a_row_counts_comments_blank_lines_and_the_header(tmp_path):
    table = written(tmp_path, "# c\na,b\n\n1,2\n\n3,4\n")
    table.read(["a"])
    assert (table.where(0), table.where(1)) == ("line 4", "line 6")


def test_the_first_row_can_be_data(tmp_path, reader):
    table = written(tmp_path, "a,b\nc,d\n")
    table.without_header(["s", "t"])
    assert [column(ids) for ids in table.read(["s", "t"]).ids] == [["a", "c"], ["b", "d"]]
    assert table.where(0) == "line 1"


def test_text_files_need_no_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = written(tmp_path, "id,x\nb,1\na,2\n").read(["id"], ["x"])
    assert column(found.ids[0]) == ["b", "a"]
    assert found.numbers.tolist() == [[1], [2]]


FIELD = st.text(st.sampled_from("0123456789-+.xe ab,;\"#é_"), max_size=5)


@given(st.lists(st.tuples(FIELD, FIELD, FIELD), max_size=6), st.booleans())
def test_pyarrow_gives_what_the_csv_module_gives_or_gives_up(rows, quoted):
    """The fields are written raw too, so that half of the files are odd."""
    def line(row):
        return ",".join('"' + field.replace('"', '""') + '"' if quoted else field for field in row)

    with tempfile.TemporaryDirectory() as folder:
        table = written(Path(folder), "a,b,c\n" + "\n".join(map(line, rows)) + "\n")
        bound, plain = table._file.scan()
        for integers in (True, False) if plain else (False,):
            fast = module.fast_columns(table._file.path, table.columns, 1, ",", ["a", "b"], [], "c", bound,
                                       integers=integers)
            if fast is None:
                continue
            slow = table._slow_columns(["a", "b"], [], "c", bound)
            assert [[str(value) for value in column(ids)] for ids in fast.ids] == [column(ids) for ids in slow.ids]


NUMBER = st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(repr), st.integers().map(str), FIELD)


@given(st.lists(NUMBER, min_size=1, max_size=6))
def test_pyarrow_reads_the_numbers_the_csv_module_reads(numbers):
    with tempfile.TemporaryDirectory() as folder:
        table = written(Path(folder), "id,x\n" + "".join(f"a,{number}\n" for number in numbers))
        fast = module.fast_columns(table._file.path, table.columns, 1, ",", ["id"], ["x"], None, 99, integers=False)
        if fast is not None:
            assert fast.numbers.tolist() == table._slow_columns(["id"], ["x"], None, 99).numbers.tolist()
