"""State dicts in the safetensors format, which other frameworks read as well.

A file is the length of a header as eight bytes, the header as JSON (for each name its dtype, shape and
place), and the tensors' bytes, row-major and little-endian, without gaps.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, Final

from ..tensors.autograd_state import born
from ..tensors.tensor import Tensor
from ..values.devices import concrete, device, row_of
from ..values.dtypes import DTYPES, FLOAT8, dtype
from ..values.shapes import numel, storage_extent
from .archive import opened

if TYPE_CHECKING:
    from . import Path

__all__ = [
    "is_safetensors",
    "load",
    "load_file",
    "load_metadata",
    "load_shapes",
    "read_tensors",
    "save",
    "save_file",
]

_CODES: Final[dict[str, str]] = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32",
    "int32": "I32", "uint64": "U64", "int64": "I64", "float16": "F16", "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0",
    "float32": "F32", "float64": "F64", "complex64": "C64",
}  # fmt: skip
_DTYPES: Final[dict[str, dtype]] = {code: (DTYPES | FLOAT8)[name] for name, code in _CODES.items()}
_LONGEST_HEADER: Final = 100_000_000
_LARGEST: Final = 1 << 59  # elements, also of a tensor that has none because a size is 0
_METADATA: Final = "__metadata__"


def is_safetensors(start: bytes) -> bool:
    """Whether a file that starts so can be one."""
    return len(start) > 8 and start[8:9] == b"{" and _length(start) <= _LONGEST_HEADER


def _length(start: bytes) -> int:
    return int.from_bytes(start[:8], "little")


# ---- writing ------------------------------------------------------------------------------------


def save(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Tensors by name as the bytes of a safetensors file; `save_file` says more."""
    file = io.BytesIO()
    save_file(tensors, file, metadata)
    return file.getvalue()


def save_file(
    tensors: Mapping[str, Tensor],
    filename: Path | IO[bytes],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write tensors by name, such as a state dict, to a safetensors file.

    Args:
        tensors: by name. Only elements are kept: not strides, not whether they require grad.
        filename: path, or file open for writing bytes.
        metadata: texts by name to store beside them.

    Raises:
        TypeError: for what is no tensor, and for complex128, which the format does not have.
        RuntimeError: if tensors share memory, which the format cannot say.
    """
    header: dict[str, Any] = {_METADATA: _checked_metadata(metadata)} if metadata else {}
    # As the reference writer does: the widest elements first, so that all are aligned.
    ordered = sorted(_checked(tensors).items(), key=lambda item: (-item[1].itemsize, item[0]))
    end = 0
    for name, t in ordered:
        start, end = end, end + t.nbytes
        header[name] = {
            "dtype": _CODES[t.dtype.name], "shape": list(t._shape), "data_offsets": [start, end],
        }  # fmt: skip
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with opened(filename, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, t in ordered:
            if t.nbytes:
                file.write(memory_of(t) or t._host())


def memory_of(t: Tensor) -> memoryview | None:
    """The memory of a tensor as bytes, as long as it lives; None where they are not what a file has.

    They are in host memory without gaps, row-major, and no conjugate or negative view.
    """
    plain = t._device.type == "cpu" and t.is_contiguous() and not (t.is_conj() or t.is_neg())
    if not plain or not t.nbytes:
        return None
    return memoryview((ctypes.c_char * t.nbytes).from_address(t.data_ptr())).cast("B")


def _checked(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    taken: dict[int, list[tuple[int, int, str]]] = {}
    for name, t in tensors.items():
        if not isinstance(t, Tensor):
            raise TypeError(
                f"safetensors files hold tensors only, and {name!r} is a {type(t).__name__}; "
                f"torch.save takes more"
            )
        if not isinstance(name, str) or name == _METADATA:  # type: ignore[redundant-expr]
            raise TypeError(f"{name!r} cannot be the name of a tensor in a safetensors file")
        if t.dtype.name not in _CODES:
            raise TypeError(f"{name!r} is {t.dtype}, which the safetensors format does not have")
        memory = t._settled()._own_storage().memory
        strides, offset = t._geometry()
        start, end = offset * t.itemsize, storage_extent(t._shape, strides, offset) * t.itemsize
        for first, last, other in taken.setdefault(id(memory), []):
            if memory is not None and start < last and first < end:
                raise RuntimeError(
                    f"{other!r} and {name!r} share memory, which the safetensors format cannot say: "
                    f"leave one out, save a clone() of it, or use torch.save"
                )
        taken[id(memory)].append((start, end, name))
    return dict(tensors)


def _checked_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    for key, value in metadata.items():
        if not (isinstance(key, str) and isinstance(value, str)):  # type: ignore[redundant-expr]
            raise TypeError(f"metadata are texts by name, got {key!r}: {value!r}")
    return dict(metadata)


# ---- reading ------------------------------------------------------------------------------------


def load(data: bytes, device: str | device = "cpu") -> dict[str, Tensor]:
    """The tensors in the bytes of a safetensors file, by name; see `load_file`."""
    return load_file(io.BytesIO(data), device)


def load_file(filename: Path | IO[bytes], device: str | device = "cpu") -> dict[str, Tensor]:
    """The tensors in a safetensors file, by name.

    Args:
        filename: path, or file open for reading bytes.
        device: where to put them.

    Raises:
        RuntimeError: if the file is damaged.
        TypeError: if it has elements of which there is no dtype here.
    """
    return {name: t for name, t, _ in read_tensors(filename, device)}


def read_tensors(
    filename: Path | IO[bytes],
    device: str | device = "cpu",
    names: Iterable[str] | None = None,
    into: Callable[[str], Tensor | None] | None = None,
) -> Iterator[tuple[str, Tensor, memoryview]]:
    """One tensor of a file after the other, with its name and its bytes.

    Args:
        filename: path, or file open for reading bytes.
        device: where to put them.
        names: those to read; all by default.
        into: gives a tensor to read into by its name; one that has no `memory_of`, another dtype or shape
            is left alone.

    Raises:
        RuntimeError: if the file is damaged, or lacks one of the names.
        TypeError: if it has elements of which there is no dtype here.
    """
    where = concrete(device)
    runtime = row_of(where.type).runtime
    with opened(filename, "rb") as file:
        header, begin = _header(file)
        for name in header if names is None else names:
            if name not in header:
                raise _damaged(f"it has no tensor {name!r}")
            d, shape, start, end = header[name]
            file.seek(begin + start)
            target = None if into is None else into(name)
            if target is not None and (target.dtype, tuple(target.shape)) == (d, shape):
                memory = memory_of(target)
                if memory is not None:
                    if file.readinto(memory) != len(memory):  # type: ignore[attr-defined]
                        raise RuntimeError(f"the file ends within tensor {name!r}")
                    yield name, target, memory
                    continue
            data = memoryview(file.read(end - start))
            if len(data) != end - start:
                raise RuntimeError(f"the file ends within tensor {name!r}")
            made = born(
                runtime.from_host(data, shape, d, where)
                if runtime.executes
                else runtime.empty(shape, None, d, where)
            )
            yield name, made, data


def load_shapes(filename: Path | IO[bytes]) -> dict[str, tuple[dtype, tuple[int, ...]]]:
    """The dtype and shape of each tensor in a safetensors file, by name.

    Raises:
        RuntimeError: if the file is damaged.
    """
    with opened(filename, "rb") as file:
        return {name: entry[:2] for name, entry in _header(file)[0].items()}


def load_metadata(filename: Path | IO[bytes]) -> dict[str, str]:
    """The texts that are stored beside the tensors in a safetensors file."""
    with opened(filename, "rb") as file:
        texts = _json(file)[0].get(_METADATA, {})
    if not isinstance(texts, dict) or not all(isinstance(v, str) for v in texts.values()):
        raise _damaged("its metadata are no texts")
    return texts


def _damaged(why: str) -> RuntimeError:
    return RuntimeError(f"this is no safetensors file, or a damaged one: {why}")


def _size(file: IO[bytes]) -> int:
    at = file.tell()
    size = file.seek(0, os.SEEK_END)
    file.seek(at)
    return size - at


def _json(file: IO[bytes]) -> tuple[dict[str, Any], int, int]:
    """The header, and where in the file the tensors begin and end."""
    size = _size(file)
    at = file.tell()
    start = file.read(8)
    length = _length(start)
    if len(start) < 8 or length > min(size - 8, _LONGEST_HEADER):
        raise _damaged(f"a header of {length} bytes in a file of {size}")
    try:
        header = json.loads(file.read(length).decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise _damaged(f"its header cannot be read ({error})") from error
    if not isinstance(header, dict):
        raise _damaged("its header is no table")
    return header, at + 8 + length, at + size


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a name stands there twice")
    return table


def _header(file: IO[bytes]) -> tuple[dict[str, tuple[dtype, tuple[int, ...], int, int]], int]:
    """What the header says of each tensor, checked, and where the tensors begin."""
    header, begin, end = _json(file)
    entries = {name: _entry(name, e) for name, e in header.items() if name != _METADATA}
    at = 0
    for name, (_, _, start, stop) in sorted(entries.items(), key=lambda item: item[1][2:]):
        if start != at:
            raise _damaged(f"tensor {name!r} begins at byte {start} instead of {at}")
        at = stop
    if begin + at != end:
        raise _damaged(f"its tensors have {at} bytes, the file has {end - begin} for them")
    return entries, begin


def _entry(name: str, entry: Any) -> tuple[dtype, tuple[int, ...], int, int]:
    try:
        d, shape = _DTYPES[entry["dtype"]], tuple(entry["shape"])
        start, end = entry["data_offsets"]
    except (KeyError, TypeError, ValueError) as error:
        code = entry.get("dtype") if isinstance(entry, dict) else None
        if isinstance(code, str) and code not in _DTYPES:
            raise TypeError(
                f"tensor {name!r} has elements of {code}, which have no dtype here"
            ) from error
        raise _damaged(f"the entry of {name!r} is {entry!r}") from error
    if not all(type(n) is int and n >= 0 for n in (*shape, start, end)):
        raise _damaged(f"the entry of {name!r} is {entry!r}")
    if numel(tuple(n or 1 for n in shape)) >= _LARGEST or numel(shape) * d.itemsize != end - start:
        raise _damaged(f"tensor {name!r} of shape {list(shape)} has {end - start} bytes")
    return d, shape, start, end
