import torch

t = torch.arange(6).view(2, 3)
b = t.view(3, 2)
print(
    t.storage_offset(),
    b.data_ptr() == t.data_ptr(),
    b._is_view() if hasattr(b, "_is_view") else True,
)
b[0][0] = 77
print(t, t.as_strided((2, 2), (1, 2), 1), t.unfold(1, 2, 1), t.diagonal(), t.movedim(0, 1))
try:
    t.t().view(6)
except RuntimeError as error:
    print(error)
print(
    t.t().reshape(6),
    t.squeeze().shape,
    t.narrow(1, 0, 2),
    t.swapaxes(0, 1).shape,
    t.unflatten(1, (3, 1)).shape,
)
x = torch.view_as_complex(torch.tensor([[1.0, 2.0]]))
print(x, torch.view_as_real(x), x.conj(), x.abs(), x.angle())
