"""Samples whose memory is shown and written by strides, and gradients of what was written in place."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def through_a_slice(lib):
    a = lib.arange(1.0, 4.0).requires_grad_()
    y = lib.zeros(6)
    y[:3] = a * a
    return lib.vmap(lambda d: lib.autograd.grad(y, a, d, retain_graph=True)[0])(lib.eye(6))


def back_through_a_slice(lib):
    a = lib.arange(1.0, 4.0).requires_grad_()
    y = lib.zeros(2, 3)
    y.t()[:, 1] = a * 2
    c = lib.zeros(2, 3).requires_grad_()
    (p,) = lib.autograd.grad(y, a, c, create_graph=True)
    return lib.vmap(lambda d: lib.autograd.grad(p, c, d, retain_graph=True)[0])(lib.eye(3))


def written_by_jacrev(lib):
    def f(a):
        y = a.new_zeros(2, 3)
        y[1] = a.sin()
        y[0, ::2] = a[:2] * a[2]
        return y.mul_(2)

    return lib.func.jacrev(f)(lib.arange(1.0, 4.0)), lib.func.jacrev(lib.func.jacrev(f))(
        lib.arange(1.0, 4.0)
    )


def gradients_of_strides(lib):
    b = lib.arange(6.0).requires_grad_()
    z = lib.as_strided(b, (2, 2), (2, 1), 1)
    overlapping = lib.as_strided(b, (3, 2), (1, 1))
    seeds = lib.arange(8.0).reshape(2, 2, 2)
    return [
        lib.vmap(lambda d: lib.autograd.grad(z, b, d, retain_graph=True)[0])(seeds),
        lib.vmap(lambda d: lib.autograd.grad(overlapping, b, d, retain_graph=True)[0])(
            lib.arange(12.0).reshape(2, 3, 2)
        ),
    ]


def shown(lib):
    rows = lib.arange(8.0).reshape(2, 4)
    return lib.vmap(lambda r: (lib.as_strided(r, (2, 2), (1, 1), 0), r.as_strided((2,), (2,))))(
        rows
    )


def written(lib):
    def f(r):
        y = r.t().clone()
        y.as_strided((2,), (2,), 1).mul_(3)
        z = lib.zeros_like(r)
        z.as_strided((2,), (3,)).copy_(r[0, :2])
        return y, z

    return lib.vmap(f)(lib.arange(12.0).reshape(2, 2, 3))


def with_strides(lib):
    def f(r):
        y = r.new_empty_strided((2, 2), (1, 2)).copy_(r.reshape(2, 2))
        return y * 1, lib.tensor(y.stride())

    return lib.vmap(f, in_dims=1)(lib.arange(12.0).reshape(4, 3))


@pytest.mark.filterwarnings("error:There is a performance drop")
@pytest.mark.parametrize(
    "program",
    [
        through_a_slice, back_through_a_slice, written_by_jacrev, gradients_of_strides, shown, written,
        with_strides,
    ],
)  # fmt: skip
def test_as_pytorch(program):
    ours, theirs = program(torch), program(pt)
    for a, b in zip(*([t] if hasattr(t, "shape") else t for t in (ours, theirs)), strict=True):
        pt.testing.assert_close(pt.tensor(a.tolist()), b.detach())
