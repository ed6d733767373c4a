"""`mindtorch_nn.data.dataloader` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.data.dataloader import (
    DataLoader as DataLoader,
    default_collate as default_collate,
    default_convert as default_convert,
    get_worker_info as get_worker_info,
)
