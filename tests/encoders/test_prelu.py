import pytest
import torch
import torch.nn.functional as F

from sgcl.encoders.prelu import PReLU


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("begin", [0.25, 1.5, 0.0, -0.3])
def test_value_and_gradients_are_torchs(begin, overwrite):
    x = torch.randn(7, 5, dtype=torch.double)
    x[0, 0] = 0
    ours, slope = PReLU(overwrite).double(), torch.tensor([begin], dtype=torch.double, requires_grad=True)
    torch.nn.init.constant_(ours.slope, begin)
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    h = a * 1                                                             # what may be overwritten
    y, twin = ours(h), F.prelu(b, slope)
    assert (y is h) == (overwrite and begin > 0)
    assert torch.equal(y, twin)
    y.square().sum().backward()
    twin.square().sum().backward()
    assert torch.equal(a.grad, b.grad)
    assert torch.allclose(ours.slope.grad, slope.grad)
    assert torch.autograd.gradcheck(lambda x: ours(x * 1), (torch.randn(4, 3, dtype=torch.double, requires_grad=True),))
