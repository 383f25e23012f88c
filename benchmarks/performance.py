"""docs/performance.md and its picture, from results/epoch.jsonl; called by benchmarks/render.py."""

import json
from pathlib import Path
from typing import Any

from sgcl.runs import read_lines

ROOT = Path(__file__).parent.parent
PARTS = ("sampling", "views", "smoothing", "encoder", "loss", "backward", "optimiser")
NAMES = {"floor": "floor", "taubin": "SGCL-T", "bilateral": "SGCL-B", "diffusion": "SGCL-D", "grace": "GRACE",
         "barlow": "Barlow Twins", "dgi": "DGI", "peer dgi": "DGI with GCNConv"}
TITLES = {
    "floor": "Beside the floor: the same views and encoder, with the sum of squares as loss",
    "losses": "Beside other losses on the same encoder",
    "peers": "Beside DGI as other libraries run it, with GCNConv on an edge_index",
    "dense": "Beside the dense form: P and C as (N, N) matrices, random-walk batches",
    "arxiv": "The whole graph at the size of ogbn-arxiv: 169,343 nodes, 1,166,243 edges, 2.9e10 pairs",
    "products": "Random-walk batches at the size of ogbn-products (2,449,029 nodes, 61,859,140 edges), and a tenth",
    "growth": "Growth: degree 10, width 128, the whole graph",
}
PROSE = """# Performance

What a step of training costs, where its time goes, and how both grow. All figures are ratios or times of steps taken in
one process in turns, the best of its turns, on 2 cores of a shared machine (AVX2, about 140 GFLOP/s in float32); two
layers of width 512, edges dropped and features masked at 0.5, unless said otherwise. Memory is the peak resident size
of a step above that just before it, in a process of its own, after a step on 100 nodes and with all freed memory handed
back: weights, the optimiser's state and what libraries load at first use stay from step to step and are no step's own.
How well the C library packs arrays into its heap is luck, and holes may take more than the arrays: on batches of 2,400
nodes the median of five processes counts, for both forms.

The dense form takes the shortcuts that the library takes: at one hop the sigmas of the bilateral filter cancel, and no
distances are weighed.

`python benchmarks/epoch.py [SECTION ...]` measures again and adds to `results/epoch.jsonl`; this page is rendered from
it.

## What was asked and what came out

"""
WHERE = """## Where the time is

- The encoder, forward and backward, is two thirds of a step. Its second layer alone takes 6 N D² multiply-adds, the
  loss 3 N D²: half a Gram matrix of each view (it is symmetric) and its product with the other view's rows. These run
  at the speed of the machine's matrix product; a narrower width is what makes them cheaper.
- The smoothing takes a few per cent. Taubin's second-order term is worked out only at entries that can stay above
  `prune`, in loops compiled on first use (Numba); the diffusion is one pruned product.
- Sparse features stay sparse in the first layer, forward and backward, and entries of masked columns are left out.
- glibc asks the system for every array above 32 MB anew, which clears its pages. Training keeps freed memory for the
  next step while more than half of the machine's memory is free (`sgcl.ram`). In one run each of `sgcl train --dataset
  coauthor-cs`, an epoch took 1.7 s and the process 2.7 GB with it, 2.5 s and 1.9 GB without.
- `--workers N` makes the next batches, views and positives in threads while the model trains, which takes cores that
  the model leaves free; it is off in all figures here.

What could be had from here: bfloat16 products where the processor has them; a projector narrower than the embedding.
"""


def lines_of(section: str) -> list[dict[str, Any]]:
    """The cells of a section, each as last measured."""
    last: dict[str, dict[str, Any]] = {}
    for line in read_lines(ROOT / "results" / "epoch.jsonl"):
        for cell in line["cells"]:
            if cell["section"] == section:
                what = [cell.get(name) for name in ("graph", "form", "batch", "settings")]
                last[json.dumps([*what, "memory" in cell])] = cell
    return list(last.values())


def render() -> str:
    return PROSE + "\n".join([*_bars(), "", *_sections(), *_first_layer(), *_hubs(), WHERE])


def draw(file: Path) -> None:
    """Seconds and memory by nodes, both axes logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    cells = lines_of("growth")
    for axis, (name, unit, value) in zip(figure.subplots(1, 2), (
            ("time of an epoch", "s", lambda cell: sum(cell["seconds"].values()) if "seconds" in cell else None),
            ("peak memory", "MB", lambda cell: cell["memory"] / 2**20 if "memory" in cell else None)), strict=True):
        points = [(int(cell["graph"].split(":")[1]), value(cell)) for cell in cells if value(cell) is not None]
        if points:
            axis.loglog(*zip(*points, strict=True), "o-", label="SGCL-T, whole graph")
            (n, y), last = points[0], points[-1][0]
            axis.loglog([n, last], [y, y * last / n], ":", color="grey", label="linear")
            axis.legend(frameon=False)
        axis.set(title=name, xlabel="nodes", ylabel=unit)
    figure.savefig(file, dpi=110)


def _bars() -> list[str]:
    last: dict[str, dict[str, Any]] = {}
    for line in read_lines(ROOT / "results" / "epoch.jsonl"):
        last |= {bar["name"]: bar for bar in line["bars"]}
    words = {"<=": "at most", ">=": "at least"}
    return ["| what | measured | bar | |", "| --- | --- | --- | --- |", *(
        f"| {bar['name']} | {bar['value']:.3g} | {words[bar['sign']]} {bar['bound']:.3g} | "
        f"{'' if bar['holds'] else 'missed'} |" for bar in last.values())]


def _sections() -> list[str]:
    out: list[str] = []
    for section, title in TITLES.items():
        cells = lines_of(section)
        if not cells:
            continue
        out += [f"## {title}", ""]
        timed = [cell for cell in cells if "seconds" in cell]
        shown = [part for part in PARTS if any(part in cell["seconds"] for cell in timed)]
        out += [f"| graph | step | ms | {' | '.join(shown)} |", "| --- " * (3 + len(shown)) + "|"]
        for cell in timed:
            parts = [f"{1e3 * cell['seconds'][part]:.1f}" if part in cell["seconds"] else "" for part in shown]
            parts = parts if len(cell["seconds"]) > 1 else [""] * len(shown)
            out.append(f"| {_graph(cell)} | {_form(cell)} | {1e3 * sum(cell['seconds'].values()):.1f} | "
                       f"{' | '.join(parts)} |")
        held = [cell for cell in cells if "memory" in cell]
        if held:
            out += ["", "| graph | step | peak MB |", "| --- | --- | --- |",
                    *(f"| {_graph(cell)} | {_form(cell)} | {cell['memory'] / 2**20:,.0f} |" for cell in held)]
        if section == "growth":
            out += ["", "![growth](growth.png)"]
        out.append("")
    return out


def _first_layer() -> list[str]:
    cells = lines_of("first-layer")
    rows = [f"| {_graph(cell)} | {1e3 * cell['seconds']['sparse']:.1f} | {1e3 * cell['seconds']['dense']:.1f} |"
            for cell in cells]
    return ["## The first layer on bag-of-words features, forward and backward", "", "| graph | sparse ms | dense ms |",
            "| --- | --- | --- |", *rows, ""] if cells else []


def _hubs() -> list[str]:
    cells = lines_of("hubs")
    rows = [f"| {NAMES[cell['form']]}{', 2 hops' if cell['settings'].get('hops') == 2 else ''} | "
            f"{cell['settings']['top'] or 'none'} | {cell['positives']:,} | {cell['longest']:,} | "
            f"{1e3 * cell['seconds']:.0f} | {cell['memory'] / 2**20:.0f} | {100 * cell['left_out']:.2f} | "
            f"{100 * cell['loss_error']:.3f} |" for cell in cells]
    return ["## Hubs, and a bound on the entries of a row", "",
            "20,000 nodes of mean degree 10, one of which has 2,000 more neighbours. `--taubin-top N` and so on keep",
            "the N largest positives of a node; off by default. What is left out: a share of their weight, and",
            "the relative change of the loss on random embeddings.", "",
            "| smoothing | top | positives | longest row | ms | peak MB | weight left out % | loss changes by % |",
            "| --- " * 8 + "|", *rows, ""] if cells else []


def _graph(cell: dict[str, Any]) -> str:
    name = cell["graph"]
    if name.startswith("sbm:"):
        nodes, edges, _ = map(int, name.split(":")[1:])
        name = f"block model, {nodes:,} nodes, {edges:,} edges"
    return name + (f", batches of {cell['batch']:,}" if cell.get("batch") else "")


def _form(cell: dict[str, Any]) -> str:
    dense = cell["form"].removeprefix("dense ")
    return NAMES[dense] + (", dense" if dense != cell["form"] else "")
