"""`mindtorch_nn.data.dataset` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.data.dataset import (
    ChainDataset as ChainDataset,
    ConcatDataset as ConcatDataset,
    Dataset as Dataset,
    IterableDataset as IterableDataset,
    StackDataset as StackDataset,
    Subset as Subset,
    TensorDataset as TensorDataset,
    random_split as random_split,
)
