"""``torch.func``: all derivatives of a function's results at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..utils._pytree import tree_unflatten
from ..values.shapes import numel
from .batched import LEVELS
from .levels import cut, deeper, gradients, sample
from .transforms import Watched, _outputs, _selected, _split_aux, _with
from .vmap import vmap

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
    """A function that returns the Jacobian of ``func``: a pass backward for all elements of each result.

    Each result of shape ``O`` and argument of shape ``I`` gives a tensor of shape ``O + I``.

    Args:
        func: of trees of tensors, which returns some.
        argnums: which arguments are differentiated.
        has_aux: whether ``func`` returns a pair, of which the first is meant.
        chunk_size: how many elements of a result are differentiated at once; None for all.

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
            made = [_of_output(o, watched, chunk_size) for o in whole]
        tree = tree_unflatten(made, spec)
        return (tree, watched.plain(aux)) if has_aux else tree

    return jacobian


def _of_output(whole: Tensor, watched: Watched, chunk_size: int | None) -> Any:
    """The derivatives of one result, in the structure of the arguments."""
    outer = len(LEVELS.stack)
    batch, shape = whole._shape[:outer], whole._shape[outer:]
    found = _rows(whole, outer, numel(shape), watched.tensors, chunk_size)
    made = []
    for t, rows in zip(watched.tensors, found, strict=True):
        own = fn.reshape(fn.movedim(rows, 0, outer), (*batch, *shape, *t._shape[outer:]))
        made.append(sample(cut(own, watched.leaves)))
    return tree_unflatten(made, watched.spec)


def _rows(
    whole: Tensor, outer: int, many: int, inputs: list[Tensor], chunk_size: int | None
) -> list[Tensor]:
    """For each input the gradients of the elements of a result, one after the other.

    All are computed at once. Where a formula cannot do that, as a custom Function that looks at values,
    they are computed one by one.
    """
    if not many:
        return [t.new_zeros((0, *t._shape)) for t in inputs]
    units = fn.eye(many, dtype=whole._dtype, device=whole._device)
    units = units.reshape(many, *(1,) * outer, *whole._shape[outer:]).expand(many, *whole._shape)

    def back(unit: Tensor) -> tuple[Tensor, ...]:
        return tuple(gradients([whole], inputs, [unit]))

    def at_once(unit: Tensor) -> tuple[Tensor, ...]:
        LEVELS.stack[-1].warns = False  # the user has called no `vmap`
        return back(unit)

    if many > 1:
        try:
            return list(vmap(at_once, chunk_size=chunk_size)(units))
        except Exception:  # noqa: BLE001, S110  # one that is not of `vmap` comes again
            pass
    columns = zip(*(back(unit) for unit in units.unbind(0)), strict=True)
    return [fn.stack(column) for column in columns]


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
