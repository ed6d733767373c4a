"""``torch.autograd.functional``: Jacobians, Hessians and their products with vectors.

Products with a vector from the right (`jvp`, `hvp`) come from walking back twice: the gradient is
linear in the gradient of the outputs, so the gradient of that map, for any value of the latter, is
the product wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dispatch.asked_wrongly import guarded
from ..dispatch.functions import fn
from ..dispatch.keys import AUTOGRAD
from ..gradients.grad_mode import enable_grad, is_grad_enabled
from ..tensors.tensor import Tensor
from .functional_arguments import (
    as_tuple,
    basis_of,
    filled,
    fresh,
    gradients,
    require_dependence,
    unpacked,
    vector,
    without_history,
)

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = tuple[Any, ...]
_STRATEGIES = ("forward-mode", "reverse-mode")
_RETURNED = "outputs of the user-provided function"

# Names that libraries take.
_as_tuple = as_tuple
_construct_standard_basis_for = basis_of
_grad_postprocess = without_history


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    return unpacked(res, *(to_unpack if isinstance(to_unpack, tuple) else (to_unpack,)))


# ---- products ----------------------------------------------------------------------------------


@guarded
def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The product of a vector and the Jacobian of ``func`` at ``inputs``.

    Args:
        func: from tensors to a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of them.
        v: shaped as the outputs; may be left out if there is one with one element.
        create_graph: record the computation.
        strict: refuse outputs that do not depend on an input, instead of giving zeros.

    Returns:
        The outputs, and the product, shaped as the inputs.
    """
    with enable_grad():
        several, args = as_tuple(inputs, "inputs", "vjp")
        args = fresh(args, create_graph)
        several_out, outputs = as_tuple(func(*args), _RETURNED, "vjp")
        require_dependence(outputs, "outputs", strict)
        if v is not None:
            v = vector(v, create_graph, outputs, several_out, "vjp")
        elif len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor "
                "with a single element."
            )
    found = gradients(outputs, args, v, create_graph=create_graph)
    product = filled(found, args, strict, create_graph, "back")
    return (
        unpacked(without_history(outputs, create_graph), several_out),
        unpacked(without_history(product, create_graph), several),
    )


@guarded
def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The product of the Jacobian of ``func`` at ``inputs`` and a vector.

    Args:
        func: from tensors to a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of them.
        v: shaped as the inputs; may be left out if there is one with one element.
        create_graph: record the computation.
        strict: refuse outputs that do not depend on an input, instead of giving zeros.

    Returns:
        The outputs, and the product, shaped as they are.
    """
    with enable_grad():
        several, args = as_tuple(inputs, "inputs", "jvp")
        args = fresh(args, create_graph)
        if v is not None:
            v = vector(v, create_graph, args, several, "jvp")
        elif len(args) != 1 or args[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single "
                "Tensor with a single element."
            )
        several_out, outputs = as_tuple(func(*args), _RETURNED, "jvp")
        require_dependence(outputs, "outputs", strict)
        zeros = tuple(fn.zeros_like(out).requires_grad_() for out in outputs)
        backwards = gradients(outputs, args, zeros, create_graph=True)
        require_dependence(backwards, "grad_inputs", strict)
    found = gradients(backwards, zeros, v, create_graph=create_graph)
    product = filled(found, outputs, strict, create_graph, "back_trick")
    return (
        unpacked(without_history(outputs, create_graph), several_out),
        unpacked(without_history(product, create_graph), several_out),
    )


def _scalar_function(
    caller: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[bool, Tensors, Any, Tensors, Tensors]:
    """What `vhp` and `hvp` begin with.

    Returns:
        Whether the inputs are several, the inputs, the vector, the output and its gradient.
    """
    several, args = as_tuple(inputs, "inputs", caller)
    args = fresh(args, create_graph)
    if v is not None:
        v = vector(v, create_graph, args, several, caller)
    elif len(args) != 1 or args[0].numel() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single "
            "Tensor with a single element."
        )
    several_out, outputs = as_tuple(func(*args), _RETURNED, caller)
    require_dependence(outputs, "outputs", strict)
    if several_out:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {caller} should contain a single element"
        )
    first = gradients(outputs, args, create_graph=True)
    require_dependence(first, "jacobian", strict)
    return several, args, v, outputs, first


@guarded
def vhp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The product of a vector and the Hessian of a scalar function ``func`` at ``inputs``.

    Args:
        func: from tensors to a tensor with one element.
        inputs: a tensor or a tuple of them.
        v: shaped as the inputs; may be left out if there is one with one element.
        create_graph: record the computation.
        strict: refuse what does not depend on an input, instead of giving zeros.

    Returns:
        The output, and the product, shaped as the inputs.
    """
    with enable_grad():
        several, args, v, outputs, first = _scalar_function(
            "vhp", func, inputs, v, create_graph, strict
        )
    found = gradients(first, args, v, create_graph=create_graph)
    product = filled(found, args, strict, create_graph, "double_back")
    return (
        without_history(outputs, create_graph)[0],
        unpacked(without_history(product, create_graph), several),
    )


@guarded
def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The product of the Hessian of a scalar function ``func`` at ``inputs`` and a vector.

    The Hessian is symmetric where second derivatives are continuous; then `vhp` is the same and costs
    less.

    Args:
        func: from tensors to a tensor with one element.
        inputs: a tensor or a tuple of them.
        v: shaped as the inputs; may be left out if there is one with one element.
        create_graph: record the computation.
        strict: refuse what does not depend on an input, instead of giving zeros.

    Returns:
        The output, and the product, shaped as the inputs.
    """
    with enable_grad():
        several, args, v, outputs, first = _scalar_function(
            "hvp", func, inputs, v, create_graph, strict
        )
        zeros = tuple(fn.zeros_like(t).requires_grad_() for t in args)
        second = gradients(first, args, zeros, create_graph=True)
    found = gradients(second, zeros, v, create_graph=create_graph)
    product = filled(found, args, strict, create_graph, "double_back_trick")
    return (
        without_history(outputs, create_graph)[0],
        unpacked(without_history(product, create_graph), several),
    )


# ---- whole matrices ----------------------------------------------------------------------------


@guarded
def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of ``func`` at ``inputs``.

    Args:
        func: from tensors to a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of them.
        create_graph: record the computation.
        strict: refuse outputs that do not depend on an input, instead of giving zeros.
        vectorize: accepted; rows are computed one after another.
        strategy: "reverse-mode" computes a row per element of the outputs, "forward-mode", with
            ``vectorize=True`` only, a column per element of the inputs.

    Returns:
        For one input and one output a tensor of the output's shape followed by the input's. A tuple
        over inputs, outputs, or a tuple over outputs of tuples over inputs, where those are tuples.

    Example:
        >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if strategy not in _STRATEGIES:
        raise AssertionError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode", got {strategy!r}. Hint: '
            f'if your function has more outputs than inputs, "forward-mode" takes fewer passes, '
            f'otherwise "reverse-mode".'
        )
    if strategy == "forward-mode":
        return _by_columns(func, inputs, create_graph, strict, vectorize)
    with enable_grad():
        several, args = as_tuple(inputs, "inputs", "jacobian")
        args = fresh(args, create_graph)
        several_out, outputs = as_tuple(func(*args), _RETURNED, "jacobian")
        require_dependence(outputs, "outputs", strict)
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                "supported together. Please either set `strict=False` or `vectorize=False`."
            )
        rows = tuple(_rows(i, out, args, create_graph, strict) for i, out in enumerate(outputs))
    return unpacked(without_history(rows, create_graph), several_out, several)


def _rows(i: int, out: Tensor, args: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """The parts of the Jacobian that belong to output ``i``, one per input."""
    flat: Any = out.reshape(-1)
    found: list[list[Any]] = [[] for _ in args]
    for j in range(out.numel()):
        row = gradients((flat[j],), args, create_graph=create_graph, retain_graph=True)
        for at, g in enumerate(row):
            if strict and g is None:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {at}. This is "
                    f"not allowed in strict mode."
                )
            if strict and create_graph and not g._keys & AUTOGRAD:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {i}. This is "
                    f"not allowed in strict mode when create_graph=True."
                )
            found[at].append(fn.zeros_like(args[at]) if g is None else g)
    return tuple(
        fn.stack(column).reshape(out._shape + t._shape)
        if column
        else t.new_zeros(out._shape + t._shape)
        for column, t in zip(found, args, strict=True)
    )


def _by_columns(
    func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool
) -> Any:
    """The Jacobian as products with unit vectors from the right."""
    for option, given in (("create_graph", create_graph), ("strict", strict)):
        if given:
            error = NotImplementedError if option == "create_graph" else RuntimeError
            raise error(
                f'torch.autograd.functional.jacobian: `{option}=True` and `strategy="forward-mode"` '
                f"are not supported together (yet). Please either set `{option}=False` or "
                f'`strategy="reverse-mode"`.'
            )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for "
            "`vectorize=True`."
        )
    several, args = as_tuple(inputs, "inputs", "jacobian")
    several_out = False
    recorded = is_grad_enabled() and any(
        t._keys & AUTOGRAD for t in (*args, *as_tuple(func(*args), _RETURNED, "jacobian")[1])
    )
    columns: list[list[list[Any]]] = []
    outputs: Tensors = ()
    for at, t in enumerate(args):
        columns.append([])
        for unit in fn.eye(t.numel(), dtype=t._dtype, device=t._device):
            v = [fn.zeros_like(other) for other in args]
            v[at] = unit.reshape(t._shape)
            results, product = jvp(func, args, tuple(v), create_graph=recorded)
            several_out, outputs = as_tuple(results, _RETURNED, "jacobian")
            columns[at].append(list(product) if several_out else [product])
    found = tuple(
        tuple(
            fn.stack([c[k] for c in columns[at]], -1).reshape(out._shape + t._shape)
            for at, t in enumerate(args)
        )
        for k, out in enumerate(outputs)
    )
    return unpacked(found, several_out, several)


@guarded
def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar function ``func`` at ``inputs``.

    Args:
        func: from tensors to a tensor with one element.
        inputs: a tensor or a tuple of them.
        create_graph: record the computation.
        strict: refuse what does not depend on an input, instead of giving zeros.
        vectorize: as for `jacobian`.
        outer_jacobian_strategy: how the Jacobian of the gradient is computed.

    Returns:
        For one input a tensor of its shape twice; for a tuple, a tuple of tuples of tensors.
    """
    several, args = as_tuple(inputs, "inputs", "hessian")

    def scalar(*values: Any) -> Any:
        out = func(*values)
        several_out, outputs = as_tuple(out, _RETURNED, "hessian")
        require_dependence(outputs, "outputs", strict)
        if several_out:
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if out.numel() != 1:
            raise RuntimeError(
                "The Tensor returned by the function given to hessian should contain a single element"
            )
        return out.reshape(())

    def gradient(*values: Any) -> Any:
        found = jacobian(scalar, values, create_graph=True)
        require_dependence(found, "jacobian", strict)
        return found

    result = jacobian(
        gradient,
        args,
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )
    return unpacked(result, several, several)
