"""``torch.testing.assert_allclose``, which `assert_close` replaces."""

from __future__ import annotations

from typing import Any, Final

from ..frontend.creation import tensor
from ..tensors.tensor import Tensor
from ..values.user_warnings import warn_user
from .comparison import assert_close

__all__ = ["assert_allclose"]

# PyTorch's defaults (rtol, atol) by element type, which are not those of `assert_close`.
_TOLERANCES: Final = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Check as `assert_close`, which is to be used instead: with wider tolerances, and no dtypes.

    Args:
        actual: a tensor, or data for one.
        expected: a tensor, or data for one of the same dtype.
        rtol: relative tolerance; by default the dtypes'.
        atol: absolute tolerance; give both or neither.
        equal_nan: whether NaN equals NaN.
        msg: put in front of the error's text.

    Raises:
        AssertionError: if they differ; the text says how much and where.
        ValueError: if only one tolerance is given.
    """
    warn_user(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future "
        "release. Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
    )
    if not isinstance(actual, Tensor):
        actual = tensor(actual)
    if not isinstance(expected, Tensor):
        expected = tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        pairs = [_TOLERANCES.get(t.dtype.name, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = (max(each) for each in zip(*pairs, strict=True))
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg
    )
