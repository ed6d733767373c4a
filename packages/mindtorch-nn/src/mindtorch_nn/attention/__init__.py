"""``torch.nn.attention``: which kernels scaled dot product attention may use."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(Enum):
    """The kernels that PyTorch has; backends here have one of their own, which counts as ``MATH``."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


class _Allowed:
    """What the innermost block allows."""

    backends: frozenset[SDPBackend] = frozenset(SDPBackend) - {SDPBackend.ERROR}
    order: tuple[SDPBackend, ...] = ()


@contextlib.contextmanager
def sdpa_kernel(
    backends: SDPBackend | Iterable[SDPBackend], set_priority: bool = False
) -> Iterator[dict[None, None]]:
    """Say which kernels attention may use in the block.

    Results do not depend on it: every backend here has one kernel, which is used in any case.

    Args:
        backends: one or several.
        set_priority: whether they stand in the order in which they are to be tried.

    Raises:
        AssertionError: for anything else.
    """
    given: Any = [backends] if isinstance(backends, SDPBackend) else backends
    chosen: list[SDPBackend] = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(each, SDPBackend) for each in chosen):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend")
    if not chosen:
        raise AssertionError("sdpa_kernel needs at least one backend")
    before = _Allowed.backends, _Allowed.order
    _Allowed.backends = frozenset(chosen)
    _Allowed.order = tuple(chosen) if set_priority else ()
    try:
        yield {}
    finally:
        _Allowed.backends, _Allowed.order = before


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """What is allowed now."""
    if with_priority and _Allowed.order:
        return list(_Allowed.order)
    return sorted(_Allowed.backends, key=lambda each: each.value)
