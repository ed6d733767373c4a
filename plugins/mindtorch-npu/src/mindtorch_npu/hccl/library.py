"""HCCL's C interface: functions with their types, numbers, codes and errors."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any, Final

from ..acl import MissingSymbolError, recent_message
from ..acl.prototypes import Prototype, parse
from ..acl_loader import find, load

__all__ = [
    "DTYPES",
    "NOT_SUPPORTED",
    "REDUCTIONS",
    "ROOT_INFO",
    "HCCLError",
    "check",
    "hccl",
    "located",
]

LIBRARY: Final = "libhccl.so"
ROOT_INFO: Final = 4108  # bytes of HcclRootInfo
NOT_SUPPORTED: Final = 5

# HcclDataType, which is not aclDataType. What is not here is moved as bytes.
DTYPES: Final = {
    "int8": 0, "int16": 1, "int32": 2, "float16": 3, "float32": 4, "int64": 5, "uint64": 6,
    "uint8": 7, "uint16": 8, "uint32": 9, "float64": 10, "bfloat16": 11,
}  # fmt: skip
REDUCTIONS: Final = {"sum": 0, "product": 1, "max": 2, "min": 3}

# HcclComm and aclrtStream are pointers, and buffers addresses.
_TABLE: Final = """
int32_t HcclGetRootInfo(void *rootInfo)
int32_t HcclCommInitRootInfo(uint32_t nRanks, const void *rootInfo, uint32_t rank, void **comm)
int32_t HcclCommDestroy(void *comm)
int32_t HcclGetCommAsyncError(void *comm, int32_t *asyncError)
int32_t HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, int32_t dataType, int32_t op, void *comm, void *stream)
int32_t HcclReduce(void *sendBuf, void *recvBuf, uint64_t count, int32_t dataType, int32_t op, uint32_t root, void *comm, void *stream)
int32_t HcclBroadcast(void *buf, uint64_t count, int32_t dataType, uint32_t root, void *comm, void *stream)
int32_t HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount, int32_t dataType, void *comm, void *stream)
int32_t HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, int32_t dataType, int32_t op, void *comm, void *stream)
int32_t HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, int32_t dataType, uint32_t root, void *comm, void *stream)
int32_t HcclAlltoAllV(const void *sendBuf, const void *sendCounts, const void *sdispls, int32_t sendType, const void *recvBuf, const void *recvCounts, const void *rdispls, int32_t recvType, void *comm, void *stream)
int32_t HcclBarrier(void *comm, void *stream)
int32_t HcclSend(void *sendBuf, uint64_t count, int32_t dataType, uint32_t destRank, void *comm, void *stream)
int32_t HcclRecv(void *recvBuf, uint64_t count, int32_t dataType, uint32_t srcRank, void *comm, void *stream)
"""  # noqa: E501
_PROTOTYPES: Final[dict[str, Prototype]] = {
    each.name: each for each in (parse(line, quick=False) for line in _TABLE.split("\n") if line)
}
_NAMES: Final = (
    "SUCCESS", "PARA", "PTR", "MEMORY", "INTERNAL", "NOT_SUPPORT", "NOT_FOUND", "UNAVAIL", "SYSCALL",
    "TIMEOUT", "OPEN_FILE_FAILURE", "TCP_CONNECT", "ROCE_CONNECT", "TCP_TRANSFER", "ROCE_TRANSFER",
    "RUNTIME", "DRV", "PROFILING", "CCE", "NETWORK", "AGAIN", "REMOTE", "SUSPENDING", "OPRETRY_FAIL",
    "OOM",
)  # fmt: skip


class HCCLError(RuntimeError):
    """A function of HCCL returned a code other than 0.

    Attributes:
        code: the code.
        call: the function.
    """

    def __init__(self, call: str, code: int, message: str = "") -> None:
        name = _NAMES[code] if 0 <= code < len(_NAMES) else "unknown"
        why = f": {message}" if message else ""
        super().__init__(f"{call} failed with code {code} (HCCL_E_{name}){why}")
        self.call = call
        self.code = code


def located() -> Path | None:
    """Where the library is, of the toolkit that would be used. Loads nothing."""
    toolkit = find()
    return None if toolkit is None else toolkit.library(LIBRARY)


class _Functions:
    """Functions as attributes, bound when they are first used: ``hccl.HcclBarrier(comm, stream)``."""

    _library: ctypes.CDLL | None = None

    def __getattr__(self, name: str) -> Any:
        prototype = _PROTOTYPES.get(name)
        if prototype is None:
            raise AttributeError(f"{name!r} is not in the table of HCCL's functions")
        if self._library is None:
            toolkit = load().toolkit
            path = toolkit.library(LIBRARY)
            if path is None:
                raise MissingSymbolError(
                    f"CANN {toolkit.version} in {toolkit.root} has no {LIBRARY}.\n"
                    f"  fix: install the whole toolkit."
                )
            self._library = ctypes.CDLL(str(path))
        function = self._library[name]
        function.argtypes, function.restype = prototype.argtypes, prototype.restype
        setattr(self, name, function)
        return function


hccl: Final = _Functions()


def check(code: int, call: str) -> None:
    """Raise if a function returned a code other than 0.

    Raises:
        HCCLError: with the code, its name and the library's own text.
    """
    if code:
        raise HCCLError(call, code, recent_message())
