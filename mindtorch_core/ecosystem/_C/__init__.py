"""Names of PyTorch's compiled part that libraries use."""

from __future__ import annotations

from typing import Any

from mindtorch_core.dispatch.overrides import DISABLED as _disabled_torch_function_impl
from mindtorch_core.dispatch.overrides import (
    MODES,
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
)
from mindtorch_core.tensors.subclasses import DISABLED_DISPATCH as _disabled_torch_dispatch_impl

from ...dispatch.keys import DispatchKey, DispatchKeySet
from ...dispatch.masks import exclude_keys, include_keys
from ...gradients.grad_mode import set_grad_enabled
from ...gradients.within import current_node as _current_autograd_node
from ...gradients.within import graph_task_id as _current_graph_task_id
from ...random import Generator
from ...tensors.tensor import Tensor
from ...values.errors import LinAlgError
from ..absent import names_of
from . import _nn
from ._functions import _VariableFunctions, _VariableFunctionsClass

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "DispatchKey",
    "DispatchKeySet",
    "Generator",
    "_VariableFunctions",
    "_VariableFunctionsClass",
    "_current_autograd_node",
    "_current_graph_task_id",
    "_disabled_torch_dispatch_impl",
    "_disabled_torch_function_impl",
    "_nn",
]

__getattr__ = names_of(__name__)

_LinAlgError = LinAlgError
_TensorMeta = type(Tensor)
TensorBase = Tensor


_ExcludeDispatchKeyGuard = exclude_keys
_IncludeDispatchKeyGuard = include_keys


def _log_api_usage_once(event: str) -> None:
    """Do nothing: no use is counted."""


def _set_grad_enabled(mode: bool) -> None:
    """Record what comes for backward from now on, or do not: what graphs say of ``no_grad``."""
    set_grad_enabled(mode)


def _get_tracing_state() -> None:
    """None: nothing is traced."""


def _is_tracing() -> bool:
    """False: nothing is traced."""
    return False


def _is_torch_function_mode_enabled() -> bool:
    """Whether calls of functions go to a mode."""
    return bool(MODES.stack)


def _is_alias_of(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors share their memory; one without memory of its own shares it with itself."""
    if one is other or any(t._storage is t._payload is None for t in (one, other)):
        return one is other
    return one.untyped_storage().shows(other.untyped_storage())


def _are_functorch_transforms_active() -> bool:
    """Whether a function runs in `torch.vmap`, or in a transform that takes its gradients."""
    from ...gradients.vmap_levels import LEVELS

    return bool(LEVELS.stack or LEVELS.gradients)


def _get_privateuse1_backend_name() -> str:
    """The name of the devices that have the key PrivateUse1; ``privateuseone`` if there are none."""
    from ...values.devices import TABLE

    key = int(DispatchKey.PrivateUse1)
    return next((row.type for row in TABLE.rows() if row.key == key), "privateuseone")


def _get_accelerator() -> Any:
    """The device of the accelerator that is there; the CPU if there is none."""
    from ...values.devices import device
    from ..accelerator import current_accelerator

    return current_accelerator() or device("cpu")


def _get_default_device() -> str:
    """The type of the default device."""
    from ...values.devices import get_default_device

    return get_default_device().type


def _jit_setting(*args: Any) -> bool:
    """Take a setting of a compiler that is not there, and say that it is off."""
    return False


_jit_can_fuse_on_cpu = _jit_can_fuse_on_gpu = _jit_setting
_jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = _jit_setting
_jit_set_nvfuser_enabled = _jit_set_nvfuser_guard_mode = _jit_setting
_jit_set_profiling_executor = _jit_set_profiling_mode = _jit_set_texpr_fuser_enabled = _jit_setting
_jit_set_fusion_strategy = _jit_setting
