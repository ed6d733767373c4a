"""Tensors and foreign arrays by DLPack, without copies.

NumPy makes and reads the capsules. It has no bfloat16, so such elements travel through it as 16-bit
integers, and the type in the capsule is set before a consumer, or NumPy, sees it.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import ml_dtypes
import numpy as np

__all__ = ["CPU_DEVICE", "export", "load"]

CPU_DEVICE: Final = (1, 0)
_UINT: Final = 1
_BFLOAT: Final = 4
_NAMES: Final = (b"dltensor_versioned", b"dltensor")


class _Tensor(ctypes.Structure):
    """DLTensor of the DLPack specification."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned, which holds more than the tensor in front of it."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_is_valid: Final = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_is_valid.restype = ctypes.c_int
_pointer: Final = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_pointer.restype = ctypes.c_void_p


def _description(capsule: Any) -> _Tensor:
    """The description in a capsule that nobody has consumed.

    Raises:
        RuntimeError: if it is none, or was consumed.
    """
    for name in _NAMES:
        if _is_valid(capsule, name):
            address = _pointer(capsule, name)
            if name == b"dltensor":
                return _Tensor.from_address(address)
            found: _Tensor = _Versioned.from_address(address).tensor
            return found
    raise RuntimeError(
        "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only "
        "once, so you might have already constructed a tensor from it once."
    )


def export(array: Any, **options: Any) -> Any:
    """A capsule for an array's memory.

    Raises:
        BufferError: if the consumer asks for something else than host memory.
        TypeError: if the stream is no number.
    """
    wanted = options.get("dl_device")
    if wanted is not None and tuple(map(int, wanted)) != CPU_DEVICE:
        raise BufferError(
            f"a CPU tensor was asked for on DLPack device {tuple(wanted)}: copy it there first"
        )
    stream = options.pop("stream", None)
    if not isinstance(stream, int | None):
        raise TypeError(f"stream must be int or None, not {type(stream).__name__}")
    if stream not in (None, -1):  # the consumer's way to say that it needs no waiting
        raise BufferError(f"stream should be None on cpu, got {stream!r}")
    if array.dtype != ml_dtypes.bfloat16:
        return array.__dlpack__(**options)
    capsule = array.view(np.uint16).__dlpack__(**options)
    _description(capsule).code = _BFLOAT
    return capsule


class _Capsule:
    """What `numpy.from_dlpack` takes, around a capsule."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU_DEVICE


class _Writable:
    """What makes NumPy show an array's memory as one that may be written."""

    def __init__(self, array: Any) -> None:
        at, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (at, False)}
        self.array = array  # the memory's owner


def load(source: Any) -> Any:
    """An array over the memory of another library's array, or of a capsule.

    Raises:
        TypeError: if it does not speak the protocol.
        BufferError: if the memory is not the host's.
        RuntimeError: for a capsule that was consumed.
    """
    if not hasattr(source, "__dlpack__") and type(source).__name__ != "PyCapsule":
        raise TypeError(f"{type(source).__name__} does not support the DLPack protocol")
    if hasattr(source, "__dlpack__"):
        kind, index = source.__dlpack_device__()
        if int(kind) != CPU_DEVICE[0]:
            raise BufferError(
                f"from_dlpack: the memory lies on DLPack device ({int(kind)}, {int(index)}), not in "
                f"host memory: copy it to the CPU with the library it comes from first"
            )
        try:
            capsule = source.__dlpack__(max_version=(1, 0))
        except TypeError:  # written before versions were negotiated
            capsule = source.__dlpack__()
    else:
        capsule = source
    described = _description(capsule)
    half = described.code == _BFLOAT and described.bits == 16
    if half:
        described.code = _UINT
    old = bool(_is_valid(capsule, b"dltensor"))
    array = np.from_dlpack(_Capsule(capsule))
    if old:  # it cannot say that its memory is read-only, and NumPy takes it to be
        array = np.asarray(_Writable(array))
    return array.view(ml_dtypes.bfloat16) if half else array
