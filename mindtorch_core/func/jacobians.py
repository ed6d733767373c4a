"""``torch.func``: all derivatives of a function's results at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..utils._pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten
from ..values.shapes import numel
from .batched import LEVELS
from .levels import DEPTH, cut, deeper, gradients, sample
from .tangents import Pushing, jvp
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
        _refuse_complex(args, "jacrev", "inputs")
        with deeper():
            watched = Watched(_selected(args, argnums), "jacrev")
            result = func(*_with(args, argnums, watched.given), **kwargs)
            out, aux = _split_aux(result, has_aux, "jacrev")
            _refuse_complex(out, "jacrev", "outputs")
            whole, spec = _outputs(out, "jacrev")
            made = [_of_output(o, watched, chunk_size) for o in whole]
            aux = watched.plain(aux)
        tree = tree_unflatten(made, spec)
        return (tree, aux) if has_aux else tree

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

    return _for_all(back, [units], chunk_size)


def _for_all(
    call: Callable[..., tuple[Tensor, ...]], given: list[Tensor], chunk_size: int | None = None
) -> list[Tensor]:
    """What a function returns for the rows of tensors, in rows: for all at once, or else one by one."""

    def at_once(*rows: Tensor) -> tuple[Tensor, ...]:
        LEVELS.stack[-1].warns = False  # the user has called no `vmap`
        return call(*rows)

    if len(given[0]) > 1:
        try:
            return list(vmap(at_once, chunk_size=chunk_size)(*given))
        except Exception:  # noqa: BLE001, S110  # one that is not of `vmap` comes again
            pass
    each = zip(*(t.unbind(0) for t in given), strict=True)
    return [fn.stack(column) for column in zip(*(call(*rows) for rows in each), strict=True)]


def jacfwd(
    func: Function,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Function:
    """A function that returns the Jacobian of ``func``: what `jacrev` returns.

    It takes a pass for each element of the arguments where the results have more: they are computed at
    once. ``func`` runs once, unless ``randomness`` is ``different``.

    Args:
        func: of trees of tensors, which returns some.
        argnums: which arguments are differentiated.
        has_aux: whether ``func`` returns a pair, of which the first is meant.
        randomness: ``different`` draws other random numbers for each element of the arguments.

    Raises:
        RuntimeError: for another ``randomness``, for complex numbers, or if ``func`` returns what is no
            tensor.
        ValueError: for whole numbers.
    """
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        _refuse_complex(args, "jacfwd", "inputs")
        chosen = _selected(args, argnums)
        for t in tree_flatten(chosen)[0]:
            if isinstance(t, Tensor) and not t._dtype.is_floating_point:
                raise ValueError(f"Expected primal to be floating point, but got: {t._dtype}")

        with deeper():
            if randomness == "different":
                made, of_out, aux = _anew_for_each(func, args, kwargs, argnums, has_aux)
            else:
                watched = Watched(chosen, "jacfwd")
                result = func(*_with(args, argnums, watched.given), **kwargs)
                out, aux = _split_aux(result, has_aux, "jacfwd")
                _refuse_complex(out, "jacfwd", "outputs")
                whole, of_out = _outputs(out, "jacfwd")
                aux = watched.plain(aux)
                made = _of_outputs(watched, whole)
        tree = tree_unflatten(made, of_out)
        return (tree, aux) if has_aux else tree

    return jacobian


def _of_outputs(watched: Watched, whole: list[Tensor]) -> list[Any]:
    """The derivatives of each result, in the structure of the arguments, in the fewest passes."""
    outer = len(LEVELS.stack)
    rows = sum(numel(o._shape[outer:]) for o in whole)
    if rows <= sum(numel(t._shape[outer:]) for t in watched.tensors):
        return [_of_output(o, watched, None) for o in whole]
    found = Pushing(watched, whole)
    units = [
        u.reshape(len(u), *(1,) * outer, *u._shape[1:]).expand(len(u), *t._shape)
        for u, t in zip(_units(watched.tensors, outer), watched.tensors, strict=True)
    ]
    given = [leaf.given for leaf in watched.leaves]
    columns = _for_all(found.along, units) or [o.new_zeros((0, *o._shape)) for o in whole]
    return [
        _in_parts(sample(found.cut(fn.movedim(c, 0, -1))), given, watched.spec) for c in columns
    ]


def _in_parts(columns: Tensor, given: list[Tensor], spec: TreeSpec) -> Any:
    """The derivatives along all elements of the arguments, which the last dimension counts, for each."""
    parts = fn.split(columns, [t.numel() for t in given], columns.dim() - 1)
    shape = columns._shape[:-1]
    own = [p.reshape((*shape, *t._shape)) for p, t in zip(parts, given, strict=True)]
    return tree_unflatten(own, spec)


def _anew_for_each(
    func: Function, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Any, has_aux: bool
) -> tuple[list[Any], TreeSpec, Any]:
    """As `_of_outputs`, by a call of the function for each element of the arguments.

    Besides, the structure of the results, and the other results of one of the calls.
    """
    given, spec = tree_flatten(_selected(args, argnums))

    def of_chosen(primals: Any) -> Any:
        return func(*_with(args, argnums, primals), **kwargs)

    def push(*directions: Tensor) -> Any:
        primals, tangents = (tree_unflatten(list(each), spec) for each in (given, directions))
        return jvp(of_chosen, (primals,), (tangents,), has_aux=has_aux)[1:]

    found, *aux = vmap(push, out_dims=-1, randomness="different")(*_units(given))
    columns, of_out = tree_flatten(found)
    first = tree_map(lambda t: t.select(-1, 0), aux[0]) if has_aux else None
    if not DEPTH.recorded:
        columns = [cut(c, ()) for c in columns]
    return [_in_parts(c, given, spec) for c in columns], of_out, first


def _units(given: list[Tensor], outer: int = 0) -> list[Tensor]:
    """For each tensor the directions along the elements of all, one after the other.

    Args:
        given: the tensors.
        outer: how many of their first dimensions count samples, which move together.
    """
    sizes = [numel(t._shape[outer:]) for t in given]
    found, start = [], 0
    for t, n in zip(given, sizes, strict=True):
        unit = fn.zeros((sum(sizes), n), dtype=t._dtype, device=t._device)
        unit[start : start + n] = fn.eye(n, dtype=t._dtype, device=t._device)
        found.append(unit.reshape(sum(sizes), *t._shape[outer:]))
        start += n
    return found


def _refuse_complex(values: Any, name: str, which: str) -> None:
    """Raise RuntimeError if there is a complex tensor in a tree."""
    for i, t in enumerate(tree_flatten(values)[0]):
        if isinstance(t, Tensor) and t._dtype.is_complex:
            raise RuntimeError(
                f"{name}: Expected all {which} to be real but received complex tensor at flattened input "
                f"idx: {i}"
            )


def hessian(func: Function, argnums: int | tuple[int, ...] = 0) -> Function:
    """A function that returns the second derivatives of ``func``."""
    return jacfwd(jacrev(func, argnums), argnums)
