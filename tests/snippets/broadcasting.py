import torch

x, y = torch.empty(5, 1, 4, 1), torch.empty(3, 1, 1)
print(
    (x + y).size(),
    torch.broadcast_shapes((2,), (3, 1)),
    torch.empty(1).add(torch.empty(3, 1, 7)).shape,
)
print(torch.arange(3).expand(2, 3), torch.broadcast_tensors(torch.arange(2), torch.zeros(3, 1))[0])
try:
    torch.empty(5, 2, 4, 1) + torch.empty(3, 1, 1)
except RuntimeError as error:
    print(error)
try:
    torch.empty(1, 3, 1).add_(torch.empty(3, 1, 7))
except RuntimeError as error:
    print(error)
a = torch.arange(3).view(3, 1)
print(a * torch.arange(4), a == a.T)
