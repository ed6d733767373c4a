"""``functorch``: the package of `torch.func` before it was part of PyTorch, which warns and does the same."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor, func
from mindtorch_core.utils._own_frames import warn_user

from .modules import Module

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "make_functional",
    "make_functional_with_buffers",
    "vjp",
    "vmap",
]

__version__ = torch.__version__


def _warn(name: str, instead: str) -> None:
    warn_user(
        "We've integrated functorch into PyTorch. As the final step of the integration, "
        f"`functorch.{name}` is deprecated as of PyTorch 2.0 and will be deleted in a future version of "
        f"PyTorch >= 2.3. Please use `{instead}` instead; see the PyTorch 2.0 release notes and/or the "
        "`torch.func` migration guide for more details "
        "https://pytorch.org/docs/main/func.migrating.html",
        FutureWarning,
    )


def _of_old(name: str, instead: str) -> Callable[..., Any]:
    """A function of `torch.func` that says where it is now."""
    function: Callable[..., Any] = getattr(func, name)

    def warning(*args: Any, **kwargs: Any) -> Any:
        _warn(name, instead)
        return function(*args, **kwargs)

    warning.__name__ = warning.__qualname__ = name
    warning.__doc__ = function.__doc__
    return warning


vmap = _of_old("vmap", "torch.vmap")
grad = _of_old("grad", "torch.func.grad")
grad_and_value = _of_old("grad_and_value", "torch.func.grad_and_value")
vjp = _of_old("vjp", "torch.func.vjp")
jvp = _of_old("jvp", "torch.func.jvp")
jacrev = _of_old("jacrev", "torch.func.jacrev")
jacfwd = _of_old("jacfwd", "torch.func.jacfwd")
hessian = _of_old("hessian", "torch.func.hessian")
functionalize = _of_old("functionalize", "torch.func.functionalize")


class FunctionalModuleWithBuffers(Module):
    """A module without state of its own, which is called with parameters and buffers.

    Attributes:
        stateless_model: the module, on the device ``meta``.
        param_names: of the parameters that it is called with.
        buffer_names: of the buffers.
    """

    def __init__(self, model: Module) -> None:
        super().__init__()
        self.stateless_model = copy.deepcopy(model).to("meta")
        self.param_names = tuple(name for name, _ in model.named_parameters())
        self.buffer_names = tuple(name for name, _ in model.named_buffers())

    @staticmethod
    def _create_from(
        model: Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
        """The module without its state, and copies of the state."""
        params, buffers = _state(model, disable_autograd_tracking)
        return FunctionalModuleWithBuffers(model), params, buffers

    def forward(
        self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: Any, **kwargs: Any
    ) -> Any:
        """Call the module with this state."""
        state = dict(zip(self.param_names, params, strict=False))
        state.update(zip(self.buffer_names, buffers, strict=False))
        return func.functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """A module without state of its own and without buffers, which is called with parameters."""

    @staticmethod
    def _create_from(  # type: ignore[override]  # as in PyTorch
        model: Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
        """The module without its parameters, and copies of them."""
        return FunctionalModule(model), _state(model, disable_autograd_tracking)[0]

    def forward(self, params: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Call the module with these parameters."""
        return super().forward(params, (), *args, **kwargs)


def _state(model: Module, untracked: bool) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Copies of a module's parameters and buffers."""
    own = copy.deepcopy(model)
    if untracked:
        own.requires_grad_(False)
    return tuple(own.parameters()), tuple(own.buffers())


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> Any:
    """A function of a module's parameters, and copies of them.

    Args:
        model: a module without buffers.
        disable_autograd_tracking: whether the copies require no gradients.

    Raises:
        RuntimeError: if it has buffers.
    """
    _warn("make_functional", "torch.func.functional_call")
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) "
            "instead."
        )
    return FunctionalModule._create_from(model, disable_autograd_tracking)


def make_functional_with_buffers(model: Module, disable_autograd_tracking: bool = False) -> Any:
    """A function of a module's parameters and buffers, and copies of them.

    Args:
        model: a module.
        disable_autograd_tracking: whether the copies require no gradients.
    """
    _warn("make_functional_with_buffers", "torch.func.functional_call")
    return FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking)


def combine_state_for_ensemble(models: Sequence[Module]) -> Any:
    """A function of the state of one of several modules, and their states in stacks, for `vmap`.

    Raises:
        RuntimeError: if there are none, or they differ in class or mode.
    """
    _warn("combine_state_for_ensemble", "torch.func.stack_module_state")
    if len(models) == 0:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError(
            "combine_state_for_ensemble: Expected all models to have the same training/eval mode."
        )
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError(
            "combine_state_for_ensemble: Expected all models to be of the same class."
        )
    states = [_state(model, False) for model in models]
    params, buffers = (
        tuple(torch.stack(each).detach() for each in zip(*part, strict=True))
        for part in zip(*states, strict=True)
    )
    return FunctionalModuleWithBuffers(models[0]), params, buffers
