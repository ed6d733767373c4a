"""Arguments and results of `mindtorch_core.autograd.functional`: tuples, vectors, strictness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dispatch.functions import fn
from ..dispatch.keys import AUTOGRAD
from ..gradients.differentiation import grad
from ..tensors.tensor import Tensor

__all__ = [
    "as_tuple",
    "basis_of",
    "filled",
    "fresh",
    "gradients",
    "require_dependence",
    "unpacked",
    "vector",
    "without_history",
]

Tensors = tuple[Any, ...]


def as_tuple(values: Any, what: str, caller: str) -> tuple[bool, Tensors]:
    """Whether there is a tuple of tensors instead of one tensor, and the tuple.

    Raises:
        TypeError: if there is something else.
    """
    several = isinstance(values, tuple)
    found: Tensors = values if several else (values,)
    for i, t in enumerate(found):
        if not isinstance(t, Tensor):
            which = f"value at index {i}" if several else f"given {what}"
            raise TypeError(
                f"The {what} given to {caller} must be either a Tensor or a tuple of Tensors but the "
                f"{which} has type {type(t)}."
            )
    return several, found


def unpacked(values: Any, *several: bool) -> Any:
    """Tuples of one where a user gave a tensor, replaced by what is in them, from the outside in."""
    if len(several) == 2 and not several[1]:
        values = tuple(v[0] for v in values)
    return values if several[0] else values[0]


def fresh(inputs: Tensors, create_graph: bool, requires_grad: bool = True) -> Tensors:
    """Other tensors with the same values, so that what a function has of its own is not meant.

    They keep their history if the result is to have one.
    """
    return tuple(
        t.view_as(t)
        if create_graph and t._keys & AUTOGRAD
        else t.detach().requires_grad_(requires_grad)
        for t in inputs
    )


def without_history(values: Any, create_graph: bool) -> Any:
    """Results, cut off their history unless they are to have one."""
    if create_graph:
        return values
    if isinstance(values, Tensor):
        return values.detach()
    return tuple(without_history(v, create_graph) for v in values)


def _check_vector(v: Tensors, like: Tensors, several: bool) -> None:
    if len(v) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}."
            if several
            else "The given v should contain a single Tensor."
        )
    for i, (a, b) in enumerate(zip(v, like, strict=True)):
        if a._shape != b._shape:
            entry = f"Entry {i} in " if several else ""
            raise RuntimeError(
                f"{entry}v has invalid size: should be {b.size()} but got {a.size()}."
            )


_INDEPENDENT = {
    "outputs": (
        "Output {i} of the user-provided function does not require gradients. The outputs must be "
        "computed in a differentiable manner from the input when running in strict mode."
    ),
    "grad_inputs": (
        "The gradient with respect to input {i} is independent of the inputs of the user-provided "
        "function. This is not allowed in strict mode."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with "
        "respect to input {i} is independent of the input. This is not allowed in strict mode. You "
        "should ensure that your function is twice differentiable and that the jacobian depends on the "
        "inputs (this would be violated by a linear function for example)."
    ),
    "missing": (
        "The output of the user-provided function is independent of input {i}. This is not allowed in "
        "strict mode."
    ),
}


def require_dependence(values: Sequence[Any], what: str, strict: bool) -> None:
    """In strict mode, refuse what does not depend on the inputs.

    Raises:
        RuntimeError: if there is such a value.
    """
    if strict:
        for i, t in enumerate(values):
            if t is None or not t._keys & AUTOGRAD:
                raise RuntimeError(_INDEPENDENT["missing" if t is None else what].format(i=i))


def gradients(
    outputs: Sequence[Any],
    inputs: Tensors,
    given: Sequence[Any] | None = None,
    *,
    create_graph: bool,
    retain_graph: bool | None = None,
) -> Tensors:
    """`grad` of those outputs that require grad; None for inputs on which they do not depend."""
    chosen = [i for i, t in enumerate(outputs) if t is not None and t._keys & AUTOGRAD]
    if not chosen:
        return (None,) * len(inputs)
    found: Tensors = grad(
        [outputs[i] for i in chosen],
        list(inputs),
        None if given is None else [given[i] for i in chosen],
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=True,
    )
    return found


_STAGES = {
    "back": "The output of the user-provided function is independent of input {i}.",
    "back_trick": (
        "The gradient with respect to the input is independent of entry {i} in the grad_outputs when "
        "using the double backward trick to compute forward mode gradients."
    ),
    "double_back": "The jacobian of the user-provided function is independent of input {i}.",
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian."
    ),
}


def filled(
    found: Sequence[Any], like: Sequence[Any], strict: bool, create_graph: bool, stage: str
) -> Tensors:
    """Gradients, with zeros where none arrived; refused in strict mode."""
    out = []
    for i, (g, t) in enumerate(zip(found, like, strict=True)):
        if strict and g is None:
            raise RuntimeError(f"{_STAGES[stage].format(i=i)} This is not allowed in strict mode.")
        if strict and create_graph and not g._keys & AUTOGRAD:
            order = "hessian" if stage.startswith("double_back") else "jacobian"
            raise RuntimeError(
                f"The {order} of the user-provided function is independent of input {i}. This is not "
                f"allowed in strict mode when create_graph=True."
            )
        out.append(fn.zeros_like(t) if g is None else g)
    return tuple(out)


def vector(v: Any, create_graph: bool, like: Tensors, several: bool, caller: str) -> Any:
    """The argument ``v``, checked against what it is multiplied with."""
    _, values = as_tuple(v, "v", caller)
    values = fresh(values, create_graph, False)
    _check_vector(values, like, several)
    return values


def basis_of(tensors: Tensors, numels: tuple[int, ...]) -> Tensors:
    """The unit vectors of tensors laid end to end: one matrix for each, a row for each element of all.

    Args:
        tensors: whose dtypes and devices the matrices have.
        numels: how many elements each tensor has: the columns of its matrix.
    """
    total = sum(numels)
    starts = [sum(numels[:i]) for i in range(len(numels))]
    return tuple(
        fn.eye(total, dtype=t.dtype, device=t.device)[:, start : start + n]
        for t, start, n in zip(tensors, starts, numels, strict=True)
    )
