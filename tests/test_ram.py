import json
import math
import os
import subprocess
import sys

import pytest

from sgcl import ram

CHILD = """
import json, resource, sys
import torch
from sgcl import ram

def pages(times=5):  # that the system had to make ready for arrays of 64 MB, made and freed in turn
    torch.ones(2**24)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        torch.ones(2**24)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def held():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

ram.free_memory = lambda: float(sys.argv[1])
if sys.argv[2] == "near":
    ram.hand_back()
start, outside = held(), pages()
with ram.kept():
    inside, most = pages(), held() - start
print(json.dumps({"outside": outside, "inside": inside, "held inside": most, "held after": held() - start}))
"""
MB = 2**20


def child(free: float, near: str = "far") -> dict[str, int]:
    done = subprocess.run([sys.executable, "-c", CHILD, str(free), near], capture_output=True, text=True, check=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    return json.loads(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs glibc")
def test_freed_memory_is_kept_inside_and_given_back_afterwards():
    found = min((child(math.inf) for _ in range(4)), key=lambda one: one["inside"])  # where the heap lies is chance
    assert found["inside"] < found["outside"] / 2                          # none or one of five: what is above stays
    assert found["held inside"] > 60 * MB > 20 * MB > found["held after"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs glibc")
@pytest.mark.parametrize(("free", "near"), [(1.0, "far"), (math.inf, "near")])
def test_where_memory_is_short_it_is_not_kept(free, near):
    found = child(free, near)
    assert found["inside"] > 200
    assert found["held inside"] < 20 * MB


def test_free_memory_is_a_sensible_number():
    assert ram.free_memory() > MB


@pytest.mark.parametrize(("text", "number"), [("Total: 5 kB\n\nFree: 3 kB\n", 3.0), ("Total: 5 kB\n", math.inf)])
def test_a_field_of_a_system_file(tmp_path, text, number):
    (tmp_path / "info").write_text(text)
    assert ram._field(tmp_path / "info", "Free:") == number
