import torch

for wrong in (
    lambda: torch.ones(2) + torch.ones(3),
    lambda: torch.ones(2, 3) @ torch.ones(2, 3),
    lambda: torch.arange(6).view(4, 2),
    lambda: torch.ones(3)[5],
    lambda: torch.tensor([1, 2]).item(),
    lambda: torch.ones(2).backward(),
    lambda: torch.zeros(2, dtype=torch.int64, requires_grad=True),
    lambda: torch.cat([torch.ones(2, 1), torch.ones(3, 2)]),
    lambda: torch.ones(1).squeeze(3),
):
    try:
        print(wrong())
    except Exception as error:  # noqa: BLE001 (which it is, is printed)
        print(type(error).__name__, str(error)[:66].splitlines()[0])
