"""Distinct texts of pyarrow columns, without a Python object for each row."""

from __future__ import annotations

from typing import Any

import numpy as np


class ArrowTexts:
    """Distinct texts, numbered in the order of their first appearance, as :class:`sgcl.readers.ids.Texts` does."""

    def __init__(self) -> None:
        import pyarrow as pa

        self._known = pa.array([], pa.large_string())
        self.new: list[str] = []

    def encode(self, column: Any) -> np.ndarray:
        """(n,) the number of each text of a pyarrow array without nulls; ``new`` then holds those not met before."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = column.cast(pa.large_string())
        codes = np.array(pc.index_in(column, value_set=self._known).fill_null(-1), dtype=np.int64)
        missing = codes < 0
        rest = column.filter(pa.array(missing))
        new = rest.unique()
        codes[missing] = len(self._known) + np.asarray(pc.index_in(rest, value_set=new))
        self._known, self.new = pa.concat_arrays([self._known, new]), new.to_pylist()
        return codes

    def list(self) -> list[str]:
        found: list[str] = self._known.to_pylist()
        return found
