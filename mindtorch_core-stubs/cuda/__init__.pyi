"""`mindtorch_core.ecosystem.cuda` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.cuda import (
    AcceleratorError as AcceleratorError,
    CudaError as CudaError,
    DeferredCudaCallError as DeferredCudaCallError,
    OutOfMemoryError as OutOfMemoryError,
    cudaStatus as cudaStatus,
)
from mindtorch_core.cuda import (
    amp as amp,
)
from typing import Any
from mindtorch_core.plugins.device_module import DeviceModule

_functions: DeviceModule
is_available = _functions.is_available
device_count = _functions.device_count
current_device = _functions.current_device
set_device = _functions.set_device
device = _functions.device
device_of = _functions.device_of
synchronize = _functions.synchronize
get_device_properties = _functions.get_device_properties
get_device_name = _functions.get_device_name
get_amp_supported_dtype = _functions.get_amp_supported_dtype
is_bf16_supported = _functions.is_bf16_supported
Stream = _functions.Stream
Event = _functions.Event
amp = _functions.amp
current_stream = _functions.current_stream
default_stream = _functions.default_stream
stream = _functions.stream
set_stream = _functions.set_stream
memory_stats = _functions.memory_stats
memory_allocated = _functions.memory_allocated
max_memory_allocated = _functions.max_memory_allocated
memory_reserved = _functions.memory_reserved
max_memory_reserved = _functions.max_memory_reserved
reset_peak_memory_stats = _functions.reset_peak_memory_stats
reset_accumulated_memory_stats = _functions.reset_accumulated_memory_stats
empty_cache = _functions.empty_cache
mem_get_info = _functions.mem_get_info
memory_summary = _functions.memory_summary
manual_seed = _functions.manual_seed
manual_seed_all = _functions.manual_seed_all
seed = _functions.seed
seed_all = _functions.seed_all
initial_seed = _functions.initial_seed
get_rng_state = _functions.get_rng_state
set_rng_state = _functions.set_rng_state
get_rng_state_all = _functions.get_rng_state_all
set_rng_state_all = _functions.set_rng_state_all
BFloat16Storage: Any
BFloat16Tensor: Any
BoolStorage: Any
BoolTensor: Any
ByteStorage: Any
ByteTensor: Any
CUDAGraph: Any
CUDAPluggableAllocator: Any
CharStorage: Any
CharTensor: Any
ComplexDoubleStorage: Any
ComplexFloatStorage: Any
DoubleStorage: Any
DoubleTensor: Any
ExternalStream: Any
FloatStorage: Any
FloatTensor: Any
GreenContext: Any
HalfStorage: Any
HalfTensor: Any
IntStorage: Any
IntTensor: Any
LongStorage: Any
LongTensor: Any
MemPool: Any
OutOfMemoryError: Any
ShortStorage: Any
ShortTensor: Any
StreamContext: Any
_CudaDeviceProperties: Any
_DeviceGuard: Any
_is_compiled: Any
_is_in_bad_fork: Any
_lazy_init: Any
_sleep: Any
caching_allocator_alloc: Any
caching_allocator_delete: Any
caching_allocator_enable: Any
can_device_access_peer: Any
change_current_allocator: Any
check_error: Any
clock_rate: Any
cudart: Any
current_allocated_memory: Any
current_blas_handle: Any
current_solver_handle: Any
default_generators: Any
device_memory_used: Any
driver_allocated_memory: Any
get_allocator_backend: Any
get_arch_list: Any
get_device_capability: Any
get_gencode_flags: Any
get_per_process_memory_fraction: Any
get_stream_from_external: Any
get_sync_debug_mode: Any
graph: Any
graph_pool_handle: Any
host_memory_stats: Any
host_memory_stats_as_nested_dict: Any
init: Any
ipc_collect: Any
is_current_stream_capturing: Any
is_initialized: Any
is_tf32_supported: Any
list_gpu_processes: Any
make_graphed_callables: Any
max_memory_cached: Any
memory_cached: Any
memory_snapshot: Any
memory_stats_as_nested_dict: Any
memory_usage: Any
power_draw: Any
recommended_max_memory: Any
reset_accumulated_host_memory_stats: Any
reset_max_memory_allocated: Any
reset_max_memory_cached: Any
reset_peak_host_memory_stats: Any
set_per_process_memory_fraction: Any
set_sync_debug_mode: Any
temperature: Any
use_mem_pool: Any
utilization: Any
