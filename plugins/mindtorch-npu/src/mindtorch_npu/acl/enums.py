"""Numbers of CANN's C enumerations, as its functions take them: those that are in use."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Final

from mindtorch_core.backend import DTYPES, dtype

__all__ = [
    "ACL_TYPES",
    "DataType",
    "EventFlag",
    "EventRecordedStatus",
    "Format",
    "MallocPolicy",
    "MemAttr",
    "MemcpyKind",
    "StreamFlag",
    "StreamStatus",
]


class DataType(IntEnum):
    """``aclDataType``."""

    FLOAT = 0
    FLOAT16 = 1
    INT8 = 2
    INT32 = 3
    UINT8 = 4
    INT16 = 6
    UINT16 = 7
    UINT32 = 8
    INT64 = 9
    UINT64 = 10
    DOUBLE = 11
    BOOL = 12
    COMPLEX64 = 16
    COMPLEX128 = 17
    BF16 = 27


class Format(IntEnum):
    """``aclFormat``: what a tensor's dimensions mean."""

    NCHW = 0
    ND = 2
    NCDHW = 30
    NCL = 47


class MemcpyKind(IntEnum):
    """``aclrtMemcpyKind``."""

    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2


class MallocPolicy(IntEnum):
    """``aclrtMemMallocPolicy``."""

    HUGE_FIRST = 0


class MemAttr(IntEnum):
    """``aclrtMemAttr``: which memory `aclrtGetMemInfo` is asked about."""

    DDR = 0
    HBM = 1


class EventFlag(IntFlag):
    """What an event can be used for."""

    SYNC = 0x1
    CAPTURE_STREAM_PROGRESS = 0x2
    TIME_LINE = 0x8


class EventRecordedStatus(IntEnum):
    """``aclrtEventRecordedStatus``, what `aclrtQueryEventStatus` gives."""

    COMPLETE = 1


class StreamStatus(IntEnum):
    """``aclrtStreamStatus``; the polarity is not that of `EventRecordedStatus`."""

    COMPLETE = 0


class StreamFlag(IntFlag):
    """How a stream is made."""

    FAST_LAUNCH = 1
    FAST_SYNC = 2


# The data type of each of the core's dtypes.
ACL_TYPES: Final[dict[dtype, int]] = {
    DTYPES[name]: int(number)
    for name, number in {
        "float32": DataType.FLOAT,
        "float16": DataType.FLOAT16,
        "bfloat16": DataType.BF16,
        "float64": DataType.DOUBLE,
        "int8": DataType.INT8,
        "int16": DataType.INT16,
        "int32": DataType.INT32,
        "int64": DataType.INT64,
        "uint8": DataType.UINT8,
        "uint16": DataType.UINT16,
        "uint32": DataType.UINT32,
        "uint64": DataType.UINT64,
        "bool": DataType.BOOL,
        "complex64": DataType.COMPLEX64,
        "complex128": DataType.COMPLEX128,
    }.items()
}
