import torch

x = torch.tensor([[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]])
print(x.sum(), x.sum(0), x.mean(1, keepdim=True), x.prod(), x.std(), x.var(dim=0, unbiased=False))
print(x.max(), x.max(dim=1), x.argmax(), x.argmin(dim=0), torch.aminmax(x))
print(x.cumsum(1), x.cumprod(0), x.sort(descending=True), x.topk(2))
print(x.median(), x.quantile(0.5, dim=0), x.norm(), x.logsumexp(1), (x > 2).all(), (x > 5).any(1))
print(
    torch.unique(torch.tensor([3, 1, 3, 2]), return_counts=True),
    torch.bincount(torch.tensor([4, 3, 6, 3, 4])),
)
