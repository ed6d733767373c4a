"""``torch.nn.utils.prune``: parts of parameters kept at zero."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

import mindtorch_core as torch
from mindtorch_core import Tensor

from ..modules.module import Module
from .convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]

M = TypeVar("M", bound=Module)


class BasePruningMethod(ABC):
    """A hook before forward that multiplies ``name_orig`` by ``name_mask``.

    A subclass says by ``PRUNING_TYPE`` what further masks see of a parameter that has one already: what is
    left of it ("unstructured"), the channels that are left ("structured"), or everything ("global").
    """

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        """Compute the parameter, before forward."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of a tensor that has a mask already."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter with its mask applied."""
        original = getattr(module, f"{self._tensor_name}_orig")
        mask = getattr(module, f"{self._tensor_name}_mask")
        made: Tensor = mask.to(original.dtype) * original
        return made

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> BasePruningMethod:
        """Prune a parameter of a module; on top of what pruned it before.

        Args:
            module: whose parameter it is.
            name: its name.
            *args: the method's.
            importance_scores: what decides instead of the parameter itself.
            **kwargs: the method's.
        """
        made = cls(*args, **kwargs)
        made._tensor_name = name
        method = _on_top(module, name, made)
        first = not isinstance(method, PruningContainer)
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        _check_scores(scores, original, f"parameter {name} of {module}")
        if first:
            module.register_parameter(f"{name}_orig", original)
            del module._parameters[name]
            mask = torch.ones_like(original)
        else:
            mask = getattr(module, f"{name}_mask").detach().clone()
        try:
            found = method.compute_mask(scores, default_mask=mask)
            module.register_buffer(f"{name}_mask", found)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if first:
                module.register_parameter(name, getattr(module, f"{name}_orig"))
                del module._parameters[f"{name}_orig"]
            raise
        return method

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """A tensor pruned."""
        scores = t if importance_scores is None else importance_scores
        _check_scores(scores, t, "tensor t")
        mask = torch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Make the parameter one of its own again, pruned for good."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original: Any = module._parameters.pop(f"{name}_orig")
        original.data = weight.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


def _check_scores(scores: Tensor, t: Tensor, what: str) -> None:
    if scores.shape != t.shape:
        raise AssertionError(
            f"importance_scores should have the same shape as {what}, got {scores.shape} vs {t.shape}"
        )


def _on_top(module: Module, name: str, method: BasePruningMethod) -> BasePruningMethod:
    """The method, or a container of it and those that are there, which it takes off."""
    hooks = module._forward_pre_hooks
    there = [
        n for n, h in hooks.items() if isinstance(h, BasePruningMethod) and h._tensor_name == name
    ]
    if len(there) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
            f"PruningContainer."
        )
    if not there:
        return method
    old: Any = hooks.pop(there[0])
    container = old if isinstance(old, PruningContainer) else PruningContainer(old)
    container.add_pruning_method(method)
    return container


class PruningContainer(BasePruningMethod):
    """Several methods on one parameter; each sees what those before it left."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add one at the end.

        Raises:
            TypeError: if it is none.
            ValueError: if it is of another parameter.
        """
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                f"PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the last method, on what the mask so far leaves of the tensor."""
        method: Any = self._pruning_methods[-1]
        at = _what_is_left(method, t, default_mask)
        made = default_mask.to(t.dtype, copy=True)
        found = method.compute_mask(t[at], default_mask=default_mask[at])
        made[at] = found.to(made.dtype)
        return made


def _what_is_left(method: Any, t: Tensor, mask: Tensor) -> Any:
    """Where a method looks, as an index."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    everything: list[Any] = [slice(None)] * t.dim()
    if method.PRUNING_TYPE == "global":
        return tuple(everything)
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError(
            'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
        )
    dim = method.dim + t.dim() if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
    everything[dim] = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
    return tuple(everything)


# ---- amounts, as methods of programs check them, too --------------------------------------------


def _validate_pruning_amount_init(amount: Any) -> None:
    """Refuse what is neither a share nor a number.

    Raises:
        TypeError: if it is no number.
        ValueError: if it is negative, or a share above 1.
    """
    if not isinstance(amount, Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    most = float("inf") if isinstance(amount, Integral) else 1.0
    if not 0 <= float(amount) <= most:
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """Raise ValueError for a number above what there is."""
    if isinstance(amount, Integral) and int(amount) > tensor_size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}"
        )


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """How many they are: a share is of the tensor's size."""
    return int(amount) if isinstance(amount, Integral) else round(float(amount) * tensor_size)


# ---- methods ------------------------------------------------------------------------------------


class Identity(BasePruningMethod):
    """Prunes nothing, and puts mask and hook into place."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask as it is."""
        return default_mask


class _Amount(BasePruningMethod):
    """Prunes a number of elements or channels, or a share of them."""

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount: Any = amount

    def _count(self, size: int) -> int:
        _validate_pruning_amount(self.amount, size)
        return _compute_nparams_toprune(self.amount, size)


class _Unstructured(_Amount):
    """Prunes the elements of the lowest scores."""

    PRUNING_TYPE = "unstructured"

    def _scores(self, t: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with further zeros."""
        count = self._count(t.numel())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            scores = self._scores(t).reshape(-1)
            mask.view(-1)[torch.topk(scores, k=count, largest=False)[1]] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def _scores(self, t: Tensor) -> Tensor:
        return -torch.rand_like(t)


class L1Unstructured(_Unstructured):
    """Prunes the elements nearest to zero."""

    def _scores(self, t: Tensor) -> Tensor:
        return t.abs()


class _Structured(_Amount):
    """Prunes channels along a dimension."""

    PRUNING_TYPE = "structured"
    dim: int

    def _kept(self, t: Tensor, count: int, size: int) -> Tensor:
        """Which channels stay, as an index."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask with further channels of zeros."""
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of "
                f"shape {t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.size(self.dim)
        count = self._count(size)
        if not count:
            return default_mask
        at: list[Any] = [slice(None)] * t.dim()
        at[self.dim] = self._kept(t, count, size)
        mask = torch.zeros_like(t)
        mask[tuple(at)] = 1
        return mask * default_mask.to(mask.dtype)


class RandomStructured(_Structured):
    """Prunes channels at random."""

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _kept(self, t: Tensor, count: int, size: int) -> Tensor:
        drawn = torch.rand(size)
        return (drawn > torch.kthvalue(drawn, k=count)[0]).to(t.device)


class LnStructured(_Structured):
    """Prunes the channels of the smallest norms."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def _kept(self, t: Tensor, count: int, size: int) -> Tensor:
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return torch.topk(torch.norm(t, p=self.n, dim=others), k=size - count)[1]


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Both masks together."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(default_mask.dtype)


# ---- functions ----------------------------------------------------------------------------------


def identity(module: M, name: str) -> M:
    """Put a mask of ones on a parameter; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: Any) -> M:
    """Prune a number, or a share, of elements at random; returns the module."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(
    module: M, name: str, amount: Any, importance_scores: Tensor | None = None
) -> M:
    """Prune the elements nearest to zero; returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: Any, dim: int) -> M:
    """Prune channels at random; returns the module."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(
    module: M, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
) -> M:
    """Prune the channels of the smallest norms of order ``n``; returns the module."""
    LnStructured.apply(
        module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores
    )
    return module


def custom_from_mask(module: M, name: str, mask: Tensor) -> M:
    """Prune what a mask says; returns the module."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(
    parameters: Any,
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters as if they were one.

    Args:
        parameters: modules and names.
        pruning_method: an unstructured one.
        importance_scores: what decides instead of a parameter itself, by module and name.
        **kwargs: the method's.

    Raises:
        TypeError: for another kind of method, or arguments of other types.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores: Any = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    places = list(parameters)
    values = [getattr(m, name) for m, name in places]
    deciding = [scores.get(place, value) for place, value in zip(places, values, strict=True)]
    masks = [
        getattr(m, f"{name}_mask", torch.ones_like(value))
        for (m, name), value in zip(places, values, strict=True)
    ]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    whole = PruningContainer(method).compute_mask(
        parameters_to_vector(deciding), parameters_to_vector(masks)
    )
    at = 0
    for (module, name), value in zip(places, values, strict=True):
        end = at + value.numel()
        custom_from_mask(module, name, mask=whole[at:end].view_as(value))
        at = end


def remove(module: M, name: str) -> M:
    """Make a pruned parameter one of its own again, pruned for good; returns the module.

    Raises:
        ValueError: if it is not pruned.
    """
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module: Module) -> bool:
    """Whether a parameter of a module, or of one below it, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for each in module.modules()
        for hook in each._forward_pre_hooks.values()
    )
