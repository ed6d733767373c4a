import torch

print(torch.tensor([[1, 2], [3, 4]]))
print(torch.tensor([[0.1, 1.2], [2.2, 3.1], [4.9, 5.2]]))
print(torch.tensor([1.5, 2, 3]), torch.tensor([True, False]), torch.tensor(7))
print(torch.tensor([]), torch.tensor([[]]).shape)
print(torch.tensor([1, 2], dtype=torch.float64), torch.tensor([1 + 2j, 3 - 4j]))
a = torch.tensor([1.0, 2.0])
print(torch.as_tensor(a) is a, torch.tensor(2.5).item(), torch.tensor([[1, 2]]).tolist())
