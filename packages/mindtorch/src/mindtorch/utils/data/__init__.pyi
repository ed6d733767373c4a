"""`mindtorch_core.utils.data` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.utils.data import (
    BatchSampler as BatchSampler,
    ChainDataset as ChainDataset,
    ConcatDataset as ConcatDataset,
    DataChunk as DataChunk,
    DataLoader as DataLoader,
    Dataset as Dataset,
    DistributedSampler as DistributedSampler,
    IterDataPipe as IterDataPipe,
    IterableDataset as IterableDataset,
    MapDataPipe as MapDataPipe,
    RandomSampler as RandomSampler,
    Sampler as Sampler,
    SequentialSampler as SequentialSampler,
    StackDataset as StackDataset,
    Subset as Subset,
    SubsetRandomSampler as SubsetRandomSampler,
    TensorDataset as TensorDataset,
    WeightedRandomSampler as WeightedRandomSampler,
    WorkerInfo as WorkerInfo,
    default_collate as default_collate,
    default_convert as default_convert,
    functional_datapipe as functional_datapipe,
    get_worker_info as get_worker_info,
    random_split as random_split,
)
from mindtorch_core.utils.data import (
    dataloader as dataloader,
    dataset as dataset,
    distributed as distributed,
    sampler as sampler,
)
