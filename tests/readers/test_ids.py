import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgcl.readers import ids as module
from sgcl.readers.ids import Ids, Texts, UnknownId, as_integers, blocks, decimal_among, first_repeat, locate

WIDE = st.integers(-2**63, 2**63 - 1)
COLUMNS = st.one_of(st.lists(st.integers(-5, 40), max_size=60), st.lists(WIDE, max_size=60),
                    st.lists(st.one_of(st.integers(0, 3), WIDE), max_size=60))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(module.blocks, "__defaults__", (7,))


@given(COLUMNS)
def test_distinct_integers_are_those_of_a_set(values):
    assert Ids(np.array(values, np.int64)).distinct().tolist() == sorted(set(values))


@given(COLUMNS, st.data())
def test_integers_are_found_where_a_list_finds_them(ids, data):
    ids = sorted(set(ids))
    values = data.draw(st.lists(st.sampled_from(ids), max_size=40)) if ids else []
    found = locate(np.array(ids, np.int64), Ids(np.array(values, np.int64)))
    assert found.tolist() == [ids.index(value) for value in values]


@given(COLUMNS, COLUMNS)
def test_the_first_unknown_integer_is_told(ids, values):
    ids = sorted(set(ids))
    unknown = [(row, value) for row, value in enumerate(values) if value not in ids]
    if unknown:
        with pytest.raises(UnknownId) as caught:
            locate(np.array(ids, np.int64), Ids(np.array(values, np.int64)))
        assert (caught.value.row, caught.value.quoted) == (unknown[0][0], str(unknown[0][1]))


def test_texts_are_numbered_by_first_appearance_and_found_in_ascending_ids():
    texts = Texts()
    column = Ids(texts.encode(["b", "a", "b", "é"]), texts.list())
    assert column.values.tolist() == [0, 1, 0, 2]
    assert column.distinct().tolist() == ["a", "b", "é"]
    assert column.quoted(3) == "'é'"
    assert locate(np.array(["a", "b", "c", "é"]), column).tolist() == [1, 0, 1, 3]


def test_an_unknown_text_is_told():
    with pytest.raises(UnknownId, match="'b'"):
        locate(np.array(["a"]), Ids(np.array([0, 0, 1]), ["a", "b"]))


@given(COLUMNS)
def test_integers_as_text_are_their_digits(values):
    column = Ids(np.array(values, np.int64))
    column.to_text()
    assert [column.texts[code] for code in column.values] == [str(value) for value in values]


@pytest.mark.parametrize("text", ["007", "+7", "-0", "0x7", "7.0", " 7", "", "７", "1_0", str(2**63), "9" * 30])
def test_what_is_no_plain_integer_stays_text(text):
    assert as_integers(["1", text]) is None


def test_plain_integers_of_64_bits_are_integers():
    assert as_integers(["0", "-7", str(2**63 - 1), str(-2**63)]).tolist() == [0, -7, 2**63 - 1, -2**63]


def test_ids_stored_as_floats_are_noticed_and_versions_among_text_are_not():
    assert decimal_among(["1", "2.0"]) == "2.0"
    assert decimal_among(["1", ".5"]) == ".5"
    assert decimal_among(["1.0", "a"]) is None
    assert decimal_among(["1", "2"]) is None


@given(st.lists(st.integers(0, 9), max_size=12))
def test_the_first_repeat_is_the_first_row_seen_before(values):
    expected = next((row for row, value in enumerate(values) if value in values[:row]), None)
    assert first_repeat(np.array(values, np.int64)) == expected


@given(st.integers(0, 50), st.integers(1, 60))
def test_blocks_cover_everything_once(length, size):
    assert [place for rows in blocks(length, size) for place in range(length)[rows]] == list(range(length))
