"""Compiled code on arrays that end, or begin, where memory may not be touched: whoever goes further dies.

python -X faulthandler guarded.py
"""

import ctypes
import functools
import mmap
from collections import deque

import numpy as np

import mindtorch_core as torch

torch.zeros(1)
from mindtorch_cpu import compiled, memory_pool
from mindtorch_cpu.native import kernels, preparing
from mindtorch_cpu.native.program import DTYPES
from mindtorch_cpu.native.walks import WALKS, Walk

F = torch.nn.functional
PAGE = mmap.PAGESIZE
PROTECT = ctypes.CDLL(None).mprotect
# What was guarded last: memory without access is let go of, of which a process can have some thousands.
KEPT = deque(maxlen=2000)


def room(nbytes, at_end):
    """Bytes between two pages that may not be touched."""
    size = -(-max(nbytes, 1) // PAGE) * PAGE
    pages = mmap.mmap(-1, size + 2 * PAGE)
    whole = np.frombuffer(pages, np.uint8)
    start = whole.__array_interface__["data"][0]
    for place in (start, start + PAGE + size):
        assert PROTECT(ctypes.c_void_p(place), ctypes.c_size_t(PAGE), 0) == 0
    first = PAGE + (size - nbytes if at_end else 0)
    KEPT.append(pages)
    return whole[first : first + nbytes]


def guarded(a, at_end):
    """A copy of an array whose memory is guarded; it lies as the array does."""
    low, high = np.lib.array_utils.byte_bounds(a)
    raw = room(high - low, at_end)
    ctypes.memmove(raw.ctypes.data, low, high - low)
    offset = a.__array_interface__["data"][0] - low
    return np.ndarray(a.shape, a.dtype, raw, offset, a.strides)


def programs(at_end):
    """Element-wise programs and those of rows, of every few elements and around whole strips."""
    random = np.random.default_rng(0)

    def some(*shape, d="f4"):
        return guarded(random.normal(0, 2, shape).astype(d), at_end)

    def plain(tracer, x, y):
        return [np.multiply(np.exp(x), y), np.add(x, y)]

    def rows(tracer, x, y):
        e = np.exp(np.subtract(x, tracer.reduced("row_max", x)))
        sums = tracer.reduced("row_add", e), tracer.reduced("row_dot", x, y)
        return [e / sums[0], y * sums[1], tracer.folded(y), tracer.reduced("row_sum", y)]

    for d in ("f4", "f8"):
        for n in (*range(1, 36), 2047, 2049, 5000):
            x, y, a, b = (some(n, d=d) for _ in range(4))
            assert compiled.computed(("plain", d), plain, [x, y], [a, b])
        for n, width in ((1, 3), (3, 17), (65, 33), (130, 130), (9, 1500), (2, 5000)):
            x, y, a, b = (some(n, width, d=d) for _ in range(4))
            c = guarded(np.zeros((-(-n // 64), width), d), at_end)
            e = some(n, 1, d=d)
            assert compiled.computed_rows(("rows", d), rows, [x, y], [a, b, c, e]), (n, width)


def walks(at_end):
    """Every walk, on the arguments with which it is compared with NumPy."""
    for name, row in WALKS.items():
        for code in row.codes:
            walk = kernels.KERNELS.get(Walk(name, code), 1 << 30, at_once=True)
            if walk is None and row.optional:
                continue
            random = np.random.Generator(np.random.PCG64(2))
            for _ in range(row.cases):
                arguments, _, _ = row.case(DTYPES[code], random)
                own = {id(a): guarded(a, at_end) for a in arguments if isinstance(a, np.ndarray)}
                assert walk(*(own.get(id(a), a) for a in arguments)), (name, code)


def ops(at_end):
    """Ops with code of their own, on shapes that fill no vector; results and scratch memory are guarded too."""
    random = np.random.default_rng(1)

    def some(*shape, d=torch.float32):
        a = guarded(random.normal(0, 2, shape).astype(np.float32), at_end)
        x = torch.from_numpy(a)
        return x if d is torch.float32 else x.to(d)

    def leaf(*shape):
        return some(*shape).requires_grad_()

    def places(high, *shape):
        return torch.from_numpy(guarded(random.integers(0, high, shape), at_end))

    def trained(made):
        made.sum().backward()

    for image, kernel, options in (
        ((2, 3, 17, 19), (5, 3, 3, 3), {"padding": 1}),
        ((1, 6, 13, 21), (7, 6, 5, 3), {"stride": 2}),
        ((2, 8, 15, 15), (8, 1, 3, 3), {"groups": 8, "padding": 1}),
        ((2, 16, 11, 9), (33, 16, 1, 1), {}),
        ((1, 4, 23, 23), (6, 4, 3, 3), {"dilation": 3}),
        ((1, 64, 29, 31), (64, 64, 3, 3), {"padding": 1}),
    ):
        trained(F.conv2d(leaf(*image), leaf(*kernel), leaf(kernel[0]), **options))
    for d in (torch.float32, torch.bfloat16, torch.float16):
        for m, k, n in ((1, 33, 17), (7, 129, 65), (37, 1, 3), (130, 257, 131)):
            some(m, k, d=d) @ some(k, n, d=d)
            some(3, m, k, d=d) @ some(3, k, n, d=d)
    for length in (1, 17, 130, 301):
        q, k, v = (leaf(2, 3, length, 24) for _ in range(3))
        trained(F.scaled_dot_product_attention(q, k, v))
        F.scaled_dot_product_attention(q, k, v, is_causal=True)
    for shape in ((3, 131), (70, 1003), (1, 5), (513, 33)):
        x, width = leaf(*shape), shape[-1]
        for made in (
            F.softmax(x, -1), F.log_softmax(x, 0), F.layer_norm(x, (width,)), F.gelu(x), F.silu(x),
            F.rms_norm(x, (width,)), x.cumsum(-1), x.cumsum(0), x.cummax(0)[0], x.amax(0),
            x.logsumexp(-1), x.std(0, correction=0), x.sort(-1)[0], x.topk(min(width, 3))[0], x.tanh() * x,
            F.cross_entropy(x, places(width, shape[0])), x.t().contiguous(), x.roll(1, 0),
            x.gather(-1, places(width, *shape)), x.index_select(0, places(shape[0], 9)),
        ):  # fmt: skip
            trained(made)
        x.detach().scatter_add(-1, places(width, *shape), some(*shape))
        x.detach().index_add(0, places(shape[0], 9), some(9, width))
    for shape in ((2, 3, 17, 19), (1, 5, 7, 33)):
        x = leaf(*shape)
        for made in (
            F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 3),
            F.pad(x, (1, 2, 2, 1), "reflect"), F.pad(x, (3, 1)), F.interpolate(x, scale_factor=2.0),
            F.interpolate(x, size=(11, 9), mode="bilinear"), F.group_norm(x, 1), x.flip(-1),
            F.batch_norm(x, None, None, training=True), F.grid_sample(x, some(shape[0], 5, 7, 2), align_corners=False),
        ):  # fmt: skip
            trained(made)
    parameters = [leaf(n) for n in (1, 17, 2049)]
    for p in parameters:
        p.grad = some(*p.shape)
    torch.optim.AdamW(parameters).step()
    torch.optim.SGD(parameters, 0.1, momentum=0.9).step()
    for draw in (torch.rand, torch.randn, torch.randperm):
        draw(5001)


def main():
    """Everything, with one thread and with two."""
    kernels.KERNELS.mode = "now"
    assert kernels.KERNELS.enabled, kernels.KERNELS.reason
    for at_end in (True, False):
        torch.set_num_threads(1)
        programs(at_end)
        walks(at_end)
        memory_pool.LARGE = 1 << 62  # no block is used again
        preparing._UNCACHED = 1
        empty = functools.partial(_empty, at_end)
        memory_pool.Pool.empty = lambda self, shape, d, empty=empty: empty(shape, d)
        for threads in (1, 2):
            torch.set_num_threads(threads)
            ops(at_end)
    print("fine")


def _empty(at_end, shape, d):
    raw = room(int(np.prod(shape, dtype=np.int64)) * d.itemsize, at_end)
    return raw.view(d).reshape(shape)


if __name__ == "__main__":
    main()
