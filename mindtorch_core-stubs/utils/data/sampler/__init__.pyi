"""`mindtorch_nn.data.sampler` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_nn.data.sampler import (
    BatchSampler as BatchSampler,
    RandomSampler as RandomSampler,
    Sampler as Sampler,
    SequentialSampler as SequentialSampler,
    SubsetRandomSampler as SubsetRandomSampler,
    WeightedRandomSampler as WeightedRandomSampler,
)
