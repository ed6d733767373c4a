import torch

print(torch.float32, torch.tensor(1.0).dtype, torch.tensor(1).dtype, torch.tensor(True).dtype)
print(torch.result_type(torch.tensor([1, 2], dtype=torch.int), 1.0))
print(torch.promote_types(torch.int32, torch.float32), torch.can_cast(torch.double, torch.int))
print((torch.ones(1, dtype=torch.int32) + torch.ones(1, dtype=torch.int64)).dtype)
print((torch.ones(2, dtype=torch.half) * 2.5), (torch.arange(3) / 2), torch.arange(3) // 2)
print(torch.finfo(torch.float32).eps, torch.finfo(torch.bfloat16).max, torch.iinfo(torch.int16).min)
x = torch.tensor([1.7, -1.7])
print(x.int(), x.long(), x.bool(), x.to(torch.float64), x.to(torch.complex64))
