"""The version of PyTorch whose interface mindtorch follows, as a text that compares like numbers."""

from __future__ import annotations

import re
from typing import Any, Final

from .. import __version__ as _own

__all__ = ["TorchVersion"]

FOLLOWED: Final = "2.13.0"

_PUBLIC: Final = re.compile(
    r"v?(\d+(?:\.\d+)*)(?:[._-]?(dev|a|alpha|b|beta|rc|post)\.?(\d*))?", re.IGNORECASE
)
_STAGES: Final = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "rc": -1, "post": 1}


def _key(version: Any) -> tuple[Any, ...]:
    """What versions are ordered by: the release, its stage, then what is local.

    Raises:
        ValueError: if it is no version.
    """
    if isinstance(version, tuple | list):
        version = ".".join(map(str, version))
    public, _, local = str(version).partition("+")
    found = _PUBLIC.match(public)
    if found is None:
        raise ValueError(f"Invalid version: {version!r}")
    release = [int(part) for part in found[1].split(".")]
    while release and release[-1] == 0:
        release.pop()
    stage = (0, 0) if found[2] is None else (_STAGES[found[2].lower()], int(found[3] or 0))
    return tuple(release), stage, tuple(local.split(".")) if local else ()


class TorchVersion(str):
    """A version: a text that compares with texts, tuples and versions by its numbers.

    Example:
        >>> TorchVersion("2.13.0+mindtorch.0.1.0") >= (2, 9)
        True
        >>> TorchVersion("2.13.0") < "2.4"
        False
    """

    __slots__ = ()

    def _compared(self, other: Any, outcomes: tuple[int, ...], plain: str) -> bool:
        try:
            mine, theirs = _key(str(self)), _key(other)
        except ValueError:
            return bool(getattr(super(), plain)(other))
        return (mine > theirs) - (mine < theirs) in outcomes

    def __lt__(self, other: Any) -> bool:
        return self._compared(other, (-1,), "__lt__")

    def __le__(self, other: Any) -> bool:
        return self._compared(other, (-1, 0), "__le__")

    def __gt__(self, other: Any) -> bool:
        return self._compared(other, (1,), "__gt__")

    def __ge__(self, other: Any) -> bool:
        return self._compared(other, (0, 1), "__ge__")

    def __eq__(self, other: object) -> bool:
        return self._compared(other, (0,), "__eq__")

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return str.__hash__(self)


__version__ = TorchVersion(f"{FOLLOWED}+mindtorch.{_own}")
