"""How many entries a filter may have, and whether there is memory for them."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.smoothing import memory


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 14), hops=st.integers(1, 5))
def test_reach_is_never_too_small(seed, n, hops):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < 0.15, 1)
    adj = (upper | upper.T).astype(float)
    within = np.linalg.matrix_power(adj + np.eye(n), hops) > 0
    component = np.linalg.matrix_power(adj + np.eye(n), n) > 0
    bound = memory.reach(scipy.sparse.csr_array(adj), hops)
    assert (bound >= within.sum(1)).all()
    assert (bound <= component.sum(1)).all()


def test_too_much_is_refused_and_enough_is_not(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 2.0**30)
    memory.check_memory("Part", 2.0**30 / memory._BYTES, "prune > 0")
    with pytest.raises(InputError, match=r"Part: unpruned, this graph may fill 1e\+08 entries, 4.5 GiB where 1.0 are "
                                         "free; set prune > 0, or smooth smaller batches"):
        memory.check_memory("Part", 1e8, "prune > 0")
