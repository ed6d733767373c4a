"""Stagers: who copies a state before `async_save` returns."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Protocol, runtime_checkable

from ...gradients.grad_mode import no_grad
from ...tensors.tensor import Tensor
from ..sharded.dtensor import DTensor
from .metadata import STATE_DICT_TYPE

__all__ = ["AsyncStager", "BlockingAsyncStager"]


@runtime_checkable
class AsyncStager(Protocol):
    """Copies a state that a program goes on to change."""

    _synchronize_after_execute: bool = True

    @property
    def should_synchronize_after_execute(self) -> bool:
        """Whether `async_save` calls `synchronize_staging` before it returns."""
        return self._synchronize_after_execute

    def stage(self, state_dict: STATE_DICT_TYPE) -> Future[STATE_DICT_TYPE] | STATE_DICT_TYPE:
        """The copy, or a future of it."""
        raise NotImplementedError(f"{type(self).__name__} must implement stage method")

    def synchronize_staging(self) -> None:
        """Wait until the state may be changed."""

    def close(self) -> None:
        """Let go of memory."""


class BlockingAsyncStager(AsyncStager):
    """Copies tensors to host memory before it returns.

    Args:
        cache_staged_state_dict: whether each copy is made in the memory of the one before.
        type_check: accepted.
    """

    _synchronize_after_execute = False

    def __init__(self, cache_staged_state_dict: bool = False, type_check: bool = False) -> None:
        self.cache_staged_state_dict = cache_staged_state_dict
        self.type_check = type_check
        self._kept: dict[tuple[Any, ...], Tensor] = {}

    def stage(self, state_dict: STATE_DICT_TYPE) -> STATE_DICT_TYPE:
        with no_grad():
            found: dict[str, Any] = self._copied(state_dict, ())
        return found

    def synchronize_staging(self) -> None:
        """See `AsyncStager`: nothing is left to do."""

    def close(self) -> None:
        self._kept.clear()

    def _copied(self, value: Any, path: tuple[Any, ...]) -> Any:
        if isinstance(value, DTensor):
            local = self._copied(value._local_tensor, path)
            return DTensor(
                local, value._spec.like(value._spec.shape, local.dtype), requires_grad=False
            )
        if isinstance(value, Tensor):
            kept = self._kept.get(path) if self.cache_staged_state_dict else None
            if kept is not None and (kept.shape, kept.dtype) == (value.shape, value.dtype):
                return kept.copy_(value.detach())
            found = value.detach().to("cpu", copy=True)
            if self.cache_staged_state_dict:
                self._kept[path] = found
            return found
        if isinstance(value, Mapping):
            return {key: self._copied(each, (*path, key)) for key, each in value.items()}
        if type(value) in (list, tuple):
            return type(value)(self._copied(each, (*path, n)) for n, each in enumerate(value))
        return value
