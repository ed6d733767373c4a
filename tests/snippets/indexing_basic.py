import torch

x = torch.arange(12).reshape(3, 4)
print(x[0], x[-1, 1], x[:, 1], x[1:, ::2], x[..., -1], x[None].shape)
print(x[0, 0].item(), x[1][2], x[:2, 1:3])
x[1] = 0
x[:, 3] = torch.tensor([7, 8, 9])
print(x)
y = x[0]
y[0] = 100
print(x[0], y.data_ptr() == x.data_ptr())
