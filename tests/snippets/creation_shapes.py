import torch

x = torch.arange(24).reshape(2, 3, 4)
print(x.shape, x.size(), x.size(1), x.dim(), x.numel(), x.stride())
print(x.view(-1).shape, x.view(6, 4).shape, x.flatten(1).shape, x.unsqueeze(0).shape)
print(x.transpose(0, 2).shape, x.permute(2, 0, 1).stride(), x.transpose(0, 1).is_contiguous())
print(x.transpose(0, 2).contiguous().stride(), x.dtype, x.device, x.layout)
print(torch.Size([2, 3]), x.shape == (2, 3, 4), x.shape.numel(), x[0].shape)
