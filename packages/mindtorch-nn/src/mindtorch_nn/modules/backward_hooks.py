"""How a module's full backward hooks see the gradients of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch_core as torch
from mindtorch_core.utils._own_frames import warn_user

__all__ = ["BackwardHook", "warn_of_partial_hook"]

Grads = tuple[Any, ...]


class BackwardHookFunction(torch.autograd.Function):
    """The identity; its backward shows the gradients to a function, which may give others."""

    @staticmethod
    def forward(ctx: Any, change: Callable[[Grads], Any], fill: bool, *tensors: Any) -> Any:
        """Pass the tensors on."""
        ctx.change = change
        ctx.set_materialize_grads(fill)
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Pass on what the function gives."""
        changed = ctx.change(grads)
        return None, None, *(grads if changed is None else changed)


class BackwardHook:
    """One call of a module: its outputs' gradients go to the hooks together with its inputs'.

    Args:
        module: whose hooks they are.
        user_hooks: called as ``hook(module, grad_input, grad_output)``.
        user_pre_hooks: called as ``hook(module, grad_output)``.
    """

    def __init__(
        self,
        module: Any,
        user_hooks: Sequence[Callable[..., Any]],
        user_pre_hooks: Sequence[Callable[..., Any]],
    ) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs: Any = None
        self.inputs: list[int] | None = None  # which arguments are tensors; None: no hook is there
        self.outputs: list[int] | None = None
        self.n_inputs = self.n_outputs = -1

    def setup_input_hook(self, args: Any) -> Any:
        """The arguments, with a node that sees their gradients."""
        self.n_inputs = len(args)
        args, self.inputs = _through(self._at_inputs, True, args)
        return args

    def setup_output_hook(self, result: Any) -> Any:
        """The outputs, with a node that sees their gradients."""
        alone = not isinstance(result, tuple)
        outputs = (result,) if alone else result
        self.n_outputs = len(outputs)
        outputs, self.outputs = _through(self._at_outputs, False, outputs)
        return outputs[0] if alone else outputs

    def _at_outputs(self, grads: Grads) -> Any:
        self.grad_outputs = _spread(self.outputs, grads, self.n_outputs)
        for hook in self.user_pre_hooks:
            found = hook(self.module, self.grad_outputs)
            if found is None:
                continue
            if isinstance(found, torch.Tensor):
                found = (found,)
            if len(found) != len(self.grad_outputs):
                raise RuntimeError(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(found)}, "
                    f"but expected {len(self.grad_outputs)}"
                )
            self.grad_outputs = found
        passed = self.grad_outputs
        if self.inputs is None:
            self._without_inputs()
        return tuple(passed[i] for i in self.outputs or ())

    def _without_inputs(self) -> None:
        """No input requires grad: nobody else will call the hooks."""
        if self.user_hooks:
            warn_user(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients."
            )
        nothing = (None,) * self.n_inputs
        for hook in self.user_hooks:
            found = hook(self.module, nothing, self.grad_outputs)
            if not (
                found is None or (isinstance(found, tuple) and all(each is None for each in found))
            ):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return "
                    "None or None for all gradients."
                )
        self.grad_outputs = None

    def _at_inputs(self, grads: Grads) -> Any:
        if self.grad_outputs is None:  # the gradient came by another way than the outputs
            return None
        found = _spread(self.inputs, grads, self.n_inputs)
        for hook in self.user_hooks:
            changed = hook(self.module, found, self.grad_outputs)
            if changed is None:
                continue
            if isinstance(changed, torch.Tensor):
                changed = (changed,)
            if len(changed) != len(found):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but "
                    f"expected {len(found)}"
                )
            found = changed
        self.grad_outputs = None
        return tuple(found[i] for i in self.inputs or ())


def _through(
    change: Callable[[Grads], Any], fill: bool, values: Any
) -> tuple[Any, list[int] | None]:
    """Values with a node behind their tensors, and which those are; None if none requires grad."""
    places = [i for i, each in enumerate(values) if isinstance(each, torch.Tensor)]
    tensors = [values[i] for i in places]
    if not (torch.is_grad_enabled() and any(t.requires_grad for t in tensors)):
        return values, None
    made = list(values)
    for i, t in zip(places, BackwardHookFunction.apply(change, fill, *tensors), strict=True):
        made[i] = t
    # A named tuple takes its fields one by one.
    return (tuple(made) if type(values) is tuple else type(values)(*made)), places


def _spread(places: list[int] | None, values: Grads, size: int) -> Grads:
    """A tuple with values at places, None elsewhere."""
    made: list[Any] = [None] * size
    for i, value in zip(places or (), values, strict=True):
        made[i] = value
    return tuple(made)


def warn_of_partial_hook(args: Any, result: Any, node: Any) -> None:
    """Say which gradients a hook that is not full will not see."""
    problem = _partial(args, result, node)
    if problem:
        warn_user(
            f"Using {problem} is deprecated and will be removed in future versions. Please use "
            f"register_full_backward_hook to get the documented behavior.",
            FutureWarning,
        )


def _partial(args: Any, result: Any, node: Any) -> str:
    results = (result,) if isinstance(result, torch.Tensor) else result
    if not (isinstance(results, tuple) and all(isinstance(r, torch.Tensor) for r in results)):
        return (
            "non-full backward hooks on a Module that does not return a single Tensor or a tuple of "
            "Tensors, of whose grad_output the hook misses some,"
        )
    inputs = (args,) if isinstance(args, torch.Tensor) else args
    if not (isinstance(inputs, tuple) and all(isinstance(i, torch.Tensor) for i in inputs)):
        return (
            "non-full backward hooks on a Module that does not take as input a single Tensor or a tuple "
            "of Tensors, of whose grad_input the hook misses some,"
        )
    nodes = {r.grad_fn for r in results if r.grad_fn is not None}
    if len(nodes) > 1:
        return (
            "a non-full backward hook when outputs are generated by different autograd Nodes, so that "
            "it misses some grad_output,"
        )
    if {i.grad_fn for i in inputs if i.grad_fn is not None} != {n for n, _ in node.next_functions}:
        return (
            "a non-full backward hook when the forward contains multiple autograd Nodes, so that it "
            "misses some grad_input,"
        )
    return ""
