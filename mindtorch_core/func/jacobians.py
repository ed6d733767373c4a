"""``torch.func``: all derivatives of a function's results at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..utils._pytree import tree_unflatten
from .batched import LEVELS
from .levels import cut, deeper, gradients, sample
from .transforms import Watched, _outputs, _selected, _split_aux, _with

__all__ = ["hessian", "jacfwd", "jacrev"]

Function = Callable[..., Any]


def jacrev(
    func: Function,
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:
    """A function that returns the Jacobian of ``func``: one pass backward for each element of its results.

    Each result of shape ``O`` and argument of shape ``I`` gives a tensor of shape ``O + I``.

    Args:
        func: of trees of tensors, which returns some.
        argnums: which arguments are differentiated.
        has_aux: whether ``func`` returns a pair, of which the first is meant.
        chunk_size: accepted; the passes come one after the other.

    Raises:
        ValueError: if ``chunk_size`` is not positive.
        RuntimeError: if ``func`` returns what is no tensor.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        with deeper():
            watched = Watched(_selected(args, argnums), "jacrev")
            result = func(*_with(args, argnums, watched.given), **kwargs)
            out, aux = _split_aux(result, has_aux, "jacrev")
            whole, spec = _outputs(out, "jacrev")
            made = [_of_output(o, watched) for o in whole]
        tree = tree_unflatten(made, spec)
        return (tree, watched.plain(aux)) if has_aux else tree

    return jacobian


def _of_output(whole: Tensor, watched: Watched) -> Any:
    """The derivatives of one result, in the structure of the arguments."""
    outer = len(LEVELS.stack)
    batch, shape = whole._shape[:outer], whole._shape[outer:]
    flat = fn.reshape(whole, (*batch, -1))
    rows: list[list[Tensor]] = []
    for i in range(flat._shape[-1]):
        element = fn.select(flat, -1, i)
        rows.append(gradients([element], watched.tensors, [fn.ones_like(element)]))
    made = []
    for n, t in enumerate(watched.tensors):
        own = t._shape[outer:]
        if rows:
            stacked = fn.stack([row[n] for row in rows], outer)
        else:
            stacked = t.new_zeros((*batch, 0, *own))
        made.append(sample(cut(fn.reshape(stacked, (*batch, *shape, *own)), watched.leaves)))
    return tree_unflatten(made, watched.spec)


def jacfwd(
    func: Function,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Function:
    """A function that returns the Jacobian of ``func``: what `jacrev` returns.

    There is no forward mode, so it is computed backward as well.
    """
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func: Function, argnums: int | tuple[int, ...] = 0) -> Function:
    """A function that returns the second derivatives of ``func``."""
    return jacfwd(jacrev(func, argnums), argnums)
