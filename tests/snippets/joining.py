import torch

x = torch.arange(4).reshape(2, 2)
print(torch.cat((x, x, x), 0).shape, torch.stack((x, x), dim=1), torch.hstack((x, x)))
print(torch.arange(10).reshape(5, 2).split(2), torch.arange(5).chunk(3), x.unbind())
print(
    torch.arange(7).tensor_split(3),
    torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([4, 5])),
)
print(x.repeat(1, 2), torch.tile(x, (2,)), x.repeat_interleave(2), x.flip(0, 1), x.roll(1))
print(
    torch.block_diag(torch.ones(1, 1), torch.zeros(1, 2)),
    torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij"),
)
