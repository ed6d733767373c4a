"""Weight normalisation by a hook before forward; `parametrizations.weight_norm` supersedes it."""

from __future__ import annotations

from typing import Any, TypeVar

import mindtorch_core as torch
from mindtorch_core.utils._own_frames import warn_user

from ..modules.module import Module
from ..parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


class WeightNorm:
    """The hook: computes a weight from its norms ``name_g`` and directions ``name_v``."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Any:
        """The weight."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return torch._weight_norm(v, g, self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Add the hook to a module.

        Raises:
            RuntimeError: if the weight has one.
            ValueError: if it has no shape yet.
        """
        warn_user(
            "`torch.nn.utils.weight_norm` is deprecated in favor of "
            "`torch.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
        )
        if any(
            isinstance(h, WeightNorm) and h.name == name for h in module._forward_pre_hooks.values()
        ):
            raise RuntimeError(
                f"Cannot register two weight_norm hooks on the same parameter {name}"
            )
        hook = WeightNorm(name, dim)
        weight: Any = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run "
                "the dummy forward before applying weight normalization"
            )
        del module._parameters[name]
        norms = torch.norm_except_dim(weight, 2, hook.dim)
        module.register_parameter(f"{name}_g", Parameter(norms.data))
        module.register_parameter(f"{name}_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Make the weight a parameter of its present value."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"]
        del module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        """Compute the weight, before forward."""
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Divide a weight into norms and directions (Salimans and Kingma, 2016).

    Args:
        module: whose parameter it is.
        name: its name.
        dim: the dimension along which there are several norms; None for one of all.
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Take weight normalisation off.

    Raises:
        ValueError: if there is none.
    """
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
