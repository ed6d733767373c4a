"""Forms of old of some calls, whose scalars stand before the tensors: ``x.add_(2, y)`` for ``alpha=2``.

PyTorch takes them still, with a warning, and optimizers of the years before 1.5 are written so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...values.user_warnings import warn_user
from ..schema import OperatorSchema
from .binding import python_number
from .parts import python_name

__all__ = ["newer"]


def _scalars(schema: OperatorSchema) -> list[str]:
    return [a.name for a in schema.keyword_only if a.type == "Scalar"]


def _is_number(value: Any) -> bool:
    return python_number(value) is not None or (hasattr(value, "_keys") and not value._shape)


def newer(
    schema: OperatorSchema,
    is_tensor: Callable[[Any], bool],
    args: tuple[Any, ...],
    given: dict[str, Any],
) -> dict[str, Any]:
    """All arguments of a call of the older form, by name.

    Args:
        schema: the op's.
        is_tensor: tells a tensor from a number.
        args: the positional ones, more than there are tensors.
        given: what the call may have by keyword, with what each was bound to.

    Raises:
        TypeError: as Python's for too many arguments, if the call is not of that form either.
    """
    tensors = [python_name(a) for a in schema.positional]
    scalars = _scalars(schema)
    extra = len(args) - len(tensors)
    # `self` comes before the first scalar in a method and, where there is a `beta`, after it in a function.
    first = 0 if len(scalars) > 1 and not is_tensor(args[0]) else 1
    places = [first, 2][:extra] if extra <= len(scalars) else []
    fits = [_is_number(v) if i in places else is_tensor(v) for i, v in enumerate(args)]
    if not places or not all(fits):
        raise TypeError(
            f"{schema.name}() takes {len(tensors)} positional arguments but {len(args)} were given"
        )
    form = ", ".join(
        f"Number {scalars[places.index(i)]}" if i in places else "Tensor" for i in range(len(args))
    )
    warn_user(
        f"This overload of {schema.name} is deprecated: {schema.name}({form}). Give numbers by keyword: "
        f"{schema.name}({', '.join(tensors)}, {', '.join(f'{s}=...' for s in scalars[:extra])})",
    )
    numbers = [args[i] for i in places]
    rest = [v for i, v in enumerate(args) if i not in places]
    return {
        **given,
        **dict(zip(tensors, rest, strict=True)),
        **dict(zip(scalars, numbers, strict=False)),
    }
