"""Call simulated operators with PyTorch's CPU tensors, and compare with what PyTorch computes."""

import ctypes
import math
from collections.abc import Sequence
from ctypes import byref, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, Final

import pytest
from simtoolkit import DTYPES, Toolkit, toolkit

torch: Any = pytest.importorskip("torch", reason="the operators' oracle is PyTorch")
torch.set_num_threads(1)  # the samples are small: waking threads costs more than they save

TORCH: Final[dict[str, Any]] = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f64": torch.float64,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    "b": torch.bool,
    "c64": torch.complex64,
    "c128": torch.complex128,
}
SHORT: Final = {dtype: name for name, dtype in TORCH.items()}

# How far a result may be from the oracle's, relative and absolute.
TOLERANCES: Final = {"f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2, "f64": 1e-11, "c64": 2e-5}

# What outputs hold before the call: a result that is not written, and a write outside, both show.
GARBAGE: Final = 0x5A


@dataclass(frozen=True)
class Out:
    """An output of new memory; `strided` leaves gaps and an offset in it."""

    dtype: str
    shape: Sequence[int]
    strided: bool = False
    form: int = 2


@dataclass(frozen=True)
class InOut:
    """A tensor that the operator reads and writes; the result comes back, the tensor stays."""

    tensor: Any
    form: int = 2


@dataclass(frozen=True)
class Formatted:
    """An input with a format other than ND, as convolutions want."""

    tensor: Any
    form: int


@dataclass(frozen=True)
class Scalar:
    """An aclScalar of a chosen dtype; plain Python numbers become DOUBLE, INT64, BOOL, COMPLEX128."""

    value: bool | int | float | complex
    dtype: str


@dataclass
class _Memory:
    """Device memory with what lies in it, as the host knows it."""

    address: int
    bytes: Any  # a uint8 tensor


class Arguments:
    """The C arguments of one call and what they own; a context that releases all of it."""

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.kit: Toolkit = toolkit()
        kinds = self.kit.kinds.get(f"aclnn{name}")
        assert kinds is not None, f"the simulator has no aclnn{name}"
        assert len(kinds) == len(values), f"aclnn{name} takes {kinds}, not {len(values)} arguments"
        self._memory: dict[int, _Memory] = {}
        self._handles: list[tuple[Any, int]] = []
        self.outputs: list[tuple[Any, _Memory, int]] = []  # view on the host, memory, handle
        self.values = [
            self._argument(kind, value) for kind, value in zip(kinds, values, strict=True)
        ]

    def __enter__(self) -> "Arguments":
        return self

    def __exit__(self, *_: object) -> None:
        self.kit.synchronize()
        for destroy, handle in self._handles:
            destroy(handle)
        for memory in self._memory.values():
            self.kit.free(memory.address)

    def results(self) -> list[Any]:
        """The written tensors, in order; what lies beside a view must not have changed."""
        results = []
        for view, memory, handle in self.outputs:
            after = torch.frombuffer(
                bytearray(self.kit.download(memory.address, len(memory.bytes)) or b"\0"),
                dtype=torch.uint8,
            )[: len(memory.bytes)]
            whole = after.view(view.dtype)
            shape, strides = self._described(handle, "Shape"), self._described(handle, "Strides")
            result = whole.as_strided(shape, strides, view.storage_offset())
            results.append(result.clone())
            gaps = torch.ones(whole.numel(), dtype=torch.bool)
            gaps.as_strided(view.shape, view.stride(), view.storage_offset()).fill_(False)
            gaps = gaps.repeat_interleave(view.element_size())
            assert torch.equal(after[gaps], memory.bytes[gaps]), "written outside the output"
        return results

    def _described(self, handle: int, what: str) -> list[int]:
        values, rank = ctypes.POINTER(ctypes.c_int64)(), c_uint64()
        getattr(self.kit.base, f"aclGetView{what}")(handle, byref(values), byref(rank))
        dims = list(values[: rank.value])
        free = ctypes.CDLL(None).free
        free.argtypes = [c_void_p]
        free(ctypes.cast(values, c_void_p))
        return dims

    # ---- one argument ----------------------------------------------------------------------------

    def _argument(self, kind: str, value: Any) -> Any:
        if value is None and kind in _NULLABLE:
            return None
        if kind in {"T", "T>"}:
            return self._tensor(value, kind == "T>")
        if kind in {"TL", "TL>"}:
            return self._list(value, kind == "TL>")
        if kind == "S":
            return self._scalar(value)
        if kind in _ARRAYS:
            return self._array(kind, value)
        if kind == "DT":
            return DTYPES[value][0] if isinstance(value, str) else value
        return value.encode() if kind == "str" else value

    def _tensor(self, value: Any, written: bool, owned: bool = True) -> int:
        form = getattr(value, "form", 2)
        if isinstance(value, Out):
            tensor = garbage(value.dtype, value.shape, value.strided)
        else:
            tensor = value.tensor if isinstance(value, InOut | Formatted) else value
        memory = self._upload(tensor)
        size = len(memory.bytes) // tensor.element_size()
        handle = self.kit.tensor(
            SHORT[tensor.dtype],
            list(tensor.shape),
            memory.address,
            list(tensor.stride()),
            tensor.storage_offset(),
            size,
            form,
        )
        if owned:
            self._handles.append((self.kit.base.aclDestroyTensor, handle))
        if written:
            self.outputs.append((tensor, memory, handle))
        return handle

    def _upload(self, tensor: Any) -> _Memory:
        storage = tensor.untyped_storage()
        known = self._memory.get(storage.data_ptr()) if len(storage) else None
        if known is None:
            data = torch.empty(0, dtype=torch.uint8).set_(storage)
            known = _Memory(self.kit.upload(bytes(data.numpy())), data)
            key = storage.data_ptr() if len(storage) else -len(self._memory) - 1
            self._memory[key] = known
        return known

    def _list(self, values: Sequence[Any], written: bool) -> int:
        members = [
            None if value is None else self._tensor(value, written, owned=False) for value in values
        ]
        handle = self.kit.base.aclCreateTensorList(
            (c_void_p * max(len(members), 1))(*members), len(members)
        )
        self._handles.append((self.kit.base.aclDestroyTensorList, handle))
        return int(handle)

    def _scalar(self, value: Any) -> int:
        if not isinstance(value, Scalar):
            value = Scalar(value, _SCALARS[type(value)])
        data = torch.tensor([value.value], dtype=TORCH[value.dtype]).view(torch.uint8)
        handle = self.kit.base.aclCreateScalar(bytes(data.numpy()), DTYPES[value.dtype][0])
        assert handle, f"no scalar of {value}"
        self._handles.append((self.kit.base.aclDestroyScalar, handle))
        return int(handle)

    def _array(self, kind: str, values: Sequence[Any]) -> int:
        word, element = _ARRAYS[kind]
        create = getattr(self.kit.base, f"aclCreate{word}Array")
        handle = create((element * max(len(values), 1))(*values), len(values))
        self._handles.append((getattr(self.kit.base, f"aclDestroy{word}Array"), handle))
        return int(handle)


_NULLABLE: Final = {"T", "T>", "TL", "TL>", "S", "IA", "BA", "FA", "str"}
_SCALARS: Final = {float: "f64", int: "i64", bool: "b", complex: "c128"}
_ARRAYS: Final[dict[str, tuple[str, Any]]] = {
    "IA": ("Int", ctypes.c_int64),
    "BA": ("Bool", ctypes.c_bool),
    "FA": ("Float", ctypes.c_float),
}


# ---- tensors -------------------------------------------------------------------------------------


def strided(tensor: Any) -> Any:
    """The same values with gaps between elements, dims in another order of memory, and an offset."""
    size = math.prod(tensor.shape)
    bases = torch.zeros(3 + 2 * size, dtype=tensor.dtype)
    bases.view(torch.uint8).fill_(GARBAGE)
    steps, step = [], 2
    for length in tensor.shape:
        steps.append(step)
        step *= max(length, 1)
    view = bases.as_strided(tensor.shape, steps, 3)
    return view.copy_(tensor)


def garbage(dtype: str, shape: Sequence[int], gaps: bool = False) -> Any:
    """A tensor of GARBAGE bytes, with gaps and an offset if asked for."""
    plain = torch.empty(list(shape), dtype=TORCH[dtype])
    if plain.numel():
        plain.view(-1).view(torch.uint8).fill_(GARBAGE)
    return strided(plain) if gaps else plain


# ---- calls ---------------------------------------------------------------------------------------


def prepare(given: Arguments, name: str) -> tuple[int, c_void_p]:
    """Run phase one, which must take the arguments; gives the workspace's size and the executor."""
    size, executor = c_uint64(), c_void_p()
    one, _ = given.kit.phases(name)
    code = one(*given.values, byref(size), byref(executor))
    given.kit.check(code, f"aclnn{name}GetWorkspaceSize")
    return size.value, executor


def launch(given: Arguments, name: str) -> int:
    """Run both phases, which must succeed; gives the code with which the stream ends."""
    kit = given.kit
    size, executor = prepare(given, name)
    _, two = kit.phases(name)
    with kit.workspace(size) as workspace:
        kit.check(two(workspace, size, executor, kit.stream), f"aclnn{name}")
        return kit.synchronize()


def run(name: str, *arguments: Any) -> Any:
    """Run aclnn<name> and give its output, or a tuple of them."""
    with Arguments(name, arguments) as given:
        given.kit.check(launch(given, name), f"the stream after aclnn{name}")
        results = given.results()
    return results[0] if len(results) == 1 else tuple(results)


def refused(name: str, *arguments: Any) -> int:
    """The code with which phase one refuses the arguments; 0 if it takes them."""
    with Arguments(name, arguments) as given:
        one, _ = given.kit.phases(name)
        size, executor = c_uint64(), c_void_p()
        code = int(one(*given.values, byref(size), byref(executor)))
        if code == 0:
            given.kit.base.aclDestroyAclOpExecutor(executor)
    return code


def fault(name: str, *arguments: Any) -> int:
    """The code with which the stream fails; both phases must succeed."""
    with Arguments(name, arguments) as given:
        return launch(given, name)


def workspace_size(name: str, *arguments: Any) -> int:
    """How many bytes phase one asks for."""
    with Arguments(name, arguments) as given:
        size, executor = prepare(given, name)
        given.kit.base.aclDestroyAclOpExecutor(executor)
    return size


# ---- comparison ----------------------------------------------------------------------------------


def close(result: Any, expected: Any, factor: float = 1.0) -> None:
    """Fail unless the values agree as the result's dtype allows; NaNs agree, zeros keep signs."""
    assert list(result.shape) == list(expected.shape)
    tolerance = factor * TOLERANCES.get(SHORT[result.dtype], 0.0)
    if SHORT[result.dtype] == "c128":
        tolerance = factor * 1e-11
    torch.testing.assert_close(
        result, expected.to(result.dtype), rtol=tolerance, atol=tolerance, equal_nan=True
    )
