"""``torch.testing._internal.common_utils``: `TestCase`, which compares by PyTorch's rules, and the like."""

from __future__ import annotations

import functools
import itertools
import random
import sys
import unittest
from collections.abc import Callable, Iterator
from typing import Any, Final

import mindtorch_core as torch

from ...values.interrupts import contextmanager
from ..comparison import assert_close
from ..make_tensor import make_tensor

__all__ = [
    "TestCase",
    "freeze_rng_state",
    "instantiate_parametrized_tests",
    "make_tensor",
    "parametrize",
    "run_tests",
    "set_default_dtype",
    "set_rng_seed",
    "subtest",
]

SEED: Final = 1234
IS_LINUX: Final = sys.platform == "linux"
IS_MACOS: Final = sys.platform == "darwin"
IS_WINDOWS: Final = sys.platform == "win32"
TEST_CUDA = TEST_MPS = TEST_XPU = TEST_WITH_ROCM = TEST_WITH_TORCHDYNAMO = False
_CASES: Final = "_parametrized_by"


def run_tests(argv: list[str] | None = None) -> None:
    """Run the tests of the program, and end it."""
    unittest.main(argv=sys.argv if argv is None else argv)


def set_rng_seed(seed: int = SEED) -> None:
    """Seed the sources of random numbers: this framework's, Python's and, if it is there, NumPy's."""
    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)


@contextmanager
def freeze_rng_state() -> Iterator[None]:
    """Leave the source of random numbers as it was before the block."""
    kept = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(kept)


@contextmanager
def set_default_dtype(dtype: Any) -> Iterator[None]:
    """Another default dtype within a block."""
    kept = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(kept)


def _is_array(value: Any) -> bool:
    return hasattr(value, "tolist") and hasattr(value, "dtype")


def _dense(value: Any) -> Any:
    return value.to_dense() if isinstance(value, torch.Tensor) else value


class TestCase(unittest.TestCase):
    """A test case whose `assertEqual` compares tensors, numbers, and what holds them."""

    precision: float = 0
    rel_tol: float = 0
    maxDiff = None  # unittest's name

    def setUp(self) -> None:
        """Seed the sources of random numbers."""
        set_rng_seed()

    def assertEqual(
        self,
        x: Any,
        y: Any,
        msg: Any = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        equal_nan: bool = True,
        exact_dtype: bool = True,
        exact_device: bool = False,
        exact_layout: bool = False,
        exact_stride: bool = False,
        exact_is_coalesced: bool = False,
    ) -> None:
        """Fail unless two values are equal, numbers within tolerances.

        Args:
            x: a tensor or array, a number, a sequence or mapping of such, or anything else.
            y: the same; a number, or a sequence of some, stands for a tensor.
            msg: put behind the error's text, or a function that makes another of it.
            atol: absolute tolerance, by default the dtype's, at least ``precision``.
            rtol: relative tolerance, by default the dtype's, at least ``rel_tol``; give both or neither.
            equal_nan: whether NaN equals NaN.
            exact_dtype: compare dtypes.
            exact_device: compare devices.
            exact_layout: compare layouts.
            exact_stride: compare strides.
            exact_is_coalesced: compare whether sparse tensors are coalesced.

        Raises:
            ValueError: if only one tolerance is given.
        """
        if (atol is None) != (rtol is None):
            raise ValueError("give both atol and rtol or neither")
        options = {
            "check_dtype": exact_dtype, "check_device": exact_device, "check_stride": exact_stride,
            "equal_nan": equal_nan,
        }  # fmt: skip
        try:
            if exact_layout and getattr(x, "layout", None) != getattr(y, "layout", None):
                raise AssertionError(f"layouts differ: {x.layout} and {y.layout}")
            if exact_is_coalesced and x.is_coalesced() != y.is_coalesced():
                raise AssertionError("one is coalesced and the other is not")
            self._compare(x, y, atol, rtol, options)
        except AssertionError as error:
            text = msg(str(error)) if callable(msg) else f"{error}\n{msg}" if msg else str(error)
            raise self.failureException(text) from None

    def _compare(self, x: Any, y: Any, atol: Any, rtol: Any, options: dict[str, Any]) -> None:
        """Compare two values, or what they hold, one by one.

        Raises:
            AssertionError: if they differ.
        """
        again = functools.partial(self._compare, atol=atol, rtol=rtol, options=options)
        if _is_array(x) and _is_array(y):
            self._close(_dense(x), _dense(y), atol, rtol, options)
        elif _is_array(x) or _is_array(y):
            array, other = (x, y) if _is_array(x) else (y, x)
            if not isinstance(other, bool | int | float | complex | list | tuple):
                raise AssertionError(f"{x!r} is not {y!r}")
            given = torch.as_tensor(other)
            a, b = (_dense(array), given) if array is x else (given, _dense(array))
            self._close(a, b, atol, rtol, {**options, "check_dtype": False})
        elif isinstance(x, bool | int | float | complex) and isinstance(
            y, bool | int | float | complex
        ):
            self._close(x, y, atol, rtol, options)
        elif isinstance(x, list | tuple) and isinstance(y, list | tuple):
            if len(x) != len(y):
                raise AssertionError(f"lengths differ: {len(x)} and {len(y)}")
            for a, b in zip(x, y, strict=True):
                again(a, b)
        elif isinstance(x, dict) and isinstance(y, dict):
            if x.keys() != y.keys():
                raise AssertionError(f"keys differ: {list(x)} and {list(y)}")
            for key in x:
                again(x[key], y[key])
        else:
            super().assertEqual(x, y)

    def _close(self, x: Any, y: Any, atol: Any, rtol: Any, options: dict[str, Any]) -> None:
        """Compare two arrays or numbers."""
        if atol is None and (self.precision or self.rel_tol):
            dtypes = [v.dtype if _is_array(v) else torch.float64 for v in (x, y)]
            rtol, atol = torch.testing.default_tolerances(*dtypes)
            rtol, atol = max(rtol, self.rel_tol), max(atol, self.precision)
        assert_close(x, y, atol=atol, rtol=rtol, **options)

    def assertNotEqual(  # type: ignore[override]  # as PyTorch names them
        self, x: Any, y: Any, msg: Any = None, **options: Any
    ) -> None:
        """Fail if two values are equal, as `assertEqual` compares them."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, **options)

    def assertEqualIgnoreType(self, x: Any, y: Any, msg: Any = None, **options: Any) -> None:
        """Fail unless two values are equal, whatever their dtypes."""
        self.assertEqual(x, y, msg, **{**options, "exact_dtype": False})

    def assertEqualBroadcasting(self, x: Any, y: Any, *args: Any, **options: Any) -> None:
        """Fail unless all elements of ``x`` equal ``y``, which broadcasts."""
        self.assertEqual(x, torch.ones_like(x) * y, *args, **options)


class subtest:
    """Values of a parametrization, with a name and decorators of their own."""

    def __init__(
        self, arg_values: Any, name: str | None = None, decorators: Any = (), **options: Any
    ) -> None:
        self.arg_values, self.name, self.decorators = arg_values, name, decorators


def parametrize(
    arg_str: str, arg_values: Any, name_fn: Callable[..., str] | None = None
) -> Callable[[Any], Any]:
    """Have `instantiate_parametrized_tests` make a test for each of some values.

    Args:
        arg_str: the names of the arguments, with commas between.
        arg_values: for one name a list of values, for several one of tuples.
        name_fn: makes the end of a test's name of the values.
    """
    names = [name.strip() for name in arg_str.split(",")]

    def mark(function: Any) -> Any:
        cases = getattr(function, _CASES, [])
        setattr(function, _CASES, [(names, list(arg_values), name_fn), *cases])
        return function

    return mark


def _case(
    names: list[str], number: int, each: Any, name_fn: Any
) -> tuple[str, dict[str, Any], Any]:
    """The end of a test's name, its arguments, and its decorators."""
    own = each if isinstance(each, subtest) else subtest(each)
    values = [own.arg_values] if len(names) == 1 else list(own.arg_values)
    shown = [
        str(v) if isinstance(v, bool | int | float | str) else f"{n}{number}"
        for n, v in zip(names, values, strict=True)
    ]
    plain = "_".join(
        t if t.startswith(n) else f"{n}_{t}" for n, t in zip(names, shown, strict=True)
    )
    name = own.name or (name_fn(*values) if name_fn else plain)
    return (
        name.replace(".", "_").replace("-", "_"),
        dict(zip(names, values, strict=True)),
        own.decorators,
    )


def instantiate_parametrized_tests(generic_cls: type) -> type:
    """Put a test per combination of values in the place of the tests that `parametrize` has marked."""
    for name, function in list(vars(generic_cls).items()):
        cases = getattr(function, _CASES, None)
        if cases is None:
            continue
        delattr(generic_cls, name)
        rows = [
            [_case(names, i, each, name_fn) for i, each in enumerate(values)]
            for names, values, name_fn in cases
        ]
        for row in itertools.product(*rows):
            given = {k: v for _, arguments, _ in row for k, v in arguments.items()}
            test: Any = functools.partialmethod(function, **given)
            made = functools.wraps(function)(test.__get__(None, generic_cls))
            for decorate in (d for _, _, decorators in row for d in decorators):
                made = decorate(made)
            setattr(generic_cls, "_".join([name, *(end for end, _, _ in row)]), made)
    return generic_cls
