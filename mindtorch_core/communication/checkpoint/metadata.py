"""What is known of a checkpoint: the boxes of tensors, and where each lies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...tensors.tensor import Tensor
from ...values.dtypes import dtype as _dtype
from ...values.dtypes import get_default_dtype
from ...values.layouts import layout as _layout
from ...values.layouts import strided
from ...values.memory_formats import contiguous_format
from ...values.memory_formats import memory_format as _memory_format
from ...values.shapes import Size

__all__ = [
    "STATE_DICT_TYPE",
    "BytesStorageMetadata",
    "ChunkStorageMetadata",
    "Metadata",
    "MetadataIndex",
    "StorageMeta",
    "TensorProperties",
    "TensorStorageMetadata",
]

STATE_DICT_TYPE = dict[str, Any]


@dataclass
class ChunkStorageMetadata:
    """A box of a tensor.

    Attributes:
        offsets: where in the tensor it begins.
        sizes: its shape.
    """

    offsets: Size
    sizes: Size


@dataclass
class TensorProperties:
    """What a tensor is like, beside its shape. A checkpoint keeps the dtype."""

    dtype: _dtype = field(default_factory=get_default_dtype)
    layout: _layout = strided
    requires_grad: bool = False
    memory_format: _memory_format = contiguous_format
    pin_memory: bool = False

    @staticmethod
    def create_from_tensor(tensor: Tensor) -> TensorProperties:
        """Those of a tensor."""
        return TensorProperties(tensor.dtype, tensor.layout, tensor.requires_grad)


@dataclass
class TensorStorageMetadata:
    """A tensor.

    Attributes:
        properties: its dtype.
        size: its whole shape.
        chunks: the boxes that cover it.
    """

    properties: TensorProperties
    size: Size
    chunks: list[ChunkStorageMetadata]


@dataclass
class BytesStorageMetadata:
    """An object that is no tensor."""


@dataclass
class StorageMeta:
    """What a storage says of itself.

    Attributes:
        checkpoint_id: where the checkpoint is.
        save_id: a name of the save, another one each time.
        load_id: a name of the load.
        modules: unused.
    """

    checkpoint_id: str | os.PathLike[str] | None = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list[str] = field(default_factory=list)


@dataclass
class Metadata:
    """What a checkpoint holds.

    Attributes:
        state_dict_metadata: by name what a value is.
        planner_data: the planner's own; of `DefaultSavePlanner` the path of each name in the nested state.
        storage_data: the storage's own: where each value lies.
        storage_meta: of the storage.
        version: of the format.
    """

    state_dict_metadata: dict[str, TensorStorageMetadata | BytesStorageMetadata]
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass(frozen=True)
class MetadataIndex:
    """Names a value, or a box of a tensor.

    Attributes:
        fqn: the name.
        offset: where the box begins; None for objects.
        index: where to look for it first; two that differ in this alone are equal.
    """

    fqn: str
    offset: Size | None = None
    index: int | None = field(hash=False, compare=False, default=None)

    def __init__(
        self, fqn: str, offset: Sequence[int] | None = None, index: int | None = None
    ) -> None:
        object.__setattr__(self, "fqn", fqn)
        object.__setattr__(self, "offset", None if offset is None else Size(offset))
        object.__setattr__(self, "index", index)
