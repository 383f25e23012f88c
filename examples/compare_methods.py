"""Every method for nodes on the digits graph, beside what needs no training.

    python examples/compare_methods.py [EPOCHS]
"""

import sys
import time

from sgcl import AUGCL, BGRL, CCASSG, CGRA, DGI, GBT, GRACE, GREET, GRLC, GSCL, MVGRL, SGCL, GraphMAE2, ProGCL
from sgcl.datasets import load
from sgcl.evaluation import PROTOCOLS, linear_probe, propagated_features, raw_features

METHODS = (SGCL, DGI, GRACE, MVGRL, BGRL, GBT, CCASSG, ProGCL, AUGCL, CGRA, GRLC, GraphMAE2, GREET, GSCL)

data = load("digits")
split = PROTOCOLS["random"].split(data, seed=0)
epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 50


def tell(name, embedding, began):
    result = linear_probe(embedding, data.y, split)
    print(f"{name:<20} accuracy {result.test:.3f}   {time.perf_counter() - began:5.1f} s", flush=True)


for floor in (raw_features, propagated_features):
    tell(floor.__name__.replace("_", " "), floor(data), time.perf_counter())
for method in METHODS:
    began = time.perf_counter()
    tell(method.__name__, method(hidden_channels=128, epochs=epochs, seed=0).fit_transform(data), began)
