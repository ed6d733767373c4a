"""Backends with a faulty runtime: memory, copies, queues, devices, random numbers."""

import threading
from collections import deque

import numpy as np
from bare_backend import kernels
from bare_backend.kernels import KERNELS, rule_of, wide
from bare_backend.runtime import NUMPY, RUNTIME, BareRuntime, Source
from faults import kernel, mutant, pointwise, shared_scratch

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry

# ---- layouts and memory -------------------------------------------------------------------------


@mutant("differ", test_layouts=["neg", "add"], test_host_and_back=())
def transposed_strides_ignored(patch):
    def payload(storage, shape, strides, offset, d):
        steps = torch.empty(shape, device="cpu").stride() if 0 not in shape else strides
        room = storage.size_bytes // d.itemsize - offset
        fits = sum((n - 1) * s for n, s in zip(shape, steps, strict=True)) < room
        return BareRuntime.payload(RUNTIME, storage, shape, steps if fits else strides, offset, d)

    patch.setattr(RUNTIME, "payload", payload)


@mutant("differ", test_layouts=["neg", "sum"], test_host_and_back=())
def offset_ignored(patch):
    right = RUNTIME.payload
    patch.setattr(
        RUNTIME, "payload", lambda s, shape, strides, offset, d: right(s, shape, strides, 0, d)
    )


@mutant("does not see its base change|does not reach its base", test_views_share_memory=())
def aliasing_lost(patch):
    right = RUNTIME.payload

    def payload(storage, shape, strides, offset, d):
        found = right(storage, shape, strides, offset, d)
        whole = storage.size_bytes == found.size * d.itemsize
        return found if whole else found.copy()

    patch.setattr(RUNTIME, "payload", payload)


@mutant("a leak", test_memory_is_released=())
def leak(patch):
    kept, right = [], RUNTIME.allocate

    def allocate(nbytes, on):
        kept.append(right(nbytes, on))
        return kept[-1]

    patch.setattr(RUNTIME, "allocate", allocate)


@mutant("must raise OutOfMemoryError", test_out_of_memory=())
def shortage_raises_something_else(patch):
    patch.setattr(RUNTIME, "allocate", lambda nbytes, on: np.zeros(nbytes, np.uint8))


@mutant("no multiples of 16", test_alignment=())
def memory_not_aligned(patch):
    patch.setattr(RUNTIME, "allocate", lambda nbytes, on: np.zeros(nbytes + 3, np.uint8)[3:])


@mutant("does not keep what it got", test_blocks_keep_bytes=())
def blocks_overlap(patch):
    arena, top = np.zeros(1 << 20, np.uint8), [0]

    def allocate(nbytes, on):
        start = top[0]
        top[0] += nbytes * 9 // 10  # too little
        return arena[start : start + nbytes]

    patch.setattr(RUNTIME, "allocate", allocate)


@mutant("living tensors was given to others", test_memory_is_not_shared=())
def memory_given_out_twice(patch):
    arena, count = [np.zeros(4096, np.uint8) for _ in range(50)], [0]

    def allocate(nbytes, on):
        count[0] += 1
        return arena[count[0] % 50][:nbytes] if nbytes <= 4096 else np.zeros(nbytes, np.uint8)

    patch.setattr(RUNTIME, "allocate", allocate)


@mutant("wrote elsewhere", test_offsets_into_blocks=())
def start_of_a_copy_ignored(patch):
    right = RUNTIME.copy_from_host
    patch.setattr(RUNTIME, "copy_from_host", lambda memory, start, data: right(memory, 0, data))


@mutant("from 1 on differs|from 13 on differs", test_offsets_into_blocks=())
def start_of_a_read_rounded(patch):
    right = RUNTIME.copy_to_host
    patch.setattr(RUNTIME, "copy_to_host", lambda m, start, n: right(m, start // 4 * 4, n))


@mutant("of 0 bytes gave None, not a memoryview", test_blocks_keep_bytes=())
def reading_returns_nothing(patch):
    right = RUNTIME.copy_to_host
    patch.setattr(
        RUNTIME, "copy_to_host", lambda m, start, n: right(m, start, n) if n > 8 else None
    )


@mutant("allocate\\(0\\) gave None", test_blocks_keep_bytes=())
def empty_memory_is_no_memory(patch):
    right = RUNTIME.allocate
    patch.setattr(RUNTIME, "allocate", lambda nbytes, on: right(nbytes, on) if nbytes else None)


@mutant("device_count\\(\\) is None", test_device_count=())
def devices_are_not_counted(patch):
    patch.setattr(RUNTIME, "device_count", lambda: None)


@mutant("changes with the block", test_host_buffers_are_copied=())
def host_copy_aliases_the_device(patch):
    patch.setattr(RUNTIME, "copy_to_host", lambda m, start, n: memoryview(m[start : start + n]))


@mutant("clone\\(\\) shares memory", test_copies_are_copies=())
def clone_aliases(patch):
    kernel("clone", lambda self, *, memory_format=None: self.view(self.shape))


@mutant("wrote elsewhere", test_odd_shapes=())
def fill_writes_around_a_view(patch):
    def fill(self, value):
        self.untyped_storage().memory.view(NUMPY[self.dtype])[:] = value
        return self

    kernel("fill_.Scalar", fill)


@mutant("copy_ does not broadcast", test_odd_shapes=())
def copy_does_not_broadcast(patch):
    right = KERNELS["copy_"]

    def copy(self, src, non_blocking=False):
        if self.device.type != "bare" or src.raw_shape == self.raw_shape:
            return right(self, src)
        self.raw_data[:1] = src.to("bare").raw_data
        return self

    kernel("copy_", copy)


@mutant("differ", test_out=["neg", "exp"])
def out_is_not_written(patch):
    kernel("copy_", lambda self, src, non_blocking=False: self)


@mutant(
    "returned another tensor|returns another tensor",
    test_inplace_ops_return_themselves=(),
)
def inplace_writes_a_copy(patch):
    right = KERNELS["fill_.Scalar"]
    kernel("fill_.Scalar", lambda self, value: right(self.clone(), value))


@mutant("not cut off", test_conversions=())
def conversion_rounds(patch):
    right = KERNELS["copy_"]

    def copy(self, src, non_blocking=False):
        if (
            self.device.type == "bare"
            and self.raw_data.dtype.kind == "i"
            and src.dtype.is_floating_point
        ):
            np.copyto(self.raw_data, np.rint(wide(src.to("bare"))), casting="unsafe")
            return self
        return right(self, src)

    kernel("copy_", copy)


@mutant(
    "stale|counted no new version",
    test_views_count_versions=(),
    test_inplace=["add_"],
)
def version_stays(patch):
    patch.setattr(type(torch.empty(0)), "_version", property(lambda self: 0))


@mutant(
    "stale|must raise RuntimeError", test_views_count_versions=(), test_stale_values_are_refused=()
)
def writes_skip_the_count(patch):
    for name in ("add_", "mul_"):
        registry.register_fallthrough(name, "ADInplaceOrView")


# ---- queues -------------------------------------------------------------------------------------


class Queue:
    """Makes the bare backend lazy: additions are queued, everything else waits for them.

    Attributes:
        pending: what is left to do.
        backwards: whether the last is done first.
    """

    def __init__(self, patch, backwards=False):
        self.pending, self.backwards = deque(), backwards
        self.lock = threading.RLock()
        right = KERNELS["add"]

        def add(self_, other, *, alpha=1):
            spec = rule_of("add")(self_, other, alpha=alpha)
            out = torch.empty_strided(
                spec.shape, spec.strides or torch.empty(spec.shape, device="meta").stride(),
                dtype=spec.dtype, device=self_.device,
            )  # fmt: skip
            left, other_ = (
                self_.raw_data,
                other.raw_data,
            )  # the handles may go: the memory is read later
            values = (
                (lambda: left + other_) if alpha == 1 and spec.dtype.is_floating_point else None
            )
            if values is None:
                self.drain()
                return right(self_, other, alpha=alpha)
            with self.lock:
                self.pending.append(lambda: np.copyto(out.raw_data, values(), casting="unsafe"))
            return out

        def fill(self_, value):
            with self.lock:
                self.pending.append(lambda: KERNELS["fill_.Scalar"](self_, value))
            return self_

        kernel("add", add)
        kernel("fill_.Scalar", fill)
        for name, fn in KERNELS.items():
            if name not in ("add", "fill_.Scalar"):
                kernel(name, self.after(fn))

    def after(self, fn):
        def run(*args, **options):
            self.drain()
            return fn(*args, **options)

        return run

    def drain(self):
        with self.lock:
            while self.pending:
                (self.pending.pop if self.backwards else self.pending.popleft)()()


def lazy(patch):
    """A lazy device without a fault."""
    queue = Queue(patch)
    for name in ("copy_to_host", "copy_from_host", "synchronize"):
        patch.setattr(RUNTIME, name, queue.after(getattr(RUNTIME, name)))


@mutant("does not wait for queued work", test_reading_waits=())
def reading_does_not_wait(patch):
    queue = Queue(patch)
    patch.setattr(RUNTIME, "synchronize", queue.after(RUNTIME.synchronize))


@mutant("does not wait for queued work|changed places", test_order=(), test_reading_waits=())
def queue_runs_backwards(patch):
    queue = Queue(patch, backwards=True)
    for name in ("copy_to_host", "copy_from_host", "synchronize"):
        patch.setattr(RUNTIME, name, queue.after(getattr(RUNTIME, name)))


@mutant("from memory that was reused", test_freed_memory_with_queued_work=())
def memory_freed_too_early(patch):
    """The allocator hands a block out again while work on it is queued."""
    queue = Queue(patch)
    for name in ("copy_to_host", "synchronize"):  # copies to the device overtake what is queued
        patch.setattr(RUNTIME, name, queue.after(getattr(RUNTIME, name)))
    free = {}

    class Block(np.ndarray):
        def __del__(self):
            if self.base is not None and getattr(self, "mine", False):
                free.setdefault(self.nbytes, []).append(self.base)

    def allocate(nbytes, on):
        old = free.get(nbytes)
        made_ = (old.pop() if old else np.zeros(nbytes, np.uint8)).view(Block)
        made_.mine = True
        return made_

    def payload(storage, shape, strides, offset, d):
        memory = storage.memory.base
        kind = NUMPY[d]
        steps = [s * kind.itemsize for s in strides]
        if 0 in shape:
            return np.empty(shape, kind)
        return np.ndarray(shape, kind, memory, offset * kind.itemsize, steps)

    patch.setattr(RUNTIME, "allocate", allocate)
    patch.setattr(RUNTIME, "payload", payload)


@mutant("thread \\d of", test_threads_compute=())
def scratch_shared_by_threads(patch):
    pointwise("mul", shared_scratch(np.multiply))


# ---- several devices ----------------------------------------------------------------------------


def two_devices(patch):
    """Two devices without a fault."""
    patch.setattr(RUNTIME, "device_count", lambda: 2)

    def add(self, other, **options):
        if other.ndim and other.device is not self.device:
            raise RuntimeError(f"tensors on {self.device} and {other.device}")
        return KERNELS["add"](self, other, **options)

    kernel("add", add)


@mutant("not told apart", test_device_count=())
def index_ignored(patch):
    two_devices(patch)
    patch.setattr(RUNTIME, "concrete_device", lambda wanted: torch.device("bare", 0))


@mutant("must raise RuntimeError", test_device_count=())
def any_index_is_taken(patch):
    patch.setattr(RUNTIME, "concrete_device", lambda d: torch.device("bare", d.index or 0))


@mutant("made tensors on devices|current device", test_threads_have_a_current_device=())
def current_device_shared_by_threads(patch):
    two_devices(patch)
    current = [0]
    patch.setattr(RUNTIME, "current_device", lambda: current[0])
    patch.setattr(RUNTIME, "set_device", lambda index: current.__setitem__(0, index))


# ---- random numbers -----------------------------------------------------------------------------


@mutant("moves the sequence of", test_devices_are_apart=())
def numbers_shared_by_devices(patch):
    two_devices(patch)
    shared = Source()
    patch.setattr(RUNTIME, "generator", lambda on: shared)
    patch.setattr("mindtorch_core.random._defaults", {})


@mutant("moves the default one|generator= is ignored", test_generators_are_apart=())
def generator_ignored(patch):
    patch.setattr(kernels, "source_for", lambda _, on: torch.random.default_generator(on).source)


@mutant("does not give the same numbers", test_seeds=())
def seed_ignored(patch):
    patch.setattr(Source, "manual_seed", lambda self, seed: vars(self).update(
        seed=seed, numbers=getattr(self, "numbers", np.random.Generator(np.random.Philox(0)))))  # fmt: skip


@mutant("seeds 3 and 4", test_seeds=())
def every_seed_is_one(patch):
    def manual_seed(self, seed):
        self.seed, self.numbers = seed, np.random.Generator(np.random.Philox(1))

    patch.setattr(Source, "manual_seed", manual_seed)


@mutant("does not go back", test_positions=())
def position_not_restored(patch):
    patch.setattr(Source, "set_state", lambda self, state: None)


@mutant("of 24 bytes was refused, and moved the generator", test_wrong_positions=())
def a_refused_position_moves_the_seed(patch):
    right = Source.set_state

    def set_state(self, state):
        self.seed = state[0] if len(state) == 24 else self.seed
        right(self, state)

    patch.setattr(Source, "set_state", set_state)


@mutant("takes three zeros", test_wrong_positions=())
def any_position_is_taken(patch):
    patch.setattr(Source, "set_state", lambda self, state: self.manual_seed(0))


@mutant("rand leaves 0..1|uniform_ has the mean|rand has the mean", test_distributions=())
def numbers_out_of_range(patch):
    def uniform(self, low=0.0, to=1.0, *, generator=None):
        numbers = kernels.source_for(generator, self.device).numbers
        np.copyto(
            self.raw_data, low + numbers.random(self.raw_shape) * (to - low) * 1.2, casting="unsafe"
        )
        return self

    kernel("uniform_", uniform)
