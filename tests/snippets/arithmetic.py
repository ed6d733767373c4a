import torch

a = torch.tensor([-1.5, 0.0, 2.25, 1e6])
print(a.abs(), a.neg(), a * 2, a / 3, a**2, a.sqrt(), a.exp(), a.clamp(min=0, max=1))
print(a.round(), a.floor(), a.sign(), torch.remainder(a, 2), torch.fmod(a, 2), a // 2, a % 2)
print(a.isnan(), a > 0, torch.tensor([1, 2]) / 0, torch.lerp(a, a + 1, 0.5))
print(torch.addcmul(a, a, a, value=0.1), torch.hypot(a, a), torch.atan2(a, torch.ones(4)))
print(
    torch.bitwise_and(torch.tensor([5, 6]), 3),
    ~torch.tensor([True, False]),
    torch.tensor([1, 2]) << 2,
)
