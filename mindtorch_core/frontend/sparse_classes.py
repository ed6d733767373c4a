"""Classes of sparse tensors by dtype, from before `sparse_coo_tensor`, as ``torch.sparse.FloatTensor``."""

from __future__ import annotations

from typing import Any, Final

from ..values.dtypes import (
    bfloat16,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from .sparse import SparseTensor
from .sparse_creation import sparse_coo_tensor

__all__ = ["CLASSES"]


class _OfDtype(type):
    """The class of the classes: an object is of one by its dtype."""

    _dtype: dtype

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, SparseTensor) and value.dtype == cls._dtype

    def __call__(cls, *args: Any) -> Any:
        """Indices, values, and the size if it does not follow; sizes alone for zeros.

        Raises:
            TypeError: for anything else.
        """
        if 2 <= len(args) <= 3 and hasattr(args[0], "_keys"):
            return sparse_coo_tensor(*args, dtype=cls._dtype)
        sizes = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
        if isinstance(sizes, tuple | list) and all(isinstance(n, int) for n in sizes):
            return sparse_coo_tensor(tuple(sizes) or (0,), dtype=cls._dtype)
        raise TypeError(
            f"torch.sparse.{cls.__name__}(): takes indices, values and a size, or sizes: use "
            f"torch.sparse_coo_tensor()"
        )


CLASSES: Final[dict[str, type]] = {
    name: _OfDtype(name, (), {"_dtype": d, "__module__": "torch.sparse", "__doc__": doc})
    for name, d in (
        ("BFloat16Tensor", bfloat16), ("ByteTensor", uint8), ("CharTensor", int8),
        ("DoubleTensor", float64), ("FloatTensor", float32), ("HalfTensor", float16),
        ("IntTensor", int32), ("LongTensor", int64), ("ShortTensor", int16),
    )
    for doc in (f"Sparse tensors of {d}; use `torch.sparse_coo_tensor` to make one.",)
}  # fmt: skip
