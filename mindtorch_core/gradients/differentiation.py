"""`backward` and `grad`: from what users ask for to a walk through the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dispatch.asked_wrongly import guarded
from ..dispatch.keys import ACTIVE
from ..tensors.tensor import Tensor
from ..values.user_warnings import warn_user, warn_user_once
from .endings import QUEUED, backward_ended, ends
from .engine import run
from .node import GradientEdge
from .replayed import accumulate_gradients, wanted_gradients
from .roots import as_list, inputs_of, places_of, prepare
from .stacked import batched

__all__ = ["backward", "grad"]

Target = Tensor | GradientEdge


@guarded
@ends
def backward(
    tensors: Target | Sequence[Target],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Target | Sequence[Target] | dict[Any, Target] | None = None,
) -> None:
    """Accumulate gradients of ``tensors`` into the ``grad`` of the graph's leaves.

    Args:
        tensors: outputs to differentiate.
        grad_tensors: gradient of each; may be left out for tensors of one element.
        retain_graph: keep what the formulas need, for another walk; by default ``create_graph``.
        create_graph: record the walk itself, for higher derivatives.
        grad_variables: an old name of ``grad_tensors``.
        inputs: accumulate only into these; results among them retain their gradient from then on.

    Raises:
        RuntimeError: if an output does not require grad, or its gradient is missing.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> torch.autograd.backward([x.sum(), (2 * x).sum()])
        >>> x.grad
        tensor([3., 3.])
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        warn_user(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
        )
        grad_tensors = grad_variables
    keep = create_graph if retain_graph is None else retain_graph
    only = None
    if inputs is not None:
        targets = inputs_of(inputs, "backward")
        only = places_of(targets)
        for t in targets:
            if isinstance(t, Tensor):
                t.retain_grad()
    starts, grads = prepare(as_list(tensors), grad_tensors, shown=create_graph)
    if create_graph:
        warn_user_once(
            "Using backward() with create_graph=True will create a reference cycle between the parameter "
            "and its gradient, which lives until the grad is set to None: torch.autograd.grad makes none"
        )
    try:
        if only is None and ACTIVE:
            accumulate_gradients(starts, grads, keep, create_graph)
        else:
            run(starts, grads, keep, create_graph, only, accumulating=True)
    except BaseException:
        if QUEUED:
            backward_ended(well=False)
        raise
    if QUEUED:
        backward_ended(well=True)


@guarded
def grad(
    outputs: Target | Sequence[Target],
    inputs: Target | Sequence[Target] | dict[Any, Target],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Gradients of ``outputs`` with respect to ``inputs``, returned instead of accumulated.

    Args:
        outputs: outputs to differentiate.
        inputs: tensors to differentiate with respect to; a dict gives a dict.
        grad_outputs: gradient of each output; may be left out for tensors of one element.
        retain_graph: keep what the formulas need, for another walk; by default ``create_graph``.
        create_graph: record the walk itself, for higher derivatives.
        only_inputs: deprecated and ignored.
        allow_unused: give None for inputs that no output depends on, instead of raising.
        is_grads_batched: ``grad_outputs`` are stacks of gradients, and so are the results. There is
            one walk for each.
        materialize_grads: give zeros for inputs that no output depends on.

    Returns:
        A tuple with a tensor or None for each input.

    Raises:
        RuntimeError: if an input does not require grad, or is not part of the graph.
        ValueError: if ``allow_unused=False`` contradicts ``materialize_grads``.

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> torch.autograd.grad(x * x, x)
        (tensor(6.),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if not only_inputs:
        warn_user(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    roots = as_list(outputs)
    targets = inputs_of(inputs, "grad")
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        found = batched(roots, targets, grad_outputs, keep, create_graph)
    else:
        starts, grads = prepare(roots, grad_outputs, shown=True)
        found = wanted_gradients(starts, grads, keep, create_graph, places_of(targets))
    if materialize_grads:
        found = [_or_zeros(g, t, create_graph) for g, t in zip(found, targets, strict=True)]
    elif not allow_unused and any(g is None for g in found):
        at = next(i for i, g in enumerate(found) if g is None)
        raise RuntimeError(
            f"The differentiated Tensor at index {at} appears to not have been used in the graph. Set "
            f"allow_unused=True if this is the desired behavior."
        )
    return dict(zip(inputs, found, strict=True)) if type(inputs) is dict else tuple(found)


def _or_zeros(g: Any, t: Target, create_graph: bool) -> Any:
    """A gradient, or zeros where none arrived."""
    if g is not None:
        return g
    if isinstance(t, GradientEdge):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge"
        )
    zeros: Any = t.new_zeros(t._shape)
    return zeros.requires_grad_() if create_graph else zeros
