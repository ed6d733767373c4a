"""Ops are launched in groups, and out of order, only where nobody can tell.

Each program has an op that could join an earlier group by its shape and must not: something between,
or another element of the group, touches the memory it touches. Tiles have three elements, so that
running such a group would show.
"""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import DispatchKey, exclude_keys
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion import planning
from mindtorch_cpu.fusion.limits import LIMITS


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    """Plan and fuse tensors of a few elements, from no earlier plan."""
    monkeypatch.setattr(row_of("cpu").runtime, "planned_from", 1)
    monkeypatch.setattr(LIMITS, "min_elements", 4)
    monkeypatch.setattr(LIMITS, "tile_elements", 3)
    monkeypatch.setattr(planning, "_PLANS", planning._Plans(planning._PLANS._bound))


def operands():
    """Two square matrices, to be used and written."""
    return torch.arange(16.0).reshape(4, 4), torch.arange(16.0).reshape(4, 4) * 3


def check(program, make=operands):
    """Run a program eagerly and in a pipeline; returns the number of ops that were fused."""
    given, deferred = make(), make()
    wanted = program(*given)
    with torch.pipeline() as pipe:
        found = program(*deferred)
    for f, w in zip((*found, *deferred), (*wanted, *given), strict=True):
        np.testing.assert_array_equal(f.numpy(), w.numpy())
    return pipe.stats()["fused_ops"]


# ---- order between groups -----------------------------------------------------------------------


def independent(u, x):
    p = u * 2
    s = x.sum(0)
    q = u + 1
    x.add_(p)
    return p, s, q


def test_independent_ops_join_an_earlier_group():
    assert check(independent) == 2


def read_after_a_value_is_made(u, x):
    p = u * 2
    s = x.sum(0)
    q = u + s
    return p, q


def read_after_write(u, x):
    p = u * 2
    x[1:].add_(1)
    q = x * 3
    return p, q


def write_after_read(u, x):
    p = u * 2
    s = x.sum(0)
    x.add_(1)
    return p, s


def write_after_reads_in_two_groups(u, x):
    p = u * 2
    s = x.sum(0)
    q = x * 3
    x.add_(1)
    return p, s, q


def write_after_write(u, x):
    p = u * 2
    x[1:].fill_(5)
    x.zero_()
    return (p,)


def copy_after_write(u, x):
    p = u * 2
    x[1:].fill_(5)
    x.copy_(u)
    return (p,)


def write_after_read_of_a_view(u, x):
    p = u * 2
    s = x[1:].sum(0)
    x.mul_(2)
    return p, s


def number_that_is_late(u, x):
    s = x.sum()
    q = x * s
    return s, q


def row_sums_that_are_late(u, x):
    s = x.sum(-1)
    q = x * s
    return s, q


def rows_used_before_the_tiles_are_done(u, x):
    s = x.sum(-1, keepdim=True)
    t = s.t() * x
    return s, t


def sums_of_other_rows(u, x):
    y = x.reshape(2, 2, 4)
    s = y.sum(-1, keepdim=True)
    t = y.sum((-2, -1), keepdim=True)
    return s, t, y - s, y - t


def sums_of_more_rows(u, x):
    y = x.reshape(2, 2, 4)
    t = y.sum((-2, -1), keepdim=True)
    s = y.sum(-1, keepdim=True)
    return s, t


ORDERED = [
    read_after_a_value_is_made,
    read_after_write,
    write_after_read,
    write_after_reads_in_two_groups,
    write_after_write,
    copy_after_write,
    write_after_read_of_a_view,
    number_that_is_late,
    row_sums_that_are_late,
    rows_used_before_the_tiles_are_done,
    sums_of_other_rows,
    sums_of_more_rows,
]


@pytest.mark.parametrize("program", ORDERED, ids=lambda p: p.__name__)
def test_an_op_stays_behind_what_it_depends_on(program):
    check(program)


# ---- inside a group -----------------------------------------------------------------------------


def transposed_read_after_write(u, x):
    y = x.t()
    x.add_(u)
    return (y * 2,)


def transposed_write_after_read(u, x):
    y = x.t()
    p = x * 2
    y.add_(u)
    return (p,)


def transposed_write_after_write(u, x):
    y = x.t()
    x.add_(u)
    y.copy_(u)
    x.mul_(2)
    return ()


def shifted_read_after_write(u, x):
    flat = x.view(-1)
    head, tail = flat[:-1], flat[1:]
    head.add_(1)
    return (tail * 2,)


def shifted_write_after_read(u, x):
    flat = x.view(-1)
    head, tail = flat[:-1], flat[1:]
    p = head * 2
    tail.add_(1)
    return (p,)


INSIDE = [
    transposed_read_after_write,
    transposed_write_after_read,
    transposed_write_after_write,
    shifted_read_after_write,
    shifted_write_after_read,
]


@pytest.mark.parametrize("program", INSIDE, ids=lambda p: p.__name__)
def test_a_group_touches_memory_at_the_same_places_only(program):
    check(program)


def test_the_same_places_are_one_group():
    def program(u, x):
        p = x * 2
        x.add_(p)
        q = x * u
        x.mul_(q)
        return p, q

    assert check(program) == 4


@pytest.mark.parametrize("shift", [1, -1])
def test_an_op_that_overlaps_itself_runs_alone(shift):
    def program(u, x):
        flat = x.view(-1)
        written, read = (flat[1:], flat[:-1]) if shift > 0 else (flat[:-1], flat[1:])
        with exclude_keys(DispatchKey.ADInplaceOrView):  # which refuses it
            written.add_(read)
        return (written * 2,)

    check(program)


# ---- memory that two arrays of the user's share -------------------------------------------------


def overlapping(start, other, count=12):
    """Tensors over parts of one array, with no storage in common."""
    array = np.arange(40, dtype=np.float32)
    x, y = (torch.from_numpy(array[at : at + count].reshape(3, -1)) for at in (start, other))
    return x, y


def write_then_read(x, y):
    x.add_(1)
    return (y * 2,)


def read_then_write(x, y):
    z = y * 2
    x.add_(1)
    return (z,)


def write_in_an_earlier_group(x, y):
    u = torch.ones(3, 4)
    p = u * 2
    s = y.sum(0)
    x.add_(1)
    return p, s


def read_in_an_earlier_group(x, y):
    u = torch.ones(3, 4)
    p = u * 2
    x[1:].add_(1)
    q = y * 2
    return p, q


@pytest.mark.parametrize("others", [(0, 1), (1, 0), (0, 4), (4, 0), (0, 0)])
@pytest.mark.parametrize(
    "program",
    [write_then_read, read_then_write, write_in_an_earlier_group, read_in_an_earlier_group],
    ids=lambda p: p.__name__,
)
def test_arrays_that_overlap_unseen_keep_the_order(program, others):
    check(program, lambda: overlapping(*others))


def test_arrays_side_by_side_are_fused():
    assert check(write_then_read, lambda: overlapping(0, 12)) == 2
    assert check(read_then_write, lambda: overlapping(20, 8)) == 2


def test_arrays_that_overlap_and_are_only_read_are_fused():
    def program(x, y):
        z = x * 2 + y
        z.add_(1)
        return (z,)

    assert check(program, lambda: overlapping(0, 1)) == 3


def test_all_parts_of_an_array_that_a_program_uses_count():
    def make():
        array = np.arange(40, dtype=np.float32)
        x = torch.from_numpy(array[:24])
        return x[:12].view(3, 4), x[12:].view(3, 4), torch.from_numpy(array[13:25].reshape(3, 4))

    def program(head, tail, y):
        tail.add_(1)
        z = y * 2
        return z, head * 3

    check(program, make)


def test_a_written_array_inside_a_larger_one_that_is_read_is_found():
    def make():
        array = np.arange(40, dtype=np.float32)
        whole = torch.from_numpy(array[:36].reshape(3, 12))
        parts = [torch.from_numpy(array[at : at + 6].reshape(3, 2)) for at in (0, 8, 16)]
        return whole, *parts

    def program(whole, a, b, c):
        p = a * 2
        s = whole.sum(0)
        c.add_(b)
        return p, s

    check(program, make)


# ---- what is element-wise -----------------------------------------------------------------------


def test_copies_fills_and_conversions_are_fused():
    def program(u, x):
        u.copy_(x)
        u.add_(1)
        c = u.clone()
        d = c.to(torch.float64)
        e = torch.ops.aten.threshold_backward(u, x, 2)
        u.zero_()
        x.fill_(3)
        return c, d, e

    assert check(program) == 7


def test_a_kernel_of_somebody_else_is_not_fused():
    def total(self):
        return torch.from_numpy(self.numpy() * 0 + self.numpy().sum())

    def program(u, x):
        p = u * 2
        q = p.abs()
        return q, q + 1

    assert check(program) == 3
    with registry.scope():
        registry.register_kernel("abs", "cpu", total)
        assert check(program) == 0
    assert check(program) == 3


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
def test_ops_that_refuse_integers_are_fused_on_other_dtypes(dtype):
    def make():
        return tuple(t.to(dtype) + 1 for t in operands())

    def program(u, x):
        p = u % x
        q = torch.div(u, x, rounding_mode="floor")
        return p, q, p * q

    assert check(program, make) == (3 if dtype is torch.float32 else 0)


# ---- plans that are used again ------------------------------------------------------------------


def apart(offset):
    """Two tensors with memory of their own."""
    return torch.arange(13.0)[:12], torch.arange(13.0)[offset : offset + 12]


def together(offset):
    """Two tensors over one memory."""
    base = torch.arange(13.0)
    return base[:12], base[offset : offset + 12]


@pytest.mark.parametrize("program", [write_then_read, read_then_write], ids=lambda p: p.__name__)
@pytest.mark.parametrize(
    ("first", "second"),
    [(lambda: apart(1), lambda: together(1)), (lambda: together(0), lambda: together(1))],
    ids=["memory", "places"],
)
def test_a_grouping_is_used_again_for_the_same_aliasing_only(program, first, second):
    assert check(program, first) == 2
    assert check(program, second) == 0
    assert check(program, first) == 2


# ---- numbers that an op refuses -----------------------------------------------------------------


@pytest.mark.parametrize(
    "refused",
    [lambda y: y.fill_(300), lambda y: y.clamp(-3000, 3), lambda y: y.clamp_(max=300)],
    ids=["fill_", "clamp", "clamp_"],
)
def test_a_number_that_does_not_fit_is_refused_when_it_is_recorded(refused):
    x = torch.ones(4, 4, dtype=torch.uint8)
    with torch.pipeline():
        y = x + 1
        with pytest.raises(RuntimeError, match="cannot be converted to type uint8") as failure:
            refused(y)
        z = y * 2
    assert not isinstance(failure.value, torch.PipelineError)
    assert (z == 4).all()
