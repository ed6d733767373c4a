"""Python operators: the method behind each, generated from the op's schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..entry import OpEntry
from ..overrides import NoAnswer, handle, of_pytorch
from .binding import operand_of
from .failures import explain, refuse_float8
from .generated import Template, compile_function, own_scope
from .overridden import IN_PYTHON, METHOD_OF_OPERATOR
from .parts import NUMBERS, call_scope, joined, look_up

__all__ = ["make_operator"]

_UNARY: Final = Template("""\
def $name(self):
    @keys = self._keys
    $look_up
    try:
        return @kernel(self)
    except @Exception as @error:
        @EXPLAIN(@error, self)
        raise
""")
_BINARY: Final = Template("""\
def $name(self, other):
    @keys = self._keys
    if @type(other) is @Tensor:
        $join
    elif (@kind := @type(other)) is @INT:
        if not @LEAST <= other <= @MOST:
            @REFUSE_LONG(other)
    elif @kind not in @NUMBERS:
        other, @more = @OPERAND(other)
        if other is @NotImplemented:
            return other
        @keys |= @more
    $look_up
    try:
        return @kernel(self, other)
    except @Exception as @error:
        @EXPLAIN(@error, self, other)
        raise
""")


def make_operator(
    entry: OpEntry, dunder: str, tensor_type: type, *, numbers: bool = False
) -> Callable[..., Any]:
    """Generate the method behind a Python operator, such as ``__add__``.

    It differs from the function in taking only the operands and in answering NotImplemented to
    what it does not know, so that Python tries the other operand's method; PyTorch's tensors are refused.

    Args:
        entry: the op.
        dunder: the method's name.
        tensor_type: the class of tensors.
        numbers: the other operand may be a Python number.
    """
    schema = entry.schema
    unary = schema is not None and len(schema.positional) == 1
    source = (_UNARY if unary else _BINARY).fill(
        name=dunder, look_up=look_up(("self", "other")[: 1 if unary else 2]), join=joined("other")
    )
    # An array leaves it to the tensor, and if neither compares, Python does by identity.
    compares = dunder in ("__eq__", "__ne__")

    def operand(value: Any) -> tuple[Any, int]:
        try:
            found, keys = operand_of(entry, "other", value, tensor_type)
        except TypeError:
            if of_pytorch(type(value)):
                raise  # which says what to do
            made = of_array(value) if compares else None
            return (NotImplemented, 0) if made is None else (made, made._keys)
        return (found, keys) if numbers or keys else (NotImplemented, 0)

    def of_array(value: Any) -> Any:
        """A tensor over an array's memory; None for what is no array, or holds what no tensor does."""
        if not hasattr(value, "__array_interface__"):
            return None
        try:
            return tensor_type._from_array(value)  # type: ignore[attr-defined]
        except TypeError:
            return None

    def explained(error: Exception, *operands: Any) -> None:
        refuse_float8(entry, error, operands)
        explain(entry, error, {}, operands)

    def hand_on(entry: OpEntry, shown: Any, values: dict[str, Any], spread: None) -> Any:
        method = getattr(tensor_type, METHOD_OF_OPERATOR.get(dunder, dunder))
        given = tuple(values.values())
        try:
            return handle(method, given, given, {}, written_in_python=dunder in IN_PYTHON)
        except NoAnswer:  # Python asks the other operand, and says what it cannot add
            return NotImplemented

    scope = call_scope(entry, tensor_type) | {
        "EXPLAIN": explained,
        "INT": int if numbers else None,
        "NUMBERS": NUMBERS if numbers else frozenset(),
        "OPERAND": operand,
        "HAND_ON": hand_on,
        "SHOWN": None,
    }
    return compile_function(dunder, source, own_scope(scope))
