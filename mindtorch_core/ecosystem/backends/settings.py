"""Settings of a library that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...values.interrupts import contextmanager

__all__ = ["Settings", "remembered"]


class Settings:
    """Settings that are remembered: attributes with defaults."""

    def __init__(self, **defaults: Any) -> None:
        vars(self).update(defaults)

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


@contextmanager
def remembered(place: dict[str, Any], changes: dict[str, Any]) -> Iterator[None]:
    """Change settings of a module while the block lasts; what is None stays."""
    before = {name: place[name] for name in changes}
    place.update({name: value for name, value in changes.items() if value is not None})
    try:
        yield
    finally:
        place.update(before)
