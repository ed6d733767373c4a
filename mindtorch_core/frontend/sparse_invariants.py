"""Whether programs have asked for checks of sparse tensors: here positions are checked in any case."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["check_sparse_tensor_invariants"]

_F = TypeVar("_F", bound=Callable[..., Any])
_enabled = False


class check_sparse_tensor_invariants:
    """Ask for checks while a block or a function runs, or from now on.

    Constructors of sparse tensors check positions in any case, unlike PyTorch's; this keeps what was asked.

    Args:
        enable: False asks for no checks.

    Example:
        >>> import mindtorch_core as torch
        >>> with torch.sparse.check_sparse_tensor_invariants():
        ...     torch.sparse.check_sparse_tensor_invariants.is_enabled()
        True
    """

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.saved_state: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Whether checks are asked for."""
        return _enabled

    @staticmethod
    def enable() -> None:
        """Ask for checks from now on."""
        global _enabled
        _enabled = True

    @staticmethod
    def disable() -> None:
        """Ask for none from now on."""
        global _enabled
        _enabled = False

    def __enter__(self) -> None:
        global _enabled
        if self.saved_state is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager "
                "instance for context nesting."
            )
        self.saved_state, _enabled = _enabled, self.state

    def __exit__(self, *exc: object) -> None:
        global _enabled
        assert self.saved_state is not None
        _enabled, self.saved_state = self.saved_state, None

    def __call__(self, mth: _F) -> _F:
        """The function with checks asked for while it runs."""

        @functools.wraps(mth)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return mth(*args, **kwargs)

        return checked  # type: ignore[return-value]
