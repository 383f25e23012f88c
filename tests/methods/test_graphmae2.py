import pytest
import torch
from torch_geometric.data import Data

from sgcl import Graph, InputError
from sgcl.encoders.prelu import PReLU
from sgcl.methods import GraphMAE2, recompute
from sgcl.sparse import SparseFeatures
from sgcl.views import DropEdges, MaskFeatures


def made(**chosen) -> GraphMAE2:
    torch.manual_seed(0)
    return GraphMAE2(6, **{"hidden_channels": 8, "heads": 2, **chosen})


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


def cosine(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b / (a.norm() * b.norm())


def slow_loss(method: GraphMAE2, views) -> torch.Tensor:
    """The formula node by node, with features and tokens written out; the encoder and decoder as they are."""
    x = torch.where(views.masked[:, None], method.token, views.student.x)
    h = method.encoder(x, views.student.adj)
    encoder, projector = method.teacher
    target = projector(encoder(views.teacher.x, views.teacher.adj)).detach()
    predicted = method.predictor(method.projector(h))
    latent = sum(1 - cosine(predicted[i], target[i]) for i in range(len(x))) / len(x)
    decoded = 0.0
    for remasked in views.remasked:
        token = torch.zeros(1) if method.code_token is None else method.code_token
        codes = torch.where(remasked[:, None], token, method.bridge(h))
        out = method.decoder(codes, views.whole.adj)
        errors = [(1 - cosine(views.whole.x[i], out[i])) ** method.gamma for i in views.masked.nonzero().view(-1)]
        decoded += sum(errors) / len(errors)
    return decoded + method.latent_weight * latent


def test_weights_begin_as_published():
    torch.manual_seed(0)
    method = GraphMAE2(300, hidden_channels=512, heads=8)
    first, second = method.encoder.layers
    for layer, fan_in, fan_out in ((first, 300, 512), (second, 512, 512), (method.decoder, 512, 300)):
        assert layer.weight.std().item() == pytest.approx(2 / (fan_in + fan_out) ** 0.5, rel=0.02)
    for vector in (first.target, second.source):
        assert vector.std().item() == pytest.approx(2 / (512 + 64) ** 0.5, rel=0.1)
    assert method.decoder.source.std().item() == pytest.approx(2 / (300 + 300) ** 0.5, rel=0.1)
    assert all(a.equal(b) for a, b in zip(method.encoder.parameters(), method.teacher[0].parameters(), strict=True))


@pytest.mark.parametrize("chosen", [
    {}, {"remask": "fixed", "gamma": 3.0}, {"remask": "fixed", "mask_rate": 1.0},
    {"norm": "layer", "residual": True, "num_layers": 3}, {"decodings": 1},
    {"view1": DropEdges(0.4), "view2": DropEdges(0.3), "latent_weight": 2.5},
], ids=str)
def test_the_loss_and_its_gradient_are_those_of_the_formula(graph, chosen):
    method, graph = made(**chosen).eval().double(), graph.replace(x=graph.x.double())
    with torch.no_grad():
        for parameter in (method.token, method.code_token, method.decoder.bias):  # they begin at zero
            if parameter is not None:
                parameter.normal_()
        for parameter in method.teacher.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    learning = [parameter for parameter in method.parameters() if parameter.requires_grad]
    expected = slow_loss(method, method.augment(graph, chance()))
    slopes = torch.autograd.grad(expected, learning, allow_unused=True)
    for x in (graph.x, SparseFeatures.from_dense(graph.x)):
        loss = method.loss(method.augment(graph.replace(x=x), chance()))
        assert loss.item() == pytest.approx(expected.item(), rel=1e-8)
        for ours, theirs in zip(torch.autograd.grad(loss, learning, allow_unused=True), slopes, strict=True):
            assert torch.allclose(torch.zeros(1) if ours is None else ours.float(),
                                  torch.zeros(1) if theirs is None else theirs.float(), atol=1e-6)


@pytest.mark.parametrize("num_layers", [1, 2])
def test_dropout_is_before_every_layer_of_student_teacher_and_decoder_but_not_of_tokens(graph, num_layers):
    method = made(dropout=1.0, attention_dropout=0.0, num_layers=num_layers)
    for name, parameter in method.named_parameters():
        if name.endswith("bias"):                                          # they begin at zero
            parameter.data.normal_()
    views, other = method.augment(graph, chance()), graph.replace(x=torch.randn_like(graph.x))
    loss = method.loss(views)
    assert torch.allclose(method.loss(views._replace(student=other)), loss)
    assert torch.allclose(method.loss(views._replace(teacher=other)), loss)
    loss.backward()
    assert (method.token.grad.abs().max() > 0) == (num_layers == 1)        # it is added after the first dropout
    assert method.decoder.weight.grad.abs().max() == 0


def test_dropout_of_attention_is_in_student_teacher_and_decoder(graph):
    method = made(dropout=0.0, attention_dropout=1.0, remask_rate=0.0)
    for name, parameter in method.named_parameters():
        if name.endswith("bias"):                                          # they begin at zero
            parameter.data.normal_()
    views, other = method.augment(graph, chance()), graph.replace(x=torch.randn_like(graph.x))
    loss = method.loss(views)
    assert torch.allclose(method.loss(views._replace(teacher=other)), loss)
    assert torch.allclose(method.loss(views._replace(student=other)), loss)
    with torch.no_grad():
        method.bridge.weight.normal_()                                     # what the decoder alone would see
    assert torch.allclose(method.loss(views), loss)


def test_layers_are_those_of_the_published_code():
    method = made(num_layers=3)
    assert all(isinstance(part, PReLU) for part in method.encoder.activations)
    assert len(method.encoder.activations) == len(method.encoder.layers) == 3
    first, between, last = method.projector
    assert (first.in_features, first.out_features, last.in_features, last.out_features) == (8, 256, 256, 8)
    before, linear = method.predictor
    assert isinstance(between, PReLU)
    assert isinstance(before, PReLU)
    assert (linear.in_features, linear.out_features) == (8, 8)


def test_masks_hide_their_share_of_the_nodes(graph):
    views = made(mask_rate=0.3, remask_rate=0.6, decodings=2).augment(graph, chance())
    assert views.masked.sum() == 12
    assert views.remasked.sum(1).tolist() == [24, 24]
    assert not torch.equal(views.remasked[0], views.remasked[1])
    fixed = made(remask="fixed").augment(graph, chance())
    assert torch.equal(fixed.remasked, fixed.masked[None])
    assert made(mask_rate=0.001).augment(graph, chance()).masked.sum() == 1


def test_the_student_does_not_see_masked_features_and_the_teacher_does(graph):
    method = made(remask="fixed").eval()
    views = method.augment(graph, chance())
    other = graph.replace(x=torch.where(views.masked[:, None], torch.randn_like(graph.x), graph.x))
    seen = [method.encoder(g.x * ~views.masked[:, None], g.adj, views.masked, method.token) for g in (graph, other)]
    assert torch.equal(*seen)
    changed = method.augment(other, chance())
    assert torch.equal(changed.masked, views.masked)
    assert changed.teacher is other
    assert not torch.allclose(method.loss(changed), method.loss(views))


def test_views_are_for_student_and_teacher_and_the_decoder_has_the_whole_graph(graph):
    views = made(view1=DropEdges(1.0), view2=MaskFeatures(1.0)).augment(graph, chance())
    assert views.student.num_edges == 0
    assert views.teacher.adj is graph.adj
    assert views.teacher.x.abs().sum() == 0
    assert views.whole is graph


def test_the_teacher_begins_as_the_student_gets_no_gradient_and_follows_by_the_momentum(graph):
    method = made(momentum=0.75)
    pairs = list(zip(method.teacher.parameters(), [*method.encoder.parameters(), *method.projector.parameters()],
                     strict=True))
    assert all(torch.equal(slow, fast) and not slow.requires_grad for slow, fast in pairs)
    method.loss(method.augment(graph, chance())).backward()
    assert all(slow.grad is None for slow, _ in pairs)
    with torch.no_grad():
        for _, fast in pairs:
            fast.add_(1.0)
    before = [slow.clone() for slow, _ in pairs]
    method.after_step(0.5)
    for (slow, fast), old in zip(pairs, before, strict=True):
        assert torch.allclose(slow, 0.75 * old + 0.25 * fast, atol=1e-6)


@pytest.mark.parametrize(("momentum", "delay", "progress", "moves"), [
    (0.0, 0.0, 0.1, True), (1.0, 0.0, 0.9, False), (0.0, 0.5, 0.4, False), (0.0, 0.5, 0.5, True)])
def test_a_teacher_may_copy_stay_or_wait(momentum, delay, progress, moves):
    method = made(momentum=momentum, delay=delay)
    with torch.no_grad():
        method.encoder.layers[0].weight.add_(1.0)
    method.after_step(progress)
    assert torch.allclose(method.teacher[0].layers[0].weight, method.encoder.layers[0].weight) == moves


def test_the_embedding_is_the_students_of_the_whole_features(graph):
    method = made().eval()
    assert torch.equal(method.embed(graph), method.encoder(graph.x, graph.adj))


@pytest.mark.parametrize(("chosen", "message"), [
    ({"norm": "layr"}, "no GraphMAE2 norm named 'layr'; did you mean 'layer'"),
    ({"remask": "fix"}, "no GraphMAE2 remask named 'fix'; did you mean 'fixed'"),
    ({"activation": "rel"}, "no GraphMAE2 activation named 'rel'; did you mean"),
    ({"heads": 3}, "heads is 3, expected a divisor of hidden_channels, 8"),
    ({"heads": 0}, "heads is 0, expected a divisor"),
    ({"mask_rate": 0.0}, "mask_rate is 0, expected a share above 0"),
    ({"mask_rate": 1.2}, "mask_rate is 1.2, expected a probability"),
    ({"remask_rate": -0.1}, "remask_rate is -0.1, expected a probability"),
    ({"dropout": 2.0}, "dropout is 2.0, expected a probability"),
    ({"attention_dropout": 2.0}, "attention_dropout is 2.0, expected a probability"),
    ({"momentum": 1.1}, "momentum is 1.1, expected a probability"),
    ({"delay": 1.1}, "delay is 1.1, expected a probability"),
    ({"hidden_channels": 0}, "hidden_channels is 0, expected at least 1"),
    ({"num_layers": 0}, "num_layers is 0, expected at least 1"),
    ({"decodings": 0}, "decodings is 0, expected at least 1"),
    ({"gamma": 0.5}, "gamma is 0.5, expected a finite number of at least 1"),
    ({"latent_weight": -1.0}, "latent_weight is -1.0, expected a finite number of at least 0"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("remask", ["fixed", "random"])
def test_what_the_backward_makes_again_has_the_same_dropout(graph, monkeypatch, remask):
    gradients = []
    for again in (False, True):
        if again:
            monkeypatch.setattr(recompute, "_ENTRIES", 0)
        method = made(remask=remask, residual=True)
        views = method.augment(graph, chance())
        torch.manual_seed(1)
        method.loss(views).backward()
        gradients.append([parameter.grad for parameter in method.parameters() if parameter.requires_grad])
    for ours, plain in zip(*gradients, strict=True):
        assert torch.allclose(ours, plain, atol=1e-6)
