"""What large operands go through gives what small ones get: chunks, threads and pooled memory.

The limits are made small, so that the samples of every op, in all their dtypes and layouts, count
as large.
"""

import pkgutil
import sys
from importlib import import_module

import pytest

import mindtorch_core as torch
import mindtorch_cpu
from mindtorch_core.testing import LAYOUTS, BackendConformance, comparison
from mindtorch_core.testing.conformance.checks import tensors_of
from mindtorch_cpu import broadcasting, large, rows, short_rows, summation
from mindtorch_cpu import memory_pool as pool
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.ops import pointwise


class OnCPU(BackendConformance):
    """The samples of every op, for the CPU."""

    device = "cpu"
    __test__ = False


@pytest.fixture
def everything_is_large():
    """Two elements are many, and three fill a chunk. Modules took the limit over by value."""
    for found in pkgutil.walk_packages(mindtorch_cpu.__path__, "mindtorch_cpu."):
        import_module(found.name)
    with pytest.MonkeyPatch.context() as patch:

        def shrink():
            patch.setattr(KERNELS, "mode", "off")  # one made now would be checked with these limits
            KERNELS.wait()
            for name, module in sys.modules.items():
                for limit in ("LARGE", "SOME", "FEW", "FEW_IN_ROWS"):
                    if name.startswith("mindtorch_cpu.") and hasattr(module, limit):
                        patch.setattr(module, limit, 2)
                for block in ("BLOCK", "LONG_BLOCK"):
                    if name.startswith("mindtorch_cpu.") and hasattr(module, block):
                        patch.setattr(module, block, 6)
            patch.setattr(rows, "PIECE", 2)
            for limit in ("_GROUP", "_SHORT", "_PIECE", "_COPIED", "_FEW_SUMS"):
                patch.setattr(summation, limit, 2)
            patch.setattr(summation, "_BROAD", 4)
            patch.setattr(large, "_CHUNK", 3)
            patch.setattr(large, "_LONG", 3)
            patch.setattr(large, "_FAR", 4)
            patch.setattr(short_rows, "_MANY", 0)
            patch.setattr(broadcasting, "_LONG", 2)
            patch.setattr(broadcasting, "_BESIDE", 8)
            patch.setattr(pool, "LARGE", 8)  # bytes, of which it counts eighths

        yield shrink


def results(case):
    """Copies of a call's results, and how they lie, or the type of the error."""
    args, kwargs = case.sample.build("cpu")
    try:
        made = tensors_of(case.call(args, kwargs))
    except Exception as error:  # noqa: BLE001 (an op may refuse a layout, and does so twice)
        return type(error)
    return [(t.stride(), t.detach().clone()) for t in made]


# What is made of sums: losses, norms and normalizations, softmax and softmin, attention, biases of layers.
OF_SUMS = ("loss", "norm", "softm", "entropy", "attention", "recurrent")


def alike(case, found, wanted):
    """Whether results have the same strides and bits.

    Large sums are only close: they are made of sums of pieces, and softmaxes are not scaled where
    that is safe.
    """
    if isinstance(wanted, type):
        return found is wanted
    if [strides for strides, _ in found] != [strides for strides, _ in wanted]:
        return False
    pairs = [(a, b) for (_, a), (_, b) in zip(found, wanted, strict=True)]
    if "reduction" in case.op.tags or any(part in case.op.name for part in OF_SUMS):
        return all(torch.allclose(a, b, *tolerances(b), equal_nan=True) for a, b in pairs)
    return all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in pairs)


def tolerances(t):
    return comparison.default_tolerances(t.dtype)


def blocks():
    """How many results the pool has served."""
    stats = pool.POOL.stats()
    return stats["blocks_made"] + stats["blocks_reused"]


def cases():
    for case in OnCPU.cases("test_forward"):
        if not case.random and not case.op.traits.undefined:
            for layout in LAYOUTS:
                yield case.variant(layout)


@pytest.mark.slow
def test_every_op_gives_the_bits_that_small_operands_get(everything_is_large, monkeypatch):
    chunked = set()
    in_chunks = large.in_chunks

    def counted(ufunc, d, *arrays, **options):
        made = in_chunks(ufunc, d, *arrays, **options)
        if made is not None and made.size > 3:
            chunked.add((getattr(ufunc, "__name__", ""), d.name))
        return made

    wanted = [results(case) for case in cases()]
    for name, module in list(sys.modules.items()):
        if name.startswith("mindtorch_cpu.") and hasattr(module, "in_chunks"):
            monkeypatch.setattr(module, "in_chunks", counted)
    before = blocks()
    everything_is_large()
    pairs = zip(cases(), wanted, strict=True)
    unlike = [str(c) for c, want in pairs if not alike(c, results(c), want)]
    assert unlike == []
    assert blocks() > before
    known = {name for name, _ in chunked}
    assert known >= {"add", "exp", "greater", "maximum", "isnan", "_sigmoid", "_rounded"}
    assert {d for _, d in chunked} >= {"float32", "float64", "bfloat16", "int64", "bool"}


def test_threads_share_the_chunks(everything_is_large):
    everything_is_large()
    threads = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        x = torch.arange(1000.0)
        assert (x * 2 + 1).tolist() == [2 * i + 1.0 for i in range(1000)]
    finally:
        torch.set_num_threads(threads)


def test_threads_share_what_is_broadcast(everything_is_large, monkeypatch):
    everything_is_large()
    found = []

    def noted(*args):
        found.append(large.in_slabs(*args))
        return found[-1]

    monkeypatch.setattr(pointwise, "in_slabs", noted)
    threads = torch.get_num_threads()
    a = torch.arange(1.0, 61.0).reshape(5, 3, 4)
    operands = [a[:, :, :1], a[:, :1, :1].expand(5, 3, 4), a[0], a[0, 0], a[:1, :, :1]]
    try:
        for count in (1, 4):
            torch.set_num_threads(count)
            for b in operands:
                assert (a - b).tolist() == (a.numpy() - b.numpy()).tolist()
                assert (b / a).tolist() == (b.numpy() / a.numpy()).tolist()
        shared = [made is not None for made in found]
        half = len(shared) // 2
        assert shared == [False] * half + [True] * half
        assert (a.mT + a[:, :1, :1]).stride() == a.mT.stride()  # these lie otherwise
        assert found[-1] is None
    finally:
        torch.set_num_threads(threads)
