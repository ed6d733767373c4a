"""Compiled kernels on arrays of every length and layout: tails, broadcasting, strides, in place, rows."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.native.reference import probes, same


def tensor(*shape, code="f4", seed=1):
    return torch.from_numpy(np.asarray(probes(code, seed, int(np.prod(shape))))).reshape(shape)


def chain(x, y):
    made = (x + y).relu() * y
    return made, torch.where(made > 0.5, made.tanh(), x), made.double() - 1, x > y


def check(both, group, **notes):
    found, wanted, counted = both(group)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        assert one.stride() == other.stride()
        assert same(one.numpy(), other.numpy())
    assert counted == (notes or {"compiled": 1})


@pytest.mark.parametrize("start", [0, 1, 3])
def test_every_length_with_its_tail(both, start):
    for n in (*range(1, 71), 2047, 2048, 2049, 4096, 70_000):
        x, y = tensor(n + start)[start:], tensor(n + start, seed=2)[start:]
        check(both, lambda: chain(x, y))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 5, 70), (70,)),
        ((3, 5, 70), (5, 1)),
        ((3, 1, 70), (1, 5, 1)),
        ((1,), (33, 65)),
        ((), (129,)),
        ((700, 3), (3,)),
        ((2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2), (2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2)),
    ],
)
def test_broadcasting(both, left, right):
    x, y = tensor(*left), tensor(*right, seed=2)
    wide = torch.broadcast_to(x, torch.broadcast_shapes(left, right)).clone()
    deep = wide.dim() > 9
    notes = {"in tiles: memory that lies in a way that programs do not have": 1} if deep else {}
    check(both, lambda: (wide * y, (wide + y).exp(), (wide - y).abs()), **notes)


LAYOUTS = {
    "every other": lambda t: t[:, ::2],
    "backwards in memory": lambda t: t.t(),
    "a window": lambda t: t[3:20, 5:40],
    "one column": lambda t: t[:, 3],
    "rows and a stride": lambda t: t[::3, 1::2],
    "another order": lambda t: t.reshape(6, 10, 70).permute(2, 0, 1),
    "the same again": lambda t: t[:1].expand(50, 70),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_strides(both, name):
    view = LAYOUTS[name]
    x, y = view(tensor(60, 70)), view(tensor(60, 70, seed=2))
    check(both, lambda: chain(x, y))


@pytest.mark.parametrize("name", [n for n in LAYOUTS if n != "the same again"])
def test_in_place_through_a_view(both, name):
    def group():
        memory, y = tensor(60, 70), LAYOUTS[name](tensor(60, 70, seed=2))
        x = LAYOUTS[name](memory)
        x.mul_(y).add_(1.5)
        seen = x.tanh()
        x.clamp_(min=0.25)
        return memory, seen

    check(both, group)


def test_writes_to_what_is_read_in_another_way_are_in_order(both):
    def group():
        memory = tensor(500)
        left, right = memory[:-1], memory[1:]
        a = left * 2 + right
        left.mul_(0.5)
        right.sub_(1)
        return memory, a, left - right

    found, wanted, _ = both(group)
    for one, other in zip(found, wanted, strict=True):
        assert same(one.numpy(), other.numpy())


def test_results_that_are_written_again_and_dropped(both):
    def group():
        x, y = tensor(3000), tensor(3000, seed=2)
        a = x + y
        b = a * 2
        a.mul_(3)
        c = a.detach()
        c.sub_(b)
        for _ in range(5):
            b = b * 0.5 + a
        return a, b

    check(both, group, compiled=2)


def rows(x, w):
    e = (x - x.amax(-1, keepdim=True)).exp()
    mean = x.sum(-1, keepdim=True) * (1 / x.shape[-1])
    factor = 1 / (((x - mean) * (x - mean)).sum(-1, keepdim=True) + 1e-5).sqrt()
    return (
        e / e.sum(-1, keepdim=True), (x - mean) * factor * w, factor, x.sum(-1), (x * 2).amin(-1), mean,
    )  # fmt: skip


@pytest.mark.parametrize("code", ["f4", "f8"])
@pytest.mark.parametrize(
    "shape", [(600, 64), (40, 1000), (6, 30, 500), (20, 3000), (600, 63), (40, 1031), (3, 20_000)]
)
def test_rows_are_reduced_as_they_are_eagerly(both, shape, code):
    x, w = tensor(*shape, code=code), tensor(shape[-1], code=code, seed=2)
    found, wanted, _ = both(lambda: rows(x, w))
    for one, other, third in zip(found, wanted, rows(x, w), strict=True):
        assert same(one.numpy(), other.numpy())
        assert same(one.numpy(), third.numpy())


def test_a_sum_of_all_is_that_of_tiles(both):
    x = torch.rand(300, 700)
    found, wanted, _ = both(lambda: ((x * x).sum(), (x + 1).exp().amax()))
    assert [t.item() for t in found] == [t.item() for t in wanted]


@pytest.mark.parametrize("threads", [1, 3])
def test_in_several_threads(both, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        x, y = tensor(1 << 18), tensor(1 << 18, seed=2)
        check(both, lambda: chain(x, y))
        check(both, lambda: rows(x.reshape(-1, 512), y[:512])[:1])
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("width", [1, 5, 63, 64, 200, 5000])
@pytest.mark.parametrize("reduce", ["sum", "mean", "amax"])
def test_reduced_rows_of_every_width_are_compiled(both, reduce, width):
    """In one pass, or tile by tile where no program adds up rows of a width."""

    def group():
        x = tensor(70_000 // width, width).abs().add(1).clamp(max=100)
        y = x * 2
        s = getattr(y, reduce)(-1, keepdim=True)
        return y / s, s

    check(both, group)
