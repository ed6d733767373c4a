"""The inner loops of NumPy's ufuncs, which compiled code calls on strips of elements.

``PyUFuncObject`` is public in NumPy's C API. A loop takes addresses of its operands, a count, their
steps in bytes and data of its own; for numbers it needs no lock of the interpreter.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Final

import numpy as np

from .program import CODES

__all__ = ["UFUNCS", "loop_of"]


class _Head(ctypes.Structure):
    """The beginning of a ``PyUFuncObject``, after what every object begins with."""

    _fields_ = (
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_char)),
    )


# Those that compute an element from elements at its place alone, and refuse none. Of fmax and fmin the sign
# of a zero depends on the place.
_NAMES: Final = (
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh "
    "arcsinh arccosh arctanh hypot power float_power logaddexp logaddexp2 copysign nextafter fmod remainder "
    "floor_divide maximum minimum deg2rad rad2deg degrees radians heaviside left_shift right_shift "
    "gcd lcm sign signbit spacing floor ceil trunc rint add subtract multiply divide negative positive "
    "absolute fabs square reciprocal equal not_equal less less_equal greater greater_equal logical_and "
    "logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert isnan isinf isfinite "
)
UFUNCS: Final[dict[str, Any]] = {name: getattr(np, name) for name in _NAMES.split()}
UFUNCS["vecdot"] = np.vecdot
UFUNCS.update({ufunc.__name__: ufunc for ufunc in UFUNCS.values()})
# Their loops for integers look for divisors of 0.
_REFUSING: Final = frozenset({"floor_divide", "remainder", "fmod", "power", "gcd", "lcm"})


@functools.cache
def loop_of(name: str, codes: tuple[str, ...]) -> tuple[int, int] | None:
    """Address and data of a ufunc's loop for dtypes of operands and result, or None.

    Args:
        name: the ufunc's.
        codes: short names of the dtypes.
    """
    ufunc = UFUNCS.get(name)
    if ufunc is None or "bf" in codes:
        return None
    if name in _REFUSING and codes[0][0] != "f":
        return None
    head = _Head.from_address(id(ufunc) + object.__basicsize__)
    if (head.nin, head.nout, head.ntypes) != (ufunc.nin, ufunc.nout, ufunc.ntypes):
        return None  # another NumPy, whose objects look different
    for i in range(head.ntypes):
        # Loops over objects count as none: they need the interpreter's lock.
        kinds = tuple(CODES.get(np.dtype(c), "?") for c in _kinds(ufunc, i))
        if kinds == codes and head.functions[i]:
            return head.functions[i] or 0, (head.data[i] or 0) if head.data else 0
    return None


def _kinds(ufunc: Any, i: int) -> str:
    """The type characters of a ufunc's loop, operands first."""
    return str(ufunc.types[i]).replace("->", "")
