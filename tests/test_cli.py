import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from sgcl import recipes, runs
from sgcl.cli import main
from sgcl.commands import COMMANDS
from sgcl.datasets import DATASETS, load
from sgcl.methods import METHODS
from sgcl.progress import ProgressBar

QUICK = ("--hidden-channels", "8", "--epochs", "2")
RUN = ["config.json", "curve.png", "embeddings.npy", "embeddings.parquet", "ids.npy", "metrics.jsonl",
       "weights.safetensors"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, datasets) -> Path:
    """Every test runs in an empty folder, and the threads of torch are put back."""
    threads = torch.get_num_threads()
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    torch.set_num_threads(threads)


def files(folder: str | Path = ".") -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    """The one line that a request is refused with."""
    before = files()
    assert main(list(words)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert err.startswith("sgcl: ")
    assert files() == before
    return err


def train(*words: str) -> int:
    return main(["train", "--dataset", "blocks", *QUICK, *words])


# train

def test_train_leaves_the_run_folder_that_is_documented(capsys):
    assert train("--out", "a/run") == 0
    out, err = capsys.readouterr()
    first, second = out.splitlines()
    assert first.startswith("a/run: 100 nodes, loss ")
    assert " after 2 epochs, " in first
    assert second == "next: sgcl evaluate a/run"
    assert err.startswith("SGCL-T on blocks: epoch 2/2  loss ")
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    assert files("a/run") == RUN
    for name in RUN:
        assert name in (runs.__doc__ or "")
    config = json.loads(Path("a/run/config.json").read_text())
    assert (config["method"], config["dataset"], config["protocol"]) == ("sgcl", "blocks", "random")
    assert (config["nodes"], config["in_channels"], config["settings"]["epochs"]) == (100, 6, 2)
    assert config["versions"]["torch"] == version("torch")
    metrics = [json.loads(line) for line in Path("a/run/metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in metrics] == [1, 2]
    assert set(metrics[0]) == {"epoch", "loss", "seconds", "peak_memory"}
    assert np.load("a/run/embeddings.npy").shape == (100, 8)
    assert np.array_equal(np.load("a/run/ids.npy"), np.arange(100))
    assert Path("a/run/curve.png").read_bytes().startswith(b"\x89PNG")


def test_train_names_the_folder_after_what_it_does():
    assert train("--smoothing", "bilateral", "--seed", "7", "-q") == 0
    assert (Path("runs") / "sgcl-bilateral-blocks-7" / "weights.safetensors").exists()


@pytest.mark.parametrize("method", [name for name, kind in METHODS.items() if kind.level == "node"])
def test_the_method_is_a_word_of_its_own(capsys, method):
    assert main(["train", method, "--dataset", "blocks", *QUICK, "-q", "--json", "--out", "run"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == method


def test_json_is_one_object_and_progress_stays_on_standard_error(capsys):
    assert train("--json", "--out", "run", "--taubin-mu", "-5e-1", "--seed", "3") == 0
    out, err = capsys.readouterr()
    outcome = json.loads(out)
    assert out.count("\n") == 1
    assert outcome["run"] == "run"
    assert outcome["epochs"] == 2
    assert outcome["settings"]["smoothing"]["mu"] == -0.5
    assert outcome["settings"]["seed"] == 3
    assert "epoch 2/2" in err


def test_quiet_says_nothing_on_standard_error(capsys):
    assert train("--quiet", "--out", "run") == 0
    assert capsys.readouterr().err == ""


def test_no_epochs_give_the_untrained_encoder(capsys):
    assert train("--epochs", "0", "--out", "run") == 0
    assert "100 nodes, after 0 epochs" in capsys.readouterr().out
    assert "metrics.jsonl" not in files("run")
    assert "weights.safetensors" in files("run")


def test_threads(capsys):
    assert train("--threads", "1", "--out", "run") == 0
    assert torch.get_num_threads() == 1
    assert json.loads(Path("run/config.json").read_text())["threads"] == 1


@pytest.mark.filterwarnings("default")
def test_a_note_is_one_line_on_standard_error(capsys, datasets):
    pairs = torch.combinations(torch.arange(40)).T
    datasets("complete", Data(x=torch.eye(40), edge_index=pairs))
    assert main(["train", "--dataset", "complete", *QUICK, "-q", "--out", "run", "--drop-edges", "0.1"]) == 0
    thin, collapsed = capsys.readouterr().err.splitlines()
    assert thin.startswith("sgcl: note: Taubin(")
    assert "keeps 0% of a view's edges as positives" in thin
    assert re.match(r"sgcl: note: .* the embedding has collapsed: its effective rank is 1\.", collapsed)


def test_isolated_nodes_and_self_loops_just_work(datasets):
    data = load("blocks")
    data.edge_index = torch.cat([data.edge_index, torch.tensor([[3, 4], [3, 4]])], dim=1)
    data.x, data.y = torch.cat([data.x, data.x[:2]]), torch.cat([data.y, data.y[:2]])
    del data.train_mask, data.val_mask, data.test_mask
    datasets("odd", data)
    assert main(["train", "--dataset", "odd", *QUICK, "-q", "--out", "run"]) == 0
    assert np.load("run/embeddings.npy").shape == (102, 8)
    assert main(["evaluate", "run"]) == 0


def put_recipe(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "recipes" / "sgcl").mkdir(parents=True)
    (folder / "recipes" / "sgcl" / "blocks.toml").write_text(text)
    monkeypatch.setattr(recipes, "files", lambda package: folder / "recipes")


def settings_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert main(["train", "--dataset", "blocks", "-q", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)["settings"]


def test_a_recipe_is_where_flags_start_from(capsys, monkeypatch, elsewhere):
    put_recipe(elsewhere, '[settings]\nepochs = 1\nhidden_channels = 4\n[bilateral]\nlr = 0.2\n'
                          'smoothing = {name = "bilateral", hops = 2}\n', monkeypatch)
    chosen = settings_of(capsys, "--out", "a")
    assert (chosen["epochs"], chosen["hidden_channels"], chosen["lr"]) == (1, 4, 0.001)
    chosen = settings_of(capsys, "--out", "b", "--smoothing", "bilateral", "--epochs", "2")
    assert (chosen["epochs"], chosen["hidden_channels"], chosen["lr"]) == (2, 4, 0.2)
    assert chosen["smoothing"]["hops"] == 2
    chosen = settings_of(capsys, "--out", "c", "--no-recipe", "--epochs", "1")
    assert (chosen["epochs"], chosen["hidden_channels"], chosen["lr"]) == (1, 512, 0.001)


def test_with_other_epochs_what_a_recipe_begins_in_one_of_them_moves_along(capsys, monkeypatch, elsewhere):
    put_recipe(elsewhere, "[settings]\nepochs = 10\nwarmup = 4\nhidden_channels = 4\n", monkeypatch)
    for number, (words, warmup) in enumerate([(["--epochs", "5"], 2), (["--epochs", "5", "--warmup", "4"], 4),
                                              (["--epochs", "10"], 4), (["--epochs", "0"], 0)]):
        assert settings_of(capsys, "--out", f"run{number}", *words)["warmup"] == warmup


def test_a_key_that_a_recipe_has_wrong_is_told(capsys, monkeypatch, elsewhere):
    put_recipe(elsewhere, "[settings]\nepoch = 1\n", monkeypatch)
    assert "no sgcl setting named 'epoch'; did you mean 'epochs'?" in refused(capsys, "train", "--dataset", "blocks")


# what cannot be done: one line, exit code 2, nothing written

@pytest.mark.parametrize("out", ["full", "file"])
def test_an_out_that_is_there_is_refused_and_left_alone(capsys, out):
    Path("full").mkdir()
    Path("full/mine.txt").write_text("mine")
    Path("file").write_text("mine")
    line = refused(capsys, "train", "--dataset", "blocks", *QUICK, "--out", out)
    assert f"{out} is there already and not empty: give another --out or remove it" in line
    assert Path("full/mine.txt").read_text() == Path("file").read_text() == "mine"


@pytest.mark.parametrize(("words", "message"), [
    (["--smoothing", "tabuin"], "no smoothing named 'tabuin'; did you mean 'taubin'?"),
    (["--sampler", "wlak"], "no sampler named 'wlak'; did you mean 'walk'?"),
    (["--sampler", "graphs"], "sgcl embeds nodes of a graph: the sampler graphs draws whole graphs of a collection"),
    (["--protocol", "randon"], "no protocol named 'randon'; did you mean 'random'?"),
    (["--layer", "gcnn"], "no layer named 'gcnn'; did you mean 'gcn'?"),
    (["--similarity", "cos"], "argument --similarity: invalid choice: 'cos'"),
    (["--taubin-mu", "-0.3"], "Taubin: mu is -0.3 and tau is 0.3, expected mu < -tau < 0"),
    (["--taubin-tau", "0.4"], "Taubin: mu is -0.4 and tau is 0.4, expected mu < -tau < 0"),
    (["--taubin-prune", "1"], "prune is 1.0, expected a threshold"),
    (["--smoothing", "diffusion", "--diffusion-steps", "0"], "steps is 0, expected a whole number >= 1"),
    (["--drop-edges", "1.5"], "DropEdges: p is 1.5, expected a probability in [0, 1]"),
    (["--drop-edges", "0.2", "-0.1"], "DropEdges: p is -0.1, expected a probability in [0, 1]"),
    (["--mask-features", "2"], "MaskFeatures: p is 2.0, expected a probability in [0, 1]"),
    (["--mask-features", "nan"], "MaskFeatures: p is nan, expected a probability in [0, 1]"),
    (["--flip-edges", "-1e-3"], "FlipEdges: p is -0.001, expected a probability in [0, 1]"),
    (["--noise-features", "-1"], "NoiseFeatures: sigma is -1.0"),
    (["--drop-edges", "0.1", "0.2", "0.3"], "--drop-edges takes one number for both views or two, got 3"),
    (["--dropout", "1.01"], "dropout is 1.01, expected a probability in [0, 1]"),
    (["--epochs", "-1"], "epochs is -1, expected 0 or more"),
    (["--epochs", "many"], "argument --epochs: invalid int value: 'many'"),
    (["--epochs", "1.5"], "argument --epochs: invalid int value: '1.5'"),
    (["--epochs"], "argument --epochs: expected one argument"),
    (["--lr", "0"], "lr is 0.0, expected a finite number above 0"),
    (["--lr", "fast"], "argument --lr: invalid float value: 'fast'"),
    (["--weight-decay", "-1"], "weight_decay is -1.0"),
    (["--patience", "0"], "patience is 0, expected at least 1"),
    (["--seed", "-1"], "seed is -1, expected a whole number from 0 to 2^32 - 1"),
    (["--negative-weight", "0"], "negative_weight is 0.0, expected a finite number above 0"),
    (["--hidden-channels", "0"], "hidden_channels is 0, expected at least 1"),
    (["--sampler", "walk", "--walk-batch-size", "0"], "batch_size is 0, expected a whole number of at least 1"),
    (["--threads", "0"], "--threads is 0, expected at least 1"),
    (["--threads", "two"], "argument --threads: invalid int value: 'two'"),
    (["--device", "gpu"], "no device named 'gpu': use cpu, cuda, cuda:1, mps or auto"),
    (["--bilateral-hops", "2"], "--bilateral-hops does nothing: the smoothing is 'taubin'; add --smoothing bilateral"),
    (["--smothing", "taubin"], "no argument '--smothing'; did you mean '--smoothing'?"),
    (["--epoch", "3"], "no argument '--epoch'; did you mean '--epochs'?"),
    (["--xyzzy"], "no argument '--xyzzy'; see --help"),
    (["extra"], "no argument 'extra'; see --help"),
    (["--protocol", "development", "--sampler", "node", "--node-by", "rank"], "argument --node-by: invalid choice"),
])
def test_settings_that_cannot_be_are_told_in_one_line(capsys, words, message):
    assert message in refused(capsys, "train", "--dataset", "blocks", *QUICK, "--out", "run", *words)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
def test_a_device_that_is_not_here_is_told(capsys):
    line = refused(capsys, "train", "--dataset", "blocks", "--device", "cuda", "--out", "run")
    assert "device 'cuda' is not available here: use cpu or auto" in line


EDGES = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
BAD_GRAPHS = {
    "nan": (Data(x=torch.tensor([[1.0], [float("nan")], [1], [1], [1]]), edge_index=EDGES),
            "node features hold NaN or infinite values (first at node 1, column 0)"),
    "infinite": (Data(x=torch.tensor([[1.0], [1], [1], [1], [-float("inf")]]), edge_index=EDGES),
                 "node features hold NaN or infinite values (first at node 4, column 0)"),
    "height": (Data(x=torch.ones(4, 2), edge_index=EDGES[:, :2], num_nodes=5),
               "data.x has 4 rows but the graph has 5 nodes"),
    "few-rows": (Data(x=torch.ones(4, 2), edge_index=EDGES), "data.edge_index names node 4, but nodes are numbered 0 "
                                                             "to 3"),
    "no-features": (Data(edge_index=EDGES, num_nodes=5), "the graph has no node features"),
    "flat": (Data(x=torch.ones(5), edge_index=EDGES), "data.x must be an (N, F) matrix"),
    "empty": (Data(x=torch.ones(0, 2), edge_index=torch.empty(2, 0, dtype=torch.long)), "the graph is empty"),
    "no-edges": (Data(x=torch.ones(5, 2), edge_index=torch.empty(2, 0, dtype=torch.long)), "the graph has no edges"),
    "only-loops": (Data(x=torch.ones(5, 2), edge_index=torch.tensor([[0, 1], [0, 1]])),
                   "the graph has no edges besides self-loops"),
    "one-node": (Data(x=torch.ones(1, 2), edge_index=torch.tensor([[0], [0]])), "the graph has a single node"),
    "high-id": (Data(x=torch.ones(5, 2), edge_index=torch.tensor([[0], [5]])), "data.edge_index names node 5"),
    "negative-id": (Data(x=torch.ones(5, 2), edge_index=torch.tensor([[0], [-1]])), "data.edge_index names node -1"),
}


@pytest.mark.parametrize("name", BAD_GRAPHS)
@pytest.mark.parametrize("protocol", ["random", "development"])
def test_graphs_that_cannot_be_are_told_in_one_line(capsys, datasets, name, protocol):
    data, message = BAD_GRAPHS[name]
    datasets(name, data)
    line = refused(capsys, "train", "--dataset", name, *QUICK, "--out", "deep/run", "--protocol", protocol)
    assert message in line


@pytest.mark.parametrize(("words", "message"), [
    ([], "which graph? give either --dataset NAME"),
    (["--dataset", "corra"], "no dataset named 'corra'; did you mean 'cora'?"),
    (["--dataset", "../digits"], "no dataset named '../digits'"),
    (["sgclx", "--dataset", "digits"], "no method named 'sgclx'; did you mean 'sgcl'?"),
    (["--dataset"], "argument --dataset: expected one argument"),
])
def test_what_to_train_on_and_with_must_be_known(capsys, words, message):
    assert message in refused(capsys, "train", *words)


@pytest.mark.parametrize(("words", "message"), [
    (["tarin"], "no command 'tarin'; did you mean 'train'?"),
    (["xyzzy"], "no command 'xyzzy'; see --help"),
    (["--verson"], "no argument '--verson'; did you mean '--version'?"),
    (["datasets", "corra"], "no dataset named 'corra'; did you mean 'cora'?"),
    (["datasets", "--josn"], "no argument '--josn'; did you mean '--json'?"),
    (["methods", "sgclx"], "no method named 'sgclx'; did you mean 'sgcl'?"),
    (["evaluate"], "the following arguments are required: RUN"),
    (["evaluate", "nowhere"], "nowhere is not a run folder: it has no config.json"),
    (["evaluate", "nowhere", "--seeds", "0"], "--seeds is 0, expected at least 1"),
    (["evaluate", "nowhere", "--probe", "knn"], "argument --probe: invalid choice: 'knn'"),
    (["evaluate", "nowhere", "--threads", "0"], "--threads is 0, expected at least 1"),
    (["demo", "--seeds", "0"], "seeds is 0, expected at least 1"),
    (["demo", "--epochs", "-1"], "epochs is -1, expected 0 or more"),
    (["demo", "--sedes", "1"], "no argument '--sedes'; did you mean '--seeds'?"),
])
def test_other_requests_that_cannot_be_met_are_told_in_one_line(capsys, words, message):
    assert message in refused(capsys, *words)


# what goes wrong on the way

def test_ctrl_c_is_one_line_and_130(capsys, monkeypatch):
    def interrupt(self, epoch):
        raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "__call__", interrupt)
    assert train("--out", "run") == 130
    assert capsys.readouterr() == ("", "sgcl: interrupted\n")


def test_a_training_that_diverges_is_one_line_and_1(capsys, monkeypatch):
    monkeypatch.setattr("sgcl.workflow.training.check_memory", lambda *args: None)  # takes steps of its own
    monkeypatch.setattr("sgcl.methods.SGCL.loss", lambda self, views: torch.tensor(float("nan")))
    assert train("--out", "run") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("sgcl: the loss is nan in epoch 1, batch 1 (all nodes): lower the learning rate (lr is")
    assert err.endswith("there is no checkpoint yet; the ids of its nodes are in run/failed-batch.json; without its "
                        "cause, go on with: sgcl train --resume run\n")


def test_a_full_disk_is_one_line_and_1(capsys, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(runs, "append", full)
    assert train("--out", "run") == 1
    assert capsys.readouterr() == ("", "sgcl: cannot write run: No space left on device; once that is mended, go on "
                                       "with: sgcl train --resume run\n")


# evaluate

@pytest.fixture
def two_runs(capsys) -> list[str]:
    for seed in "01":
        assert train("-q", "--seed", seed, "--out", f"run-{seed}") == 0
    capsys.readouterr()
    return ["run-0", "run-1"]


def rows_of(out: str) -> dict[str, list[str]]:
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if line.startswith("│")]
    return {cells[0]: cells[1:] for cells in lines}


def test_evaluate_prints_one_table_with_the_floors_first(capsys, two_runs):
    assert main(["evaluate", *two_runs]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[0] == "blocks, protocol random, probe converged"
    rows = rows_of(out)
    assert list(rows) == ["raw features", "untrained encoder", "propagated features", "SGCL-T"]
    for test, val, count, disparity in rows.values():
        assert "±" in test
        assert "±" in val
        assert count == "2"
        assert -2 <= float(disparity) <= 2


def test_evaluate_in_json(capsys, two_runs):
    assert main(["evaluate", *two_runs, "--json", "--seeds", "3"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert sum(row["name"] == "SGCL-T" for row in rows) == 6
    assert {row["split_seed"] for row in rows} == {0, 1, 2}
    assert {row["seed"] for row in rows if row["name"] == "SGCL-T"} == {0, 1}
    assert [row["name"] for row in rows[:3]] == ["raw features"] * 3
    keys = {"name", "run", "dataset", "seed", "task", "protocol", "split_seed", "probe", "metric", "test", "val", "C",
            "step", "disparity", "disparity_scaled", "disparity_reason", "dirichlet_intra", "dirichlet_inter",
            "intra_edges", "inter_edges", "seconds"}
    assert all(set(row) == keys for row in rows)


def test_evaluate_with_another_protocol_and_the_published_probe_and_no_floors(capsys, two_runs):
    assert main(["evaluate", two_runs[0], "--protocol", "public", "--probe", "published", "--no-floors"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "blocks, protocol public, probe published"
    assert list(rows_of(out)) == ["SGCL-T"]
    assert rows_of(out)["SGCL-T"][2] == "1"


def test_evaluate_tells_of_damage(capsys, two_runs):
    Path("run-1/embeddings.npy").write_bytes(b"")
    assert "run-1/embeddings.npy is damaged" in refused(capsys, "evaluate", *two_runs)
    Path("run-1/embeddings.npy").unlink()
    assert "run-1 holds no embeddings.npy: train the run to its end first" in refused(capsys, "evaluate", *two_runs)
    assert "no protocol named 'rand'" in refused(capsys, "evaluate", "run-0", "--protocol", "rand")
    Path("run-0/weights.safetensors").write_bytes(b"x")
    assert "run-0/weights.safetensors does not fit" in refused(capsys, "evaluate", "run-0")


# datasets, methods, help

def test_datasets(capsys):
    assert main(["datasets"]) == 0
    out = capsys.readouterr().out
    rows = rows_of(out)
    assert set(rows) == set(DATASETS)
    assert rows["digits"] == ["1", "1,797", "12,535", "64", "10", "random", "yes"]
    assert main(["datasets", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in listed] == list(DATASETS)
    assert main(["datasets", "digits"]) == 0
    out = capsys.readouterr().out
    assert "UCI 1998" in out
    assert rows_of(out)["measured components"] == ["1"]
    assert rows_of(out)["measured edges"] == rows_of(out)["edges"] == ["12,535"]


def test_methods(capsys):
    assert main(["methods"]) == 0
    assert rows_of(capsys.readouterr().out)["sgcl"] == ["nodes", "Smoothed graph contrastive learning."]
    assert main(["methods", "sgcl"]) == 0
    assert "Departures from the paper" in capsys.readouterr().out
    assert main(["methods", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in listed] == list(METHODS)
    assert listed[0]["settings"]["smoothing"]["name"] == "taubin"


@pytest.mark.parametrize("words", [["--help"], ["-h"], [], *([command, "--help"] for command in COMMANDS)],
                         ids=lambda words: " ".join(words) or "nothing")
def test_help_teaches(capsys, words):
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("usage: sgcl")
    assert len(out.splitlines()) > 8
    if len(words) < 2:
        assert all(f"sgcl {command}" in out for command in COMMANDS)


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == version("sgcl")


def test_warnings_of_the_caller_are_left_as_they_were(capsys):
    import warnings
    before = warnings.showwarning
    assert main(["methods"]) == 0
    assert warnings.showwarning is before


# as a program

def program(*words: str, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "sgcl", *words], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "OMP_NUM_THREADS": "1"}, **more)


def test_as_a_program_it_trains_and_says_how_it_ended():
    done = program("train", "--dataset", "grid", *QUICK, "--out", "run", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["nodes"] == 225
    assert "epoch 2/2" in done.stderr
    assert "metrics.jsonl" in files("run")
    done = program("train", "--dataset", "grid", "--out", "run")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "sgcl: run is there already and not empty: give another --out or remove it\n"
