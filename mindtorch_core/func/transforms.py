"""``torch.func``: gradients of functions, as functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..utils._pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten
from ..values.own_frames import refusing
from .batched import LEVELS, Level, batched, level_of
from .levels import Leaf, cut, deeper, gradients, physical, sample

__all__ = ["functionalize", "grad", "grad_and_value", "vjp"]

Function = Callable[..., Any]


class Watched:
    """Arguments as trees of leaves that gradients are computed for.

    Attributes:
        leaves: what is differentiated.
        spec: the structure of the arguments.
    """

    def __init__(self, tree: Any, what: str) -> None:
        found, self.spec = tree_flatten(tree)
        for each in found:
            if not isinstance(each, Tensor):
                raise ValueError(f"{what}: Expected all inputs to be Tensors, got {type(each)}")
            if not (each._dtype.is_floating_point or each._dtype.is_complex):
                raise RuntimeError(
                    f"{what}: expected inputs of floating point or complex dtype, got {each._dtype}"
                )
        self.leaves = [Leaf(t) for t in found]

    @property
    def given(self) -> Any:
        """What the function gets."""
        return tree_unflatten([leaf.given for leaf in self.leaves], self.spec)

    @property
    def tensors(self) -> list[Tensor]:
        """The physical tensors."""
        return [leaf.tensor for leaf in self.leaves]

    def results(self, values: Sequence[Tensor]) -> Any:
        """Gradients in the structure of the arguments."""
        return tree_unflatten([sample(cut(v, self.leaves)) for v in values], self.spec)

    def plain(self, tree: Any) -> Any:
        """Other results without what belongs to this transform alone."""
        return tree_map(lambda t: cut(t, self.leaves), tree)


# ---- grad ---------------------------------------------------------------------------------------


def _selected(args: tuple[Any, ...], argnums: int | tuple[int, ...]) -> Any:
    """The arguments that are differentiated.

    Raises:
        RuntimeError: if one is not there.
    """
    several = isinstance(argnums, tuple)
    if not several and not isinstance(argnums, int):
        raise RuntimeError(f"argnum must be int or Tuple[int, ...], got: {argnums}")
    if several and not argnums:
        raise RuntimeError("argnums must be non-empty")
    for n in argnums if isinstance(argnums, tuple) else (argnums,):
        if not -len(args) <= n < len(args):
            raise RuntimeError(
                f"Got argnum={n}, but only {len(args)} positional inputs: expected it to be below that"
            )
    return tuple(args[n] for n in argnums) if isinstance(argnums, tuple) else args[argnums]


def _with(args: tuple[Any, ...], argnums: int | tuple[int, ...], values: Any) -> list[Any]:
    """The arguments with others in some places."""
    out = list(args)
    if isinstance(argnums, tuple):
        for n, value in zip(argnums, values, strict=True):
            out[n] = value
    else:
        out[argnums] = values
    return out


def _split_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{name}(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


def grad_and_value(
    func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Function:
    """A function that returns the gradient of ``func``, and what it returns.

    Args:
        func: it returns a tensor without dimensions; with ``has_aux`` that and anything else.
        argnums: which arguments are differentiated; trees of tensors.
        has_aux: whether ``func`` returns a pair.

    Raises:
        RuntimeError: if ``func`` returns anything else.
    """

    @refusing
    @functools.wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        with deeper():
            watched = Watched(_selected(args, argnums), "grad")
            result = func(*_with(args, argnums, watched.given), **kwargs)
            out, aux = _split_aux(result, has_aux, "grad_and_value")
            if not isinstance(out, Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(out)}. "
                    f"Return one, or a pair with has_aux=True."
                )
            if out._shape:
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got "
                    f"tensor with {len(out._shape)} dims. "
                    f"Did you mean to sum it?"
                )
            whole = physical(out)
            found = gradients([whole], watched.tensors, [fn.ones_like(whole)])
            grads, value = watched.results(found), watched.plain(out)
            aux = watched.plain(aux)
        return (grads, (value, aux)) if has_aux else (grads, value)

    return both


def grad(func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Function:
    """A function that returns the gradient of ``func``, whose result is a tensor of one element.

    Args:
        func: what is differentiated.
        argnums: which argument by; several give a tuple.
        has_aux: whether ``func`` returns a pair, of which the second part is given back as it is.

    Example:
        >>> torch.func.grad(torch.sin)(torch.tensor(0.0))
        tensor(1.)
    """

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


# ---- vjp --------------------------------------------------------------------------------


def _outputs(result: Any, name: str) -> tuple[list[Tensor], TreeSpec]:
    """The physical tensors of a result.

    Raises:
        RuntimeError: if it holds anything else.
    """
    leaves, spec = tree_flatten(result)
    if not leaves or not all(isinstance(t, Tensor) for t in leaves):
        raise RuntimeError(
            f"{name}(f, *primals): Expected f to return only tensors, got unsupported type "
            f"{type(result)}"
        )
    return [physical(t) for t in leaves], spec


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """What ``func`` returns, and a function from its gradients to those of the arguments.

    Args:
        func: of trees of tensors; with ``has_aux`` it returns a pair, of which the first is meant.
        primals: its arguments.
        has_aux: whether a third value is returned, the second of the pair.

    Raises:
        RuntimeError: if ``func`` returns what is no tensor.
    """
    with deeper():
        watched = Watched(primals, "vjp")
        out, aux = _split_aux(func(*watched.given), has_aux, "vjp")
        whole, spec = _outputs(out, "vjp")
        value, aux = watched.plain(out), watched.plain(aux)
    levels = list(LEVELS.stack)

    @refusing
    def pulled_back(*cotangents: Any, **options: Any) -> Any:
        given, other = tree_flatten(cotangents[0] if len(cotangents) == 1 else cotangents)
        if other != spec:
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                f"the function. cotangents: {other}, primal output: {spec}"
            )
        return _over_new_levels(levels, given, of_plain)

    def of_plain(given: list[Any]) -> Any:
        with deeper(calls=False):
            found = gradients(whole, watched.tensors, [physical(c, levels) for c in given])
            made = [sample(cut(g, watched.leaves), levels) for g in found]
        return tree_unflatten(made, watched.spec)

    return (value, pulled_back, aux) if has_aux else (value, pulled_back)


def _over_new_levels(known: list[Level], given: list[Any], call: Callable[[list[Any]], Any]) -> Any:
    """Call a function for each sample of a ``vmap`` that has begun since; stack what it returns."""
    numbers = {level.number for level in known}
    news = [level_of(t) for t in given if level_of(t) and level_of(t) not in numbers]
    if not news:
        return call(given)
    number = max(news)
    level = next(each for each in LEVELS.stack if each.number == number)
    results = []
    for i in range(level.size):
        one = [fn.select(t._inner, t._bdim, i) if level_of(t) == number else t for t in given]
        results.append(_over_new_levels(known, one, call))
    parts = [tree_flatten(r) for r in results]
    columns = zip(*(leaves for leaves, _ in parts), strict=True)
    return tree_unflatten(
        [batched(fn.stack(list(each)), 0, number) for each in columns], parts[0][1]
    )


def functionalize(func: Function, *, remove: str = "mutations") -> Function:
    """A function that computes what ``func`` does, writes to its arguments included.

    In PyTorch what differs is what a tracer sees of the call. There is none here: nothing is rewritten.

    Args:
        func: of trees of tensors.
        remove: ``mutations`` or ``mutations_and_views``.

    Raises:
        RuntimeError: for another ``remove``.

    Example:
        >>> torch.func.functionalize(lambda x: x.add_(1))(torch.ones(2))
        tensor([2., 2.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid "
            f"options are: remove='mutations' and remove='mutations_and_views'."
        )

    @functools.wraps(func)
    def same(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return same
