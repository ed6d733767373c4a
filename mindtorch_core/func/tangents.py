"""``torch.func``: how the results of functions change along tangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd.forward_ad import _set_fwd_grad_enabled, dual_level, make_dual, unpack_dual
from ..dispatch.functions import fn
from ..gradients.duals import LEVELS as DUAL_LEVELS
from ..tensors.tensor import Tensor
from ..utils._pytree import TreeSpec, tree_flatten, tree_unflatten
from .levels import DEPTH, Leaf, cut, deeper, gradients, physical, sample
from .transforms import Watched, _outputs, _split_aux

__all__ = ["Pushing", "jvp", "linearize"]

Function = Callable[..., Any]


def jvp(
    func: Function,
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """What ``func`` returns, and how it changes along tangents.

    It is computed forward, by dual tensors; where these are in use already, as inside another `jvp`, by
    two passes backward.

    Args:
        func: of trees of tensors.
        primals: its arguments, a tuple.
        tangents: of the same structure.
        strict: whether results that do not depend on the arguments are refused; they have zeros.
        has_aux: as in `vjp`.

    Raises:
        RuntimeError: if the structures differ, ``func`` returns what is no tensor, or by ``strict``.
        ValueError: for whole numbers.

    Example:
        >>> torch.func.jvp(torch.square, (torch.tensor(3.0),), (torch.tensor(1.0),))
        (tensor(9.), tensor(6.))
    """
    here = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{here}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals). Got "
            f"{type(primals)}"
        )
    given, spec = tree_flatten(primals)
    directions, other = tree_flatten(tangents)
    if other != spec:
        raise RuntimeError(
            f"{here}: Expected primals and tangents to have the same python structure. For example, if "
            f"primals is a tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and "
            f"tangents with structure {other}"
        )
    for name, values in (("primals", given), ("tangents", directions)):
        if not values:
            raise RuntimeError(f"{here}: Expected {name} to contain at least one Tensor.")
        for t in values:
            if not isinstance(t, Tensor):
                raise RuntimeError(
                    f"{here}: Expected {name} to only contain Tensors, got {type(t)}"
                )
    with deeper():
        value, made, aux, moved = (_twice_back if DUAL_LEVELS else _forward)(
            func, given, directions, spec, has_aux
        )
    if strict and not moved:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is "
            "not allowed with strict=True."
        )
    return (value, made, aux) if has_aux else (value, made)


def _forward(
    func: Function, primals: list[Any], directions: list[Any], spec: TreeSpec, has_aux: bool
) -> tuple[Any, Any, Any, bool]:
    """The value, its derivative, other results, and whether all results moved: by dual tensors."""
    with _set_fwd_grad_enabled(True), dual_level():
        given = [
            sample(make_dual(physical(p), physical(d)))
            for p, d in zip(primals, directions, strict=True)
        ]
        out, aux = _split_aux(func(*tree_unflatten(given, spec)), has_aux, "jvp")
        whole, of_out = _outputs(out, "jvp")
        pairs: list[Any] = [unpack_dual(o) for o in whole]
        if not DEPTH.recorded:
            pairs = [(cut(p, ()), t if t is None else cut(t, ())) for p, t in pairs]
        values = [sample(p) for p, _ in pairs]
        made = [sample(fn.zeros_like(p.detach()) if t is None else t) for p, t in pairs]
    moved = all(t is not None for _, t in pairs)
    return tree_unflatten(values, of_out), tree_unflatten(made, of_out), aux, moved


def _twice_back(
    func: Function, primals: list[Any], directions: list[Any], spec: TreeSpec, has_aux: bool
) -> tuple[Any, Any, Any, bool]:
    """As `_forward`, by two passes backward."""
    watched = Watched(tree_unflatten(primals, spec), "jvp")
    out, aux = _split_aux(func(*watched.given), has_aux, "jvp")
    whole, of_out = _outputs(out, "jvp")
    found = Pushing(watched, whole)
    made = [sample(found.cut(each)) for each in found.along(*map(physical, directions))]
    moved = all(o.requires_grad for o in whole)
    return watched.plain(out), tree_unflatten(made, of_out), watched.plain(aux), moved


class Pushing:
    """The derivative of results that have been computed, as a linear function of tangents.

    For a Jacobian J and cotangents ``c``, J transposed times ``c`` is computed backward; differentiated
    by ``c``, that gives J times tangents, as often as they are asked for.
    """

    def __init__(self, watched: Watched, outputs: list[Tensor]) -> None:
        self._cotangents = [fn.zeros_like(o.detach()).requires_grad_() for o in outputs]
        self._pulled = gradients(outputs, watched.tensors, self._cotangents)
        self._own = [*watched.leaves, *map(_own_leaf, self._cotangents)]

    def along(self, *directions: Tensor) -> tuple[Tensor, ...]:
        """How the results change along physical tangents of what is watched."""
        return tuple(gradients(self._pulled, self._cotangents, directions))

    def cut(self, t: Tensor) -> Tensor:
        """A derivative without what belongs to this function alone."""
        found: Tensor = cut(t, self._own)
        return found


def _own_leaf(t: Tensor) -> Leaf:
    leaf: Leaf = object.__new__(Leaf)
    leaf.tensor, leaf.own, leaf.given = t, True, t
    return leaf


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """What ``func`` returns, and a function from tangents to how that changes along them."""
    value = func(*primals)

    def pushed_forward(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return value, pushed_forward
