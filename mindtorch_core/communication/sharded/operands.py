"""Arguments among which there are DTensors: which these are, and results made of parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from ...tensors.tensor import Tensor
from .dtensor import DTensor
from .layouts import DTensorSpec
from .placements import Partial, Replicate

__all__ = [
    "MIXED",
    "arguments_of",
    "complete",
    "distributed",
    "mapped",
    "mixed",
    "refuse",
    "refuse_mixed",
    "replicated",
    "wrapped",
]

MIXED: Final = (
    "{op}: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling "
    "distributed operators! Use distribute_tensor, or compute with to_local() or full_tensor()"
)
_REFUSED: Final = (
    "{op} is not served for DTensor ({why}): compute with to_local(), this rank's part, or with "
    "full_tensor(), the whole"
)


def refuse(func: Any, why: str) -> NotImplementedError:
    """The error of an op that is not served."""
    return NotImplementedError(_REFUSED.format(op=func, why=why))


def arguments_of(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by their names."""
    return dict(zip((a.name for a in func._schema.arguments), args, strict=False)) | kwargs


def _leaves(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _leaves(value)
        else:
            yield value


def distributed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[DTensor]:
    """The DTensors among arguments, also in lists."""
    return [t for t in _leaves((*args, *kwargs.values())) if isinstance(t, DTensor)]


def replicated(t: DTensor) -> bool:
    """Whether each rank has all of it."""
    return all(isinstance(each, Replicate) for each in t.placements)


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value, or each in its lists, changed."""
    if isinstance(value, list | tuple):
        return type(value)([mapped(each, change) for each in value])
    return change(value)


def wrapped(result: Any, spec: DTensorSpec) -> Any:
    """Results that lie as a spec says."""

    def wrap(t: Any) -> Any:
        if not isinstance(t, Tensor):
            return t
        return DTensor(t, spec.like(spec.shape, t.dtype), requires_grad=False)

    return mapped(result, wrap)


def complete(t: Any) -> Any:
    """A DTensor of which all ranks have all, if what they have of it is partial."""
    if isinstance(t, DTensor) and any(isinstance(each, Partial) for each in t.placements):
        wanted = [Replicate() if isinstance(p, Partial) else p for p in t.placements]
        return t.redistribute(placements=wanted)
    return t


def mixed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether there are plain tensors of several elements among arguments."""
    return any(
        isinstance(t, Tensor) and t.ndim and not isinstance(t, DTensor)
        for t in _leaves((*args, *kwargs.values()))
    )


def refuse_mixed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse plain tensors of several elements.

    Raises:
        RuntimeError: if there is one.
    """
    if mixed(args, kwargs):
        raise RuntimeError(MIXED.format(op=func))
