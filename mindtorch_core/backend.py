"""The door for vendors: everything that a backend may use of the core.

A backend imports from here, from `mindtorch_core` itself (as ``torch``), `mindtorch_core.dispatch`,
`mindtorch_core.plugins`, `mindtorch_core.library` and `mindtorch_core.testing`, and nothing else. What
is here stays, by the promise in ``docs/stability.md``; where it is defined may change with any release.

A tensor shows its backend these fields and methods, besides what programs see: ``raw_data``,
``raw_shape``, ``raw_dtype``, ``raw_device``, ``raw_layout``, ``raw_keys``, ``raw_storage``,
``raw_base``, ``raw_autograd``, ``raw_geometry()`` and ``settled()``. `Tensor` says what each is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .deferred import Batch, Entry, Plan, RecordedOp, Step, StepFailed, Unsent, tensors_of
from .deferred.observers import note_work
from .deferred.programs import (
    PROGRAMS,
    Check,
    Checked,
    Executable,
    Halted,
    Instruction,
    Number,
    Program,
    Ref,
    Value,
)
from .dispatch.adapters import tensors_in
from .dispatch.opdef import NONDIFF, OpDef, TensorSpec
from .dispatch.registry import registry as _registry
from .frontend.device_methods import tensor_methods
from .opdefs.define import definitions
from .opdefs.define import op_of_backend as op
from .opdefs.formats import in_format
from .opdefs.formulas import degrees_of_freedom
from .opdefs.rules import format_of_all, format_of_any, pointwise, reduction, tell_of_lost_parts
from .random import source_for
from .runtime import Runtime
from .streams import Event, Stream, StreamContext
from .tensors.making import make_view, tensor_over, view_around
from .tensors.storage import Storage
from .tensors.tensor import FIELDS, Tensor, fresh, make_tensor
from .values.devices import concrete as concrete_device
from .values.devices import device
from .values.dtypes import (
    BOOL,
    COMPLEX,
    DTYPES,
    FLOAT8,
    FLOATING,
    INTEGER,
    bfloat16,
    bool_,
    cast_number,
    checked_number,
    complex64,
    complex128,
    dtype,
    exact_integers,
    finfo,
    float16,
    float32,
    float64,
    get_default_dtype,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    of_number,
    pack,
    uint8,
    uint16,
    uint32,
    uint64,
    unpack,
)
from .values.errors import (
    BackendConflictError,
    BackendUnavailableError,
    LinAlgError,
    NoKernelError,
    OperandTypeError,
    OutOfMemoryError,
    PipelineError,
    SchemaError,
)
from .values.float8 import FORMATS as FLOAT8_FORMATS
from .values.float8 import decoded as float8_values
from .values.forks import fork_safe
from .values.memory_formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    format_strides,
    has_format,
    like_strides,
    memory_format,
    preserve_format,
)
from .values.promotion import (
    WIDER,
    can_cast,
    check_alpha,
    check_inplace_result,
    promote_types,
    result_type,
    to_floating,
)
from .values.references import LOOK as REFERENCES_OF_A_LOOK
from .values.shapes import (
    Shape,
    broadcast,
    broadcast_all,
    contiguous_strides,
    expand_strides,
    is_contiguous,
    numel,
    pointwise_strides,
    show,
    storage_extent,
    view_strides,
    wrap_dim,
    wrap_dims,
)
from .values.shapes import reduced as reduced_shape
from .values.threads import get_num_threads
from .values.user_warnings import warn_user

if TYPE_CHECKING:  # they define ops, and are imported when they are asked for
    from .operators.arranging.rearranging import check_repeats, check_total
    from .operators.creation.factory import checked_size
    from .operators.indexing.index import index_shape
    from .operators.linalg.matrices import check_info as check_lapack
    from .operators.linalg.products import factor as product_factor
    from .operators.nn.average_pooling import Averaging, divisors
    from .operators.nn.batch_normalization import batch_norm_rule, update_running
    from .operators.nn.convolution_shapes import Geometry as ConvolutionGeometry
    from .operators.nn.convolution_shapes import geometry as convolution_geometry
    from .operators.nn.convolution_shapes import weight_geometry as convolution_weight_geometry
    from .operators.nn.normalization import statistics_dtype
    from .operators.nn.pooling import pool_sizes
    from .operators.nn.resampling import taps
    from .operators.nn.upsampling import RESIZING
    from .operators.reductions.cumulative import logcumsumexp_by_scan
    from .operators.sorting.searching import check_bincount
    from .operators.sorting.searching import search as binary_search

__all__ = [  # noqa: RUF022 (by subject, not by letter)
    # The device: what `Backend(runtime=...)` takes, and what fails.
    "Runtime",
    "device",
    "concrete_device",
    "fork_safe",
    "get_num_threads",
    "BackendConflictError",
    "BackendUnavailableError",
    "LinAlgError",
    "NoKernelError",
    "OperandTypeError",
    "OutOfMemoryError",
    "PipelineError",
    "SchemaError",
    "warn_user",
    # Tensors: memory, making them around it, and finding them among arguments.
    "Tensor",
    "Storage",
    "FIELDS",
    "make_tensor",
    "make_view",
    "tensor_methods",
    "tensor_over",
    "view_around",
    "fresh",
    "tensors_in",
    # Element types, their kinds in ascending order, and Python numbers as elements.
    "dtype",
    "DTYPES",
    "FLOAT8",
    "FLOAT8_FORMATS",
    "BOOL",
    "INTEGER",
    "FLOATING",
    "COMPLEX",
    "bool_",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "finfo",
    "float8_values",
    "iinfo",
    "exact_integers",
    "get_default_dtype",
    "of_number",
    "checked_number",
    "cast_number",
    "pack",
    "unpack",
    # Promotion: the dtype in which operands meet.
    "result_type",
    "promote_types",
    "can_cast",
    "to_floating",
    "check_alpha",
    "WIDER",
    # Shapes, strides and memory formats.
    "Shape",
    "show",
    "numel",
    "wrap_dim",
    "wrap_dims",
    "broadcast",
    "broadcast_all",
    "reduced_shape",
    "contiguous_strides",
    "is_contiguous",
    "expand_strides",
    "view_strides",
    "pointwise_strides",
    "storage_extent",
    "memory_format",
    "contiguous_format",
    "preserve_format",
    "channels_last",
    "channels_last_3d",
    "format_strides",
    "has_format",
    "like_strides",
    # Ops: what their definitions say, and what an op of a backend's own is defined with.
    "OpDef",
    "TensorSpec",
    "definitions",
    "op",
    "NONDIFF",
    "pointwise",
    "reduction",
    # What kernels share with the ops' rules: checks with their errors, and numbers.
    "check_inplace_result",
    "checked_size",
    "degrees_of_freedom",
    "tell_of_lost_parts",
    "index_shape",
    "product_factor",
    "check_bincount",
    "check_lapack",
    "check_repeats",
    "check_total",
    "binary_search",
    "logcumsumexp_by_scan",
    "batch_norm_rule",
    "statistics_dtype",
    "update_running",
    "ConvolutionGeometry",
    "format_of_all",
    "format_of_any",
    "in_format",
    "convolution_geometry",
    "convolution_weight_geometry",
    "Averaging",
    "divisors",
    "pool_sizes",
    "RESIZING",
    "taps",
    # Streams and random numbers.
    "Stream",
    "Event",
    "StreamContext",
    "source_for",
    # Plans: how a pipeline launches what it recorded.
    "Entry",
    "RecordedOp",
    "Plan",
    "Step",
    "Batch",
    "StepFailed",
    "Unsent",
    "tensors_of",
    "REFERENCES_OF_A_LOOK",
    "note_work",
    # Programs: blocks as a compiler is given them, and what is kept of them.
    "Program",
    "Instruction",
    "Value",
    "Ref",
    "Number",
    "Executable",
    "Halted",
    "Check",
    "Checked",
    "PROGRAMS",
]

# Where those live whose modules define ops: importing them would cost every backend's loading.
_LATE: Final = {
    "Averaging": ("nn.average_pooling", "Averaging"),
    "ConvolutionGeometry": ("nn.convolution_shapes", "Geometry"),
    "RESIZING": ("nn.upsampling", "RESIZING"),
    "batch_norm_rule": ("nn.batch_normalization", "batch_norm_rule"),
    "binary_search": ("sorting.searching", "search"),
    "check_bincount": ("sorting.searching", "check_bincount"),
    "check_lapack": ("linalg.matrices", "check_info"),
    "check_repeats": ("arranging.rearranging", "check_repeats"),
    "check_total": ("arranging.rearranging", "check_total"),
    "checked_size": ("creation.factory", "checked_size"),
    "convolution_geometry": ("nn.convolution_shapes", "geometry"),
    "convolution_weight_geometry": ("nn.convolution_shapes", "weight_geometry"),
    "divisors": ("nn.average_pooling", "divisors"),
    "index_shape": ("indexing.index", "index_shape"),
    "logcumsumexp_by_scan": ("reductions.cumulative", "logcumsumexp_by_scan"),
    "pool_sizes": ("nn.pooling", "pool_sizes"),
    "product_factor": ("linalg.products", "factor"),
    "statistics_dtype": ("nn.normalization", "statistics_dtype"),
    "taps": ("nn.resampling", "taps"),
    "update_running": ("nn.batch_normalization", "update_running"),
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _LATE[name]
    found = getattr(_registry.on_demand.module(f"mindtorch_core.operators.{module}"), own)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
