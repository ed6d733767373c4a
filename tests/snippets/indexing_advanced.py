import torch

x = torch.arange(10, 22).reshape(3, 4)
print(x[[0, 2]], x[torch.tensor([0, 2]), torch.tensor([1, 3])], x[:, [3, 0]])
print(x[x > 15], (x > 15).nonzero(), torch.nonzero(x > 19, as_tuple=True))
x[x % 2 == 0] = -1
print(x)
print(torch.where(x < 0, 0, x))
print(x.take(torch.tensor([0, 5, 11])), torch.take_along_dim(x, x.argsort(1), 1))
print(x.index_select(0, torch.tensor([2, 0])), torch.masked_select(x, x.ge(17)))
