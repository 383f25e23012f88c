"""Tables in text files: CSV, TSV and columns set apart by semicolons or spaces, gzip-compressed too.

The csv module says what a file means and what is wrong with it. Where pyarrow is installed it reads the same file
many times faster, and whatever it stumbles over goes back to the csv module.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from sgcl.errors import InputError
from sgcl.readers.ids import LONGEST, Ids, Texts, as_integers, blocks, decimal_among, integer_among
from sgcl.readers.lines import TextFile
from sgcl.readers.table import Columns, Room, RoomFor, check_names
from sgcl.readers.text_fast import fast_columns

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".edges", ".edgelist")

_ROWS = 1 << 14  # rows at a time


class TextTable:
    """A text file with one row a line; the first row names the columns, unless told otherwise.

    Ids that are all integers in their plain form are integers; otherwise all are text. Spaces around a field are not
    part of it.
    """

    def __init__(self, path: str | Path) -> None:
        self.name = str(path)
        self.notes: list[str] = []
        self._file = TextFile(path)
        self._delimiter = _delimiter(self._file.first, self._file.path)
        self._header = True
        self.columns = [field.strip() for _, row in self._parsed([self._file.first], 0) for field in row]

    def without_header(self, names: list[str]) -> None:
        """The first row is data; the columns are called ``names``."""
        self._header, self.columns = False, names

    def read(self, ids: Sequence[str], numbers: Sequence[str] = (), *, label: str | None = None,
             room: RoomFor | None = None) -> Columns:
        check_names(self, [*ids, *numbers, *([] if label is None else [label])])
        bound, plain = self._file.scan()
        for integers in (True, False) if plain else (False,):
            found = fast_columns(self._file.path, self.columns, self._skipped, self._delimiter, ids, numbers, label,
                                 bound, integers=integers, room=room)
            if found is not None:
                break
        else:
            found = self._slow_columns(ids, numbers, label, bound, room or Room)
        self._settle(found.ids[:len(ids)], ids)
        return found

    def where(self, row: int) -> str:
        return f"line {next(itertools.islice(self._rows(), row, None))[0]}"

    @property
    def _skipped(self) -> int:
        return self._file.comments + self._header

    def _slow_columns(self, ids: Sequence[str], numbers: Sequence[str], label: str | None, bound: int,
                      room: RoomFor = Room) -> Columns:
        """By the csv module, with a message for everything that can be wrong in a row."""
        named = [*ids, *([] if label is None else [label])]
        texts, labels = Texts(), Texts()
        made = room(len(named), len(numbers), bound)
        place = {name: self.columns.index(name) for name in (*named, *numbers)}
        rows = self._rows()
        while chunk := list(itertools.islice(rows, _ROWS)):
            made.add([(labels if name == label else texts).encode(
                          [self._id(line, name, row[place[name]], empty=name == label) for line, row in chunk])
                      for name in named],
                     [np.array([self._number(line, name, row[place[name]]) for line, row in chunk])
                      for name in numbers])
        return made.columns(None if label is None else labels.list(), texts.list())

    def _id(self, line: int, column: str, field: str, *, empty: bool) -> str:
        text = field.strip(" \t")
        if not text and not empty:
            raise InputError(f"{self.name}, line {line}: column {column!r} is empty; every row needs an id")
        if "\n" in text or len(text) > LONGEST:
            what = "a line break" if "\n" in text else f"more than {LONGEST} characters"
            raise InputError(f"{self.name}, line {line}: column {column!r} holds {what}; is a quote left open?")
        return text

    def _number(self, line: int, column: str, field: str) -> float:
        text = field.strip(" \t")
        try:
            if "_" in text or not text.isascii():
                raise ValueError
            return float(text)
        except ValueError:
            what = f"holds {field!r}" if text else "is empty"
            hint = "" if self._header else ("; if line 1 is a header, name its columns with source= and target= "
                                            "(--source, --target)")
            raise InputError(f"{self.name}, line {line}: column {column!r} {what}, expected a number{hint}") from None

    def _settle(self, columns: list[Ids], names: Sequence[str]) -> None:
        """Text that is all integers becomes integers; integers stored as floats, or below a header, are told."""
        texts = columns[0].texts
        if not texts:
            return
        whole = as_integers(texts)
        if whole is not None:
            for column in columns:
                for rows in blocks(len(column)):
                    column.values[rows] = whole[column.values[rows]]
                column.texts = None
            return
        decimal = decimal_among(texts)
        if decimal is not None:
            code = texts.index(decimal)
            name, column = next(pair for pair in zip(names, columns, strict=True) if (pair[1].values == code).any())
            raise InputError(f"{self.name}, {self.where(int((column.values == code).argmax()))}: the id {decimal!r} in "
                             f"column {name!r} has a decimal point; write ids as integers or as text")
        below = set(texts) - {texts[int(column.values[0])] for column in columns}
        if not self._header and as_integers(below) is not None:
            raise InputError(f"{self.name}, line {self._file.comments + 1}: looks like a header, for all ids below it "
                             "are integers; name its columns with source= and target= (--source, --target)")
        if integer_among(texts):
            other = next(text for text in texts if as_integers([text]) is None)
            self.notes.append(f"{self.name}: ids are taken as text, for {other!r} is no plain integer")

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line number (from 1) and fields of each row; blank lines are passed over."""
        for number, row in self._parsed(self._file.lines(self._skipped), self._skipped):
            if len(row) == len(self.columns):
                yield number, row
            elif any(field.strip() for field in row):
                raise InputError(f"{self.name}, line {number}: {_counted(len(row))} where line "
                                 f"{self._file.comments + 1} has {len(self.columns)}; every row needs as many")

    def _parsed(self, lines: Iterable[str], before: int) -> Iterator[tuple[int, list[str]]]:
        if self._delimiter == " ":
            yield from ((number, line.split()) for number, line in enumerate(lines, before + 1))
            return
        reader = csv.reader(lines, delimiter=self._delimiter, strict=True)
        try:
            for row in reader:
                yield before + reader.line_num, row
        except csv.Error as error:
            raise InputError(f"{self.name}, line {before + reader.line_num}: {error}; check its quotes") from None


def _delimiter(line: str, path: Path) -> str:
    """The first of the usual ones that the line holds: commas before tabs in a .csv, tabs first elsewhere."""
    usual = ",;\t " if ".csv" in path.suffixes else "\t,; "
    return next((sign for sign in usual if sign in line.strip()), ",")


def _counted(fields: int) -> str:
    return "1 field" if fields == 1 else f"{fields} fields"
