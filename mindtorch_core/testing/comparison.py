"""Comparing results: of two backends, or of this framework with PyTorch and NumPy.

Nothing here imports another library. Foreign arrays are read through ``tolist()`` and compared in
Python, so a comparison does not rest on the kernels that are being tested.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..tensors.tensor import Tensor, from_values
from ..values.circles import ending
from ..values.dtypes import DTYPES, dtype
from ..values.shapes import contiguous_strides

__all__ = ["assert_close", "assert_same_outcome", "default_tolerances", "from_pytorch", "outcome"]

# PyTorch's defaults (rtol, atol) by element type; exact types are not listed.
TOLERANCES: Final[dict[str, tuple[float, float]]] = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


_FIRST: Final = 3  # differences that a message shows besides the largest one
_NUMBERS: Final = (bool, int, float, complex)


def default_tolerances(*dtypes: Any) -> tuple[float, float]:
    """The loosest relative and absolute tolerance that any of the dtypes has by default.

    Args:
        *dtypes: dtypes of this framework, PyTorch or NumPy, or their names.
    """
    found = [TOLERANCES.get(_dtype_name(d), (0.0, 0.0)) for d in dtypes] or [(0.0, 0.0)]
    return max(rtol for rtol, _ in found), max(atol for _, atol in found)


def _dtype_name(d: Any) -> str:
    return str(d).rpartition(".")[2]


@ending()
def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Check that ``abs(actual - expected) <= atol + rtol * abs(expected)``, element by element.

    As ``torch.testing.assert_close``, except that ``expected`` may also be an array of another
    library. Shapes must be equal: nothing broadcasts.

    Args:
        actual: a tensor or array, a number, or a sequence or mapping of such.
        expected: the same of this framework, PyTorch or NumPy.
        allow_subclasses: whether arrays may be of different classes.
        rtol: relative tolerance; by default the dtypes'.
        atol: absolute tolerance; give both or neither.
        equal_nan: whether NaN equals NaN.
        check_device: compare devices, where both have one.
        check_dtype: compare dtypes.
        check_layout: compare layouts; otherwise a sparse tensor's elements are compared with a dense one's.
        check_stride: compare strides.
        msg: put in front of the error's text; or a function that makes another one of it.

    Raises:
        AssertionError: if they differ; the text says how much and where, in PyTorch's words.
        TypeError: if they are none of these.
        ValueError: if only one tolerance is given.

    Example:
        >>> torch.testing.assert_close(torch.tensor(1.0), torch.tensor(1.0 + 1e-7))
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, got rtol={rtol} and atol={atol}"
        )
    checked = {
        "device": check_device,
        "dtype": check_dtype,
        "layout": check_layout,
        "stride()": check_stride,
    }
    compare = _Comparison(rtol, atol, equal_nan, allow_subclasses, checked)
    problem = compare.difference(actual, expected)
    if problem:
        raise AssertionError(
            msg(problem) if callable(msg) else f"{msg}: {problem}" if msg else problem
        )


class _Comparison:
    """The options of one comparison, and the comparison by kind of value."""

    def __init__(
        self,
        rtol: float | None,
        atol: float | None,
        equal_nan: bool,
        subclasses: bool,
        checked: Mapping[str, bool],
    ) -> None:
        self.rtol, self.atol, self.equal_nan = rtol, atol, equal_nan
        self.subclasses, self.checked = subclasses, checked

    def difference(self, actual: Any, expected: Any, at: str = "") -> str:
        """What is different, in the part ``at`` of what was given; empty if nothing is."""
        found = self.compared(actual, expected)
        if isinstance(found, str):
            return f"{found}\n\nThe failure occurred for item {at}" if found and at else found
        problems = (self.difference(a, e, f"{at}[{name!r}]") for name, (a, e) in found.items())
        return next(filter(None, problems), "")

    def compared(self, actual: Any, expected: Any) -> str | Mapping[Any, tuple[Any, Any]]:
        """What is different, or pairs of parts to compare, by their names."""
        if hasattr(actual, "tolist") and hasattr(expected, "tolist"):
            if not self.subclasses and type(actual) is not type(expected):
                raise _incomparable(actual, expected)
            return self.attributes(actual, expected) or self.values(actual, expected)
        if isinstance(actual, Mapping) and isinstance(expected, Mapping):
            if actual.keys() != expected.keys():
                return (
                    f"The keys of the mappings do not match:\n"
                    f"Missing keys in the actual mapping: {sorted(expected.keys() - actual.keys())}\n"
                    f"Additional keys in the actual mapping: {sorted(actual.keys() - expected.keys())}"
                )
            return {k: (actual[k], expected[k]) for k in actual}
        if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
            if len(actual) != len(expected):
                return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            return dict(enumerate(zip(actual, expected, strict=True)))
        if isinstance(actual, bool) and isinstance(expected, bool):
            return "" if actual is expected else f"Booleans mismatch: {actual} is not {expected}"
        if isinstance(actual, _NUMBERS) and isinstance(expected, _NUMBERS):
            exact = isinstance(actual, int) and isinstance(expected, int)
            default = (0.0, 0.0) if exact else TOLERANCES["float64"]
            return self.numbers([actual], [expected], (), default)
        if actual is None or expected is None:
            return "" if actual is expected else f"None mismatch: {actual} is not {expected}"
        raise _incomparable(actual, expected)

    def attributes(self, actual: Any, expected: Any) -> str:
        """Compare shape, dtype, device, layout and strides, as far as both sides have them."""
        found: dict[str, tuple[Any, Any]] = {}
        found["shape"] = (tuple(actual.shape), tuple(expected.shape))
        found["dtype"] = (_dtype_name(actual.dtype), _dtype_name(expected.dtype))
        if hasattr(actual, "layout") and hasattr(expected, "layout"):
            found["device"] = (str(actual.device), str(expected.device))
            found["layout"] = (str(actual.layout), str(expected.layout))
        if self.checked["stride()"]:
            found["stride()"] = (tuple(actual.stride()), tuple(expected.stride()))
        for name, (a, e) in found.items():
            if self.checked.get(name, True) and a != e:
                if hasattr(actual, name):
                    a, e = getattr(actual, name), getattr(expected, name)
                return f"The values for attribute {name!r} do not match: {a} != {e}."
        return ""

    def values(self, actual: Any, expected: Any) -> str:
        """Compare the elements of two arrays; of none on the meta device, which has no elements."""
        if all(getattr(t, "is_meta", False) for t in (actual, expected)):
            return ""
        default = default_tolerances(actual.dtype, expected.dtype)
        return self.numbers(_flat(actual), _flat(expected), tuple(actual.shape), default)

    def numbers(
        self,
        actual: Sequence[Any],
        expected: Sequence[Any],
        shape: tuple[int, ...],
        default: tuple[float, float],
    ) -> str:
        """Compare flat lists of numbers, with tolerances ``default`` unless some were given."""
        rtol = default[0] if self.rtol is None else self.rtol
        atol = default[1] if self.atol is None else self.atol
        pairs = zip(actual, expected, strict=True)
        bad = [i for i, (a, e) in enumerate(pairs) if not self.close(a, e, rtol, atol)]
        if not bad:
            return ""
        found = []
        for kind, allowed, gap in (("absolute", atol, _distance), ("relative", rtol, _share)):
            gaps = {i: gap(actual[i], expected[i]) for i in bad}
            worst = max(gaps, key=gaps.__getitem__)
            text = f"{kind} difference: {gaps[worst]}"
            text += f" at index {_unravel(worst, shape)}" if shape else ""
            found.append(f"{text} (up to {allowed} allowed)" if rtol or atol else text)
        says = f"are not {'close' if rtol or atol else 'equal'}!"
        if not shape:
            numbers = f"Expected {expected[0]} but got {actual[0]}."
            return "\n".join((f"Scalars {says}", "", numbers, *(t.capitalize() for t in found)))
        share = f"{len(bad)} / {len(actual)} ({len(bad) / len(actual):.1%})"
        places = [f"{_unravel(i, shape)}: {actual[i]} and not {expected[i]}" for i in bad[:_FIRST]]
        return "\n".join((
            f"Tensor-likes {says}", "", f"Mismatched elements: {share}",
            *(f"Greatest {t}" for t in found), f"First at {', '.join(places)}",
        ))  # fmt: skip

    def close(self, actual: Any, expected: Any, rtol: float, atol: float) -> bool:
        """Whether two numbers are close."""
        if actual == expected:
            return True
        if _is_nan(actual) or _is_nan(expected):
            return self.equal_nan and _is_nan(actual) and _is_nan(expected)
        if math.isinf(abs(actual)) or math.isinf(abs(expected)):
            return False
        return bool(abs(actual - expected) <= atol + rtol * abs(expected))


def _incomparable(actual: Any, expected: Any) -> TypeError:
    return TypeError(
        f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    )


def _is_nan(value: Any) -> bool:
    return bool(value != value)


def _distance(a: Any, b: Any) -> Any:
    gap = abs(a - b)
    return math.inf if gap != gap else gap


def _share(a: Any, b: Any) -> float:
    gap, size = _distance(a, b), abs(b)
    return gap / size if size and math.isfinite(gap) else math.inf


def _unravel(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    out: list[int] = []
    for n in reversed(shape):
        out.append(position % n)
        position //= n
    return tuple(reversed(out))


def _flat(array: Any) -> list[Any]:
    """All elements, row-major, as Python numbers."""
    if hasattr(array, "detach"):
        array = array.detach()
    nested = array.tolist()
    if not tuple(array.shape):
        return [nested]
    for _ in range(len(array.shape) - 1):
        nested = [element for row in nested for element in row]
    return list(nested)


# ---- against PyTorch ----------------------------------------------------------------------------


def from_pytorch(foreign: Any, *, requires_grad: bool | None = None) -> Tensor:
    """A CPU tensor with the elements, dtype, strides and offset of a PyTorch one.

    Args:
        foreign: a PyTorch tensor; its whole storage is copied.
        requires_grad: whether to record operations; as ``foreign`` does if None.
    """
    d: dtype = DTYPES[_dtype_name(foreign.dtype)]
    wanted = foreign.requires_grad if requires_grad is None else requires_grad
    source = foreign.detach().resolve_conj().resolve_neg()
    shape, strides = tuple(source.shape), tuple(source.stride())
    offset = source.storage_offset()
    on = _cpu()
    if strides == contiguous_strides(shape) and not offset:
        made = from_values(_flat(source), shape, d, on)
    else:
        length = source.untyped_storage().nbytes() // d.itemsize
        memory = from_values(source.as_strided((length,), (1,), 0).tolist(), (length,), d, on)
        made = memory.as_strided(shape, strides, offset).detach()
    return made.requires_grad_() if wanted else made


def _cpu() -> Any:
    from ..values.devices import concrete

    return concrete("cpu")


def outcome(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a call returns, or the exception it raises."""
    try:
        return call(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 (the outcome is the exception)
        return error


def assert_same_outcome(
    actual: Callable[[], Any], expected: Callable[[], Any], **options: Any
) -> None:
    """Check that two calls give close results, or raise exceptions of the same type.

    An exception of a derived type counts as the same: where PyTorch raises IndexError, a subclass
    of IndexError is right.

    Args:
        actual: called first.
        expected: called second.
        **options: passed to `assert_close`.

    Raises:
        AssertionError: if the outcomes differ.
    """
    found, wanted = outcome(actual), outcome(expected)
    if isinstance(wanted, Exception):
        if not isinstance(found, Exception):
            raise AssertionError(
                f"{type(wanted).__name__} was expected ({wanted}), but the call returned {found!r}"
            )
        if not isinstance(found, type(wanted)):
            raise AssertionError(
                f"{type(wanted).__name__} was expected ({wanted}), but {type(found).__name__} was "
                f"raised: {found}"
            ) from found
        return
    if isinstance(found, Exception):
        raise AssertionError(f"{type(found).__name__} was raised: {found}") from found
    assert_close(found, wanted, **options)
