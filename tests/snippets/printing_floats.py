import torch

print(torch.tensor([1.0, 2.5, 1000.0]), torch.tensor([1e-5, 1.0]), torch.tensor([1e10, 1.0]))
print(torch.tensor([float("nan"), float("inf"), -1.0]), torch.tensor([1.0, 2.0]), torch.tensor(0.1))
print(torch.arange(2000), torch.zeros(100, 100), torch.ones(3, 3, 1))
torch.set_printoptions(precision=2, sci_mode=False)
print(torch.tensor([1.12345, 20000.0]))
torch.set_printoptions(profile="default")
print(
    torch.tensor([1.12345]),
    torch.tensor([1 + 1j, 2.5 - 3j]),
    repr(torch.tensor([1], dtype=torch.uint8)),
)
