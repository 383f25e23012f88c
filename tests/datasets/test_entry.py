import re

import pytest

from sgcl.datasets import DATASETS


@pytest.mark.parametrize("name", [name for name, entry in DATASETS.items() if entry.folder])
def test_every_raw_file_has_a_checksum_and_an_address(name):
    entry = DATASETS[name]
    assert entry.folder.endswith("raw")
    for file, checksum in entry.checksums.items():
        assert re.fullmatch("[0-9a-f]{64}", checksum)
        assert re.fullmatch(rf"https://.*/{re.escape(file)}", entry.address(file))


def test_generated_datasets_have_no_raw_files():
    assert DATASETS["grid"].checksums == {}


def test_every_entry_says_what_it_is_and_how_it_is_scored():
    for entry in DATASETS.values():
        assert entry.title
        assert entry.citation
        assert "\n" not in entry.citation
        assert entry.protocol in ("public", "random", "development", "fixed")
