import torch
import torch.nn.functional as F

from sgcl.encoders.prelu import PReLU


def test_value_and_gradients_are_torchs():
    x = torch.randn(7, 5, dtype=torch.double)
    x[0, 0] = 0
    ours, slope = PReLU().double(), torch.tensor([0.25], dtype=torch.double, requires_grad=True)
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    y, twin = ours(a), F.prelu(b, slope)
    assert torch.equal(y, twin)
    y.square().sum().backward()
    twin.square().sum().backward()
    assert torch.equal(a.grad, b.grad)
    assert torch.allclose(ours.slope.grad, slope.grad)
    assert torch.autograd.gradcheck(ours, (torch.randn(4, 3, dtype=torch.double, requires_grad=True),))
