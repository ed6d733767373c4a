"""Backends with faults that show in copies, files, programs, pipelines, threads and registration."""

import weakref

import numpy as np
from bare_backend import kernels
from bare_backend.kernels import KERNELS, made
from bare_backend.runtime import RUNTIME, Source
from faults import kernel, mutant, pointwise, shared_scratch
from runtime_mutants import two_devices

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.values.devices import row_of

# ---- copies and aliasing ------------------------------------------------------------------------


@mutant("from the CPU", test_with_the_cpu=())
def strides_of_host_bytes_ignored(patch):
    right = RUNTIME.from_host
    patch.setattr(
        RUNTIME, "from_host", lambda data, shape, d, on, strides=None: right(data, shape, d, on)
    )


@mutant("wrote elsewhere", test_between_layouts=())
def copies_fill_the_gaps(patch):
    right = KERNELS["copy_"]

    def copy(self, src, non_blocking=False):
        if self.device.type == "bare" and not self.is_contiguous():
            self.untyped_storage().memory[:] = 0
        return right(self, src)

    kernel("copy_", copy)


@mutant("operands on .* are added", test_between_devices=())
def two_devices_are_mixed(patch):
    patch.setattr(RUNTIME, "device_count", lambda: 2)


@mutant("t.add_\\(t\\) differs", test_overlapping_operands=())
def target_cleared_before_it_is_read(patch):
    def add(self, other, *, alpha=1):
        self.raw_data[...] = 0
        self.raw_data[...] += other.raw_data * alpha
        return self

    kernel("add_", add)


@mutant("lies in the memory of its operand", test_detach_and_data=())
def product_with_one_is_its_operand(patch):
    def multiply(self, other):
        one = not other.ndim and other.item() == 1
        return self.view(self.shape) if one else KERNELS["mul"](self, other)

    kernel("mul", multiply)


@mutant("the gradient of writes through views", test_writes_through_views_have_gradients=())
def expanded_sources_are_read_on(patch):
    right = KERNELS["copy_"]

    def copy(self, src, non_blocking=False):
        if src.device.type == "bare" and src.numel() > 1 and not any(src.stride()):
            found = right(self, src)
            self.raw_data.reshape(-1)[1:] = (
                0 if self.is_contiguous() else self.raw_data.reshape(-1)[1:]
            )
            return found
        return right(self, src)

    kernel("copy_", copy)


@mutant("the end of a big tensor", test_big_memory=())
def positions_of_22_bits(patch):
    right = RUNTIME.payload
    patch.setattr(
        RUNTIME,
        "payload",
        lambda s, shape, strides, at, d: right(s, shape, strides, at % (1 << 22), d),
    )


# ---- what the runtime tells, and shares ---------------------------------------------------------


@mutant("has no name", test_properties=())
def devices_have_no_name(patch):
    patch.setattr(RUNTIME, "properties", lambda on: {"cores": 4})


@mutant("grew by 0", test_memory_stats=())
def memory_is_not_counted(patch):
    counters = {"allocated_bytes.all.current": 0, "allocated_bytes.all.peak": 0}
    patch.setattr(RUNTIME, "memory_stats", lambda on: counters)


@mutant("the peak is", test_memory_stats=())
def the_peak_is_not_reset(patch):
    right, sizes = RUNTIME.allocate, []

    def allocate(nbytes, on):
        handle = right(nbytes, on)
        sizes.append(weakref.ref(handle))
        return handle

    def stats(on):
        alive = [each() for each in sizes]
        return {
            "allocated_bytes.all.current": sum(each.nbytes for each in alive if each is not None),
            "allocated_bytes.all.peak": 1 << 40,
        }

    patch.setattr(RUNTIME, "allocate", allocate)
    patch.setattr(RUNTIME, "memory_stats", stats)


@mutant("memory_info.* is 5 of 3", test_memory_info=())
def more_memory_is_free_than_there_is(patch):
    patch.setattr(RUNTIME, "memory_info", lambda on: (5, 3))


@mutant("empty_cache\\(\\) changed living tensors", test_empty_cache=())
def living_memory_is_given_back(patch):
    right, handles = RUNTIME.allocate, []

    def allocate(nbytes, on):
        handles.append(right(nbytes, on))
        return handles[-1]

    patch.setattr(RUNTIME, "allocate", allocate)
    patch.setattr(RUNTIME, "empty_cache", lambda: [handle.fill(0) for handle in handles])


@mutant("numpy\\(\\) gives a copy", test_numpy=())
def arrays_are_copies(patch):
    patch.setattr(RUNTIME, "numpy", lambda t: t.raw_data.copy())


@mutant("must raise BufferError", test_dlpack=())
def sharing_fails_in_its_own_way(patch):
    def dlpack(t, **options):
        raise OSError("no such ioctl")

    patch.setattr(RUNTIME, "dlpack", dlpack)


# ---- objects ------------------------------------------------------------------------------------


@mutant("not writable", test_files=(), test_files_elsewhere=(), test_pickles=(), test_state=())
def host_buffers_must_be_writable(patch):
    right = RUNTIME.copy_from_host

    def copy(memory, start, data):
        if data.readonly:
            raise TypeError("underlying buffer is not writable")
        right(memory, start, data)

    patch.setattr(RUNTIME, "copy_from_host", copy)


@mutant("a deep copy shares memory", test_copies_of_objects=())
def deep_copies_share_memory(patch):
    kernel("clone", lambda self, *, memory_format=None: self.view(self.shape))


@mutant("elements are not shown", test_printing=())
def the_host_reads_zeros(patch):
    patch.setattr(RUNTIME, "copy_to_host", lambda memory, start, n: memoryview(bytes(n)))


# ---- programs and pipelines ---------------------------------------------------------------------


@mutant("the program 'training'", test_programs_agree_with_cpu=())
def alpha_of_differences_ignored(patch):
    pointwise("sub", lambda a, b, alpha=1: a - b)


@mutant(
    "deferred|loses what was recorded", test_programs_in_a_pipeline=(), test_errors_in_a_pipeline=()
)
def plans_reuse_a_result(patch):
    results = {}

    def plan(self, other):
        def run():
            factor = other if isinstance(other, torch.Tensor) else self.new_full((), other)
            found = KERNELS["mul"](self, factor)
            return results.setdefault((found.shape, found.dtype), found)

        return run

    results[torch.Size([3]), torch.float32] = torch.zeros(3, device="bare")
    registry.register("mul", "bare", KERNELS["mul"], plan=plan)


@mutant("is not taken for a number", test_operands_on_two_types_of_device=())
def scalars_arrive_as_zero(patch):
    right = RUNTIME.from_host

    def from_host(data, shape, d, on, strides=None):
        return right(memoryview(bytes(len(data))) if not shape else data, shape, d, on, strides)

    patch.setattr(RUNTIME, "from_host", from_host)


@mutant("gradient of exp", test_gradcheck=["exp"])
def exp_of_doubles_in_single_precision(patch):
    pointwise("exp", lambda a: np.exp(a.astype(np.float32)))


@mutant("differ", test_agrees_with_pytorch=["floor_divide"])
def floor_division_cuts_off(patch):
    pointwise("floor_divide", lambda a, b: np.trunc(a / b))


@mutant("an index out of range must raise", test_errors_leave_the_device_usable=())
def positions_out_of_range_are_clipped(patch):
    def index(self, indices):
        sizes = dict(enumerate(self.shape))
        at = [None if t is None else t.clamp(0, sizes[i] - 1) for i, t in enumerate(indices)]
        return KERNELS["_index_positions"](self, at)

    kernel("_index_positions", index)


# ---- random numbers -----------------------------------------------------------------------------


@mutant("a pipeline draws other numbers", test_in_a_pipeline=())
def plans_draw_twice(patch):
    def plan(self, low=0.0, to=1.0, *, generator=None):
        def run():
            KERNELS["uniform_"](self, low, to, generator=generator)
            return KERNELS["uniform_"](self, low, to, generator=generator)

        return run

    registry.register("uniform_", "bare", KERNELS["uniform_"], plan=plan)


@mutant("the seed 21 is ignored|fork_rng does not restore", test_seed_of_the_module=())
def positions_are_not_set(patch):
    patch.setattr(Source, "set_state", lambda self, state: None)


@mutant("a draw into a view writes elsewhere", test_odd_draws=())
def draws_fill_the_memory(patch):
    def uniform(self, low=0.0, to=1.0, *, generator=None):
        whole = self.untyped_storage().memory.view(self.raw_data.dtype)
        numbers = kernels.source_for(generator, self.device).numbers
        whole[:] = low + numbers.random(whole.shape) * (to - low)
        return self

    kernel("uniform_", uniform)


# ---- threads and devices ------------------------------------------------------------------------


@mutant("thread \\d read", test_threads_share_a_tensor=())
def scratch_of_sums_shared_by_threads(patch):
    @shared_scratch
    def add(a, b, alpha=1):
        return np.add(a, b * np.array(alpha, a.dtype))

    pointwise("add", add)


@mutant("current, a tensor is made on", test_device_context=())
def the_current_device_stays(patch):
    two_devices(patch)
    patch.setattr(RUNTIME, "set_device", lambda index: None)


# ---- registration -------------------------------------------------------------------------------


@mutant("the runtime says it serves", test_registered=())
def runtime_of_another_type(patch):
    patch.setattr(RUNTIME, "type", "bore")


@mutant("device_count\\(\\) differs", test_device_module=())
def module_counts_by_itself(patch):
    patch.setattr(torch.bare, "device_count", lambda: 7)


@mutant("no kernel serves the primitives aten::amax", test_primitives_are_served=())
def a_primitive_is_missing(patch):
    key, entry = DispatchKey(row_of("bare").key), registry.entry("amax")
    patch.delitem(registry.fallbacks, key)
    before = entry.records[key]
    entry.put(key, ())
    registry.note(lambda: entry.put(key, before))
    registry.forget_computed()


@mutant("come from elsewhere: .*mindtorch-else", test_kernels_are_the_distributions=())
def kernels_of_another_distribution(patch):
    with registry.transaction("mindtorch-else 1.0"):
        kernel("sinh", lambda self: made(np.sinh(self.raw_data), self.dtype, self))
