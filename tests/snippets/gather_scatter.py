import torch

t = torch.tensor([[1, 2], [3, 4]])
print(torch.gather(t, 1, torch.tensor([[0, 0], [1, 0]])))
src = torch.arange(1, 11).reshape(2, 5)
print(torch.zeros(3, 5, dtype=src.dtype).scatter_(0, torch.tensor([[0, 1, 2, 0]]), src))
print(torch.full((2, 4), 2.0).scatter_(1, torch.tensor([[2], [3]]), 1.23, reduce="multiply"))
print(torch.zeros(3).scatter_reduce(0, torch.tensor([0, 1, 0, 2]), torch.arange(4.0), "amax"))
print(torch.ones(5, 2).index_add_(0, torch.tensor([0, 4]), torch.ones(2, 2)))
print(torch.zeros(3, 2).index_fill_(1, torch.tensor([1]), -1))
