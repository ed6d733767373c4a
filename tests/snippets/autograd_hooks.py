import torch

v = torch.tensor([0.0, 0.0, 0.0], requires_grad=True)
h = v.register_hook(lambda grad: grad * 2)
v.backward(torch.tensor([1.0, 2.0, 3.0]))
print(v.grad)
h.remove()
x = torch.tensor([3.0], requires_grad=True)
y = x * x
y.retain_grad()
(y * 2).backward()
print(x.grad, y.grad)
packed = []
with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.shape) or t, lambda t: t):
    (x**3).sum().backward()
print(packed, x.grad)
