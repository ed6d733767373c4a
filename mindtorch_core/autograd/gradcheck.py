"""Comparing gradients with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..dispatch.keys import AUTOGRAD
from ..dtypes import float64
from ..tensor import Tensor
from .engine import grad
from .grad_mode import no_grad

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A gradient differs from the finite difference."""


def _outputs(result: Any) -> list[Tensor]:
    outs = list(result) if isinstance(result, tuple | list) else [result]
    return [t for t in outs if isinstance(t, Tensor) and t._dtype.is_floating_point]


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare gradients of ``func`` at ``inputs`` with central differences, element by element.

    Args:
        func: takes the inputs, returns a tensor or a tuple of them.
        inputs: arguments; those that require grad are checked and must be float64.
        eps: step of the differences.
        atol: absolute tolerance.
        rtol: relative tolerance.
        raise_exception: raise on a mismatch instead of returning False.

    Raises:
        GradcheckError: on a mismatch; the text gives both values.
        ValueError: if no input requires grad, or one is not float64.
    """
    args = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    checked = [i for i, a in enumerate(args) if isinstance(a, Tensor) and a._keys & AUTOGRAD]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )
    for i in checked:
        if args[i]._dtype is not float64:
            raise ValueError(f"gradcheck needs float64 inputs, but input {i} is {args[i]._dtype}")
    outs = _outputs(func(*args))
    for k, out in enumerate(outs):
        if not out._keys & AUTOGRAD:
            analytic = {i: [[0.0] * out.numel() for _ in range(args[i].numel())] for i in checked}
        else:
            analytic = _analytic(out, [args[i] for i in checked], checked)
        for i in checked:
            problem = _compare(func, args, i, k, analytic[i], eps, atol, rtol)
            if problem:
                if raise_exception:
                    raise GradcheckError(problem)
                return False
    return True


def _analytic(out: Tensor, wanted: list[Tensor], at: list[int]) -> dict[int, list[list[float]]]:
    """Jacobian by backward: [input element][output element]."""
    n = out.numel()
    columns: dict[int, list[list[float]]] = {i: [] for i in at}
    for j in range(n):
        with no_grad():
            seed = out.new_zeros((n,))
            seed[j] = 1.0
            seed = seed.reshape(out._shape)
        found = grad(out, wanted, seed, retain_graph=True, allow_unused=True)
        for i, t, g in zip(at, wanted, found, strict=True):
            columns[i].append(
                [0.0] * t.numel() if g is None else g.detach().contiguous().reshape(-1).tolist()
            )
    return {
        i: [list(row) for row in zip(*c, strict=True)] if c and c[0] else []
        for i, c in columns.items()
    }


def _compare(
    func: Callable[..., Any],
    args: list[Any],
    i: int,
    k: int,
    analytic: list[list[float]],
    eps: float,
    atol: float,
    rtol: float,
) -> str:
    """What is wrong with the gradient of output ``k`` for input ``i``; empty if nothing."""
    with no_grad():
        base = args[i].detach().clone()
        flat = base.contiguous().reshape(-1).tolist()
        for e in range(len(flat)):
            values = []
            for step in (eps, -eps):
                moved = list(flat)
                moved[e] += step
                t = base.new_zeros((len(flat),))
                for index, v in enumerate(moved):
                    t[index] = v
                replaced = [*args[:i], t.reshape(base._shape), *args[i + 1 :]]
                values.append(_outputs(func(*replaced))[k].contiguous().reshape(-1).tolist())
            for o, (up, down) in enumerate(zip(*values, strict=True)):
                numeric = (up - down) / (2 * eps)
                a = analytic[e][o]
                if not abs(a - numeric) <= atol + rtol * abs(numeric):
                    return (
                        f"Jacobian mismatch for output {k} with respect to input {i}, at input element "
                        f"{e} and output element {o}: numerical {numeric}, analytical {a}"
                    )
    return ""


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """As `gradcheck`, for the gradients of gradients: checks the backward pass of ``func``."""
    args = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    outs = [o for o in _outputs(func(*args)) if o._keys & AUTOGRAD]
    seeds = []
    for o in outs:
        with no_grad():
            pattern = [((7 * j + 3) % 11 - 5) / 5 for j in range(o.numel())]
            seed = o.new_zeros((len(pattern),))
            for index, v in enumerate(pattern):
                seed[index] = v
            seeds.append(seed.reshape(o._shape).clone().requires_grad_())

    def first_gradients(*values: Any) -> tuple[Any, ...]:
        xs, gs = values[: len(args)], values[len(args) :]
        results = [o for o in _outputs(func(*xs)) if o._keys & AUTOGRAD]
        wanted = [x for x in xs if isinstance(x, Tensor) and x._keys & AUTOGRAD]
        if not results or not wanted:
            return ()
        found = grad(results, wanted, list(gs), create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    def in_any_mode(*values: Any) -> tuple[Any, ...]:
        from .grad_mode import enable_grad

        with enable_grad():
            tracked = [
                v
                if not isinstance(v, Tensor) or v._keys & AUTOGRAD or i not in differentiable
                else v.detach().requires_grad_()
                for i, v in enumerate(values)
            ]
            return first_gradients(*tracked)

    everything = [*args, *seeds]
    differentiable = {
        i for i, v in enumerate(everything) if isinstance(v, Tensor) and v._keys & AUTOGRAD
    }
    return gradcheck(
        in_any_mode, everything, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception
    )
