"""PyTorch as a second reference, where it is installed. It is no dependency of anything here."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import warnings
from typing import Any, Final

from ...operators.recipes import DEVICE, Sample, values_of
from ...values.dtypes import DTYPES, dtype
from ..samples import merged
from .cases import NEEDS_DTYPE, Case

__all__ = ["arguments_of", "call", "function_of", "installed", "kind", "oracle"]

# Where a function that is no op of PyTorch's is found, by the namespace that it has here.
_PLACES: Final = {"torch": "", "Tensor": "Tensor", "nn": "nn.functional"}
_UNLIKE: Final = merged("unlike_pytorch")


def installed() -> bool:
    """Whether PyTorch is there; to import it would take seconds."""
    return importlib.util.find_spec("torch") is not None


@functools.cache
def oracle() -> Any:
    """The module, or None if it is not installed."""
    return importlib.import_module("torch") if installed() else None


def call(case: Case) -> list[tuple[Any, Any]] | None:
    """PyTorch's results of a call: for each tensor itself and the same computed in float64.

    Returns:
        None if PyTorch has no such public function, refuses the call, which may take more here, or
        is free to give something else.
    """
    fn = None if case.op.base_name.startswith("_") else function_of(case)
    if fn is None:
        return None
    exact = case.sample if case.name in NEEDS_DTYPE else case.sample.in_float64()
    try:
        with warnings.catch_warnings(action="ignore"):
            found, wide = (_flat(_called(fn, sample)) for sample in (case.sample, exact))
    except (RuntimeError, TypeError, IndexError, NotImplementedError, ValueError):
        return None
    if found is None or wide is None or len(found) != len(wide):
        return None
    return list(zip(found, wide, strict=True))


def kind(t: Any) -> tuple[tuple[int, ...], str]:
    """Shape and name of the dtype."""
    return tuple(t.shape), str(t.dtype).rpartition(".")[2]


def function_of(case: Case) -> Any:
    """PyTorch's function for an op; None if it has none that means the same."""
    if case.op.base_name in _UNLIKE:
        return None
    torch = oracle()
    found = getattr(torch.ops.aten, case.op.base_name, None)
    for namespace in case.op.exposure.namespaces if found is None else ():
        place, _, name = namespace.partition(":")
        module = torch
        for part in filter(None, _PLACES.get(place, place).split(".")):
            module = getattr(module, part, None)
        found = found or getattr(module, name or case.op.base_name, None)
    return found


def _called(fn: Any, sample: Sample) -> Any:
    args, kwargs = arguments_of(sample)
    return fn(*args, **kwargs)


def arguments_of(sample: Sample) -> tuple[list[Any], dict[str, Any]]:
    """A sample's arguments as PyTorch takes them."""
    torch = oracle()

    def made(recipe: Any) -> Any:
        t = torch.tensor(values_of(recipe), dtype=getattr(torch, recipe.dtype))
        return t.reshape(recipe.shape)

    args, kwargs = sample.arguments(made, "cpu")
    return [_foreign(a) for a in args], {k: _foreign(v) for k, v in kwargs.items()}


def _foreign(value: Any) -> Any:
    """A plain value as PyTorch writes it."""
    if isinstance(value, dtype):
        return getattr(oracle(), value.name)
    return "cpu" if value is DEVICE else value


def _flat(result: Any) -> list[Any] | None:
    """The tensors of a result; None if it holds something else."""
    if isinstance(result, tuple | list):
        parts = [_flat(part) for part in result]
        return None if None in parts else [t for part in parts for t in part or ()]
    return [result] if hasattr(result, "dtype") and kind(result)[1] in DTYPES else None
