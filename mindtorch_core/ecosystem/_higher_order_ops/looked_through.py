"""What a function of control flow does with tensors, found on the Meta device before one of them runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, NoReturn

from ...dispatch.overrides import MODES
from ...gradients.duals import LEVELS as DUALS
from ...gradients.vmap_levels import LEVELS as MAPPED
from ...tensors.tensor import Tensor
from ...utils._pytree import TreeSpec, tree_flatten
from ..compiled_recording import Awaited, Place, Recorder
from ..compiler_errors import UncapturedHigherOrderOpError

__all__ = ["Given", "look_through", "refuse"]

_UNCAPTURED: Final = (
    "This higher order operator doesn't work unless it is captured completely with torch.compile."
)


class Given(NamedTuple):
    """What a function gives.

    Attributes:
        leaves: tensors on the Meta device, and other values.
        tree: how they are nested.
        devices: of each leaf; None for those that are no tensors.
    """

    leaves: list[Any]
    tree: TreeSpec
    devices: list[Any]


class _WantsValuesError(BaseException):
    """A function wants values: it is not looked through. No handler of the function's own takes it."""


class _Look(Recorder):
    """Records what a function would do, and runs nothing."""

    def __init__(self) -> None:
        super().__init__(lambda segment: [], lambda wanted: None)

    def run(self, wanted: Any) -> None:
        raise _WantsValuesError

    def is_written(self) -> bool:
        """Whether a tensor that was there would be written to."""
        return any(meta._version for _, meta in self._metas.values())

    def memory(self) -> list[int]:
        """The storages of the tensors that were there."""
        return [_memory_of(meta) for _, meta in self._metas.values()]


def refuse(of: str, what: str, hint: str) -> NoReturn:
    """Refuse a function of control flow, as PyTorch does.

    Raises:
        UncapturedHigherOrderOpError: always.
    """
    raise UncapturedHigherOrderOpError(
        f"{_UNCAPTURED} {what}\n  Higher Order Operator: torch.{of}\n  Hint: {hint}"
    )


def look_through(of: str, fn: Callable[..., Any], operands: Sequence[Any]) -> Given | None:
    """What a function would give.

    Args:
        of: what calls it, as ``cond``.
        fn: the function.
        operands: what it is called with.

    Returns:
        None where that is not known: the function wants values, or it is watched or transformed.

    Raises:
        UncapturedHigherOrderOpError: if it fails, writes to tensors that were there before, or gives
            them, or gives the same memory twice.
    """
    if MODES.stack or MAPPED.stack or MAPPED.gradients or DUALS:
        return None
    look = _Look()
    name = getattr(fn, "__qualname__", repr(fn))
    try:
        with look:
            result = fn(*operands)
    except _WantsValuesError:
        return None
    except Exception as error:
        what = f"{name} raised exception {error!r}"
        raise UncapturedHigherOrderOpError(
            f"{_UNCAPTURED} {what}\n  Higher Order Operator: torch.{of}"
        ) from error
    if look.is_written():
        refuse(
            of,
            f"Encountered input mutation: {name} writes to a tensor that it was given",
            "Write to a clone(), and return that.",
        )
    leaves, tree = tree_flatten(result)
    places: list[Place | None] = [_place_of(leaf) for leaf in leaves]
    tensors = [p for p in places if p is not None]
    memory = [*{*look.memory()}, *[_memory_of(p.meta) for p in tensors]]
    outside = any(isinstance(v, Tensor) and p is None for v, p in zip(leaves, places, strict=True))
    if outside or len({*memory}) < len(memory):
        refuse(
            of,
            f"Encountered aliasing: what {name} returns shares memory with what it was given, or with "
            "what else it returns",
            "Return a clone() of it.",
        )
    return Given(
        [v if p is None else p.meta for v, p in zip(leaves, places, strict=True)],
        tree,
        [None if p is None else v.device for v, p in zip(leaves, places, strict=True)],
    )


def _place_of(leaf: Any) -> Place | None:
    """Where a tensor that the function has made stands; None for other values."""
    return leaf.__dict__["_awaited"] if leaf.__class__ is Awaited else None


def _memory_of(meta: Tensor) -> int:
    """The identity of a tensor's storage; one that nothing shares yet has none."""
    return id(meta if meta._storage is None else meta._storage)
