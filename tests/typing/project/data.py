"""Pictures that are made, and the loader of them."""

import mindtorch as torch
from mindtorch.utils.data import DataLoader, Dataset, TensorDataset, random_split

Sample = tuple[torch.Tensor, torch.Tensor]


class Stripes(Dataset[Sample]):
    """Pictures with one bright row each, which is the class."""

    def __init__(self, count: int, size: int = 8) -> None:
        generator = torch.Generator().manual_seed(0)
        self.rows = torch.randint(0, 4, (count,), generator=generator)
        self.pictures = torch.rand(count, 1, size, size, generator=generator)
        for i, row in enumerate(self.rows.tolist()):
            self.pictures[i, 0, 2 * row] += 2

    def __len__(self) -> int:
        return self.rows.size(0)

    def __getitem__(self, index: int) -> Sample:
        return self.pictures[index], self.rows[index]


def loaders(count: int) -> tuple[DataLoader[Sample], DataLoader[tuple[torch.Tensor, ...]]]:
    """Batches to train on, and to test on."""
    data = Stripes(count)
    first, second = random_split(data, [count - 8, 8], torch.Generator().manual_seed(1))
    assert len(second) == 8
    rest = TensorDataset(data.pictures[-8:], data.rows[-8:])
    return DataLoader(first, batch_size=8, shuffle=True), DataLoader(rest, batch_size=4)
