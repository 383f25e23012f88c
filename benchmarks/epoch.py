"""What an epoch costs and where its time goes, beside the cheapest and the usual ways to spend it.

    python benchmarks/epoch.py [SECTION ...] [--quick] [--json] [--check] [--threads N]

Sections: floor, dense, losses, peers, first-layer, arxiv, products, growth, hubs; all unless given. Two layers of
width 512, edges dropped and features masked at 0.5, float32. What is compared runs in one process, in turns, and the
best of its turns counts; memory is the peak resident size of a step less that just before it, measured in a process of
its own, after a step on 100 nodes: the optimiser's state and what libraries load at first use stay from step to step.
How well the C library's heap packs the arrays is luck, so where a step is small, five processes run and the median
counts.

- the floor: the same views and encoder, forward and backward, with the sum of squares as loss;
- dense: P and C as (N, N) matrices, the filters by dense products, all vectorised;
- GRACE (streamed), Barlow Twins and DGI: these losses on the same encoder and views;
- the peers' DGI: PyTorch Geometric's GCNConv on an edge_index, dense features, memory managed as it comes; all else
  keeps freed memory for the next step, as ``sgcl train`` does.

Cora, PubMed, Photo and CS are read from SGCL_DATA; sections whose graph is not there say so and are left out. What is
not --quick is added to results/epoch.jsonl, of which benchmarks/render.py makes docs/performance.md.
"""

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from measure import Bar, finish, in_child, peak_increase, table, trim
from torch import nn
from torch_geometric.nn import GCNConv

from sgcl import datasets, ram, runs
from sgcl.encoders import Encoder
from sgcl.graph import Graph, prepare
from sgcl.losses import barlow_twins_loss, info_nce, infomax_loss, smoothed_contrastive_loss
from sgcl.samplers import RandomWalk
from sgcl.smoothing import SMOOTHINGS
from sgcl.sparse import SparseFeatures
from sgcl.trainer import peak_memory
from sgcl.views import Compose, DropEdges, MaskFeatures

RESULTS = Path(__file__).parent.parent / "results" / "epoch.jsonl"
WIDTH = 512
VIEW = Compose((DropEdges(0.5), MaskFeatures(0.5)))
SMOOTHED = ("taubin", "bilateral", "diffusion")
PARTS = ("sampling", "views", "smoothing", "encoder", "loss", "backward", "optimiser")
REAL = ("cora", "pubmed", "photo", "coauthor-cs")


def load(name: str) -> Graph:
    """A named graph, or a generated one: ``sbm:nodes:edges:features``."""
    if name.startswith("sbm:"):
        nodes, edges, features = map(int, name.split(":")[1:])
        return prepare(datasets.sbm(nodes, edges=edges, features=features))
    return prepare(datasets.load(name))


class Steps:
    """Steps of training on one graph, by the name of their loss; each tells the seconds of its parts."""

    def __init__(self, graph: Graph, width: int = WIDTH, sampler: RandomWalk | None = None) -> None:
        torch.manual_seed(0)
        self.graph, self.sampler, self.width = graph, sampler, width
        self.encoder = Encoder(graph.num_features, width)
        self.discriminator = nn.Bilinear(width, width, 1)
        self.optimiser = torch.optim.Adam([*self.encoder.parameters(), *self.discriminator.parameters()], lr=1e-4,
                                          fused=True)
        self.generator = torch.Generator().manual_seed(0)

    def __call__(self, form: str) -> dict[str, float]:
        clock = _Clock()
        loss = self._forward(form, clock)
        loss.backward()
        clock("backward")
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        clock("optimiser")
        return clock.parts

    def _forward(self, form: str, clock: "_Clock") -> torch.Tensor:
        batch = self.graph if self.sampler is None else self.sampler(self.graph, self.generator)
        clock("sampling")
        if form == "dgi":
            order = torch.randperm(batch.num_nodes, generator=self.generator)
            first, second = batch, batch.replace(x=batch.x[order])
        else:
            first, second = VIEW(batch, self.generator), VIEW(batch, self.generator)
        clock("views")
        positives = None
        if form in SMOOTHINGS:
            positives = SMOOTHINGS[form]()(second.adj), SMOOTHINGS[form]()(first.adj)
        elif form.startswith("dense "):
            positives = _dense_positives(form[6:], second.adj), _dense_positives(form[6:], first.adj)
        clock("smoothing")
        h1, h2 = self.encoder(first.x, first.adj), self.encoder(second.x, second.adj)
        clock("encoder")
        loss = self._loss(form, h1, h2, positives)
        clock("loss")
        return loss

    def _loss(self, form: str, h1: torch.Tensor, h2: torch.Tensor, positives: tuple | None) -> torch.Tensor:
        if form in SMOOTHINGS:
            return smoothed_contrastive_loss(h1, h2, *positives)
        if form.startswith("dense "):
            return _dense_loss(h1, h2, *positives)
        if form == "dgi":
            return infomax_loss(h1, h2, h1.mean(0).sigmoid(), self.discriminator.weight[0], self.discriminator.bias)
        return {"floor": lambda: h1.square().sum() + h2.square().sum(), "grace": lambda: info_nce(h1, h2),
                "barlow": lambda: barlow_twins_loss(h1, h2)}[form]()


class PeerDGI:
    """A step of DGI as the peers run it."""

    def __init__(self, graph: Graph) -> None:
        torch.manual_seed(0)
        self.x = graph.x.to_dense() if isinstance(graph.x, SparseFeatures) else graph.x
        self.edge_index = torch.stack([graph.adj.row, graph.adj.idx])
        self.layers = nn.ModuleList([GCNConv(self.x.size(1), WIDTH), GCNConv(WIDTH, WIDTH)])
        self.act = nn.ModuleList([nn.PReLU(), nn.PReLU()])
        self.weight, self.bias = nn.Parameter(torch.randn(WIDTH, WIDTH) / WIDTH), nn.Parameter(torch.zeros(()))
        self.optimiser = torch.optim.Adam(
            [*self.layers.parameters(), *self.act.parameters(), self.weight, self.bias], lr=1e-4, fused=True)

    def __call__(self, form: str) -> dict[str, float]:
        clock = _Clock()
        real, fake = self._encode(self.x), self._encode(self.x[torch.randperm(len(self.x))])
        infomax_loss(real, fake, real.mean(0).sigmoid(), self.weight, self.bias).backward()
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        clock("backward")
        return clock.parts

    def _encode(self, x: torch.Tensor) -> torch.Tensor:
        for layer, act in zip(self.layers, self.act, strict=True):
            x = act(layer(x, self.edge_index))
        return x


class _Clock:
    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self.last = time.perf_counter()

    def __call__(self, part: str) -> None:
        now = time.perf_counter()
        self.parts[part] = now - self.last
        self.last = now


def _dense_positives(name: str, adj) -> torch.Tensor:
    """The defaults of the filters, by dense products; at one hop the sigmas of the bilateral one cancel."""
    a = adj.to_dense()
    eye = torch.eye(len(a))
    degree = a.sum(1)
    if name == "bilateral":
        p = a / degree.clamp(min=1)[:, None]
    elif name == "diffusion":
        p = eye
        for _ in range(2):
            p = p + 0.03 * a @ p
    else:
        scale = torch.where(degree > 0, degree.rsqrt(), 0)
        laplacian = torch.diag((degree > 0).float()) - scale[:, None] * a * scale
        p = eye
        for _ in range(2):
            p = p - 0.4 * laplacian @ p
            p = p + 0.3 * laplacian @ p
            p = torch.where(p < 0.02, 0, p).fill_diagonal_(1)
    return p.clamp_(0, 1).fill_diagonal_(1)


def _dense_loss(h1, h2, p12, p21):
    weight = 1 / (2 * len(h1))
    c = (F.normalize(h1) @ F.normalize(h2).T + 1) / 2
    forth = (p12 * (1 - c)).square().sum() + weight * ((1 - p12) * c).square().sum()
    back = (p21 * (1 - c.T)).square().sum() + weight * ((1 - p21) * c.T).square().sum()
    return (forth + back) / 2


def in_turns(steps: dict[str, Callable[[], dict[str, float]]], turns: int) -> dict[str, dict[str, float]]:
    """The parts of each step in its best turn, after one that does not count."""
    best: dict[str, dict[str, float]] = {}
    for turn in range(turns + 1):
        for name, step in steps.items():
            parts = step()
            if turn and (name not in best or sum(parts.values()) < sum(best[name].values())):
                best[name] = parts
    return best


def cell(name: str, forms: list[str], turns: int, threads: int, batch: int | None = None, width: int = WIDTH) -> dict:
    """In a child: the best turn of each form on one graph, and nothing else in the process."""
    torch.set_num_threads(threads)
    graph = load(name)
    steps = Steps(graph, width, None if batch is None else RandomWalk(batch_size=batch, batches=1))
    with ram.kept():  # as in a training
        best = in_turns({form: partial(steps, form) for form in forms if form != "peer dgi"}, turns)
    if "peer dgi" in forms:
        best |= in_turns({"peer dgi": partial(PeerDGI(graph), "peer dgi")}, turns)
    return best


def memory(name: str, form: str, threads: int, batch: int | None = None, width: int = WIDTH) -> dict[str, float]:
    """In a child: bytes that a step needs beyond what was there before it, and the seconds of that one step."""
    torch.set_num_threads(threads)
    steps, parts = Steps(load(name), width, RandomWalk(batch_size=100, batches=1)), {}
    steps(form)  # what is there from the first step to the last is not a step's own
    steps.sampler = None if batch is None else RandomWalk(batch_size=batch, batches=1)
    trim()
    with ram.kept():  # as in a training
        size = peak_increase(lambda: parts.update(steps(form)))
    return {"memory": size, "seconds": total(parts)}


def resident(name: str, batch: int, threads: int) -> int:
    """In a child: the most bytes that a process held which made the graph and trained on a few batches of it."""
    cell(name, ["taubin"], 2, threads, batch)
    return peak_memory()


def first_layer(name: str, turns: int, threads: int) -> dict[str, dict[str, float]]:
    """In a child: X W forward and backward with X sparse, and dense."""
    torch.set_num_threads(threads)
    graph = load(name)
    dense = graph.x.to_dense()
    weight = nn.Parameter(torch.randn(graph.num_features, WIDTH) / 30)
    ones = torch.ones(graph.num_nodes, WIDTH)

    def run(x) -> dict[str, float]:
        clock = _Clock()
        weight.grad = None
        (x @ weight).backward(ones)
        clock("backward")
        return clock.parts

    return in_turns({"sparse": lambda: run(graph.x), "dense": lambda: run(dense)}, turns)


def hub(name: str, settings: dict, nodes: int, threads: int) -> dict[str, float]:
    """In a child: smoothing and loss where one node has a tenth of all as neighbours."""
    torch.set_num_threads(threads)
    data = datasets.sbm(nodes, edges=5 * nodes, features=8)
    star = torch.stack([torch.zeros(nodes // 10, dtype=torch.long), torch.arange(1, nodes // 10 + 1) * 9])
    data.edge_index = torch.cat([data.edge_index, star, star.flip(0)], dim=1)
    adj, smoothing = Graph.from_data(data).adj, SMOOTHINGS[name](**settings)
    generator = torch.Generator().manual_seed(0)
    h1, h2 = (torch.randn(nodes, 128, generator=generator) for _ in range(2))
    smoothing(adj.submatrix(torch.arange(100)))  # what is loaded at first use is not the step's
    found = {}

    def step() -> None:
        start = time.perf_counter()
        positives = smoothing(adj)
        loss = smoothed_contrastive_loss(h1, h2, positives, positives)
        found.update(seconds=time.perf_counter() - start, loss=float(loss), positives=positives.nnz,
                     weight=float(positives.value.sum()), longest=int(positives.ptr.diff().max()))

    return {"memory": peak_increase(step), **found}


def total(parts: dict[str, float]) -> float:
    return sum(parts.values())


class Report:
    """Rows for people, cells for machines, bars."""

    def __init__(self, threads: int) -> None:
        self.threads, self.rows, self.cells, self.bars, self.absent = threads, [], [], [], []

    def run(self, section: str, graph: str, forms: list[str], turns: int, **more) -> dict[str, float]:
        best = in_child(__file__, "cell", graph, forms, turns, self.threads, *more.values())
        for form, parts in best.items():
            self.cells.append({"section": section, "graph": graph, "form": form, **more, "seconds": parts})
            self.rows.append([section, graph, form, f"{1e3 * total(parts):.1f}",
                              *(f"{1e3 * parts[part]:.1f}" if part in parts else "" for part in PARTS)])
        return {form: total(parts) for form, parts in best.items()}

    def memory(self, section: str, graph: str, form: str, batch: int | None = None, width: int = WIDTH,
               processes: int = 1) -> dict:
        tries = [in_child(__file__, "memory", graph, form, self.threads, batch, width) for _ in range(processes)]
        found = sorted(tries, key=lambda one: one["memory"])[processes // 2]
        self.cells.append({"section": section, "graph": graph, "form": form, "batch": batch, "memory": found["memory"],
                           "first_step": found["seconds"]})
        self.rows.append([section, graph, form, f"{found['memory'] / 2**20:.0f} MB", *[""] * len(PARTS)])
        return found

    def bar(self, *bar) -> None:
        self.bars.append(Bar(*bar))


def floor(report: Report, quick: bool) -> None:
    for graph in _here(report, REAL[:1] if quick else REAL):
        took = report.run("floor", graph, ["floor", *SMOOTHED], 3 if quick else 61 if graph == "cora" else 5)
        for form in SMOOTHED:
            report.bar(f"{form} epoch / floor, {graph}", took[form] / took["floor"], "<=", 1.7)


def dense(report: Report, quick: bool) -> None:
    _beside_dense(report, "cora", 2400, {"taubin": 5, "bilateral": 3, "diffusion": 3}, 1 / 4)


def dense_large(report: Report, quick: bool) -> None:
    if not quick:
        _beside_dense(report, "sbm:169343:1166243:128", 10_000, dict.fromkeys(SMOOTHED, 10), 1 / 10)


def _beside_dense(report: Report, graph: str, batch: int, times: dict[str, int], share: float) -> None:
    for form, bound in times.items() if graph in _here(report, (graph,)) else ():
        ours, theirs = (report.memory("dense", graph, name, batch, processes=5 if batch < 5000 else 1)
                        for name in (form, f"dense {form}"))
        took = {form: ours["seconds"], f"dense {form}": theirs["seconds"]}  # once will do
        if batch < 5000:
            took = report.run("dense", graph, list(took), 15, batch=batch)
        report.bar(f"times faster than dense, {form}, {graph}, batches of {batch:,}", took[f"dense {form}"]
                   / took[form], ">=", bound)
        report.bar(f"share of the dense memory, {form}, {graph}, batches of {batch:,}", ours["memory"]
                   / theirs["memory"], "<=", share)


def losses(report: Report, quick: bool) -> None:
    for graph in _here(report, ("cora",)):
        took = report.run("losses", graph, ["taubin", "grace", "barlow", "dgi"], 3 if quick else 11)
        for form, bound in (("grace", 0.25), ("barlow", 1.2), ("dgi", 1.8)):
            report.bar(f"taubin epoch / {form} epoch, {graph}", took["taubin"] / took[form], "<=", bound)


def peers(report: Report, quick: bool) -> None:
    for graph in _here(report, () if quick else ("photo", "coauthor-cs")):
        took = report.run("peers", graph, ["taubin", "peer dgi"], 3)
        report.bar(f"taubin epoch / DGI with GCNConv, {graph}", took["taubin"] / took["peer dgi"], "<=", 0.5)


def first_layers(report: Report, quick: bool) -> None:
    for graph in _here(report, ("cora",) if quick else ("cora", "citeseer", "coauthor-cs")):
        best = in_child(__file__, "first_layer", graph, 5, report.threads)
        took = {form: total(parts) for form, parts in best.items()}
        report.cells.append({"section": "first-layer", "graph": graph, "seconds": took})
        report.rows += [["first-layer", graph, form, f"{1e3 * seconds:.1f}", *[""] * len(PARTS)]
                        for form, seconds in took.items()]
        report.bar(f"first layer, times faster than dense, {graph}", took["dense"] / took["sparse"], ">=", 5)


def arxiv(report: Report, quick: bool) -> None:
    if quick:
        return
    graph = "sbm:169343:1166243:128"
    took = report.run("arxiv", graph, ["floor", "taubin"], 6)
    report.bar("taubin epoch / floor, arxiv's size", took["taubin"] / took["floor"], "<=", 1.7)
    report.bar("peak memory, arxiv's size, GB", report.memory("arxiv", graph, "taubin")["memory"] / 1e9, "<=", 8)


def products(report: Report, quick: bool) -> None:
    if quick:
        return
    small = report.run("products", "sbm:244902:6185914:100", ["taubin"], 5, batch=2400)["taubin"]
    large = report.run("products", "sbm:2449029:61859140:100", ["taubin"], 5, batch=2400)["taubin"]
    report.bar("time of a batch, products' size / a tenth of it", large / small, "<=", 1.5)
    report.bar("resident size, products' size, GB", in_child(__file__, "resident", "sbm:2449029:61859140:100", 2400,
                                                             report.threads) / 1e9, "<=", 16)


def growth(report: Report, quick: bool) -> None:
    sizes = (10_000, 30_000) if quick else (10_000, 100_000, 1_000_000)
    seconds, sizes_in_memory = [], []
    for nodes in sizes:
        graph = f"sbm:{nodes}:{nodes * 5}:64"
        seconds.append(report.run("growth", graph, ["taubin"], 2, batch=None, width=128)["taubin"])
        sizes_in_memory.append(report.memory("growth", graph, "taubin", None, 128)["memory"])
    for what, values in (("time", seconds), ("memory", sizes_in_memory)):
        slope = statistics.linear_regression([math.log(n) for n in sizes], [math.log(v) for v in values]).slope
        report.bar(f"growth exponent of {what}, full graph", slope, "<=", 1.1)


def hubs(report: Report, quick: bool) -> None:
    for name, settings in [("taubin", {}), ("bilateral", {}), ("bilateral", {"hops": 2, "sigma_spatial": 1.0}),
                           ("diffusion", {})][:2 if quick else 4]:
        whole = None
        for top in (None, 32):
            found = in_child(__file__, "hub", name, {**settings, "top": top}, 20_000, report.threads)
            whole = whole or found
            report.cells.append({
                "section": "hubs", "form": name, "settings": {**settings, "top": top}, **found,
                "loss_error": abs(found["loss"] / whole["loss"] - 1),
                "left_out": 1 - found["weight"] / whole["weight"]})
            report.rows.append(["hubs", f"top {top}", name, f"{1e3 * found['seconds']:.1f}",
                                f"{found['memory'] / 2**20:.0f} MB", *[""] * (len(PARTS) - 1)])


SECTIONS = {"floor": floor, "dense": dense, "dense-large": dense_large, "losses": losses, "peers": peers,
            "first-layer": first_layers, "arxiv": arxiv, "products": products, "growth": growth, "hubs": hubs}


def _here(report: Report, names: tuple[str, ...]) -> list[str]:
    """Those of the graphs that can be had on this machine; the others are noted."""
    found = [name for name in names if name.startswith("sbm:") or datasets.available(name)]
    report.absent += [name for name in names if name not in found]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("section", nargs="*", choices=[[], *SECTIONS], help="which; all unless given")
    for flag, about in (("--json", "one JSON object of figures"), ("--quick", "small graphs only, no bars"),
                        ("--check", "exit 1 and name the bar where one is missed")):
        parser.add_argument(flag, action="store_true", help=about)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    report = Report(given.threads)
    for name in given.section or SECTIONS:
        SECTIONS[name](report, given.quick)
    text = table(["section", "graph", "step", "ms", *PARTS], report.rows)
    if report.absent:
        text += f"\nnot on this machine, left out: {', '.join(sorted(set(report.absent)))}"
    figures = {"cells": report.cells, "absent": sorted(set(report.absent))}
    if not given.quick:
        bars = [{**bar._asdict(), "holds": bar.holds} for bar in report.bars]
        runs.append(RESULTS, {"sections": given.section or list(SECTIONS), **figures, "bars": bars,
                              **runs.environment(), "threads": given.threads})
    return finish(given, figures, [] if given.quick else report.bars, text)


if __name__ == "__main__":
    sys.exit(main())
