"""Transforms inside of ``no_grad``: what they return is not recorded, as in PyTorch."""

import contextlib

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

PROGRAMS = [
    "f.jvp(lambda a: a * w, (x,), (x,))", "f.jvp(t.sin, (w,), (x,))", "f.jacrev(t.sin)(w)", "f.jacfwd(t.sin)(w)",
    "f.jacfwd(lambda a: t.cat([a, a * a]))(w)", "f.jacfwd(t.sin, randomness='different')(w)", "f.hessian(sq)(w)",
    "f.grad_and_value(sq)(w)", "f.grad(lambda a: (a * w).sin().sum())(x)", "t.vmap(f.grad(lambda a: a**3))(w)",
    "f.grad(lambda a: (sq(a), a * w), has_aux=True)(x)", "pulled(f.vjp(t.sin, w))",
    "f.jvp(f.grad(sq), (w,), (x,))", "t.vmap(lambda v: f.jvp(t.sin, (w,), (v,))[1])(t.eye(3))",
    "f.jvp(lambda a: f.jvp(t.sin, (a * w,), (x,))[1], (x,), (x,))",
    "f.jacrev(lambda a: quiet(f.grad(lambda b: (a * b * b).sum()), a))(x)",
    "f.grad(lambda a: quiet(f.grad(lambda b: (b ** 3).sum()), a).sum())(x)",
]  # fmt: skip


def found(program, lib, context):
    def quiet(function, a):
        with lib.no_grad():
            return function(a)

    w = lib.ones(3, requires_grad=True)
    names = {"t": lib, "f": lib.func, "x": lib.arange(1.0, 4.0), "w": w, "quiet": quiet}
    names |= {"sq": lambda a: (a**3).sum(), "pulled": lambda pair: (pair[0], *pair[1](names["x"]))}
    with context(lib):
        made = eval(program, names)
    return [
        ([round(v, 3) for v in each.flatten().tolist()], each.requires_grad)
        for each in (made if isinstance(made, tuple) else (made,))
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "context", [lambda lib: lib.no_grad(), lambda lib: contextlib.nullcontext()]
)
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_pytorch(program, context):
    assert found(program, torch, context) == found(program, pt, context)


@pytest.mark.parametrize("lib", [torch, pt])
def test_where_a_vjp_is_computed_and_where_it_is_pulled(lib):
    w, x = lib.ones(3, requires_grad=True), lib.ones(3)
    with lib.no_grad():
        value, pull = lib.func.vjp(lib.sin, w)
    assert (value.requires_grad, pull(x)[0].requires_grad) == (False, True)
    value, pull = lib.func.vjp(lib.sin, w)
    with lib.no_grad():
        assert (value.requires_grad, pull(x)[0].requires_grad) == (True, False)
