"""The figures of the graph store in docs/scale.md, from results/store.jsonl; called by benchmarks/render.py."""

from pathlib import Path
from typing import Any

from sgcl.runs import read_lines

ROOT = Path(__file__).parent.parent
START, END = "<!-- figures of the store -->\n", "<!-- end of the figures of the store -->"
GB = 1 << 30


def render(page: str) -> str:
    """The page with its figures as the lines say."""
    before, rest = page.split(START)
    return before + START + "\n".join(["", *_imports(), *_large(), *_cached(), *_bars(), ""]) + END + rest.split(END)[1]


def _cells(section: str) -> list[dict[str, Any]]:
    """Those of a section, each kind as last measured."""
    last = {}
    for line in read_lines(ROOT / "results" / "store.jsonl"):
        for cell in line["cells"]:
            if cell["section"] == section:
                last[cell.get("form"), cell.get("what"), cell["edges"]] = cell
    return list(last.values())


def _imports() -> list[str]:
    rows = [f"| {cell['form']} | {cell['edges']:,} | {cell['seconds']:.0f} | {cell['processor']:.0f} | "
            f"{cell['edges'] / cell['seconds']:,.0f} | {cell['edges'] / cell['processor']:,.0f} | "
            f"{cell['memory'] / GB:.2f} | {cell['bytes'] / GB:.2f} |" for cell in _cells("import")]
    return ["`python benchmarks/import.py`: random edges between a twentieth as many nodes, 16 float32 features, "
            "`--memory 2GB`, one", "process on two cores that others used as well. Memory is the peak of what no file "
            "can give back (RssAnon), packages", "included.", "",
            "| edge list | rows | s | processor s | rows/s | rows/processor s | peak memory GB | store GB |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |", *rows, ""] if rows else []


def _large() -> list[str]:
    found = {cell["what"]: cell for cell in _cells("large")}
    if len(found) < 2:
        return []
    loaded, run = found["import"], found["train and embed"]
    return [f"`python benchmarks/store.py large --edges {loaded['edges']} --features {loaded['features']}`: "
            f"{loaded['nodes']:,} nodes,", f"float16 features, a store of {loaded['bytes'] / GB:.1f} GB; SGCL-T of "
            "width 128 with a limit of 3.5 GB, on the same machine.", "",
            "| what | s | peak memory GB |", "| --- | --- | --- |",
            f"| import in 2 GB | {loaded['seconds']:.0f} | {loaded['memory'] / GB:.2f} |",
            f"| {run['batches']} batches of 2,000 nodes from random walks | {run['training']:.0f} | |",
            f"| the whole run, all nodes embedded into {run['written'] / GB:.1f} GB | {run['seconds']:.0f} | "
            f"{run['memory'] / GB:.2f} |", ""]


def _cached() -> list[str]:
    names = {"memory": "memory", "float32": "a store in float32", "float16": "a store in float16"}
    rows = [f"| {names[cell['form']]} | {1e3 * cell['best_drawing']:.1f} | {1e3 * cell['best_step']:.1f} |"
            for cell in _cells("cached")]
    head = ["`python benchmarks/store.py cached`: batches of 2,000 nodes from random walks on a graph of ten million "
            "edges given, 128", "features, all pages in the cache; the best of turns in one process.", "",
            "| from | drawing a batch, ms | a whole step of SGCL-T, ms |", "| --- | --- | --- |"]
    return [*head, *rows, ""] if rows else []


def _bars() -> list[str]:
    last = {}
    for line in read_lines(ROOT / "results" / "store.jsonl"):
        last |= {bar["name"]: bar for bar in line["bars"]}
    return ["| asked | measured | bound | |", "| --- | --- | --- | --- |", *(
        f"| {bar['name']} | {bar['value']:.3g} | {bar['sign']} {bar['bound']:g} | "
        f"{'holds' if bar['holds'] else 'missed'} |"
        for bar in last.values())] if last else []
