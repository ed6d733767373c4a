"""Spectral normalisation by a hook before forward; `parametrizations.spectral_norm` supersedes it."""

from __future__ import annotations

from typing import Any, TypeVar

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from ..parameter import Parameter, is_lazy

__all__ = [
    "SpectralNorm",
    "SpectralNormLoadStateDictPreHook",
    "SpectralNormStateDictHook",
    "remove_spectral_norm",
    "spectral_norm",
]

M = TypeVar("M", bound=Module)


class SpectralNorm:
    """The hook: divides ``name_orig`` by its largest singular value."""

    _version = 1

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got n_power_iterations="
                f"{n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix whose rows belong to outputs."""
        return weight.movedim(self.dim, 0).reshape(weight.size(self.dim), -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight; with power iterations the module's vectors are updated in place."""
        weight, u, v = (getattr(module, f"{self.name}_{end}") for end in ("orig", "u", "v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with torch.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(torch.mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # the buffers may change before backward
        made: Tensor = weight / torch.dot(u, torch.mv(matrix, v))
        return made

    def remove(self, module: Module) -> None:
        """Make the weight a parameter of its present value."""
        with torch.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for name in (self.name, *(f"{self.name}_{end}" for end in ("u", "v", "orig"))):
            delattr(module, name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        """Compute the weight, before forward."""
        setattr(module, self.name, self.compute_weight(module, module.training))

    def _solve_v_and_rescale(self, matrix: Tensor, u: Tensor, sigma: Tensor) -> Tensor:
        """The other vector, of files that hold one only."""
        square = matrix.t().mm(matrix)
        v = (torch.linalg.pinv(square) @ (matrix.t() @ u.unsqueeze(1))).squeeze(1)
        return v.mul_(sigma / torch.dot(u, torch.mv(matrix, v)))

    @staticmethod
    def apply(
        module: Module, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Add the hook to a module.

        Raises:
            RuntimeError: if the weight has one.
            ValueError: if there is no weight, or it has no shape yet.
        """
        if any(
            isinstance(h, SpectralNorm) and h.name == name
            for h in module._forward_pre_hooks.values()
        ):
            raise RuntimeError(
                f"Cannot register two spectral_norm hooks on the same parameter {name}"
            )
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to "
                "run the dummy forward before applying spectral normalization"
            )
        with torch.no_grad():
            sizes = hook.reshape_weight_to_matrix(weight).shape
            u, v = (
                F.normalize(weight.new_empty(size).normal_(0, 1), dim=0, eps=eps) for size in sizes
            )
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        # Not a parameter, and there before the first forward.
        setattr(module, name, weight.data)
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class SpectralNormLoadStateDictPreHook:
    """Loads what older versions saved, which held one of the two vectors."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn
        self.__name__ = type(self).__name__

    def __call__(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Add the other vector, if it is not there."""
        fn = self.fn
        version = local_metadata.get("spectral_norm", {}).get(f"{fn.name}.version")
        if version is not None and version >= 1:
            return
        key = prefix + fn.name
        present = all(f"{key}_{end}" in state_dict for end in ("orig", "u", "v"))
        if version is None and present and key not in state_dict:
            return
        missing = [k for k in (f"{key}_orig", key, f"{key}_u") if k not in state_dict]
        if missing:
            missing_keys += missing if strict else []
            return
        with torch.no_grad():
            original = state_dict[f"{key}_orig"]
            sigma = (original / state_dict.pop(key)).mean()
            matrix = fn.reshape_weight_to_matrix(original)
            v = fn._solve_v_and_rescale(matrix, state_dict[f"{key}_u"], sigma)
            state_dict[f"{key}_v"] = v


class SpectralNormStateDictHook:
    """Notes the version in the metadata."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        """Note it.

        Raises:
            RuntimeError: if it is noted.
        """
        noted = local_metadata.setdefault("spectral_norm", {})
        key = f"{self.fn.name}.version"
        if key in noted:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        noted[key] = self.fn._version


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight by its largest singular value (Miyato et al., 2018).

    Args:
        module: whose parameter it is.
        name: its name.
        n_power_iterations: steps of the power method at each call in training.
        eps: what lengths are at least.
        dim: the dimension of outputs; by default that of the module's class.
    """
    if dim is None:
        transposed = isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d)
        dim = 1 if transposed else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Take spectral normalisation off.

    Raises:
        ValueError: if there is none.
    """
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for table in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for number, each in list(table.items()):
            inner = getattr(getattr(each, "hook", each), "fn", None)
            if isinstance(inner, SpectralNorm) and inner.name == name:
                del table[number]
    return module
