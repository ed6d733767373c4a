"""Products and sums in small blocks that come again: functions of arrays, with the bits of eager calls."""

import contextlib

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.replay.sites import Site, forget_sites
from mindtorch_core.library import Library
from mindtorch_core.nn import functional as F
from mindtorch_cpu.straight import compiling

DTYPES = [torch.float32, torch.float64, torch.complex64, torch.bfloat16, torch.int64]
PRODUCTS = [
    ((2, 3), (3, 4)), ((1, 1), (1, 5)), ((5, 1), (1, 5)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)),
    ((0, 3), (3, 4)), ((2, 0), (0, 4)), ((2, 2, 3), (3, 4)), ((70, 64), (64, 80)), ((300, 2), (2, 300)),
]  # fmt: skip


@pytest.fixture
def sources(monkeypatch):
    """The texts of the functions that blocks are made into."""
    forget_sites()
    made = []

    class Kept(compiling.Executable):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self.source)

    monkeypatch.setattr(compiling, "Executable", Kept)
    return made


def draw(shape, d, turned=False):
    torch.manual_seed(len(shape))
    t = torch.randn(tuple(reversed(shape)) if turned else shape) * 3
    t = t.to(d)
    return t.permute(*range(t.ndim - 1, -1, -1)) if turned and shape else t


def agree(function, *operands):
    """Blocks that come again give what the eager call gives: bits, layout, dtype."""
    wanted = function(*operands)
    site = Site(object())
    for run in range(6):
        pipe = torch.pipeline()
        pipe.place = site
        with pipe:
            found = function(*operands)
        assert (found.shape, found.dtype, found.stride()) == (
            wanted.shape,
            wanted.dtype,
            wanted.stride(),
        )
        assert torch.equal(found, wanted)
        if found.dtype is not torch.bfloat16:
            assert found.numpy().flags.c_contiguous is wanted.numpy().flags.c_contiguous
        assert run < 4 or pipe.stats()["replayed"] or not wanted.numel()
        found.zero_()  # what is given is a tensor's own memory
        assert not found.any()


@pytest.mark.parametrize("d", DTYPES, ids=str)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_products(sources, shapes, turned, d):
    a, b = draw(shapes[0], d, turned), draw(shapes[1], d)
    agree(torch.matmul, a, b)
    if len(shapes[0]) == len(shapes[1]) == 2:
        agree(torch.mm, a, b.t().contiguous().t())


def test_not_a_number_times_zero(sources):
    nan = torch.full((1, 3), float("nan"))
    for zeros in (torch.zeros(1, 1), torch.zeros(1)):
        agree(lambda a, b: torch.matmul(a, b).isnan(), zeros, nan)
        agree(lambda a, b: torch.matmul(b, a).isnan(), zeros, nan.t())


@pytest.mark.parametrize("d", DTYPES, ids=str)
def test_matrices_that_lie_with_gaps(sources, d):
    v, m = draw((64,), d), draw((64, 80), d)
    agree(torch.matmul, v, m[:, ::2])
    agree(torch.matmul, m[:, ::2].t(), v)
    agree(torch.matmul, m.t()[::2], m[:, 1::2])


@pytest.mark.parametrize("d", DTYPES, ids=str)
@pytest.mark.parametrize("rows", [1, 3, 400])
def test_linear(sources, rows, d):
    x, w, b = draw((rows, 5), d), draw((90, 5), d), draw((90,), d)
    agree(F.linear, x, w, b)
    agree(F.linear, x, w)
    agree(F.linear, x[0], w, b)


@pytest.mark.parametrize("d", DTYPES, ids=str)
@pytest.mark.parametrize(
    "shape",
    [(), (7,), (3, 5), (2, 3, 4), (16, 9), (0, 3), (128, 40), (129, 40), (2, 64, 30)],
    ids=str,
)
def test_sums(sources, shape, d):
    for t in (draw(shape, d), draw(shape, d, turned=True)):
        agree(torch.sum, t)
        for dim in range(-len(shape), len(shape)):
            agree(lambda t, dim=dim: t.sum(dim), t)
            agree(lambda t, dim=dim: t.sum([dim], keepdim=True), t)
        agree(lambda t: t.sum(tuple(range(t.ndim)), True), t)
        agree(lambda t: t.sum(tuple(range(t.ndim - 1))), t)
        agree(lambda t: t.sum(tuple(range(t.ndim - 2, -1, -1)), True), t)
        agree(lambda t: t.sum(dtype=torch.complex128), t)


def test_what_a_step_of_few_numbers_calls(sources):
    a, b, m = draw((2,), torch.float32), draw((2,), torch.float32), draw((2, 2), torch.float32)
    agree(lambda a, b, m: (torch.tanh(a * b + a) @ m).sum(), a, b, m)
    agree(lambda x: x.neg().sum(0), draw((64, 30), torch.float32))
    assert len(sources) > 1
    assert not any("wrap(" in source for source in sources)


@pytest.mark.filterwarnings("ignore:Overriding a previously registered kernel")
def test_a_kernel_that_took_the_place_of_ours_is_called(sources):
    a, b = draw((2, 3), torch.float32), draw((3, 2), torch.float32)
    own = Library("aten", "IMPL")
    try:
        own.impl("mm", lambda a, b: torch.full((2, 2), 7.0), "CPU")
        agree(lambda a, b: torch.mm(a, b) + 1, a, b)
        assert torch.equal(torch.mm(a, b), torch.full((2, 2), 7.0))
    finally:
        own._destroy()


def test_what_came_before_an_error_is_computed(sources):
    a, b = draw((2, 3), torch.float32), draw((3, 2), torch.float32)
    kept = []

    def block(at):
        with torch.pipeline():
            kept.append(torch.mm(a, b).sum(0))
            kept.append(torch.index_select(a, 0, at))

    for at in (0, 1, 0, 1, 0, 5):
        kept.clear()
        with pytest.raises(torch.PipelineError) if at == 5 else contextlib.nullcontext():
            block(torch.tensor([at]))
        assert torch.equal(kept[0], torch.mm(a, b).sum(0))
