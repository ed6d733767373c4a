"""Convolutions by compiled kernels and by products agree with PyTorch, in all geometries, dtypes and layouts."""

import itertools
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu.native import compiler, synchronous
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.planes import Plane, PlaneGradient
from mindtorch_cpu.native.sliding import Gradient, Product, Turn
from mindtorch_cpu.ops import convolution, sliding_products
from mindtorch_cpu.processor import first_cache

pt = pytest.importorskip("torch")

GEOMETRIES = list(
    itertools.product(
        (1, 2, 3),  # dimensions
        (1, 2, 3),  # stride
        (0, 1, 4),  # padding
        (1, 2),  # dilation
        ((8, 8, 1), (8, 12, 4), (5, 5, 5), (6, 12, 6)),  # channels, filters, groups
        (False, True),  # transposed
    )
)


def failures():
    """What could not be compiled, but for sums of rows that BLAS makes in another order, as by AVX-512."""
    return {k: n for k, n in KERNELS.failures.items() if "NumPy adds in another order" not in k}


@pytest.fixture(params=["kernels", "products"])
def how(request, monkeypatch):
    """Convolutions of any size by compiled kernels, and by NumPy's products."""
    torch.zeros(1)
    if request.param == "products":
        monkeypatch.setattr(KERNELS, "mode", "off")
    elif not synchronous.available():
        pytest.skip(str(compiler.ready()))
    monkeypatch.setattr(convolution, "_WORTH", 0)
    before = failures()
    yield request.param
    assert failures() == before


@pytest.fixture
def kernels(monkeypatch):
    """Convolutions of any size by compiled kernels."""
    torch.zeros(1)
    if not synchronous.available():
        pytest.skip(str(compiler.ready()))
    monkeypatch.setattr(convolution, "_WORTH", 0)


def leaf(*shape, dtype=None, seed=0):
    drawn = np.random.default_rng(seed).normal(0, 1, shape)
    return pt.from_numpy(drawn).to(dtype or pt.float64).requires_grad_()


def here(t):
    d = getattr(torch, str(t.dtype).removeprefix("torch."))
    return torch.from_numpy(t.detach().double().numpy()).to(d).requires_grad_(t.requires_grad)


def compared(run, *leaves, tolerance=1e-12, layout=lambda t: t):
    """Results and gradients of both libraries agree, measured by the largest number."""
    mine = [layout(here(t)).detach().requires_grad_() for t in leaves]
    wanted, found = run(pt, *leaves), run(torch, *mine)
    g = leaf(*wanted.shape, dtype=wanted.dtype, seed=9).detach()
    theirs = [wanted, *pt.autograd.grad(wanted, leaves, g)]
    ours = [found, *torch.autograd.grad(found, mine, layout(here(g)))]
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape
        b = b.detach().double().numpy()
        gap = np.abs(a.detach().double().numpy() - b).max(initial=0)
        assert gap <= tolerance * max(np.abs(b).max(initial=0), 1)


def operands(n, channels, dtype=None, batch=3, sizes=(19, 17, 9), kernel=(3, 2, 3)):
    c, filters, groups, transposed = channels
    per = (c, filters // groups) if transposed else (filters, c // groups)
    x = leaf(batch, c, *sizes[-n:], dtype=dtype)
    return x, leaf(*per, *kernel[:n], dtype=dtype, seed=1), leaf(filters, dtype=dtype, seed=2)


@pytest.mark.parametrize("case", GEOMETRIES[::13], ids=str)
def test_every_geometry(how, case):
    n, stride, padding, dilation, (c, filters, groups), transposed = case
    extra = [1] * n if transposed and max(stride, dilation) > 1 and padding else [0] * n
    numbers = [stride] * n, [padding] * n, [dilation] * n, transposed, extra, groups
    leaves = operands(n, (c, filters, groups, transposed))
    try:
        empty = 0 in pt.convolution(*leaves, *numbers).shape
    except RuntimeError:
        empty = True
    if empty:
        with pytest.raises(RuntimeError):
            torch.convolution(*map(here, leaves), *numbers)
        return
    compared(lambda lib, x, w, b: lib.convolution(x, w, b, *numbers), *leaves)


@pytest.mark.parametrize("groups", [8, 9, 21])
@pytest.mark.parametrize("threads", [1, 2])
def test_many_groups(how, groups, threads):
    """Threads take some groups at a time, of which the last may have fewer."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    x, w = leaf(3, 2 * groups, 11, 9), leaf(3 * groups, 2, 3, 3, seed=1)
    compared(
        lambda lib, *t: lib.nn.functional.conv2d(*t, padding=1, groups=groups),
        x, w, leaf(3 * groups, seed=2),
    )  # fmt: skip
    torch.set_num_threads(before)


@pytest.mark.parametrize("width", [1, 3, 15, 16, 17, 33, 70])
@pytest.mark.parametrize("groups", [1, 4])
def test_tails_of_vectors(how, width, groups):
    """Widths around the number of elements of a vector; filters that do not fill a block of rows."""
    for d, tolerance in ((pt.float32, 3e-6), (pt.float64, 1e-13)):
        x = leaf(2, 4, 5, width, dtype=d)
        w = leaf(11 if groups == 1 else 12, 4 // groups, 3, 3, dtype=d, seed=1)
        compared(
            lambda lib, x, w: lib.nn.functional.conv2d(x, w, padding=1, groups=groups),
            x, w, tolerance=20 * tolerance,
        )  # fmt: skip


@pytest.mark.parametrize("d", [pt.float16, pt.bfloat16])
@pytest.mark.parametrize("groups", [1, 8])
def test_half_precision_is_rounded_once(how, d, groups):
    x, w = leaf(2, 8, 9, 9, dtype=d), leaf(8, 8 // groups, 3, 3, dtype=d, seed=1)
    made = F.conv2d(here(x), here(w), padding=1, groups=groups)
    exact = pt.nn.functional.conv2d(x.double(), w.double(), padding=1, groups=groups)
    wanted = exact.to(d).detach().double().numpy()
    gap = np.abs(made.detach().double().numpy() - wanted)
    assert made.dtype is getattr(torch, str(d).removeprefix("torch."))
    assert (gap <= np.abs(wanted) * pt.finfo(d).eps + 1e-5).all()


LAYOUTS = {
    "channels last": lambda t: t.to(memory_format=torch.channels_last) if t.ndim == 4 else t,
    "every other": lambda t: torch.stack([t, t], -1)[..., 0],
    "turned": lambda t: t.transpose(0, -1).contiguous().transpose(0, -1),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("groups", [1, 8])
def test_operands_that_lie_otherwise(how, name, groups):
    leaves = operands(2, (8, 8, groups, False))
    compared(
        lambda lib, x, w, b: lib.nn.functional.conv2d(x, w, b, 2, 1, 1, groups),
        *leaves, layout=LAYOUTS[name],
    )  # fmt: skip


def test_padding_beyond_the_filter_and_pointwise(how):
    for shape, options in (((6, 8, 1, 1), {}), ((6, 4, 1, 1), {"groups": 2}), ((6, 8, 1, 1), {"stride": 2}),
                           ((6, 8, 1, 1), {"padding": 1}), ((6, 8, 2, 2), {"padding": 5}),
                           ((8, 1, 2, 2), {"padding": 5, "groups": 8}),
                           ((8, 1, 9, 9), {"padding": 4, "groups": 8})):  # fmt: skip
        compared(
            lambda lib, x, w, options=options: lib.nn.functional.conv2d(x, w, **options),
            leaf(2, 8, 9, 11), leaf(*shape, seed=1),
        )  # fmt: skip


@pytest.mark.parametrize("width", [15, 16, 17, 31, 33, 64, 65, 70])
@pytest.mark.parametrize("stride", [2, 3])
def test_long_lines_of_each_channel(kernels, stride, width):
    compared(
        lambda lib, x, w: lib.nn.functional.conv2d(x, w, stride=stride, padding=1, groups=3),
        leaf(2, 3, 5, width), leaf(3, 1, 3, 3, seed=1),
    )  # fmt: skip


@pytest.mark.parametrize("groups", [1, 4])
def test_numbers_that_are_none_stay_where_windows_see_them(how, groups):
    """NaN and infinity reach the results whose windows hold them, and no others."""
    x, w = leaf(2, 4, 7, 6), leaf(4, 4 // groups, 3, 3, seed=1)
    with pt.no_grad():
        x[0, 1, 0, 0] = float("inf")
        x[1, 2, 3, 5] = float("nan")
        x[1, 3, 6, 5] = -float("inf")
    for stride in (1, 2):
        made = []
        for lib, a, b in ((pt, x, w), (torch, here(x), here(w))):
            y = lib.nn.functional.conv2d(a, b, padding=1, stride=stride, groups=groups)
            made.append([y, *lib.autograd.grad(y, (a, b), lib.ones_like(y))])
        for wanted, found in zip(*made, strict=True):
            np.testing.assert_allclose(
                found.detach().numpy(), wanted.detach().numpy(), rtol=1e-9, atol=1e-9
            )


def test_gradients_by_finite_differences_to_second_order(kernels):
    for groups in (1, 2):
        x = here(leaf(1, 2, 4, 5))
        w = here(leaf(2, 2 // groups, 3, 2, seed=1))

        def run(x, w, groups=groups):
            return F.conv2d(x, w, stride=(1, 2), padding=1, dilation=(2, 1), groups=groups)

        assert torch.autograd.gradcheck(run, (x, w))
        assert torch.autograd.gradgradcheck(run, (x, w))


def results(x, w, groups):
    y = F.conv2d(x, w, padding=1, groups=groups)
    return [y, *torch.autograd.grad(y, (x, w), y.detach())]


@pytest.mark.parametrize(("groups", "images"), [(1, 5), (16, 5), (1, 75)])
def test_the_same_bits_in_pipelines_threads_and_at_every_call(kernels, groups, images):
    threads = torch.get_num_threads()
    x = torch.randn(images, 16, 23, 21).requires_grad_()
    w = torch.randn(16, 16 // groups, 3, 3).requires_grad_()
    first = results(x, w, groups)
    try:
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            with torch.pipeline():
                planned = results(x, w, groups)
            for a, b, c in zip(first, planned, results(x, w, groups), strict=True):
                assert torch.equal(a, b)
                assert torch.equal(a, c)
    finally:
        torch.set_num_threads(threads)
    one_by_one = [results(x[i : i + 1], w, groups)[2].double() for i in range(images)]
    torch.testing.assert_close(first[2].double(), sum(one_by_one), rtol=1e-4, atol=2e-2)


def test_kernels_are_used_from_a_size_on(monkeypatch):
    torch.zeros(1)
    if not synchronous.available():
        pytest.skip(str(compiler.ready()))
    asked = []
    served = synchronous.served
    for module in ("sliding_products", "plane_convolution"):
        monkeypatch.setattr(
            f"mindtorch_cpu.ops.{module}.served", lambda kind: asked.append(kind) or served(kind)
        )
    F.conv2d(torch.randn(1, 8, 8, 8), torch.randn(8, 8, 3, 3))
    assert not asked
    F.conv2d(torch.randn(4, 64, 30, 30), torch.randn(64, 64, 3, 3))
    F.conv2d(torch.randn(4, 64, 100, 100), torch.randn(64, 1, 3, 3), groups=64)
    assert [type(kind).__name__ for kind in asked] == ["Product", "Plane"]


@pytest.mark.parametrize("groups", [1, 2])
def test_rows_that_are_gone_through_in_parts_are_added_up_in_the_same_order(
    kernels, monkeypatch, groups
):
    x, w = (
        torch.randn(3, 60, 14, 14).requires_grad_(),
        torch.randn(70, 60 // groups, 3, 3).requires_grad_(),
    )
    made = []
    for rows, copied in ((1, 1 << 20), (7, 1 << 20), (1 << 20, 1 << 20), (1, 1)):
        monkeypatch.setattr(sliding_products, "_ROWS", rows)
        monkeypatch.setattr(sliding_products, "_SCATTERED", copied)
        made.append(results(x, w, groups))
    for other in made[1:]:
        for a, b in zip(made[0], other, strict=True):
            assert torch.equal(a, b)


def test_what_cannot_be_compiled_is_left_to_products_for_good(kernels, monkeypatch):
    def fail(text):
        raise RuntimeError("no room for code")

    monkeypatch.setattr(synchronous, "_MADE", {})
    monkeypatch.setenv("MINDTORCH_KERNEL_CACHE", "")
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "compiled", fail)
        x, w = torch.randn(2, 8, 30, 30).requires_grad_(), torch.randn(8, 8, 3, 3).requires_grad_()
        first = results(x, w, 1)
    for a, b in zip(first, results(x, w, 1), strict=True):
        assert torch.equal(a, b)
    assert KERNELS.failures.pop("RuntimeError: no room for code")


@pytest.mark.parametrize(
    "kind",
    [
        Product("f4", 8, 3), Product("f8", 3, 2), Gradient("f4", 6, 4), Gradient("f8", 8, 1), Turn("f4"),
        Plane("f4", 9, 2, 1, 1), Plane("f8", 4, 1, 2, 1), Plane("f4", 3, 1, 1, 3),
        PlaneGradient("f4", 9, 1), PlaneGradient("f8", 4, 3),
    ],
    ids=str,
)  # fmt: skip
def test_a_kernel_that_computes_otherwise_is_never_used(kernels, monkeypatch, kind):
    monkeypatch.setattr(synchronous, "_MADE", {})
    monkeypatch.setenv("MINDTORCH_KERNEL_CACHE", "")
    before = failures()
    assert synchronous.served(kind) is not None
    assert failures() == before
    synchronous._MADE.clear()
    text = compiler.compiled
    monkeypatch.setattr(compiler, "compiled", lambda source: text(broken(source)))
    assert synchronous.served(kind) is None
    assert synchronous.served(kind) is None
    assert KERNELS.failures.pop(f"{kind} does not agree with NumPy") == 1


def broken(source):
    """The text of a kernel that takes the wrong operand somewhere."""
    if "fmuladd" not in source:
        return source.replace("i32 0, i32", "i32 1, i32", 1)
    return re.sub(r"(call <\d+ x \w+> @llvm.fmuladd\S*\()(<.*?>) (%\w+), <.*?> (%\w+), ",
                  r"\1\2 \3, \2 \3, ", source, count=1)  # fmt: skip


def test_without_llvmlite_products_serve():
    text = (
        "import sys; sys.modules['llvmlite'] = sys.modules['llvmlite.binding'] = None\n"
        "import mindtorch_core as torch\n"
        "x, w = torch.ones(2, 64, 30, 30), torch.ones(64, 64, 3, 3)\n"
        "assert (torch.nn.functional.conv2d(x, w) == 576).all()\n"
        "assert (torch.nn.functional.conv2d(x, w[:, :1], groups=64) == 9).all()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("how", ["kernels"], indirect=True)
def test_sums_are_the_same_wherever_a_first_level_cache_ends(how, monkeypatch):
    x, w = torch.randn(2, 288, 9, 9), torch.randn(40, 288, 3, 3)
    made = []
    for size in (1 << 12, 1 << 14, 1 << 15):
        monkeypatch.setattr(sliding_products, "_PLACE", size)
        made.append(F.conv2d(x, w, padding=1))
    assert torch.equal(made[0], made[1])
    assert torch.equal(made[0], made[2])


@pytest.mark.parametrize(
    ("told", "found"),
    [({"index0": ("1", "Data", "48K"), "index1": ("1", "Instruction", "64K")}, 48 << 10),
     ({"index0": ("1", "Instruction", "64K"), "index1": ("1", "Unified", "24K")}, 24 << 10),
     ({"index0": ("2", "Data", "512K")}, 32 << 10), ({"index0": ("1", "Data", "")}, 32 << 10), ({}, 32 << 10)],
)  # fmt: skip
def test_what_linux_tells_of_the_first_cache(tmp_path, told, found):
    for index, texts in told.items():
        folder = tmp_path / "cache" / index
        folder.mkdir(parents=True)
        for name, text in zip(("level", "type", "size"), texts, strict=True):
            (folder / name).write_text(f"{text}\n", encoding="utf-8")
    assert first_cache(tmp_path) == found
