import torch

print(torch.arange(5), torch.arange(1, 4), torch.arange(1, 2.5, 0.5))
print(torch.linspace(3, 10, steps=5), torch.linspace(start=-10, end=10, steps=1))
print(torch.logspace(start=-2, end=2, steps=5))
print(torch.zeros(2, 3), torch.ones(2, dtype=torch.int32), torch.full((2, 3), 3.141592))
print(torch.eye(3), torch.eye(2, 3, dtype=torch.bool))
print(torch.zeros_like(torch.empty(2, 3)), torch.ones_like(torch.arange(3)))
print(torch.tril_indices(3, 3), torch.triu_indices(2, 3))
print(torch.arange(6).new_full((2,), 9), torch.empty(0).new_zeros(2, 2))
