"""What kernels return is looked at in their first call for a set of keys: later calls pay nothing for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from ..values.shapes import show
from ..values.user_warnings import muted, user_frame
from .adapters import shown, tensors_in
from .entry import Kernel, KernelRecord, OpEntry
from .keys import PRIVATE_USE_KEYS, DispatchKey
from .opdef import OpDef
from .registry import registry

__all__ = ["looked_at", "returned_wrongly"]

Resolve = Callable[[OpEntry, int], Kernel]
_DATA: Final = (int, float, complex, list, tuple)


def looked_at(
    resolve: Resolve,
    entry: OpEntry,
    record: KernelRecord,
    backend: DispatchKey,
    kernel: Kernel,
) -> Kernel:
    """A backend's kernel for an op that is defined, with its results compared with what the op promises.

    What stands above it (autograd, which saves results) gets none that is no result of the op.

    Args:
        resolve: gives the kernel for a mask.
        entry: the op.
        record: the kernel's registration.
        backend: at whose key it is.
        kernel: what is called for it.
    """
    d = entry.definition
    quiet = entry.schema is None or (entry.schema.is_mutable and (d is None or not d.functional))
    if d is None or quiet or d.traits.view or d.traits.data_dependent:
        return kernel
    rule = d.rule
    if backend in PRIVATE_USE_KEYS:  # ours are known not to need what that costs
        rule = registry.shapes_of(entry, backend, partial(resolve, entry))

    def first_call(*args: Any, **kwargs: Any) -> Any:
        result = kernel(*args, **kwargs)
        data = _is_data(result)
        problem = returned_wrongly(entry, result, strict=data)
        if problem is None and data:
            problem = _unlike(d, rule, backend, result, args, kwargs)
        if problem is None:
            return result
        frame = user_frame()
        called = f"\n  called at: {frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""
        supplier = f" ({record.distribution})" if record.distribution else ""
        raise RuntimeError(
            f"the kernel of {entry.name} {problem}: {entry.schema}"
            f"\n  backend: {shown(backend)}{supplier}{called}\n  kernel: {record.source}"
        )

    return first_call


def _is_data(result: Any) -> bool:
    """Whether a result is a tensor, or what a kernel may have taken for one: a number, an array, several."""
    return isinstance(result, _DATA) or hasattr(result, "dtype")


def _unlike(
    d: OpDef,
    rule: Kernel | None,
    backend: DispatchKey,
    result: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> str | None:
    """What a result has that the op's rule does not say; None where nothing is known."""
    if d.functional is not None:
        same = not hasattr(result, "_keys") or _is_first(result, args)
        return None if same else "returned another tensor than the one that it was to change"
    several = isinstance(result, list | tuple)
    results = result if several else (result,)
    specs = _specs(rule, args, kwargs)
    if specs is not None and len(specs) != len(results):
        return f"returned {len(results)} results where the op's rule says {len(specs)}"
    for i, (r, spec) in enumerate(zip(results, specs or [None] * len(results), strict=True)):
        which = f" as result {i}" if several else ""
        if spec is not None and not hasattr(r, "_keys"):
            return f"returned {_described(r)}{which} where the op's rule says a tensor"
        if spec is not None and (r._shape != tuple(spec.shape) or r._dtype is not spec.dtype):
            return (
                f"returned {show(r._shape)} {r._dtype}{which} where the op's rule says "
                f"{show(spec.shape)} {spec.dtype}"
            )
        devices = {*_devices(d, backend, args, kwargs)}
        if devices and hasattr(r, "_keys") and r._device not in devices:
            where = ", ".join(sorted(map(str, devices)))
            return f"returned a tensor on {r._device}{which} where its arguments are on {where}"
    return None


def _is_first(result: Any, args: tuple[Any, ...]) -> bool:
    """Whether a result is the first argument, or lies in its memory."""
    first = args[0] if args else None
    return result is first or getattr(first, "_storage", None) is result._storage is not None


def _specs(rule: Kernel | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
    """What a rule says of each result; None if there is none, or it knows less than the kernel."""
    if rule is None:
        return None
    try:
        found = muted(rule, *args, **kwargs)
    except Exception:  # noqa: BLE001 (the kernel may take more than PyTorch's ops)
        return None
    return [*found] if isinstance(found, tuple | list) else [found]


def _devices(
    d: OpDef, backend: DispatchKey, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[Any]:
    """The devices of a backend on which results may be: those of its tensors among the arguments."""
    if not (d.traits.moves or d.operands.crosses_devices or kwargs.get("device") is not None):
        for t in tensors_in((*args, *kwargs.values())):
            if t._keys & backend:
                yield t._device


def returned_wrongly(entry: OpEntry, result: Any, *, strict: bool = False) -> str | None:
    """What is wrong with what a kernel returned; None if it fits the schema.

    Args:
        entry: the op.
        result: what its kernel returned.
        strict: a single result that is no tensor is wrong too, where the schema says Tensor.
    """
    schema = entry.schema
    if schema is None or getattr(schema, "is_varret", False):
        return None
    expected = len(schema.returns)
    if expected == 0:
        return None if result is None else f"returned {_described(result)}, not None"
    several = isinstance(result, list | tuple)
    if expected == 1:
        if schema.returns[0].is_list:
            return (
                None if several else f"returned {_described(result)} where the schema says a list"
            )
        if schema.returns[0].real_type.form == "tuple":
            return (
                None if several else f"returned {_described(result)} where the schema says a tuple"
            )
        if several and result and all(hasattr(r, "_keys") for r in result):
            return f"returned {_described(result)} where the schema says one value"
        tensor = schema.returns[0].type == "Tensor"
        if tensor and result is None and entry.definition is not None:
            return "returned None where the schema says a Tensor"
        if strict and tensor and result is not None and not hasattr(result, "_keys"):
            return f"returned {_described(result)} where the schema says a Tensor"
        return None
    if not several or len(result) != expected:
        return f"returned {_described(result)} where the schema says {expected} values"
    return None


def _described(result: Any) -> str:
    if isinstance(result, list | tuple):
        return f"a {type(result).__name__} of {len(result)}"
    return "None" if result is None else f"one {type(result).__name__}"
