"""The simulated toolkit's libraries through ctypes, for tests that call the C functions directly."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_uint64, c_void_p
from functools import cache
from types import SimpleNamespace
from typing import Any, Final

from mindtorch_npu_simulator import control

CODES: Final = SimpleNamespace(NULLPTR=161001, INVALID=161002, INNER=561000, AICORE=507015)

# A dtype's short name: its number in aclDataType and its size in bytes.
DTYPES: Final = {
    "f32": (0, 4),
    "f16": (1, 2),
    "bf16": (27, 2),
    "f64": (11, 8),
    "i8": (2, 1),
    "i16": (6, 2),
    "i32": (3, 4),
    "i64": (9, 8),
    "u8": (4, 1),
    "u16": (7, 2),
    "u32": (8, 4),
    "u64": (10, 8),
    "b": (12, 1),
    "c64": (16, 8),
    "c128": (17, 16),
}

# The sets in which CANN's documents speak, and every list of dtypes as a set of short names.
SETS: Final = {
    "NUM12": "f32 f16 bf16 f64 i8 i16 i32 i64 u8 b c64 c128",
    "REAL10": "f32 f16 bf16 f64 i8 i16 i32 i64 u8 b",
    "REAL9": "f32 f16 bf16 f64 i8 i16 i32 i64 u8",
    "FLT3": "f32 f16 bf16",
    "FLT4": "f32 f16 bf16 f64",
    "INT5": "i8 i16 i32 i64 u8",
    "INTB6": "i8 i16 i32 i64 u8 b",
    "IDX": "i32 i64",
    "FLTC6": "f32 f16 bf16 f64 c64 c128",
}

_KINDS: Final = {
    "i64": c_int64,
    "u64": c_uint64,
    "i32": c_int32,
    "DT": c_int32,
    "i8": ctypes.c_int8,
    "b": ctypes.c_bool,
    "f64": ctypes.c_double,
    "f32": ctypes.c_float,
    "str": c_char_p,
}


def dtypes(text: str) -> list[str]:
    """Read "REAL10-bf16+c64" or "f32 f16" as a list of short names."""
    names: list[str] = []
    for word in text.split():
        first, *steps = word.replace("-", " -").replace("+", " +").split()
        names += SETS.get(first, first).split()
        for step in steps:
            if step[0] == "+":
                names.append(step[1:])
            else:
                names.remove(step[1:])
    return names


class Toolkit:
    """The three libraries with the prototypes of what tests call, and a stream while it is open."""

    def __init__(self) -> None:
        folder = control.root() / "lib64"
        libraries = ("libascendcl.so", "libnnopbase.so", "libopapi.so")
        self.acl, self.base, self.ops = (ctypes.CDLL(str(folder / name)) for name in libraries)
        self._declare()
        self.stream = c_void_p()
        self._initialised = False
        self.kinds: dict[str, list[str]] = {}
        self.ops.simOperators.restype = c_char_p
        for line in self.ops.simOperators().decode().splitlines():
            name, *kinds = line.split(" ")
            self.kinds[name] = kinds

    def _declare(self) -> None:
        sizes: list[Any] = [POINTER(c_int64), c_uint64]
        to_code: dict[str, list[Any]] = {
            "aclrtMalloc": [POINTER(c_void_p), c_uint64, c_int32],
            "aclrtFree": [c_void_p],
            "aclrtMemcpy": [c_void_p, c_uint64, c_void_p, c_uint64, c_int32],
            "aclrtCreateStream": [POINTER(c_void_p)],
            "aclrtSynchronizeStream": [c_void_p],
            "aclrtDestroyStream": [c_void_p],
            "aclDestroyTensor": [c_void_p],
            "aclDestroyTensorList": [c_void_p],
            "aclDestroyScalar": [c_void_p],
            "aclDestroyIntArray": [c_void_p],
            "aclDestroyFloatArray": [c_void_p],
            "aclDestroyBoolArray": [c_void_p],
            "aclDestroyAclOpExecutor": [c_void_p],
            "aclSetAclOpExecutorRepeatable": [c_void_p],
            "aclGetViewShape": [c_void_p, POINTER(POINTER(c_int64)), POINTER(c_uint64)],
            "aclGetViewStrides": [c_void_p, POINTER(POINTER(c_int64)), POINTER(c_uint64)],
        }
        view = [*sizes, c_int32, POINTER(c_int64), c_int64, c_int32]
        to_handle: dict[str, list[Any]] = {
            "aclCreateTensor": [*view, *sizes, c_void_p],
            "aclCreateScalar": [c_void_p, c_int32],
            "aclCreateIntArray": sizes,
            "aclCreateFloatArray": [POINTER(ctypes.c_float), c_uint64],
            "aclCreateBoolArray": [POINTER(ctypes.c_bool), c_uint64],
            "aclCreateTensorList": [POINTER(c_void_p), c_uint64],
        }
        for name, arguments in to_code.items():
            function = getattr(self.acl if name.startswith("aclrt") else self.base, name)
            function.argtypes, function.restype = arguments, c_int32
        for name, arguments in to_handle.items():
            function = getattr(self.base, name)
            function.argtypes, function.restype = arguments, c_void_p
        self.acl.aclGetRecentErrMsg.restype = c_char_p

    def open(self) -> None:
        """Initialise the runtime, unless somebody did, and make a stream on device 0."""
        code = self.acl.aclInit(None)
        self._initialised = code == 0
        assert code in {0, 100002}, f"aclInit gave {code}"
        self.check(self.acl.aclrtSetDevice(0), "aclrtSetDevice")
        self.check(self.acl.aclrtCreateStream(byref(self.stream)), "aclrtCreateStream")

    def close(self) -> None:
        """Undo `open`."""
        self.check(self.acl.aclrtDestroyStream(self.stream), "aclrtDestroyStream")
        self.check(self.acl.aclrtResetDevice(0), "aclrtResetDevice")
        if self._initialised:
            self.check(self.acl.aclFinalize(), "aclFinalize")

    def message(self) -> str:
        """Give this thread's latest error text."""
        return (self.acl.aclGetRecentErrMsg() or b"").decode()

    def check(self, code: int, call: str) -> None:
        """Fail the test if a call did not succeed."""
        if code != 0:
            raise AssertionError(f"{call} gave {code}: {self.message()}")

    def phases(self, name: str) -> tuple[Any, Any]:
        """Give both functions of an operator, with complete prototypes."""
        symbol = f"aclnn{name}"
        one = getattr(self.ops, symbol + "GetWorkspaceSize")
        two = getattr(self.ops, symbol)
        if two.argtypes is None:
            kinds = [_KINDS.get(kind, c_void_p) for kind in self.kinds[symbol]]
            one.argtypes = [*kinds, POINTER(c_uint64), POINTER(c_void_p)]
            two.argtypes = [c_void_p, c_uint64, c_void_p, c_void_p]
        return one, two

    # ---- device memory ---------------------------------------------------------------------------

    def upload(self, data: bytes) -> int:
        """Copy bytes into new device memory."""
        address = c_void_p()
        size = max(len(data), 1)
        self.check(self.acl.aclrtMalloc(byref(address), size, 0), "aclrtMalloc")
        if data:
            code = self.acl.aclrtMemcpy(address, size, data, len(data), 1)
            self.check(code, "aclrtMemcpy to the device")
        assert address.value is not None
        return address.value

    def download(self, address: int, size: int) -> bytes:
        """Copy bytes out of device memory."""
        data = ctypes.create_string_buffer(max(size, 1))
        if size:
            code = self.acl.aclrtMemcpy(data, size, address, size, 2)
            self.check(code, "aclrtMemcpy from the device")
        return data.raw[:size]

    def free(self, address: int) -> None:
        """Give device memory back."""
        self.check(self.acl.aclrtFree(address), "aclrtFree")

    @contextmanager
    def workspace(self, size: int) -> Iterator[int | None]:
        """Give scratch memory for phase two, held until the stream is done."""
        address = self.upload(bytes(size)) if size else None
        try:
            yield address
        finally:
            self.synchronize()
            if address is not None:
                self.free(address)

    def synchronize(self) -> int:
        """Wait for the stream; its failure's code."""
        return int(self.acl.aclrtSynchronizeStream(self.stream))

    # ---- parameter objects -----------------------------------------------------------------------

    def tensor(
        self,
        dtype: str,
        shape: list[int],
        address: int | None,
        strides: list[int] | None = None,
        offset: int = 0,
        storage: int | None = None,
        form: int = 2,
    ) -> int:
        """Describe device memory as an aclTensor; `storage` counts elements."""
        number, _ = DTYPES[dtype]
        dims = _longs(shape)
        steps = None if strides is None else _longs(strides)
        if storage is None:
            whole, rank = dims, len(shape)
        else:
            whole, rank = _longs([storage]), 1
        handle = self.base.aclCreateTensor(
            dims, len(shape), number, steps, offset, form, whole, rank, address
        )
        assert handle, self.message()
        return int(handle)


def _longs(values: list[int]) -> Any:
    return (c_int64 * max(len(values), 1))(*values)


@cache
def toolkit() -> Toolkit:
    """Give the process's one toolkit."""
    return Toolkit()
