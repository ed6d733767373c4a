import torch

torch.manual_seed(0)
a = torch.rand(3)
torch.manual_seed(0)
print(
    torch.equal(a, torch.rand(3)), torch.randperm(5).sort().values, torch.randint(3, 5, (3,)).shape
)
g = torch.Generator().manual_seed(7)
state = g.get_state()
first = torch.randn(2, generator=g)
g.set_state(state)
print(torch.equal(first, torch.randn(2, generator=g)), g.initial_seed(), g.device)
print(torch.bernoulli(torch.tensor([0.0, 1.0])), torch.normal(torch.zeros(2), torch.zeros(2)))
