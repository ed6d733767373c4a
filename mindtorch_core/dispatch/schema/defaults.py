"""Default values in operator schemas: read from tokens, as the argument's type wants them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...values.dtypes import DTYPES, FLOAT8
from .types import SchemaType

__all__ = ["Misfit", "read_default"]


class Misfit(Exception):
    """A default does not fit its type.

    Attributes:
        expected: what would fit.
        at: index of the token that does not.
    """

    def __init__(self, expected: str, at: int) -> None:
        super().__init__(expected)
        self.expected = expected
        self.at = at


_Reader = Callable[[Sequence[str], int], tuple[Any, int] | None]


def read_default(tokens: Sequence[str], at: int, kind: SchemaType) -> tuple[Any, int]:
    """Read the default value that starts at a token.

    Args:
        tokens: all tokens, with two empty ones at the end.
        at: index of the first token.
        kind: the argument's type.

    Returns:
        The value and the index of the token behind it.

    Raises:
        Misfit: if the tokens are no value of this type.
    """
    optional = kind.form == "optional"
    if optional:
        if tokens[at] == "None":
            return None, at + 1
        kind = kind.args[0]
    if kind.form == "list":
        return _read_list(tokens, at, kind, optional)
    name = kind.name
    if optional and name == "float":  # PyTorch keeps the integer of `float? x=1`
        name = "real"
    reader = _READERS.get(name)
    if reader is None:
        wanted = "None" if optional else "no default"
        raise Misfit(
            f"{wanted}, as type '{kind.text}' has no literals (None needs type '{kind.text}?'),", at
        )
    found = reader(tokens, at)
    if found is None:
        wanted = f"{_LITERALS[name]} as default of type '{kind.text}'"
        if optional:
            wanted = f"None or {wanted}"
        elif tokens[at] == "None":
            wanted += f" (an argument that may be None is of type '{kind.text}?')"
        raise Misfit(wanted, at)
    return found


def _read_list(tokens: Sequence[str], at: int, kind: SchemaType, optional: bool) -> tuple[Any, int]:
    element = kind.args[0]
    if tokens[at] != "[":
        if kind.size is None:
            either = "None or a list" if optional else "a list"
            raise Misfit(f"{either} in '[]' as default of type '{kind.text}'", at)
        value, at = read_default(tokens, at, element)
        # Under `?` PyTorch keeps the single value: kernels expand it.
        return (value if optional else (value,) * kind.size), at
    at += 1
    values: list[Any] = []
    while tokens[at] != "]":
        if values:
            if tokens[at] != ",":
                raise Misfit("',' or ']' in a list", at)
            at += 1
        value, at = read_default(tokens, at, element)
        values.append(value)
    return tuple(values), at + 1


# ---- literals: each reader gives the value and the index behind it, or None --------------------


def _number(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
    """An int, float or complex literal: ``-1``, ``1e-5``, ``2j``, ``0.-1.5j``."""
    negative = tokens[at] == "-"
    token = tokens[at + 1] if negative else tokens[at]
    if not _is_number(token):
        return None
    at += 1 + negative
    value = _unsigned(token, at - 1)
    if negative:
        value = -value
    elif isinstance(value, int) and value == 2**63:
        raise Misfit(_IN_RANGE, at - 1)
    if tokens[at] in ("+", "-") and tokens[at + 1].endswith("j") and _is_number(tokens[at + 1]):
        imaginary = _unsigned(tokens[at + 1], at + 1).imag
        value = complex(value, imaginary if tokens[at] == "+" else -imaginary)
        at += 2
    return value, at


def _is_number(token: str) -> bool:
    return token.isascii() and (token[:1].isdigit() or (token[:1] == "." and token[1:2].isdigit()))


_IN_RANGE: Final = "a number in the range of 64 bits as default"


def _unsigned(token: str, at: int) -> Any:
    if token.isdigit():
        # Python refuses to read numbers of thousands of digits.
        if len(token.lstrip("0")) > 19 or int(token) > 2**63:
            raise Misfit(_IN_RANGE, at)
        return int(token)
    value = float(token.removesuffix("j"))
    vanished = value == 0 and token.lower().partition("e")[0].strip("0.j")
    if value == float("inf") or vanished:
        raise Misfit(_IN_RANGE, at)
    return complex(0, value) if token.endswith("j") else value


def _of_type(*kinds: type) -> _Reader:
    def read(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
        found = _number(tokens, at)
        return found if found is not None and type(found[0]) in kinds else None

    return read


_integer: Final = _of_type(int)
_real: Final = _of_type(int, float)


def _int(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
    # The one constant that schemas of PyTorch name: the reduction of losses.
    return (1, at + 1) if tokens[at] == "Mean" else _integer(tokens, at)


def _float(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
    found = _real(tokens, at)
    return found and (float(found[0]), found[1])


def _complex(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
    found = _number(tokens, at)
    return found and (complex(found[0]), found[1])


def _bool(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
    token = tokens[at]
    return (token == "True", at + 1) if token in ("True", "False") else None


def _scalar(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
    return _bool(tokens, at) or _number(tokens, at)


def _any(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
    if tokens[at] == "None":
        return None, at + 1
    return _scalar(tokens, at) or _string(tokens, at)


def _device(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
    """A device in quotes or, as PyTorch prints it, without them: ``cuda:0``."""
    found = _string(tokens, at)
    if found is None:
        found = tokens[at], at + 1
        if tokens[at + 1] == ":":
            found = f"{tokens[at]}:{tokens[at + 2]}", at + 3
    return found if re.fullmatch(r"(?!None$)[A-Za-z_]\w*(:\d+)?", found[0], re.ASCII) else None


# PyTorch's dtypes in the order of their numbers.
_DTYPE_NAMES: Final = [
    "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32",
    "complex64", "complex128", "bool", "qint8", "quint8", "qint32", "bfloat16", "quint4x2",
    "quint2x4", "bits1x8", "bits2x4", "bits4x2", "bits8", "bits16", "float8_e5m2",
    "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "uint16", "uint32", "uint64", "uint1",
    "uint2", "uint3", "uint4", "uint5", "uint6", "uint7", "int1", "int2", "int3", "int4", "int5",
    "int6", "int7", "float8_e8m0fnu", "float4_e2m1fn_x2",
]  # fmt: skip
_DTYPE_NUMBERS: Final = {name: number for number, name in enumerate(_DTYPE_NAMES)} | {
    "short": 2, "int": 3, "long": 4, "half": 5, "float": 6, "double": 7, "chalf": 8, "cfloat": 9,
    "complex": 9, "cdouble": 10, "bit": 30,
}  # fmt: skip
_DTYPES_HERE: Final = {d.index: d for d in (DTYPES | FLOAT8).values()}


def _dtype(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
    """A dtype by name or number; one that does not exist here stays a number."""
    found = _named(_DTYPE_NUMBERS)(tokens, at)
    return found and (_DTYPES_HERE.get(found[0], found[0]), found[1])


def _named(names: dict[str, int]) -> _Reader:
    def read(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
        number = names.get(tokens[at])
        return _integer(tokens, at) if number is None else (number, at + 1)

    return read


def _string(tokens: Sequence[str], at: int) -> tuple[Any, int] | None:
    token = tokens[at]
    if token[:1] not in ("'", '"') or len(token) < 2:
        return None
    return _quoted_text(token, at), at + 1


_ESCAPE: Final = re.compile(r"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "\n": "\n",
}  # fmt: skip


def _quoted_text(token: str, at: int) -> str:
    """The text that a string literal stands for."""
    quotes = 3 if token[:3] in ("'''", '"""') else 1
    body = token[quotes:-quotes]

    def meaning(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) == 3 and int(escape, 8) < 128:
            return chr(int(escape, 8))
        if escape not in _ESCAPES:
            raise Misfit(
                f"an escape that exists (\\{escape[0]} does not; there are \\n \\t \\r \\a \\b \\f \\v "
                "\\\\ \\' \\\" and octal \\000 to \\177)",
                at,
            )
        return _ESCAPES[escape]

    return _ESCAPE.sub(meaning, body) if "\\" in body else body


_READERS: Final[dict[str, _Reader]] = {
    "Any": _any,
    "Device": _device,
    "Layout": _named({"strided": 0}),
    "MemoryFormat": _named({"contiguous_format": 0}),
    "Scalar": _scalar,
    "ScalarType": _dtype,
    "bool": _bool,
    "complex": _complex,
    "float": _float,
    "int": _int,
    "real": _real,
    "str": _string,
}

_LITERALS: Final = {
    "Any": "a number, a string in quotes, True, False or None",
    "Device": "a device such as cpu",
    "Layout": "strided",
    "MemoryFormat": "contiguous_format",
    "Scalar": "a number",
    "ScalarType": "the name of a dtype, such as float,",
    "bool": "True or False",
    "complex": "a number",
    "float": "a number that is not complex",
    "int": "an integer",
    "real": "a number that is not complex",
    "str": "a string in quotes",
}
