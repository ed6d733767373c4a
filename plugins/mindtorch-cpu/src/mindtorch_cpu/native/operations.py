"""LLVM's instructions for the operations of programs, with NumPy's results to the last bit.

Arithmetic is IEEE's and nothing is contracted. Half precision is computed in single and rounded after
each operation, as NumPy and ml_dtypes do. What has no instructions here is left to NumPy's loops.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from .loops import loop_of
from .program import REDUCTIONS

__all__ = ["REGISTERS", "STORED", "Writer", "emit", "emitted", "served"]

# LLVM's types of values by dtype, in registers and in memory.
REGISTERS: Final = {
    "f4": "float", "f8": "double", "f2": "half", "bf": "i16", "b1": "i1", "i1": "i8", "i2": "i16",
    "i4": "i32", "i8": "i64", "u1": "i8", "u2": "i16", "u4": "i32", "u8": "i64",
}  # fmt: skip
STORED: Final = {**REGISTERS, "b1": "i8"}
_SINGLES: Final = frozenset(("f2", "bf"))


class Writer(Protocol):
    """Where instructions go."""

    def set(self, instruction: str) -> str:
        """Write an instruction; returns the name of its result."""

    def intrinsic(self, name: str, kind: str, *operands: str) -> str:
        """Write a call of one of LLVM's functions, all of whose operands are of one type."""


Emit = Callable[[Writer, str, Sequence[str]], str]


@functools.cache
def served(op: str, codes: tuple[str, ...]) -> bool:
    """Whether programs have an operation for the dtypes of operands and result."""
    return emitted(op, codes) or loop_of(op, codes) is not None


@functools.cache
def emitted(op: str, codes: tuple[str, ...]) -> bool:
    """Whether an operation has instructions; else a loop of NumPy's is called."""
    *given, made = codes
    if op in REDUCTIONS:
        return False
    if op == "bits":
        return "b1" not in codes and len({"bf", "f2"} & set(codes)) < 2
    if op in ("where", "fold"):
        return True
    if op == "cast":
        return _castable(given[0], made)
    table = _table(given[0])
    if op not in table or len(set(given)) != 1:
        return False
    return made == ("b1" if op in _TESTS else given[0])


def emit(w: Writer, op: str, codes: tuple[str, ...], operands: Sequence[str]) -> str:
    """Write the instructions of an operation; returns the name of the result."""
    *given, made = codes
    if op == "fold":
        return operands[0]
    if op == "where":
        kind = REGISTERS[made]
        return w.set(f"select i1 {operands[0]}, {kind} {operands[1]}, {kind} {operands[2]}")
    if op == "cast":
        return _cast(w, given[0], made, operands[0])
    if op == "bits":
        a, b = REGISTERS[given[0]], REGISTERS[made]
        return operands[0] if a == b else w.set(f"bitcast {a} {operands[0]} to {b}")
    if given[0] in _SINGLES and op not in _OF_BITS:
        wide = [_cast(w, given[0], "f4", o) for o in operands]
        table = {**_FLOATS, **_HALVES} if given[0] == "f2" else _FLOATS
        found = table[op](w, "float", wide)
        return found if op in _TESTS else _cast(w, "f4", made, found)
    return _table(given[0])[op](w, REGISTERS[given[0]], operands)


def _table(code: str) -> dict[str, Emit]:
    if code == "bf":
        return {op: e for op, e in _FLOATS.items() if op not in _UNSURE}
    return {"f": _FLOATS, "i": _SIGNED, "u": _UNSIGNED, "b": _BOOLS}[code[0]]


# ---- conversions --------------------------------------------------------------------------------


def _castable(a: str, b: str) -> bool:
    if a == b:
        return True
    if "bf" in (a, b):
        return {a, b} <= {"bf", "f4", "b1"} or (a == "bf" and b == "f8")
    if a[0] == "f" and b[0] in "iu":
        return a != "f2" and b in ("i1", "i2", "i4", "i8", "u1", "u2")
    if b == "f2":
        return a in ("f4", "b1", "i1", "u1", "i2")
    return True


def _cast(w: Writer, a: str, b: str, x: str) -> str:
    if a == b:
        return x
    kind, into = REGISTERS[a], REGISTERS[b]
    if a == "bf":
        wide = w.set(f"zext i16 {x} to i32")
        single = w.set(f"bitcast i32 {w.set(f'shl i32 {wide}, 16')} to float")
        return _cast(w, "f4", b, single)
    if b == "b1":
        if a[0] == "f":
            return w.set(f"fcmp une {kind} {x}, 0.0")
        return w.set(f"icmp ne {kind} {x}, 0")
    if b == "bf":
        return _to_bfloat(w, x if a == "f4" else _cast(w, a, "f4", x))
    if a[0] == "f":
        if b[0] == "f":
            wider = int(b[1]) > int(a[1])
            return w.set(f"{'fpext' if wider else 'fptrunc'} {kind} {x} to {into}")
        return _to_integer(w, kind, int(b[1]), x)
    if b[0] == "f":
        if b == "f2":
            return _cast(w, "f4", "f2", _cast(w, a, "f4", x))
        return w.set(f"{'sitofp' if a[0] == 'i' else 'uitofp'} {kind} {x} to {into}")
    if kind == into:
        return x
    if a[0] != "b" and int(a[1]) > int(b[1]):
        return w.set(f"trunc {kind} {x} to {into}")
    return w.set(f"{'sext' if a[0] == 'i' else 'zext'} {kind} {x} to {into}")


def _to_bfloat(w: Writer, x: str) -> str:
    """The nearest bfloat16, the even one of two, of a float."""
    bits = w.set(f"bitcast float {x} to i32")
    odd = w.set(f"and i32 {w.set(f'lshr i32 {bits}, 16')}, 1")
    raised = w.set(f"add i32 {w.set(f'add i32 {bits}, 32767')}, {odd}")
    near = w.set(f"trunc i32 {w.set(f'lshr i32 {raised}, 16')} to i16")
    nan = w.set(f"fcmp uno float {x}, {x}")
    negative = w.set(f"icmp slt i32 {bits}, 0")
    quiet = w.set(f"select i1 {negative}, i16 -64, i16 32704")
    return w.set(f"select i1 {nan}, i16 {quiet}, i16 {near}")


def _to_integer(w: Writer, kind: str, size: int, x: str) -> str:
    """A float cut to an integer, as x86's instruction does it: what does not fit becomes the least."""
    wide = 64 if size == 8 else 32
    least = -(2.0 ** (wide - 1))
    # What lies below the least by less than 1 is cut to it: of single precision there is none.
    if kind == "double" and wide == 32:
        low = w.set(f"fcmp ogt {kind} {x}, {_hex(least - 1)}")
    else:
        low = w.set(f"fcmp oge {kind} {x}, {_hex(least)}")
    high = w.set(f"fcmp olt {kind} {x}, {_hex(-least)}")
    fits = w.set(f"and i1 {low}, {high}")
    safe = w.set(f"select i1 {fits}, {kind} {x}, {kind} 0.0")
    cut = w.set(f"fptosi {kind} {safe} to i{wide}")
    found = w.set(f"select i1 {fits}, i{wide} {cut}, i{wide} {-(1 << (wide - 1))}")
    return found if size * 8 == wide else w.set(f"trunc i{wide} {found} to i{size * 8}")


def _hex(value: float) -> str:
    """A float as LLVM reads it without loss."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


# ---- arithmetic ---------------------------------------------------------------------------------


def _two(instruction: str) -> Emit:
    return lambda w, kind, x: w.set(f"{instruction} {kind} {x[0]}, {x[1]}")


def _test(predicate: str) -> Emit:
    return lambda w, kind, x: w.set(f"{predicate} {kind} {x[0]}, {x[1]}")


def _function(name: str) -> Emit:
    return lambda w, kind, x: w.intrinsic(name, kind, *x)


def _same(w: Writer, kind: str, x: Sequence[str]) -> str:
    return x[0]


def _extreme(predicate: str) -> Emit:
    """Maximum or minimum: of equal numbers the second, of NaN the first."""

    def emit(w: Writer, kind: str, x: Sequence[str]) -> str:
        a, b = x
        first = w.set(f"fcmp {predicate} {kind} {a}, {b}")
        chosen = w.set(f"select i1 {first}, {kind} {a}, {kind} {b}")
        nan = w.set(f"fcmp uno {kind} {a}, {a}")
        return w.set(f"select i1 {nan}, {kind} {a}, {kind} {chosen}")

    return emit


def _extreme_of_halves(predicate: str) -> Emit:
    """The same for half precision, where of equal numbers it is the first."""

    def emit(w: Writer, kind: str, x: Sequence[str]) -> str:
        a, b = x
        first = w.set(f"fcmp {predicate} {kind} {a}, {b}")
        nan = w.set(f"fcmp uno {kind} {a}, {a}")
        either = w.set(f"or i1 {first}, {nan}")
        return w.set(f"select i1 {either}, {kind} {a}, {kind} {b}")

    return emit


def _whole_of_halves(name: str) -> Emit:
    """A whole number near one of half precision, found in single precision, with its sign.

    LLVM would find it in half, one element after the other; it does not look through the addition.
    """

    def emit(w: Writer, kind: str, x: Sequence[str]) -> str:
        whole = w.set(f"fadd {kind} {w.intrinsic(name, kind, *x)}, 0.0")
        return w.intrinsic("copysign", kind, whole, x[0])

    return emit


def _square(w: Writer, kind: str, x: Sequence[str]) -> str:
    return w.set(f"{'fmul' if kind in ('float', 'double') else 'mul'} {kind} {x[0]}, {x[0]}")


def _against_infinity(predicate: str) -> Emit:
    def emit(w: Writer, kind: str, x: Sequence[str]) -> str:
        size = w.intrinsic("fabs", kind, x[0])
        return w.set(f"fcmp {predicate} {kind} {size}, 0x7FF0000000000000")

    return emit


def _truths(w: Writer, kind: str, x: Sequence[str]) -> list[str]:
    if kind in ("float", "double"):
        return [w.set(f"fcmp une {kind} {o}, 0.0") for o in x]
    return list(x) if kind == "i1" else [w.set(f"icmp ne {kind} {o}, 0") for o in x]


def _logical(instruction: str) -> Emit:
    def emit(w: Writer, kind: str, x: Sequence[str]) -> str:
        a, b = _truths(w, kind, x)
        return w.set(f"{instruction} i1 {a}, {b}")

    return emit


def _logical_not(w: Writer, kind: str, x: Sequence[str]) -> str:
    return w.set(f"xor i1 {_truths(w, kind, x)[0]}, true")


def _sign_bit(w: Writer, kind: str, x: Sequence[str]) -> str:
    bits = "i32" if kind == "float" else "i64"
    return w.set(f"icmp slt {bits} {w.set(f'bitcast {kind} {x[0]} to {bits}')}, 0")


def _absolute(w: Writer, kind: str, x: Sequence[str]) -> str:
    below = w.set(f"icmp slt {kind} {x[0]}, 0")
    return w.set(f"select i1 {below}, {kind} {_minus(w, kind, x)}, {kind} {x[0]}")


def _minus(w: Writer, kind: str, x: Sequence[str]) -> str:
    return w.set(f"sub {kind} 0, {x[0]}")


def _chosen(predicate: str) -> Emit:
    def emit(w: Writer, kind: str, x: Sequence[str]) -> str:
        test = w.set(f"icmp {predicate} {kind} {x[0]}, {x[1]}")
        return w.set(f"select i1 {test}, {kind} {x[0]}, {kind} {x[1]}")

    return emit


def _invert(w: Writer, kind: str, x: Sequence[str]) -> str:
    return w.set(f"xor {kind} {x[0]}, {'true' if kind == 'i1' else '-1'}")


def _shifted(instruction: str, far: str) -> Emit:
    """A shift; one by as many bits as there are, or more, gives 0, or as for one bit less."""

    def emit(w: Writer, kind: str, x: Sequence[str]) -> str:
        a, b = x
        bits = int(kind[1:])
        near = w.set(f"icmp ult {kind} {b}, {bits}")
        by = w.set(f"select i1 {near}, {kind} {b}, {kind} {bits - 1}")
        found = w.set(f"{instruction} {kind} {a}, {by}")
        return found if far == "same" else w.set(f"select i1 {near}, {kind} {found}, {kind} 0")

    return emit


_COMPARISONS: Final = {
    "equal": "oeq", "not_equal": "une", "less": "olt", "less_equal": "ole", "greater": "ogt",
    "greater_equal": "oge",
}  # fmt: skip
_LOGIC: Final[dict[str, Emit]] = {
    "logical_and": _logical("and"),
    "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
    "logical_not": _logical_not,
}
_TESTS: Final = frozenset({*_COMPARISONS, *_LOGIC, "isnan", "isinf", "isfinite", "signbit"})
_FLOATS: Final[dict[str, Emit]] = {
    "add": _two("fadd"),
    "subtract": _two("fsub"),
    "multiply": _two("fmul"),
    "divide": _two("fdiv"),
    "negative": lambda w, kind, x: w.set(f"fneg {kind} {x[0]}"),
    "positive": _same,
    "absolute": _function("fabs"),
    "fabs": _function("fabs"),
    "sqrt": _function("sqrt"),
    "square": _square,
    "reciprocal": lambda w, kind, x: w.set(f"fdiv {kind} 1.0, {x[0]}"),
    "floor": _function("floor"),
    "ceil": _function("ceil"),
    "trunc": _function("trunc"),
    "rint": _function("rint"),
    "maximum": _extreme("ogt"),
    "minimum": _extreme("olt"),
    "copysign": _function("copysign"),
    "isnan": lambda w, kind, x: w.set(f"fcmp uno {kind} {x[0]}, {x[0]}"),
    "isinf": _against_infinity("oeq"),
    "isfinite": _against_infinity("olt"),
    "signbit": _sign_bit,
    **{name: _test(f"fcmp {p}") for name, p in _COMPARISONS.items()},
    **_LOGIC,
}
_HALVES: Final[dict[str, Emit]] = {
    "maximum": _extreme_of_halves("oge"),
    "minimum": _extreme_of_halves("ole"),
    **{name: _whole_of_halves(name) for name in ("floor", "ceil", "trunc", "rint")},
}
# Of bfloat16 these are ml_dtypes' own, some in ways of their own.
_UNSURE: Final = frozenset(
    ["signbit", "copysign", "rint", "reciprocal", "square", "fabs", "positive"]
)
_OF_BITS: Final = frozenset({"positive"})
_INTEGERS: Final[dict[str, Emit]] = {
    "add": _two("add"),
    "subtract": _two("sub"),
    "multiply": _two("mul"),
    "negative": _minus,
    "positive": _same,
    "square": _square,
    "bitwise_and": _two("and"),
    "bitwise_or": _two("or"),
    "bitwise_xor": _two("xor"),
    "invert": _invert,
    "left_shift": _shifted("shl", "0"),
    "equal": _test("icmp eq"),
    "not_equal": _test("icmp ne"),
    **_LOGIC,
}


def _ordered(sign: str) -> dict[str, Emit]:
    """What differs between integers with and without sign."""
    short = {"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
    return {
        **{name: _test(f"icmp {sign}{p}") for name, p in short.items()},
        "maximum": _chosen(f"{sign}ge"),
        "minimum": _chosen(f"{sign}le"),
    }


_SIGNED: Final[dict[str, Emit]] = {
    **_INTEGERS,
    **_ordered("s"),
    "absolute": _absolute,
    "right_shift": _shifted("ashr", "same"),
}
_UNSIGNED: Final[dict[str, Emit]] = {
    **_INTEGERS,
    **_ordered("u"),
    "absolute": _same,
    "right_shift": _shifted("lshr", "0"),
}
_BOOLS: Final[dict[str, Emit]] = {
    **_ordered("u"),
    **_LOGIC,
    "add": _two("or"),
    "multiply": _two("and"),
    "maximum": _two("or"),
    "minimum": _two("and"),
    "equal": _test("icmp eq"),
    "not_equal": _test("icmp ne"),
    "bitwise_and": _two("and"),
    "bitwise_or": _two("or"),
    "bitwise_xor": _two("xor"),
    "invert": _invert,
    "absolute": _same,
}
