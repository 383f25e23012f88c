import re

import pytest

from sgcl.datasets import DATASETS
from sgcl.evaluation import METRICS, PROTOCOLS


@pytest.mark.parametrize("name", [name for name, entry in DATASETS.items() if entry.folder])
def test_every_raw_file_has_an_address_and_what_is_not_plain_a_checksum(name):
    entry = DATASETS[name]
    assert entry.files
    for file in entry.files:
        if entry.archive is None:
            assert re.fullmatch(rf"https://.*(/{re.escape(file)}|id=[\w-]+)", entry.address(file))
        else:
            assert re.fullmatch(r"https://.*\.zip", entry.archive[0])
        assert entry.plain or re.fullmatch("[0-9a-f]{64}", entry.checksums[file])


def test_pickles_have_a_checksum():
    harmless = (".csv.gz", ".csv", ".txt", ".mat", ".npz")  # texts and arrays
    for entry in DATASETS.values():
        assert all(file.endswith(harmless) for file in entry.plain)


def test_generated_datasets_have_no_raw_files():
    assert DATASETS["grid"].checksums == {}


def test_every_entry_says_what_it_is_and_how_it_is_scored():
    for entry in DATASETS.values():
        assert entry.title
        assert entry.citation
        assert "\n" not in entry.citation
        assert entry.licence
        assert "\n" not in entry.licence
        assert entry.protocol in PROTOCOLS
        assert entry.metric in METRICS
        assert (entry.task == "graph") == (entry.protocol == "tu") == (entry.graphs > 1)
