"""NumPy's names for arguments, as PyTorch takes them: ``axis`` for ``dim``, ``keepdims`` for ``keepdim``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NoReturn

from ..nearest import suggestion
from ..schema import OperatorSchema

__all__ = ["REQUIRED", "has_names", "own_names", "refuse", "renamed"]

_OWN: Final = {"axis": "dim", "keepdims": "keepdim"}


class _Required:
    """Stands for an argument that has no default, where it may come under another name."""

    def __repr__(self) -> str:
        return "<required>"


REQUIRED: Final = _Required()


def has_names(schema: OperatorSchema) -> bool:
    """Whether an op's function takes them: those along a dimension do, which NumPy has too."""
    return any(a.name in ("dim", "keepdim") for a in schema.arguments)


def own_names(given: dict[str, Any]) -> dict[str, Any]:
    """Keywords with NumPy's names replaced; the very same dict where there is none.

    A name that is given besides its replacement stays, for the call to fail on.
    """
    if not any(k in _OWN and _OWN[k] not in given for k in given):
        return given
    return {k if _OWN.get(k, k) in given else _OWN.get(k, k): v for k, v in given.items()}


def renamed(
    name: str, defaults: dict[str, Any], values: dict[str, Any], given: dict[str, Any]
) -> dict[str, Any]:
    """All arguments of a call by their own names.

    Args:
        name: the function's, for errors.
        defaults: of its parameters; `REQUIRED` for those that have none.
        values: what its parameters have been bound to.
        given: the keywords that are none of its parameters.

    Raises:
        TypeError: as Python's for unknown, repeated and missing arguments.
    """
    bound = dict(values)
    for key, value in given.items():
        own = _OWN.get(key, key)
        if own not in bound:
            raise _unexpected(name, key, defaults, values)
        if bound[own] is not defaults.get(own, REQUIRED):
            raise TypeError(
                f"{name}() got multiple values for argument '{own}', also called '{key}'"
            )
        bound[own] = value
    missing = [f"'{key}'" for key, value in bound.items() if value is REQUIRED]
    if missing:
        raise absent(name, *missing)
    return bound


def absent(name: str, *missing: str) -> TypeError:
    """The error where arguments are missing, as Python says it."""
    several = "s" if len(missing) > 1 else ""
    return TypeError(
        f"{name}() missing {len(missing)} required positional argument{several}: "
        f"{' and '.join(missing)}"
    )


def refuse_nothing(name: str, argument: str) -> NoReturn:
    """Refuse a call without any of the numbers that may be spread over it."""
    raise absent(name, f"'{argument}'")


def refuse(
    name: str, defaults: dict[str, Any], names: Iterable[str], given: dict[str, Any]
) -> NoReturn:
    """Refuse keywords that are none of a function's parameters.

    Args:
        name: the function's.
        defaults: of its parameters that have one.
        names: of all its parameters.
        given: the keywords.
    """
    raise _unexpected(name, next(iter(given)), defaults, names)


def _unexpected(name: str, key: str, defaults: dict[str, Any], values: Iterable[str]) -> TypeError:
    """The error for a keyword that is none of a function's parameters, which it lists."""
    shown = [f"{each}={defaults[each]!r}" if each in defaults else each for each in values]
    return TypeError(
        f"{name}() got an unexpected keyword argument '{key}'.{suggestion(key, values)} "
        f"The arguments are: {name}({', '.join(shown)})"
    )
