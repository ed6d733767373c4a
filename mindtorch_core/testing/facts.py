"""Facts in the text of an error or a warning: numbers, shapes, dtypes and names.

Two libraries word their messages differently. What a user needs of a message is which shapes met,
which index was out of range, which argument of which function was wrong; `missing` says which of
these a text lacks.
"""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["facts", "missing"]

Fact = tuple[str, Any]

# Prose of one version or build: addresses, links, lists of what exists, C++ names.
_NOISE: Final = [
    re.compile(r"(https?://|github\.com/)\S+"),
    re.compile(r"but expected one of:.*", re.DOTALL),
    re.compile(r"Expected one of cpu, .* start of device string:"),
    re.compile(r"This could be because .*", re.DOTALL),
    re.compile(r"\bDispatchKey::\w+"),
    re.compile(r"\bitem<T>\(\)|\b\w+(::\w+)+\(\)"),
    re.compile(r"\(Triggered internally at [^)]*\)"),
    re.compile(r"'torch\.fx\.experimental\.[\w.]+'"),
    re.compile(r"\bin (pytorch|version) \d+(\.\d+)*", re.IGNORECASE),
]

_DTYPES: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("Bool", "torch.bool"),
    "uint8": ("Byte", "uint8_t", "unsigned char"),
    "int8": ("Char", "int8_t", "signed char"),
    "int16": ("Short", "int16_t", "short int"),
    "int32": ("Int", "int32_t"),
    "int64": ("Long", "int64_t", "long int", "long long"),
    "uint16": ("UInt16", "uint16_t"),
    "uint32": ("UInt32", "uint32_t"),
    "uint64": ("UInt64", "uint64_t"),
    "float16": ("Half", "c10::Half"),
    "bfloat16": ("BFloat16", "c10::BFloat16"),
    "float32": ("Float",),
    "float64": ("Double", "double"),
    "complex64": ("ComplexFloat", "c10::complex<float>"),
    "complex128": ("ComplexDouble", "c10::complex<double>"),
    "float8_e4m3fn": ("Float8_e4m3fn",),
    "float8_e5m2": ("Float8_e5m2",),
}
_DTYPE_OF: Final = {
    spelling: name
    for name, spellings in _DTYPES.items()
    for spelling in (*spellings, *((f"torch.{name}", name) if name != "bool" else ()))
}
_DTYPE: Final = re.compile(
    r"(?<![\w.])(?:torch\.)?(?:("
    + "|".join(sorted(map(re.escape, _DTYPE_OF), key=len, reverse=True))
    + r"))(?:Tensor\b|(?!\w))"
)
_SIZES: Final = re.compile(
    r"\[(-?\d+(?:, ?-?\d+)*)\]|\((-?\d+(?:, ?-?\d+)+|-?\d+,)\)|\b(\d+x\d+)\b"
)
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?=-?D\b|(?!\w))")
_KERNEL: Final = re.compile(r"_(vml_cpu|cpu|lastdim_kernel_impl|kernel_impl|out|stub)$")
_NAMES: Final = [
    re.compile(r"(?<!\w)['\"`]([A-Za-z_][\w.:-]*)(?:\(\))?['\"`](?!\w)"),
    re.compile(r"\b(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)\("),
    re.compile(r"\b([a-z_]\w*)=(?!=)"),
    re.compile(r"\b([A-Za-z_]\w*Backward\d*)\b"),
    re.compile(r"\b[Oo]utput \d+ of (\w+)"),
    re.compile(r"\b\w+::(\w+)"),
    re.compile(r"\b(cpu|cuda|meta|mps|npu|xla)\b"),
    re.compile(
        r"\b(?:got|not|type|a|and)[ (:]+(?:<class ')?(int|float|str|bool|list|tuple|object)\b"
    ),
]


def facts(text: str) -> set[Fact]:
    """What a message says besides words.

    Returns:
        Pairs of a kind and a value: ``("sizes", (2, 3))``, ``("number", -1.0)``,
        ``("dtype", "float32")``, ``("name", "transpose")``. A dtype is the same fact however it is
        spelt, and so are sizes (``[2, 3]``, ``(2, 3)``, ``2x3``).
    """
    for noise in _NOISE:
        text = noise.sub(" ", text)
    found: set[Fact] = set()
    names = {_KERNEL.sub("", name) for pattern in _NAMES for name in pattern.findall(text)}
    found |= {("name", n.rpartition("::")[2]) for n in names if n not in _DTYPE_OF}
    found |= {("dtype", _DTYPE_OF[m[1]]) for m in _DTYPE.finditer(text)}
    text = _DTYPE.sub(" ", text)
    for m in _SIZES.finditer(text):
        found.add(("sizes", tuple(map(int, re.findall(r"-?\d+", m[0])))))
    text = _SIZES.sub(" ", text)
    return found | {("number", float(n)) for n in _NUMBER.findall(text)}


def missing(actual: str, expected: str) -> list[Fact]:
    """The facts of one message that another lacks.

    Args:
        actual: the message under test; it may say more.
        expected: the message whose facts it should give.

    Returns:
        Facts of ``expected`` that ``actual`` does not give. A name is given by any occurrence, a
        number also by being one of some sizes.
    """
    have = facts(actual)
    numbers = {v for kind, v in have if kind == "number"}
    numbers |= {float(n) for kind, v in have if kind == "sizes" for n in v}
    return sorted(
        (kind, value)
        for kind, value in facts(expected) - have
        if not (kind == "name" and value in actual) and not (kind == "number" and value in numbers)
    )
