"""Settings of cuDNN, which is not there: remembered, and without effect."""

from __future__ import annotations

from contextlib import AbstractContextManager

from .settings import Settings, remembered

__all__ = [
    "allow_tf32", "benchmark", "benchmark_limit", "conv", "deterministic", "enabled", "flags",
    "is_acceptable", "is_available", "rnn", "set_flags", "version",
]  # fmt: skip

enabled: bool = True
benchmark: bool = False
benchmark_limit: int | None = 10
deterministic: bool = False
allow_tf32: bool = True
fp32_precision: str = "none"
conv = Settings(fp32_precision="none")
rnn = Settings(fp32_precision="none")


def is_available() -> bool:
    """False: there is no cuDNN."""
    return False


def version() -> int | None:
    """None: there is no cuDNN."""
    return None


def is_acceptable(tensor: object) -> bool:
    """False: no tensor can be given to it."""
    return False


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str | None = None,
) -> tuple[bool, bool, int | None, bool, bool, str]:
    """Change settings, and return what they were; None changes nothing."""
    place = globals()
    names = (
        "enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32", "fp32_precision",
    )  # fmt: skip
    before = tuple(place[name] for name in names)
    given = (_enabled, _benchmark, _benchmark_limit, _deterministic, _allow_tf32, _fp32_precision)
    place.update({n: value for n, value in zip(names, given, strict=True) if value is not None})
    return before


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> AbstractContextManager[None]:
    """Settings while a block lasts."""
    changes = dict(locals())
    return remembered(globals(), changes)
