"""`mindtorch_core.ecosystem.cpu` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.cpu import *
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
BFloat16Tensor: Any
BoolTensor: Any
ByteTensor: Any
CUDAGraph: Any
CUDAPluggableAllocator: Any
CharTensor: Any
DoubleTensor: Any
ExternalStream: Any
FloatTensor: Any
HalfTensor: Any
IntTensor: Any
LongTensor: Any
MemPool: Any
ShortTensor: Any
StreamContext: Any
can_device_access_peer: Any
cudart: Any
current_allocated_memory: Any
current_blas_handle: Any
default_generators: Any
driver_allocated_memory: Any
get_arch_list: Any
get_device_capability: Any
get_sync_debug_mode: Any
graph: Any
init: Any
ipc_collect: Any
is_current_stream_capturing: Any
is_initialized: Any
is_tf32_supported: Any
max_memory_cached: Any
memory_cached: Any
memory_snapshot: Any
recommended_max_memory: Any
reset_max_memory_allocated: Any
reset_max_memory_cached: Any
set_per_process_memory_fraction: Any
set_sync_debug_mode: Any
utilization: Any
