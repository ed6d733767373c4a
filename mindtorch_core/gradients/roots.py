"""Where a walk starts and what it is asked for: checks of the arguments of backward() and grad()."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn

from ..dispatch.functions import fn
from ..dispatch.keys import ACTIVE, AUTOGRAD
from ..dispatch.registry import registry
from ..tensors.autograd_state import AutogradMeta
from ..tensors.subclasses import dispatches
from ..tensors.tensor import Tensor
from ..values.devices import row_of
from ..values.shapes import show
from .node import SHOWN, AccumulateGrad, GradientEdge
from .replayed import followed_seed

__all__ = ["as_list", "forget_ones", "inputs_of", "place_of", "places_of", "prepare"]


_ONE: Final = (Tensor, GradientEdge)


def as_list(values: Any) -> list[Any]:
    """One tensor or edge, or several, as a list."""
    if values.__class__ is Tensor or isinstance(values, _ONE):
        return [values]
    if not isinstance(values, Iterable):
        raise TypeError(f"'{type(values).__name__}' object is not iterable, nor is it a tensor")
    return list(values)


def inputs_of(values: Any, caller: str) -> list[Any]:
    """The argument ``inputs`` as a list.

    Raises:
        RuntimeError: if it is empty.
        TypeError: if it is a mapping other than a dict.
    """
    if isinstance(values, Mapping) and type(values) is not dict:
        raise TypeError(
            f"`inputs` argument to `{caller}()` must be a dict, not {type(values).__name__}. Other "
            f"Mapping types are not supported."
        )
    found = as_list(values.values() if type(values) is dict else values)
    if not found:
        raise RuntimeError(f"`inputs` argument to `{caller}()` cannot be empty.")
    return found


def place_of(value: Tensor | GradientEdge) -> AutogradMeta:
    """The place in the graph of a tensor that requires grad, or of an edge."""
    try:
        meta: AutogradMeta | None = value._autograd  # type: ignore[union-attr]
    except AttributeError:
        if not isinstance(value, GradientEdge):
            raise TypeError(
                f"gradients are of Tensors and GradientEdges, but got {type(value).__name__}"
            ) from None
        node = value.node
        return (
            node.meta if isinstance(node, AccumulateGrad) else AutogradMeta(node, value.output_nr)
        )
    if meta is None:
        raise RuntimeError("the tensor is not part of a graph")
    return meta


def places_of(targets: Iterable[Tensor | GradientEdge]) -> list[AutogradMeta]:
    """The places of what gradients are computed for.

    Raises:
        RuntimeError: if one is not part of a graph.
    """
    return [_target(t) for t in targets]


def _target(t: Tensor | GradientEdge) -> AutogradMeta:
    if isinstance(t, Tensor) and not t._keys & AUTOGRAD:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return place_of(t)


def prepare(
    roots: list[Any], given: Iterable[Tensor | None] | Tensor | None, *, shown: bool
) -> tuple[list[AutogradMeta], list[Tensor]]:
    """Where a walk begins, and with which gradients: those given, checked, and ones.

    Args:
        roots: the outputs.
        given: their gradients.
        shown: whether the walk returns gradients or records itself, so that users may get hold of one.

    Raises:
        RuntimeError: if an output does not require grad, or its gradient is missing or does not fit.
        TypeError: if a gradient is something else than a tensor or None.
    """
    each: Sequence[Tensor | None] | None = None
    if given is not None:
        each = [given] if isinstance(given, Tensor) else list(given)
        if len(each) != len(roots):
            raise RuntimeError(f"got {len(roots)} tensors and {len(each)} gradients")
    starts: list[AutogradMeta] = []
    grads: list[Tensor] = []
    for i, t in enumerate(roots):
        g = None if each is None else each[i]
        if t.__class__ is not Tensor and isinstance(t, GradientEdge):
            if g is None:
                raise RuntimeError(
                    f"output {i} is a GradientEdge, whose shape is not known: give its gradient in "
                    f"grad_outputs"
                )
            starts.append(place_of(t))
            grads.append(g)
            continue
        storage = t._storage if isinstance(t, Tensor) else _refuse(t)
        pending = None if storage is None else storage.pending
        if pending is not None and not pending.through_backward:
            t._settled()
        meta = t._autograd
        if meta is None or not t._keys & AUTOGRAD:
            raise RuntimeError(
                f"element {i} of tensors does not require grad and does not have a grad_fn"
            )
        starts.append(meta)
        grads.append(_implicit(t, shown) if g is None else _explicit(i, t, g))
    return starts, grads


def _refuse(value: Any) -> NoReturn:
    raise AssertionError(f"Expected output to be a torch.Tensor, got {type(value).__name__}")


def _implicit(t: Tensor, shown: bool) -> Tensor:
    """The gradient of an output for which none was given."""
    if t.numel() != 1:
        raise RuntimeError(
            f"grad can be implicitly created only for scalar outputs, got shape {show(t._shape)}"
        )
    if t._dtype.is_complex:
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {t._dtype}"
        )
    if t.__class__ is not Tensor and dispatches(t.__class__):
        return fn.ones_like(t)
    return _one(t, shown)


def _explicit(i: int, t: Tensor, g: Any) -> Tensor:
    """Check the gradient given for output ``i`` and bring it to the output's dtype."""
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if g._shape != t._shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has "
            f"a shape of {t.shape}."
        )
    if g._dtype.is_complex is not t._dtype.is_complex:
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{i}] has a dtype of {g._dtype} and output[{i}] has a "
            f"dtype of {t._dtype}."
        )
    if g._device is not t._device:
        raise RuntimeError(
            f"invalid gradient at index {i} - expected device {t._device} but got {g._device}"
        )
    return g if g._dtype is t._dtype else g.to(t._dtype)


# By shape, dtype and device: what kernels made of them, and the registry's generation before that.
_ONES: Final[dict[tuple[Any, ...], tuple[int, Tensor | None]]] = {}
_NOT_MADE: Final = (-1, None)


def forget_ones(device_type: str) -> None:
    """Forget the gradients that are kept for a device type, whose backend is unloaded."""
    for key in [key for key in tuple(_ONES) if key[2].type == device_type]:
        del _ONES[key]


def _one(t: Tensor, shown: bool) -> Tensor:
    """The gradient that backward starts from.

    It is kept for the next time, while the same kernels are registered, and copied for users, who may
    write to it in ways that no version counts.
    """
    if ACTIVE and (followed := followed_seed(t)) is not None:
        return followed
    key = (t._shape, t._dtype, t._device)
    generation, kept = _ONES.get(key, _NOT_MADE)
    # A mode, a pipeline or inference mode decides what is made.
    if ACTIVE or generation != registry.generation or kept is None:
        generation = registry.generation
        made: Tensor = fn.ones(t._shape, dtype=t._dtype, device=t._device)
        if ACTIVE or row_of(t._device.type).runtime.stream_type is not None:
            return made  # where there are streams, another one would read it in no order with this
        _ONES[key] = generation, made
        kept = made
    if not shown and not SHOWN.gradients:
        return kept
    return fn.clone(kept)
