"""Tensors' memory and reductions, as MPI is told of them."""

from __future__ import annotations

from typing import Final

from mpi4py import MPI

from mindtorch_core import Tensor

__all__ = ["OPS", "TYPES", "as_bytes"]

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


def as_bytes(tensor: Tensor) -> MPI.buffer:
    """The memory of a contiguous tensor, which must outlive what is done with it."""
    count = tensor.numel() * tensor.element_size()
    return MPI.buffer.fromaddress(tensor.data_ptr() if count else 0, count)
