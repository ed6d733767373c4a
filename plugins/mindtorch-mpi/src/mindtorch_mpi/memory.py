"""Tensors' memory and reductions, as MPI is told of them."""

from __future__ import annotations

from itertools import cycle
from typing import Any, Final

from mpi4py import MPI

from mindtorch_core import Tensor

__all__ = ["KEPT", "OPS", "PIECE", "TYPES", "Spare", "as_bytes", "keep_small_memory"]

# Requests that were given up, with the memory that MPI may still write: they outlive their group.
KEPT: Final[list[Any]] = []
TYPES: Final = {
    "float32": MPI.FLOAT,
    "float64": MPI.DOUBLE,
    "int8": MPI.INT8_T,
    "int16": MPI.INT16_T,
    "int32": MPI.INT32_T,
    "int64": MPI.INT64_T,
    "uint8": MPI.UINT8_T,
    "uint16": MPI.UINT16_T,
    "uint32": MPI.UINT32_T,
    "uint64": MPI.UINT64_T,
}
OPS: Final = {
    "sum": MPI.SUM,
    "product": MPI.PROD,
    "min": MPI.MIN,
    "max": MPI.MAX,
    "band": MPI.BAND,
    "bor": MPI.BOR,
    "bxor": MPI.BXOR,
}


# Bytes of a large collective call that are moved at once.
PIECE: Final = 1 << 20


class Spare:
    """Memory for two pieces that are under way, in turns.

    Args:
        size: of each, in bytes.
    """

    def __init__(self, size: int) -> None:
        self._pieces = cycle([MPI.buffer.allocate(size), MPI.buffer.allocate(size)])

    def next(self) -> MPI.buffer:
        """The piece that was not given last."""
        return next(self._pieces)


def keep_small_memory() -> None:
    """Have memory of the size of pieces stay in the process when it is freed.

    The C library takes blocks above a bound from the system each time, and raises that bound to the size of
    such a block when it is freed.
    """
    bytearray(4 * PIECE)


def as_bytes(tensor: Tensor) -> MPI.buffer:
    """The memory of a contiguous tensor, which must outlive what is done with it."""
    count = tensor.nbytes
    return MPI.buffer.fromaddress(tensor.data_ptr() if count else 0, count)
