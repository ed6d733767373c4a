import torch

from_torch = torch.autograd.functional
x = torch.tensor([1.0, 2.0])
print(from_torch.jacobian(lambda t: t.exp(), x), from_torch.hessian(lambda t: (t**3).sum(), x))
print(
    from_torch.vjp(lambda t: t * 2, x, torch.ones(2)),
    from_torch.jvp(lambda t: t**2, x, torch.ones(2)),
)
p = torch.tensor(2.0, requires_grad=True)
(first,) = torch.autograd.grad(p**4, p, create_graph=True)
(second,) = torch.autograd.grad(first, p)
print(first, second)
