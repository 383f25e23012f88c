import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from sgcl import InputError
from sgcl.losses import smoothed_contrastive_loss
from sgcl.sparse import CSR

SIMILARITIES = ("cosine", "correlation")
TERMS = ("both", "positive", "negative")


def dense_loss(h1, h2, p12, p21, weight, similarity, terms):
    """The formula as written: P and C as (N, N) matrices."""
    def one_way(a, b, p):
        if similarity == "cosine":
            c = (F.normalize(a) @ F.normalize(b).T + 1) / 2
        else:
            a, b = ((h - h.mean(0)) / (h.std(0) + 1e-5) for h in (a, b))
            c = a @ b.T / a.size(1)
        pull, push = (p * (1 - c)).square().sum(), weight * ((1 - p) * c).square().sum()
        return {"both": pull + push, "positive": pull, "negative": push}[terms]
    return (one_way(h1, h2, p12) + one_way(h2, h1, p21)) / 2


@st.composite
def cases(draw, max_nodes=9):
    num_nodes, width = draw(st.integers(2, max_nodes)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    h1, h2 = (torch.from_numpy(rng.standard_normal((num_nodes, width))) for _ in range(2))
    positives = []
    for _ in range(2):
        p = rng.random((num_nodes, num_nodes)) * (rng.random((num_nodes, num_nodes)) < 0.3)
        np.fill_diagonal(p, 1.0)
        positives.append(torch.from_numpy(p))
    return h1, h2, *positives


def sparse(p):
    row, col = p.nonzero(as_tuple=True)
    return CSR.from_coo(row, col, p[row, col], shape=tuple(p.shape))


@given(cases(), st.sampled_from(SIMILARITIES), st.sampled_from(TERMS), st.sampled_from([None, 0.01, 0.7]))
def test_equals_the_dense_formula_in_double_precision(case, similarity, terms, weight):
    h1, h2, p12, p21 = case
    default = 1 / (2 * len(h1)) if similarity == "cosine" else 1 / len(h1)
    gradients = []
    for loss in (lambda a, b: smoothed_contrastive_loss(a, b, sparse(p12), sparse(p21), negative_weight=weight,
                                                         similarity=similarity, terms=terms),
                 lambda a, b: dense_loss(a, b, p12, p21, default if weight is None else weight, similarity, terms)):
        a, b = h1.clone().requires_grad_(), h2.clone().requires_grad_()
        value = loss(a, b)
        gradients.append((value.detach(), *torch.autograd.grad(value, (a, b))))
    for ours, theirs in zip(*gradients, strict=True):
        scale = theirs.abs().max().clamp(min=1)
        assert (ours - theirs).abs().max() / scale < 1e-10


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("terms", TERMS)
def test_gradcheck(similarity, terms):
    generator = torch.Generator().manual_seed(0)
    h1, h2 = (torch.randn(5, 3, dtype=torch.double, generator=generator, requires_grad=True) for _ in range(2))
    p = torch.eye(5, dtype=torch.double)
    p[0, 1], p[3, 2] = 0.4, 0.9
    assert torch.autograd.gradcheck(
        lambda a, b: smoothed_contrastive_loss(a, b, sparse(p), sparse(p.T.contiguous()), similarity=similarity,
                                               terms=terms, negative_weight=0.3), (h1, h2))


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_single_precision_keeps_five_digits(similarity, offset):
    """Against the dense formula in float64, 1,500 nodes, also where all embeddings point one way."""
    generator = torch.Generator().manual_seed(1)
    num_nodes, width = 1500, 64
    h1, h2 = (torch.randn(num_nodes, width, generator=generator) + offset for _ in range(2))
    p = torch.eye(num_nodes)
    row, col = torch.randint(num_nodes, (2, 9000), generator=generator)
    p[row, col] = 0.3
    p.fill_diagonal_(1)
    weight = 1 / (2 * num_nodes)
    a, b = h1.clone().requires_grad_(), h2.clone().requires_grad_()
    ours = smoothed_contrastive_loss(a, b, sparse(p), sparse(p.T.contiguous()), negative_weight=weight,
                                     similarity=similarity)
    ours_grad, ours = torch.autograd.grad(ours, (a, b)), ours.detach()
    a, b = h1.double().requires_grad_(), h2.double().requires_grad_()
    theirs = dense_loss(a, b, p.double(), p.T.double(), weight, similarity, "both")
    theirs_grad, theirs = torch.autograd.grad(theirs, (a, b)), theirs.detach()
    assert ours.dtype == torch.float32
    assert abs(float(ours) / float(theirs) - 1) < 1e-5
    for mine, reference in zip(ours_grad, theirs_grad, strict=True):
        assert float((mine.double() - reference).norm() / reference.norm()) < 1e-5


def test_the_blocks_of_the_gram_matrix_add_up(monkeypatch):
    h1, h2 = torch.randn(11, 4, dtype=torch.double), torch.randn(11, 4, dtype=torch.double)
    eye = torch.eye(11, dtype=torch.double)
    whole = smoothed_contrastive_loss(h1, h2, sparse(eye), sparse(eye))
    monkeypatch.setattr("sgcl.losses.smoothed._ROWS", 3)
    monkeypatch.setattr("sgcl.losses.smoothed._COLUMNS", 3)
    assert torch.allclose(smoothed_contrastive_loss(h1, h2, sparse(eye), sparse(eye)), whole, rtol=1e-12)


def test_identical_views_cost_less_than_opposite_ones():
    h, eye = torch.randn(8, 4), sparse(torch.eye(8))
    assert smoothed_contrastive_loss(h, h, eye, eye) < smoothed_contrastive_loss(h, -h, eye, eye)


def test_two_nodes_by_hand():
    """Orthogonal unit embeddings, the same in both views: C = [[1, 1/2], [1/2, 1]]; only the off-diagonal costs."""
    h, eye = torch.eye(2), sparse(torch.eye(2))
    assert float(smoothed_contrastive_loss(h, h, eye, eye, negative_weight=0.1)) == pytest.approx(0.1 * 2 * 0.25)
    assert float(smoothed_contrastive_loss(h, h, eye, eye)) == pytest.approx(0.25 * 2 * 0.25)


@pytest.mark.parametrize(("change", "message"), [
    ({"h2": torch.zeros(3, 2)}, "shapes"),
    ({"positives12": sparse(torch.eye(3))}, r"positives12 has shape \(3, 3\), expected \(N, N\) = \(4, 4\)"),
    ({"positives21": sparse(torch.eye(3))}, "positives21"),
    ({"similarity": "dot"}, "similarity is 'dot'"),
    ({"terms": "none"}, "terms is 'none'")])
def test_bad_input_is_told(change, message):
    good = {"h1": torch.zeros(4, 2), "h2": torch.zeros(4, 2), "positives12": sparse(torch.eye(4)),
            "positives21": sparse(torch.eye(4))}
    with pytest.raises(InputError, match=message):
        smoothed_contrastive_loss(**{**good, **change})


def test_a_row_of_zeros_is_like_nobody_and_gets_no_gradient():
    """A node without neighbours whose features are all masked: finite gradients, none for it."""
    h = torch.randn(4, 3)
    h[2] = 0
    h.requires_grad_()
    eye = sparse(torch.eye(4))
    value = smoothed_contrastive_loss(h, h.detach(), eye, eye)
    value.backward()
    assert float(value.detach()) == pytest.approx(
        float(dense_loss(h.detach(), h.detach(), torch.eye(4), torch.eye(4), 1 / 8, "cosine", "both")), rel=1e-5)
    assert torch.equal(h.grad[2], torch.zeros(3))
    assert h.grad.abs().max() < 10
