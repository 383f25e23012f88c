import math

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from sgcl import SGCL, Graph, InputError
from sgcl.methods import SGCL as SGCLMethod
from sgcl.methods import Method
from sgcl.samplers import EgoGraph, FullGraph, RandomEdge, RandomNode, RandomWalk
from sgcl.trainer import Epoch, TrainingError, lr_factor, peak_memory, step_generator, train

SAMPLERS = [FullGraph(), RandomWalk(batch_size=20, batches=2), RandomNode(batch_size=20, batches=2),
            RandomEdge(batch_size=20, batches=2), EgoGraph(batch_size=20, batches=2)]
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
needs_mps = pytest.mark.skipif(not torch.backends.mps.is_available(), reason="needs MPS")


class Scripted(Method):
    """Gives the losses it was told to give, and notes what happens to it."""

    def __init__(self, losses: list[float] | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(()))
        self.losses = iter(losses if losses is not None else [])
        self.endless = losses is None
        self.batches: list[Graph] = []
        self.progress: list[float] = []
        self.modes: list[bool] = []

    def augment(self, graph: Graph, generator: torch.Generator) -> tuple[Graph]:
        self.batches.append(graph)
        return (graph,)

    def loss(self, views: tuple[Graph]) -> Tensor:
        self.modes.append(self.training)
        return self.weight * 0 + (1.0 if self.endless else next(self.losses))

    def embed(self, graph: Graph) -> Tensor:
        return self.weight.expand(graph.num_nodes, 1)

    def after_step(self, progress: float) -> None:
        self.progress.append(progress)


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


def tiny(**chosen) -> SGCLMethod:
    torch.manual_seed(0)
    return SGCLMethod(6, hidden_channels=8, **chosen)


def losses(history: list[Epoch]) -> list[float]:
    return [epoch.loss for epoch in history]


@pytest.mark.parametrize("accumulate", [0, 1, 2])
def test_steps_are_those_of_a_loop_written_out(graph, accumulate):
    sampler, seed, epochs = RandomNode(batch_size=15, batches=3), 7, 2
    method, twin = tiny(), tiny()
    history = train(method, graph, sampler=sampler, epochs=epochs, lr=0.01, weight_decay=0.1, accumulate=accumulate,
                    seed=seed)

    optimizer = torch.optim.Adam(twin.parameters(), lr=0.01, weight_decay=0.1)
    means = []
    for epoch in range(1, epochs + 1):
        values, waiting = [], []
        for batch in range(3):
            generator = step_generator(seed, epoch, batch)
            loss = twin.loss(twin.augment(sampler(graph, generator), generator))
            values.append(loss.detach())
            waiting.append(loss)
            if len(waiting) == (accumulate or 3) or batch == 2:
                optimizer.zero_grad()
                (sum(waiting) / len(waiting)).backward()                   # the mean over the batches of a step
                optimizer.step()
                waiting = []
        means.append(float(sum(values)) / 3)

    assert losses(history) == pytest.approx(means, rel=1e-6)
    for mine, expected in zip(method.parameters(), twin.parameters(), strict=True):
        assert torch.allclose(mine, expected, atol=1e-6)


@pytest.mark.parametrize(("accumulate", "steps"), [(0, 4), (1, 12), (2, 8), (5, 4)])
def test_after_step_is_told_how_far_the_training_is(graph, accumulate, steps):
    method = Scripted()
    train(method, graph, sampler=FullGraph(batches=3), epochs=4, accumulate=accumulate)
    assert method.progress == pytest.approx([(step + 1) / steps for step in range(steps)])
    assert method.progress[-1] == 1.0


class Watched(Scripted):
    """Notes each call, with the learning rates it finds; draws from every source of chance it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.slow = nn.Parameter(torch.zeros(()))
        self.calls: list[tuple] = []

    def start(self, graph: Graph) -> None:
        self.register_buffer("bank", torch.zeros(graph.num_nodes), persistent=False)
        self.calls.append(("start", graph.num_nodes, float(torch.rand(()))))

    def before_epoch(self, graph: Graph, epoch: int, epochs: int, generator: torch.Generator) -> None:
        assert not torch.is_grad_enabled()
        assert not self.training
        self.bank.copy_(torch.rand(graph.num_nodes, generator=generator))
        self.calls.append(("before", graph.num_nodes, epoch, epochs, tuple(self.bank.tolist())))

    def augment(self, graph: Graph, generator: torch.Generator) -> tuple[Graph]:
        self.calls.append(("augment", graph.num_nodes))
        return super().augment(graph, generator)

    def loss(self, views: tuple[Graph]) -> Tensor:
        return super().loss(views) + self.weight + self.slow

    def parameter_groups(self, lr: float, weight_decay: float) -> list[dict]:
        return [{"params": [self.weight], "weight_decay": weight_decay}, {"params": [self.slow], "lr": lr / 10}]


def test_a_method_is_told_of_the_start_and_of_every_epoch_with_the_whole_graph(graph):
    methods = [Watched(), Watched()]
    for method in methods:
        torch.manual_seed(id(method) % 2**32)                              # the caller's chance is not the method's
        train(method, graph, sampler=RandomNode(batch_size=10, batches=2), epochs=3, seed=4)
    calls = methods[0].calls
    assert calls == methods[1].calls
    assert [call[:4] for call in calls if call[0] != "start"] == [
        call for epoch in (1, 2, 3) for call in [("before", 40, epoch, 3), ("augment", 10), ("augment", 10)]]
    assert [call[1] for call in calls if call[0] == "start"] == [40]
    draws = [call[4] for call in calls if call[0] == "before"]
    own = [tuple(torch.rand(40, generator=step_generator(4, epoch, number)).tolist())
           for epoch in (1, 2, 3) for number in (0, 1)]
    assert len({*draws, *own}) == 9                                        # none shared with a batch


def test_each_group_of_parameters_has_a_learning_rate_of_its_own_which_the_schedule_scales(graph):
    method = Watched()
    train(method, graph, epochs=4, lr=0.1, warmup=2, schedule="cosine")
    shares = [lr_factor(step, "cosine", warmup=2, steps=4) for step in range(4)]
    assert float(method.weight.detach()) == pytest.approx(-0.1 * sum(shares), rel=1e-4)  # Adam's step is lr: the
    assert float(method.slow.detach()) == pytest.approx(-0.01 * sum(shares), rel=1e-4)   # gradient is 1 throughout


def test_parameters_in_no_group_are_left_as_they_are(graph):
    class Half(Watched):
        def parameter_groups(self, lr: float, weight_decay: float) -> list[dict]:
            return super().parameter_groups(lr, weight_decay)[:1]

    method = Half()
    train(method, graph, epochs=3)
    assert float(method.slow.detach()) == 0 != float(method.weight.detach())


@pytest.mark.parametrize(("schedule", "warmup", "expected"), [
    ("constant", 0, [1, 1, 1, 1]), ("constant", 2, [0.5, 1, 1, 1]), ("constant", 8, [1 / 8, 2 / 8, 3 / 8, 4 / 8]),
    ("cosine", 0, [1, (1 + 0.5 ** 0.5) / 2, 0.5, (1 - 0.5 ** 0.5) / 2]), ("cosine", 2, [0.5, 1, 1, 0.5])])
def test_the_learning_rate_follows_its_schedule(schedule, warmup, expected):
    assert [lr_factor(step, schedule, warmup=warmup, steps=4) for step in range(4)] == pytest.approx(expected)


@pytest.mark.parametrize("accumulate", [0, 1])
def test_warm_up_is_counted_in_epochs_whatever_the_batches(graph, accumulate):
    method = Watched()
    train(method, graph, sampler=FullGraph(batches=2), epochs=2, lr=0.1, warmup=2, accumulate=accumulate)
    steps = [1 / 4, 2 / 4, 3 / 4, 1] if accumulate else [1 / 2, 1]
    assert float(method.weight.detach()) == pytest.approx(-0.1 * sum(steps), rel=1e-4)


def test_adamw_takes_the_weight_decay_off_the_weights_themselves(graph):
    class Still(Scripted):
        def loss(self, views: tuple[Graph]) -> Tensor:
            return self.weight * 0.0

    weights = {}
    for optimizer in ("adam", "adamw"):
        method = Still()
        nn.init.constant_(method.weight, 2.0)
        train(method, graph, epochs=1, lr=0.1, weight_decay=0.5, optimizer=optimizer)
        weights[optimizer] = float(method.weight.detach())
    assert weights == pytest.approx({"adam": 2 - 0.1, "adamw": 2 - 0.1 * 0.5 * 2}, rel=1e-4)


def test_patience_stops_when_the_loss_no_longer_falls(graph):
    script = [5.0, 4.0, 4.0, 4.5, 3.0, 3.0, 3.0, 3.0, 1.0]
    assert losses(train(Scripted(script), graph, epochs=9, patience=3)) == script[:8]
    assert losses(train(Scripted(script), graph, epochs=9, patience=2)) == script[:4]
    assert losses(train(Scripted(script), graph, epochs=9)) == script


def test_patience_compares_losses_of_one_stage_and_waits_for_all_of_them(graph):
    class Alternating(Scripted):
        def stage(self, epoch: int, epochs: int) -> int:
            return epoch % 2

    class Late(Scripted):
        def stage(self, epoch: int, epochs: int) -> int:
            return int(epoch > 5)

    lower = [5.0, 0.5, 4.0, 0.5, 3.0, 0.5, 2.0, 0.5, 1.0]
    assert losses(train(Alternating(lower), graph, epochs=9, patience=2)) == lower
    stuck = [5.0, 0.5, 4.0, 0.5, 4.0, 0.5, 4.0, 0.5, 1.0]
    assert losses(train(Alternating(stuck), graph, epochs=9, patience=2)) == stuck[:5]
    late = [1.0, 1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0]
    assert losses(train(Late(late), graph, epochs=9, patience=2)) == late[:8]


def test_no_epochs_leave_the_weights_as_they_were(graph):
    method = tiny()
    before = {key: value.clone() for key, value in method.state_dict().items()}
    assert train(method, graph, epochs=0) == []
    assert all(torch.equal(value, before[key]) for key, value in method.state_dict().items())
    assert not method.training


def test_every_batch_is_a_function_of_seed_epoch_and_number_alone(graph):
    sampler = RandomWalk(batch_size=12, batches=2)
    method = Scripted()
    train(method, graph, sampler=sampler, epochs=5, seed=3)
    for epoch in range(1, 6):
        for number in range(2):
            expected = sampler(graph, step_generator(3, epoch, number)).n_id
            assert torch.equal(method.batches[2 * (epoch - 1) + number].n_id, expected)
    drawn = {tuple(batch.n_id.tolist()) for batch in method.batches}
    assert len(drawn) == 10


def test_step_generators_differ_in_each_of_their_arguments():
    draws = {tuple(torch.rand(4, generator=step_generator(*place)).tolist())
             for place in [(0, 1, 0), (1, 1, 0), (0, 2, 0), (0, 1, 1), (1, 0, 1), (2**32 - 1, 1, 0)]}
    assert len(draws) == 6


def test_neither_the_callers_chance_nor_that_of_callbacks_matters(graph):
    expected = train(tiny(dropout=0.5), graph, epochs=4)
    torch.manual_seed(99)
    method = tiny(dropout=0.5)
    torch.manual_seed(98)
    history = train(method, graph, epochs=4, callbacks=[lambda epoch: torch.rand(3)])
    assert losses(history) == losses(expected)


def test_the_callers_random_numbers_are_left_alone(ring):
    torch.manual_seed(1)
    before = torch.get_rng_state()
    SGCL(epochs=2, hidden_channels=4, dropout=0.5, sampler="node").fit_transform(ring)
    assert torch.equal(torch.get_rng_state(), before)


def test_dropout_has_chance_of_its_own(graph):
    """Not the numbers that the views have drawn: then the two would be tied."""
    seen = []

    class Drawing(Scripted):
        def augment(self, graph: Graph, generator: torch.Generator) -> tuple[Graph]:
            seen.append(torch.rand(5, generator=generator))
            return (graph,)

        def loss(self, views: tuple[Graph]) -> Tensor:
            seen.append(torch.rand(5))
            return super().loss(views)

    train(Drawing(), graph, epochs=2)
    assert len({tuple(draw.tolist()) for draw in seen}) == 4


def test_callbacks_hear_of_every_epoch_as_it_ends(graph):
    heard: list[Epoch] = []
    history = train(Scripted([3.0, 2.0, 1.0]), graph, epochs=3, callbacks=[heard.append, lambda epoch: None])
    assert heard == history
    assert [(epoch.epoch, epoch.epochs, epoch.loss) for epoch in heard] == [(1, 3, 3.0), (2, 3, 2.0), (3, 3, 1.0)]
    assert 0 < heard[0].seconds <= heard[1].seconds <= heard[2].seconds
    assert heard[2].record() == {"epoch": 3, "loss": 1.0, "seconds": round(heard[2].seconds, 4),
                                 "peak_memory": heard[2].peak_memory}
    assert heard[2].peak_memory > 10 * 2**20


def test_a_callback_that_looks_at_the_embedding_changes_nothing(graph):
    def look(epoch: Epoch) -> None:
        method.eval()
        method.embed(graph)

    expected = train(tiny(dropout=0.5), graph, epochs=3)
    method = tiny(dropout=0.5)
    assert losses(train(method, graph, epochs=3, callbacks=[look])) == losses(expected)


def test_the_method_trains_in_training_mode_and_comes_back_in_the_other(graph):
    method = Scripted().eval()
    train(method, graph, epochs=2)
    assert method.modes == [True, True]
    assert not method.training


def test_left_over_gradients_are_forgotten(graph):
    method, twin = tiny(), tiny()
    for parameter in method.parameters():
        parameter.grad = torch.full_like(parameter, 100.0)
    assert losses(train(method, graph, epochs=2)) == losses(train(twin, graph, epochs=2))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_no_number_stops_the_training_and_says_where(graph, bad):
    method = Scripted([1.0, 1.0, 1.0, bad])
    with pytest.raises(TrainingError, match=rf"the loss is {bad} in epoch 2, batch 2 \(all nodes\): lower the "):
        train(method, graph, sampler=FullGraph(batches=2), epochs=4)
    assert len(method.progress) == 3


def test_gradients_whose_sum_is_too_large_alone_are_finite(graph):
    class Steep(Scripted):
        def __init__(self) -> None:
            super().__init__()
            self.steep = nn.Parameter(torch.zeros(4))

        def loss(self, views: tuple[Graph]) -> Tensor:
            return (self.steep * 3e38).sum() + self.weight * 0 + 1

    assert losses(train(Steep(), graph, epochs=1)) == [1.0]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: type(sampler).__name__)
@pytest.mark.parametrize("accumulate", [0, 1])
def test_training_on_batches_of_each_sampler_lowers_the_loss(graph, sampler, accumulate):
    history = losses(train(tiny(), graph, sampler=sampler, epochs=20, lr=0.01, accumulate=accumulate))
    assert sum(history[-4:]) < sum(history[:4])


@pytest.mark.parametrize(("chosen", "message"), [
    ({"epochs": -1}, "epochs is -1, expected 0 or more"),
    ({"lr": 0.0}, "lr is 0.0, expected a finite number above 0"),
    ({"lr": math.nan}, "lr is nan"),
    ({"lr": math.inf}, "lr is inf"),
    ({"weight_decay": -0.1}, "weight_decay is -0.1, expected a finite number of at least 0"),
    ({"weight_decay": math.nan}, "weight_decay is nan"),
    ({"optimizer": "sgd"}, "no optimizer named 'sgd'; known: adam, adamw"),
    ({"schedule": "cosin"}, "no schedule named 'cosin'; did you mean 'cosine'"),
    ({"warmup": -1}, "warmup is -1, expected 0 or more epochs"),
    ({"accumulate": -1}, "accumulate is -1, expected how many batches make an optimiser step, or 0 for all of an"),
    ({"accumulate": True}, "accumulate is True, expected how many batches make an optimiser step"),
    ({"patience": 0}, "patience is 0, expected at least 1"),
    ({"seed": -1}, "seed is -1, expected a whole number from 0"),
    ({"seed": 2**32}, "seed is 4294967296"),
])
def test_settings_that_make_no_sense_are_told(graph, chosen, message):
    with pytest.raises(InputError, match=message):
        train(Scripted(), graph, **chosen)


@needs_cuda
def test_training_on_cuda_agrees_with_the_cpu(graph):
    assert losses(train(tiny(), graph, epochs=3, device="cuda")) == pytest.approx(
        losses(train(tiny(), graph, epochs=3)), rel=1e-3)
    assert peak_memory("cuda") > 0


@needs_cuda
def test_a_graph_on_cuda_is_taken_and_the_generators_are_left_alone(graph):
    before = torch.cuda.get_rng_state()
    train(tiny(), graph.to("cuda"), epochs=1, device="cuda")
    assert torch.equal(torch.cuda.get_rng_state(), before)


@needs_mps
def test_training_on_mps_agrees_with_the_cpu(graph):
    assert losses(train(tiny(), graph, epochs=3, device="mps")) == pytest.approx(
        losses(train(tiny(), graph, epochs=3)), rel=1e-3)
