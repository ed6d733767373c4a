import torch

x = torch.ones(3, requires_grad=True)
y = x * 2
print(y._version)
y.mul_(3)
print(y._version, type(y.grad_fn).__name__)
y.sum().backward()
print(x.grad)
a = torch.ones(2, requires_grad=True)
b = a.exp()
b.add_(1)
try:
    b.sum().backward()
except RuntimeError as error:
    print(str(error)[:84])
