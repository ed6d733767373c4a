"""Wrappers around modules whose activations are computed again in backward, or wait in host memory.

The public face is ``torch.distributed.algorithms._checkpoint.checkpoint_wrapper``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

from ..modules.module import Module
from .fsdp_wrapper.wrapping import lambda_auto_wrap_policy, wrapped_below
from .inner_names import CHECKPOINTED

__all__ = [
    "ActivationWrapper",
    "CheckpointImpl",
    "CheckpointWrapper",
    "OffloadWrapper",
    "apply_activation_checkpointing",
    "checkpoint_wrapper",
    "offload_wrapper",
]

_INSIDE = CHECKPOINTED.removesuffix(".")


class CheckpointImpl(Enum):
    """How activations are computed again: see ``use_reentrant`` of `torch.utils.checkpoint.checkpoint`."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(Module):
    """A wrapper whose states and parameters have the names of the module, and whose attributes are its."""

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self.add_module(_INSIDE, mod)
        self._register_state_dict_hook(_given)
        self.register_load_state_dict_pre_hook(_taken)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == _INSIDE:
                raise
            return getattr(self._modules[_INSIDE], name)

    def __getitem__(self, key: Any) -> Any:
        inner: Any = self._modules[_INSIDE]
        return inner[key]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Any]]:
        """Parameters with their names in the module."""
        for name, p in super().named_parameters(*args, **kwargs):
            yield name.replace(CHECKPOINTED, ""), p


class CheckpointWrapper(ActivationWrapper):
    """Calls a module by `torch.utils.checkpoint.checkpoint`.

    Args:
        mod: the module.
        checkpoint_impl: how activations are computed again, unless ``checkpoint_fn`` is given.
        checkpoint_fn: called in place of it, with the module and what it is called with.
        checkpoint_fn_kwargs: further arguments of the function.
    """

    def __init__(
        self,
        mod: Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable[..., Any] | None = None,
        **checkpoint_fn_kwargs: Any,
    ) -> None:
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        self._reenters = checkpoint_impl is CheckpointImpl.REENTRANT
        if checkpoint_fn is None:
            checkpoint_fn = torch.utils.checkpoint.checkpoint
            checkpoint_fn_kwargs["use_reentrant"] = self._reenters
        self.checkpoint_fn = partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's forward."""
        module = self._modules[_INSIDE]
        if not (self._reenters and kwargs):
            return self.checkpoint_fn(module, *args, **kwargs)
        names, count = [*kwargs], len(args)  # it takes no names

        def called(*values: Any) -> Any:
            return module(*values[:count], **dict(zip(names, values[count:], strict=True)))  # type: ignore[misc]

        return self.checkpoint_fn(called, *args, *kwargs.values())


class OffloadWrapper(ActivationWrapper):
    """Calls a module by `torch.autograd.graph.save_on_cpu`."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's forward."""
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            return self._modules[_INSIDE](*args, **kwargs)  # type: ignore[misc]


def checkpoint_wrapper(
    module: Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., Any] | None = None,
    **checkpoint_fn_kwargs: Any,
) -> Module:
    """A module in a `CheckpointWrapper`."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def offload_wrapper(module: Module) -> Module:
    """A module in an `OffloadWrapper`."""
    return OffloadWrapper(module)


def apply_activation_checkpointing(
    model: Module,
    checkpoint_wrapper_fn: Callable[[Module], Module] = checkpoint_wrapper,
    check_fn: Callable[[Module], bool] = lambda _: True,
    auto_wrap_policy: Callable[[Module, bool, int], bool] | None = None,
) -> None:
    """Wrap modules below one, in place.

    Args:
        model: is not wrapped itself.
        checkpoint_wrapper_fn: wraps a module.
        check_fn: which modules, all by default; unused with a policy.
        auto_wrap_policy: which modules, as for `FullyShardedDataParallel`.
    """
    policy = auto_wrap_policy or partial(lambda_auto_wrap_policy, lambda_fn=check_fn)
    wrapped_below(model, policy, set(), lambda m, own: checkpoint_wrapper_fn(m, **own))


def _given(module: Module, state: dict[str, Tensor], prefix: str, metadata: Any) -> None:
    _renamed(state, prefix + CHECKPOINTED, prefix)


def _taken(module: Module, state: dict[str, Tensor], prefix: str, *_: Any) -> None:
    _renamed(state, prefix, prefix + CHECKPOINTED)


def _renamed(state: dict[str, Tensor], old: str, new: str) -> None:
    """Give keys another beginning."""
    for key in [key for key in state if key.startswith(old)]:
        state[new + key.removeprefix(old)] = state.pop(key)
