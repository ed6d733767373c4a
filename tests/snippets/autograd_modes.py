import torch

x = torch.randn(2, requires_grad=True)
with torch.no_grad():
    y = x * 2
print(y.requires_grad, (x * 2).requires_grad, torch.is_grad_enabled())
with torch.inference_mode():
    z = x + 1
print(z.requires_grad, z.is_inference())


@torch.no_grad()
def double(t):
    return t * 2


print(double(x).requires_grad, x.detach().requires_grad, x.detach().data_ptr() == x.data_ptr())
try:
    x.add_(1)
except RuntimeError as error:
    print(str(error).split(".")[0])
with torch.set_grad_enabled(False):
    print((x + 1).grad_fn)
