"""What ``torch`` shows beside functions of ops, and imports when it is first used.

Written by `docs/make.py` from the tables of these names. Do not edit.
"""

from typing import Any

from mindtorch_core.random import Generator
from mindtorch_core.values.dtypes import dtype
from mindtorch_core.values.named_only import qscheme

__all__: list[str] = [
    "AcceleratorError",
    "AnyType",
    "BFloat16Storage",
    "BoolStorage",
    "ByteStorage",
    "CharStorage",
    "ComplexDoubleStorage",
    "ComplexFloatStorage",
    "DeviceObjType",
    "DoubleStorage",
    "FloatStorage",
    "Future",
    "GradScaler",
    "Graph",
    "HalfStorage",
    "IntStorage",
    "ListType",
    "LongStorage",
    "Node",
    "OptionalType",
    "PyTorchFileReader",
    "PyTorchFileWriter",
    "ScriptFunction",
    "ScriptModule",
    "ScriptObject",
    "ShortStorage",
    "StorageBase",
    "TensorType",
    "TypedStorage",
    "Value",
    "__future__",
    "_assert",
    "_assert_async",
    "_check",
    "_check_index",
    "_check_is_size",
    "_check_not_implemented",
    "_check_tensor_all",
    "_check_tensor_all_with",
    "_check_type",
    "_check_value",
    "_check_with",
    "_shape_as_tensor",
    "accelerator",
    "ao",
    "are_deterministic_algorithms_enabled",
    "backends",
    "bits16",
    "bits1x8",
    "bits2x4",
    "bits4x2",
    "bits8",
    "classes",
    "compile",
    "compiled_with_cxx11_abi",
    "compiler",
    "complex32",
    "cond",
    "cpu",
    "cuda",
    "default_generator",
    "distributed",
    "distributions",
    "dsmm",
    "export",
    "fft",
    "float4_e2m1fn_x2",
    "func",
    "functional",
    "futures",
    "fx",
    "get_autocast_cpu_dtype",
    "get_autocast_gpu_dtype",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "has_lapack",
    "has_mkl",
    "has_openmp",
    "hsmm",
    "hspmm",
    "hub",
    "int1",
    "int2",
    "int3",
    "int4",
    "int5",
    "int6",
    "int7",
    "is_autocast_cpu_enabled",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_vulkan_available",
    "is_warn_always_enabled",
    "jit",
    "library",
    "linalg",
    "load",
    "masked",
    "monitor",
    "mps",
    "mtia",
    "multiprocessing",
    "nested",
    "nn",
    "npu",
    "numa",
    "onnx",
    "optim",
    "overrides",
    "package",
    "per_channel_affine",
    "per_channel_affine_float_qparams",
    "per_channel_symmetric",
    "per_tensor_affine",
    "per_tensor_symmetric",
    "profiler",
    "qint32",
    "qint8",
    "quantization",
    "quasirandom",
    "quint2x4",
    "quint4x2",
    "quint8",
    "random",
    "return_types",
    "save",
    "serialization",
    "set_anomaly_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_gpu_dtype",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_warn_always",
    "signal",
    "smm",
    "sparse",
    "sparse_bsc_tensor",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_coo_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor",
    "special",
    "spmm",
    "sspaddmm",
    "storage",
    "sym_constrain_range",
    "sym_constrain_range_for_size",
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sqrt",
    "sym_sum",
    "testing",
    "torch_version",
    "types",
    "uint1",
    "uint2",
    "uint3",
    "uint4",
    "uint5",
    "uint6",
    "uint7",
    "use_deterministic_algorithms",
    "utils",
    "version",
    "vmap",
    "while_loop",
    "xpu",
]

from mindtorch_core import (
    __future__ as __future__,
    accelerator as accelerator,
    ao as ao,
    backends as backends,
    classes as classes,
    compiler as compiler,
    cpu as cpu,
    cuda as cuda,
    distributed as distributed,
    distributions as distributions,
    export as export,
    fft as fft,
    func as func,
    functional as functional,
    futures as futures,
    fx as fx,
    hub as hub,
    jit as jit,
    library as library,
    linalg as linalg,
    masked as masked,
    monitor as monitor,
    mps as mps,
    mtia as mtia,
    multiprocessing as multiprocessing,
    nested as nested,
    nn as nn,
    numa as numa,
    onnx as onnx,
    optim as optim,
    overrides as overrides,
    package as package,
    profiler as profiler,
    quantization as quantization,
    quasirandom as quasirandom,
    random as random,
    return_types as return_types,
    serialization as serialization,
    signal as signal,
    sparse as sparse,
    special as special,
    storage as storage,
    testing as testing,
    torch_version as torch_version,
    types as types,
    utils as utils,
    version as version,
    xpu as xpu,
)
from mindtorch_core.amp import (
    GradScaler as GradScaler,
)
from mindtorch_core.ecosystem._C import (
    AnyType as AnyType,
    DeviceObjType as DeviceObjType,
    Graph as Graph,
    ListType as ListType,
    Node as Node,
    OptionalType as OptionalType,
    PyTorchFileReader as PyTorchFileReader,
    PyTorchFileWriter as PyTorchFileWriter,
    ScriptObject as ScriptObject,
    StorageBase as StorageBase,
    TensorType as TensorType,
    Value as Value,
)
from mindtorch_core.ecosystem._higher_order_ops import (
    cond as cond,
    while_loop as while_loop,
)
from mindtorch_core.ecosystem.assertions import (
    _assert as _assert,
    _assert_async as _assert_async,
    _check as _check,
    _check_index as _check_index,
    _check_is_size as _check_is_size,
    _check_not_implemented as _check_not_implemented,
    _check_tensor_all as _check_tensor_all,
    _check_tensor_all_with as _check_tensor_all_with,
    _check_type as _check_type,
    _check_value as _check_value,
    _check_with as _check_with,
    _shape_as_tensor as _shape_as_tensor,
)
from mindtorch_core.ecosystem.autocast_of_old import (
    get_autocast_cpu_dtype as get_autocast_cpu_dtype,
    get_autocast_gpu_dtype as get_autocast_gpu_dtype,
    is_autocast_cpu_enabled as is_autocast_cpu_enabled,
    set_autocast_cpu_dtype as set_autocast_cpu_dtype,
    set_autocast_cpu_enabled as set_autocast_cpu_enabled,
    set_autocast_gpu_dtype as set_autocast_gpu_dtype,
)
from mindtorch_core.ecosystem.compiler import (
    compile as compile,
)
from mindtorch_core.ecosystem.determinism import (
    are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode as get_deterministic_debug_mode,
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
    set_deterministic_debug_mode as set_deterministic_debug_mode,
    use_deterministic_algorithms as use_deterministic_algorithms,
)
from mindtorch_core.ecosystem.futures import (
    Future as Future,
)
from mindtorch_core.ecosystem.jit import (
    ScriptFunction as ScriptFunction,
    ScriptModule as ScriptModule,
)
from mindtorch_core.ecosystem.matmul_precision import (
    get_float32_matmul_precision as get_float32_matmul_precision,
    set_float32_matmul_precision as set_float32_matmul_precision,
)
from mindtorch_core.ecosystem.process_settings import (
    AcceleratorError as AcceleratorError,
    compiled_with_cxx11_abi as compiled_with_cxx11_abi,
    get_num_interop_threads as get_num_interop_threads,
    has_lapack as has_lapack,
    has_mkl as has_mkl,
    has_openmp as has_openmp,
    is_vulkan_available as is_vulkan_available,
    is_warn_always_enabled as is_warn_always_enabled,
    set_anomaly_enabled as set_anomaly_enabled,
    set_default_tensor_type as set_default_tensor_type,
    set_flush_denormal as set_flush_denormal,
    set_num_interop_threads as set_num_interop_threads,
    set_warn_always as set_warn_always,
)
from mindtorch_core.ecosystem.symbolic_numbers import (
    sym_constrain_range as sym_constrain_range,
    sym_constrain_range_for_size as sym_constrain_range_for_size,
    sym_float as sym_float,
    sym_int as sym_int,
    sym_ite as sym_ite,
    sym_max as sym_max,
    sym_min as sym_min,
    sym_not as sym_not,
    sym_sqrt as sym_sqrt,
    sym_sum as sym_sum,
)
from mindtorch_core.frontend.sparse_compressing import (
    sparse_bsc_tensor as sparse_bsc_tensor,
    sparse_bsr_tensor as sparse_bsr_tensor,
    sparse_compressed_tensor as sparse_compressed_tensor,
    sparse_csc_tensor as sparse_csc_tensor,
    sparse_csr_tensor as sparse_csr_tensor,
)
from mindtorch_core.frontend.sparse_creation import (
    sparse_coo_tensor as sparse_coo_tensor,
)
from mindtorch_core.frontend.sparse_functions import (
    hspmm as hspmm,
    hspmm as hsmm,
    smm as smm,
    sspaddmm as sspaddmm,
)
from mindtorch_core.frontend.typed_storage import (
    TypedStorage as TypedStorage,
)
from mindtorch_core.func import (
    vmap as vmap,
)
from mindtorch_core.serialization import (
    load as load,
    save as save,
)
from mindtorch_core.sparse import (
    mm as dsmm,
    mm as spmm,
)

BFloat16Storage: type[TypedStorage]
BoolStorage: type[TypedStorage]
ByteStorage: type[TypedStorage]
CharStorage: type[TypedStorage]
ComplexDoubleStorage: type[TypedStorage]
ComplexFloatStorage: type[TypedStorage]
DoubleStorage: type[TypedStorage]
FloatStorage: type[TypedStorage]
HalfStorage: type[TypedStorage]
IntStorage: type[TypedStorage]
LongStorage: type[TypedStorage]
ShortStorage: type[TypedStorage]
bits16: dtype
bits1x8: dtype
bits2x4: dtype
bits4x2: dtype
bits8: dtype
complex32: dtype
default_generator: Generator
float4_e2m1fn_x2: dtype
int1: dtype
int2: dtype
int3: dtype
int4: dtype
int5: dtype
int6: dtype
int7: dtype
npu: Any
per_channel_affine: qscheme
per_channel_affine_float_qparams: qscheme
per_channel_symmetric: qscheme
per_tensor_affine: qscheme
per_tensor_symmetric: qscheme
qint32: dtype
qint8: dtype
quint2x4: dtype
quint4x2: dtype
quint8: dtype
uint1: dtype
uint2: dtype
uint3: dtype
uint4: dtype
uint5: dtype
uint6: dtype
uint7: dtype
