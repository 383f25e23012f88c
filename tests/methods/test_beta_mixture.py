import numpy as np
import pytest
import scipy.stats
import torch

from sgcl.methods.beta_mixture import BetaMixture


def drawn(count: int = 20000) -> tuple[torch.Tensor, np.ndarray]:
    """Numbers of Beta(4, 8) and, three in ten, of Beta(20, 4); and which are of the second kind."""
    rng = np.random.default_rng(0)
    upper = rng.random(count) < 0.3
    return torch.from_numpy(np.where(upper, rng.beta(20, 4, count), rng.beta(4, 8, count))), upper


def slow_fit(x: np.ndarray, prior: float, iterations: int) -> np.ndarray:
    """The rounds with SciPy's densities."""
    alpha, beta, share = [1.0, 2.0], [2.0, 1.0], [1 - prior, prior]
    for _ in range(iterations):
        density = np.stack([share[kind] * scipy.stats.beta.pdf(x, alpha[kind], beta[kind]) for kind in (0, 1)])
        weight = density / density.sum(0)
        for kind in (0, 1):
            mean = np.average(x, weights=weight[kind])
            variance = np.average((x - mean) ** 2, weights=weight[kind])
            alpha[kind] = mean * (mean * (1 - mean) / variance - 1)
            beta[kind] = alpha[kind] * (1 - mean) / mean
        beta[1] = 1.01 if beta[1] < 1 else beta[1]
        share = list(weight.sum(1) / weight.sum())
    return np.array([alpha, beta, share])


@pytest.mark.parametrize("prior", [0.05, 0.4])
def test_the_rounds_are_those_of_the_slow_twin(prior):
    x, _ = drawn(2000)
    mixture = BetaMixture.fit(x, prior=prior, iterations=7)
    assert np.allclose(np.stack([part.numpy() for part in mixture]), slow_fit(x.numpy(), prior, 7), rtol=1e-6)


def test_it_finds_what_the_numbers_were_drawn_from():
    x, upper = drawn()
    mixture = BetaMixture.fit(x, prior=0.4, iterations=100)
    mean = mixture.alpha / (mixture.alpha + mixture.beta)
    assert mean[0] == pytest.approx(4 / 12, abs=0.02)
    assert mean[1] == pytest.approx(20 / 24, abs=0.02)
    assert mixture.share[1] == pytest.approx(0.3, abs=0.02)
    assert ((mixture.lower(x) < 0.5).numpy() == upper).mean() > 0.97


def test_the_probability_is_by_bayes_also_in_single_precision():
    mixture = BetaMixture(torch.tensor([3.0, 9.0]), torch.tensor([7.0, 2.0]), torch.tensor([0.9, 0.1]))
    x = torch.linspace(0.01, 0.99, 50)
    density = [share * scipy.stats.beta.pdf(x.double().numpy(), a, b) for a, b, share in ((3, 7, 0.9), (9, 2, 0.1))]
    lower = mixture.lower(x)
    assert lower.dtype == torch.float32
    assert np.allclose(lower.numpy(), density[0] / (density[0] + density[1]), atol=1e-5)


def test_an_upper_kind_at_the_very_top_keeps_a_peak():
    x = torch.cat([torch.full((500,), 0.3), torch.linspace(0.2, 0.4, 500), torch.linspace(0.9, 1.0, 200).pow(0.1)])
    assert BetaMixture.fit(torch.cat([x, torch.ones(400)]), prior=0.4).beta[1] == 1.01


def test_the_lower_kind_is_the_one_of_the_lower_mean():
    """Numbers so near to 1 that the rounds leave the two the other way round."""
    x = torch.from_numpy(np.random.default_rng(0).beta(28, 0.7, 2000).clip(max=1 - 1e-6))
    alpha, beta, share = slow_fit(x.numpy(), 0.05, 10)
    assert alpha[0] / (alpha[0] + beta[0]) > alpha[1] / (alpha[1] + beta[1])
    mixture = BetaMixture.fit(x, prior=0.05)
    assert np.allclose(mixture.alpha.numpy(), alpha[::-1], rtol=1e-3)
    assert np.allclose(mixture.share.numpy(), share[::-1], rtol=1e-3)


@pytest.mark.parametrize("x", [torch.full((10,), 0.5), torch.zeros(10), torch.ones(10), torch.tensor([0.0, 1.0])])
def test_numbers_without_spread_still_give_a_mixture(x):
    mixture = BetaMixture.fit(x, prior=0.05)
    assert all(part.isfinite().all() for part in mixture)
    assert mixture.lower(torch.tensor([0.0, 0.4, 1.0])).isfinite().all()


def test_how_far_the_kinds_are_apart():
    x, upper = drawn()
    apart = BetaMixture.fit(x, prior=0.3, iterations=200).apart(x)
    assert apart == pytest.approx(float(x[upper].mean() - x[~upper].mean()), abs=0.02)
    for same in (0.0, 0.6, 1.0):
        x = torch.full((100,), same)
        assert abs(BetaMixture.fit(x, prior=0.05).apart(x)) < 1e-9
