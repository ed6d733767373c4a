"""`mindtorch_core.distributed.checkpoint` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.distributed.checkpoint import (
    BytesStorageMetadata as BytesStorageMetadata,
    CheckpointException as CheckpointException,
    ChunkStorageMetadata as ChunkStorageMetadata,
    DefaultLoadPlanner as DefaultLoadPlanner,
    DefaultSavePlanner as DefaultSavePlanner,
    FileSystemReader as FileSystemReader,
    FileSystemWriter as FileSystemWriter,
    HuggingFaceStorageReader as HuggingFaceStorageReader,
    HuggingFaceStorageWriter as HuggingFaceStorageWriter,
    LoadPlan as LoadPlan,
    LoadPlanner as LoadPlanner,
    Metadata as Metadata,
    ReadItem as ReadItem,
    SavePlan as SavePlan,
    SavePlanner as SavePlanner,
    StorageReader as StorageReader,
    StorageWriter as StorageWriter,
    TensorStorageMetadata as TensorStorageMetadata,
    WriteItem as WriteItem,
    async_save as async_save,
    load as load,
    load_sharded_optimizer_state_dict as load_sharded_optimizer_state_dict,
    load_state_dict as load_state_dict,
    save as save,
    save_state_dict as save_state_dict,
)
from mindtorch_core.distributed.checkpoint import (
    state_dict as state_dict,
)
