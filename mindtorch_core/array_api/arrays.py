"""Arrays: tensors whose operators and indices are the standard's where PyTorch's are not.

The namespace makes them of numbers and of others' memory, and of each other. Where an ordinary tensor
takes part, the result is an ordinary one and PyTorch's rules hold: who brings tensors keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, ClassVar, Final, ParamSpec, TypeVar

from ..dispatch.functions import fn
from ..dispatch.overrides import DISABLED
from ..tensors.tensor import Tensor
from ..values.devices import device
from ..values.dtypes import bool_
from . import elementwise
from .operands import is_number, result_type
from .products import matmul

__all__ = ["Array", "as_array", "of_arrays"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_SEQUENCES: Final = (list, tuple)  # a union would be made anew in each call


class Array(Tensor):
    """A tensor whose operators and indices follow the array API standard.

    PyTorch's functions and methods take it for a tensor and give ordinary tensors; so do its operators
    beside one. ``x.as_subclass(Array)`` makes one of a tensor, ``x.as_subclass(Tensor)`` the contrary.
    """

    __slots__ = ()
    __torch_function__ = DISABLED
    _kept_as_tensor: ClassVar[bool] = True  # in files and as a module's parameter

    def __getitem__(self, key: Any) -> Any:
        key, turned = _forwards(_fitting(key, self._shape), self._shape)
        found = super().__getitem__(key)
        return as_array(fn.flip(found, turned) if turned else found)

    def __setitem__(self, key: Any, value: Any) -> None:
        key, turned = _forwards(_fitting(key, self._shape), self._shape)
        if turned and isinstance(value, Tensor):
            value = fn.flip(value.expand(super().__getitem__(key).shape), turned)
        super().__setitem__(key, value)

    def __iter__(self) -> Iterator[Any]:
        return map(as_array, super().__iter__())

    @property
    def T(self) -> Any:
        """The transpose of a matrix."""
        return as_array(super().T)

    @property
    def mT(self) -> Any:
        """The transposes of matrices."""
        return as_array(super().mT)

    def to_device(self, device: device | str, /, *, stream: Any = None) -> Any:
        """The array on a device."""
        return as_array(super().to_device(device, stream=stream))


# What is passed over at once, as lists of numbers are long.
_NO_TENSORS: Final = frozenset({Array, bool, complex, float, int, type(None)})


def as_array(result: _R) -> _R:
    """What a function has just made, its ordinary tensors turned into arrays."""
    if type(result) is Tensor:
        result.__class__ = Array  # type: ignore[assignment]
    elif isinstance(result, _SEQUENCES):
        for each in result:
            as_array(each)
    return result


def of_arrays(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function of the namespace that makes arrays if no ordinary tensor is among its arguments."""

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        result = function(*args, **kwargs)
        return result if _ordinary(args) or _ordinary(kwargs.values()) else as_array(result)

    return call


def _ordinary(values: Iterable[Any]) -> bool:
    """Whether an ordinary tensor is among values, lists and tuples of them too."""
    for value in values:
        if type(value) in _NO_TENSORS:
            continue
        if isinstance(value, Tensor) or (isinstance(value, _SEQUENCES) and _ordinary(value)):
            return True
    return False


# ---- indices ------------------------------------------------------------------------------------


def _fitting(key: Any, shape: tuple[int, ...]) -> Any:
    """An index; for a mask that has size 0 where the array has not, one of its shape that names nothing."""
    if isinstance(key, Tensor) and key._dtype is bool_ and 0 in key._shape:
        masked = shape[: len(key._shape)]
        if len(masked) == len(key._shape) and all(
            k in (0, n) for k, n in zip(key._shape, masked, strict=True)
        ):
            return fn.zeros(masked, dtype=bool_, device=key._device)
    return key


def _forwards(key: Any, shape: tuple[int, ...]) -> tuple[Any, list[int]]:
    """An index whose slices all step forwards, and the dimensions of what it names to be turned round.

    Beside tensors, slices stay as they are: the standard leaves open what the two mean together.
    """
    parts = key if isinstance(key, tuple) else (key,)
    if not any(_backwards(part) for part in parts):
        return key, []
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if used > len(shape) or not all(
        part is None or part is Ellipsis or isinstance(part, int | slice) for part in parts
    ):
        return key, []
    made: list[Any] = []
    turned: list[int] = []
    source = result = 0
    for part in parts:
        covered = len(shape) - used if part is Ellipsis else int(part is not None)
        if _backwards(part):
            steps = range(*part.indices(shape[source]))[::-1]
            part = slice(steps.start, steps.stop, steps.step) if steps else slice(0, 0)
            turned.append(result)
        made.append(part)
        source += covered
        result += 0 if isinstance(part, int) else 1 if part is None else covered
    return tuple(made), turned


def _backwards(part: Any) -> bool:
    return isinstance(part, slice) and isinstance(part.step, int) and part.step < 0


# ---- operators ----------------------------------------------------------------------------------

_ARITHMETIC: Final = {
    "add": elementwise.add, "and": elementwise.bitwise_and, "floordiv": elementwise.floor_divide,
    "lshift": elementwise.bitwise_left_shift, "matmul": matmul, "mod": elementwise.remainder,
    "mul": elementwise.multiply, "or": elementwise.bitwise_or, "pow": elementwise.pow,
    "rshift": elementwise.bitwise_right_shift, "sub": elementwise.subtract,
    "truediv": elementwise.divide, "xor": elementwise.bitwise_xor,
}  # fmt: skip
_COMPARISONS: Final = {
    "eq": elementwise.equal, "ge": elementwise.greater_equal, "gt": elementwise.greater,
    "le": elementwise.less_equal, "lt": elementwise.less, "ne": elementwise.not_equal,
}  # fmt: skip
# Whose values are not those of PyTorch's operators.
_OWN_VALUES: Final = frozenset({elementwise.floor_divide, elementwise.remainder})


def _operator(name: str, function: Callable[[Any, Any], Any]) -> Callable[[Array, Any], Any]:
    """``x + y``: the standard's of arrays and numbers, PyTorch's with anything else."""
    plain = getattr(Tensor, name)
    alike = function not in _OWN_VALUES  # operands of one dtype: PyTorch's has the same values

    @wraps(plain)
    def operator(self: Array, other: Any) -> Any:
        if not (isinstance(other, Array) or is_number(other)):
            return plain(self, other)
        same = alike and getattr(other, "_dtype", None) is self._dtype
        return as_array(plain(self, other) if same else function(self, other))

    return operator


def _reflected(name: str, function: Callable[[Any, Any], Any]) -> Callable[[Array, Any], Any]:
    """``y + x`` for a y that is no array; Python asks here first, also where y is an ordinary tensor."""
    plain = getattr(Tensor, name)

    @wraps(plain)
    def operator(self: Array, other: Any) -> Any:
        if is_number(other):
            return as_array(function(other, self))
        return NotImplemented if isinstance(other, Tensor) else plain(self, other)

    return operator


def _in_place(name: str, function: Callable[[Any, Any], Any]) -> Callable[[Array, Any], Any]:
    """``x += y``: PyTorch's, of an array brought to the dtype that the two meet in if that is x's own."""
    plain, own = getattr(Tensor, name), function in _OWN_VALUES

    @wraps(plain)
    def operator(self: Array, other: Any) -> Any:
        d = self._dtype
        if isinstance(other, Array) and other._dtype is not d and result_type(self, other) is d:
            other = other.to(d)
        if own and d.is_floating_point and (isinstance(other, Array) or is_number(other)):
            return self.copy_(function(self, other))
        return plain(self, other)

    return operator


def _of_one(name: str) -> Callable[[Array], Any]:
    plain = getattr(Tensor, name)
    return wraps(plain)(lambda self: as_array(plain(self)))


for _name in ("abs", "invert", "neg", "pos"):
    setattr(Array, f"__{_name}__", _of_one(f"__{_name}__"))
for _name, _function in (_ARITHMETIC | _COMPARISONS).items():
    setattr(Array, f"__{_name}__", _operator(f"__{_name}__", _function))
for _name, _function in _ARITHMETIC.items():
    setattr(Array, f"__r{_name}__", _reflected(f"__r{_name}__", _function))
    if _name != "matmul":  # `x @= y` is `x = x @ y`
        setattr(Array, f"__i{_name}__", _in_place(f"__i{_name}__", _function))
