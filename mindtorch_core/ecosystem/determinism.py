"""Whether ops may give results that differ from run to run. Backends' kernels do not, so this is memory."""

from __future__ import annotations

from typing import Final

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "use_deterministic_algorithms",
]

_MODES: Final = {"default": 0, "warn": 1, "error": 2}
_mode = [0]
_warn_only = [False]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for algorithms that give the same result in every run; mindtorch's own do in any case.

    Args:
        mode: whether they are asked for.
        warn_only: whether an op that has none warns, rather than raises.

    Example:
        >>> torch.use_deterministic_algorithms(True)
        >>> torch.are_deterministic_algorithms_enabled()
        True
        >>> torch.use_deterministic_algorithms(False)
    """
    _mode[0] = (1 if warn_only else 2) if mode else 0
    _warn_only[0] = warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was asked for."""
    return _mode[0] > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether an op without a deterministic algorithm was to warn only."""
    return _warn_only[0]


def get_deterministic_debug_mode() -> int:
    """0 by default, 1 to warn, 2 to raise."""
    return _mode[0]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set the mode: ``default``, ``warn`` or ``error``, or 0, 1 or 2.

    Raises:
        TypeError: if it is neither a text nor a number.
        RuntimeError: if there is no such mode.
    """
    if not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    mode = _MODES.get(debug_mode) if isinstance(debug_mode, str) else debug_mode
    if mode not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
            f"{debug_mode}"
            if isinstance(debug_mode, str)
            else f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)
