"""Kernels as Python's own builtins: a call takes a tenth of a microsecond where ctypes takes ten.

One function of machine code serves all of them. What it is bound to is a tuple of the *plan* and of what the
plan's addresses must keep alive. It compares the arrays that it is called with to those that the plan was
made for; if class, dtype, shape or strides differ it answers False and nothing was done. After the arrays two
numbers may follow: how many threads may help (`pool`), and how many strips one of them takes at a time.

A plan is eight-byte words: `_HEAD` of them in the order of `_FIELDS`, then for each array its dtype's
address, its number of dimensions, the place of its address among the kernel's arguments, its shape and its
strides; at last the arguments of the kernel.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..addresses import KNOWN
from . import compiler, store
from .pool import Pool

__all__ = ["bound"]

_FIELDS: Final = (
    "arrays", "kernel", "words", "strips", "scratch", "release", "class", "allocate", "free", "save",
    "restore", "number", "retain", "true", "false", "share", "pool",
)  # fmt: skip
_HEAD: Final = len(_FIELDS)
# From this many elements on other threads of Python run meanwhile.
_RELEASED: Final = 1 << 15
_FASTCALL: Final = 0x80
_LOOP = """
{name}:
  br label %{name}.check
{name}.check:
  %{name}.i = phi i64 [ 0, %{name} ], [ %{name}.next, %{name}.end ]
  %{name}.more = icmp ult i64 %{name}.i, {count}
  br i1 %{name}.more, label %{name}.body, label %{after}
{name}.body:
{body}
  br label %{name}.end
{name}.end:
  %{name}.next = add i64 %{name}.i, 1
  br label %{name}.check"""


def _word(name: str, base: str, index: str, kind: str = "i64") -> str:
    """Load a word of the plan, or of what lies like it."""
    return (
        f"  %{name}.p = getelementptr i64, ptr {base}, i64 {index}\n"
        f"  %{name} = load {kind}, ptr %{name}.p"
    )


def _part(name: str, base: str, offset: int, kind: str = "ptr") -> str:
    """Load a field of a C structure."""
    return (
        f"  %{name}.p = getelementptr i8, ptr {base}, i64 {offset}\n"
        f"  %{name} = load {kind}, ptr %{name}.p"
    )


def _head(name: str, kind: str = "i64") -> str:
    """Load one of the plan's first words."""
    return _word(name, "%plan", str(_FIELDS.index(name)), kind)


def _same_sizes() -> str:
    """Compare a dimension's size and stride; a stride of one element does not matter."""
    return "\n".join(
        [
            "  %rec.dim = add i64 %rec.shape, %dims.i",
            "  %rec.str = add i64 %rec.dim, %rec.nd",
            _word("size.want", "%plan", "%rec.dim"),
            _word("step.want", "%plan", "%rec.str"),
            _word("size.is", "%shape", "%dims.i"),
            _word("step.is", "%steps", "%dims.i"),
            "  %size.ok = icmp eq i64 %size.want, %size.is",
            "  %stride.ok = icmp eq i64 %step.want, %step.is",
            "  %one = icmp eq i64 %size.want, 1",
            "  %stride.fine = or i1 %stride.ok, %one",
            "  %dim.ok = and i1 %size.ok, %stride.fine",
            "  br i1 %dim.ok, label %dims.good, label %refuse",
            "dims.good:",
        ]
    )


def _taken() -> str:
    """Compare an array to its record, and put its address among the kernel's arguments."""
    return "\n".join(
        [
            "  %rec = load i64, ptr %place",
            "  %rec.1 = add i64 %rec, 1",
            "  %rec.2 = add i64 %rec, 2",
            "  %rec.shape = add i64 %rec, 3",
            _word("rec.dtype", "%plan", "%rec"),
            _word("rec.nd", "%plan", "%rec.1"),
            _word("rec.slot", "%plan", "%rec.2"),
            _word("array", "%given", "%each.i", "ptr"),
            _part("kind", "%array", 8, "i64"),
            "  %kind.ok = icmp eq i64 %kind, %class",
            "  br i1 %kind.ok, label %is.array, label %refuse",
            "is.array:",
            _part("data", "%array", 16, "i64"),
            _part("nd.short", "%array", 24, "i32"),
            _part("shape", "%array", 32),
            _part("steps", "%array", 40),
            _part("dtype", "%array", 56, "i64"),
            "  %nd = sext i32 %nd.short to i64",
            "  %nd.ok = icmp eq i64 %nd, %rec.nd",
            "  %dtype.ok = icmp eq i64 %dtype, %rec.dtype",
            "  %like = and i1 %nd.ok, %dtype.ok",
            "  br i1 %like, label %dims, label %refuse",
            _LOOP.format(name="dims", count="%rec.nd", after="each.done", body=_same_sizes()),
            "each.done:",
            "  %slot = getelementptr i64, ptr %args, i64 %rec.slot",
            "  store i64 %data, ptr %slot",
            "  %rec.both = mul i64 %rec.nd, 2",
            "  %rec.next = add i64 %rec.shape, %rec.both",
            "  store i64 %rec.next, ptr %place",
        ]
    )


# The arguments begin after the records, so these are passed over first.
_PASSED: Final = "\n".join(
    [
        "  %f = load i64, ptr %place",
        "  %f.1 = add i64 %f, 1",
        _word("f.nd", "%plan", "%f.1"),
        "  %f.both = mul i64 %f.nd, 2",
        "  %f.rest = add i64 %f, 3",
        "  %f.next = add i64 %f.rest, %f.both",
        "  store i64 %f.next, ptr %place",
    ]
)
_COPIED: Final = "\n".join(
    [
        "  %from = add i64 %copy.i, %at",
        _word("w", "%plan", "%from"),
        "  %to = getelementptr i64, ptr %args, i64 %copy.i",
        "  store i64 %w, ptr %to",
    ]
)
_RUN: Final = """
ready:
  br i1 %all, label %room, label %several
several:
  %arrays.1 = add i64 %arrays, 1
  %seats.p = getelementptr ptr, ptr %given, i64 %arrays
  %seats.given = load ptr, ptr %seats.p
  %step.p = getelementptr ptr, ptr %given, i64 %arrays.1
  %step.given = load ptr, ptr %step.p
  %seats.number = call i64 %number(ptr %seats.given)
  %step.number = call i64 %number(ptr %step.given)
  br label %room
room:
  %seats = phi i64 [ 0, %ready ], [ %seats.number, %several ]
  %step = phi i64 [ 1, %ready ], [ %step.number, %several ]
  %people = add i64 %seats, 1
  %bytes = mul i64 %scratch, %people
  %none = icmp eq i64 %bytes, 0
  br i1 %none, label %run, label %take
take:
  %taken = call ptr %allocate(i64 %bytes)
  %short = icmp eq ptr %taken, null
  br i1 %short, label %refuse, label %run
run:
  %memory = phi ptr [ null, %room ], [ %taken, %take ]
  %raw = ptrtoint ptr %memory to i64
  %raised = add i64 %raw, 63
  %round = and i64 %raised, -64
  %aligned = inttoptr i64 %round to ptr
  br i1 %all, label %alone, label %shared
shared:
  %state.shared = call ptr %save()
  %told = call i64 %share(ptr %pool, i64 %seats, ptr %kernel, ptr %args, i64 0, i64 %step,
                          i64 %strips, ptr %aligned, i64 %scratch, i64 0, i64 1)
  call void %restore(ptr %state.shared)
  br label %settle
alone:
  %keep = icmp eq i64 %release, 0
  br i1 %keep, label %plain, label %freely
plain:
  call void %kernel(ptr %args, i64 0, i64 %strips, ptr %aligned)
  br label %settle
freely:
  %state = call ptr %save()
  call void %kernel(ptr %args, i64 0, i64 %strips, ptr %aligned)
  call void %restore(ptr %state)
  br label %settle
settle:
  br i1 %none, label %accept, label %drop
drop:
  call void %free(ptr %memory)
  br label %accept
accept:
  call void %retain(ptr %true)
  ret ptr %true
refuse:
  call void %retain(ptr %false)
  ret ptr %false
}
attributes #0 = { nounwind }
"""


def _text() -> str:
    """LLVM's text of the function."""
    return "\n".join(
        [
            f"define ptr @{compiler.NAME}(ptr %self, ptr %given, i64 %count) #0 {{",
            "entry:",
            "  %place = alloca i64",
            _part("array.plan", "%self", 24),
            _part("plan", "%array.plan", 16),
            *(_head(n) for n in ("arrays", "words", "strips", "scratch", "release", "class")),
            *(_head(n, "ptr") for n in ("kernel", "true", "false", "number", "retain")),
            *(_head(n, "ptr") for n in ("allocate", "free", "save", "restore", "share", "pool")),
            "  %all = icmp eq i64 %count, %arrays",
            "  %arrays.2 = add i64 %arrays, 2",
            "  %two = icmp eq i64 %count, %arrays.2",
            "  %helped = icmp ne ptr %pool, null",
            "  %some = and i1 %two, %helped",
            "  %fits = or i1 %all, %some",
            f"  store i64 {_HEAD}, ptr %place",
            "  %args = alloca i64, i64 %words",
            "  br i1 %fits, label %find, label %refuse",
            _LOOP.format(name="find", count="%arrays", after="found", body=_PASSED),
            "found:",
            "  %at = load i64, ptr %place",
            f"  store i64 {_HEAD}, ptr %place",
            "  br label %copy",
            _LOOP.format(name="copy", count="%words", after="each", body=_COPIED),
            _LOOP.format(name="each", count="%arrays", after="ready", body=_taken()),
            _RUN,
        ]
    )


class _Method(ctypes.Structure):
    """A ``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Builtin:
    """The function and what it needs of Python.

    Attributes:
        method: describes it to Python.
        fields: words that are the same in all plans.
    """

    def __init__(self) -> None:
        key = f"builtin-{compiler.fingerprint()}"
        self._loaded = compiler.loaded(store.kept(key, lambda: compiler.compiled(_text())))
        self.method = _Method(b"compiled", self._loaded.address, _FASTCALL, None)
        python = ctypes.pythonapi
        names = {
            "allocate": "PyMem_RawMalloc", "free": "PyMem_RawFree", "save": "PyEval_SaveThread",
            "restore": "PyEval_RestoreThread", "number": "PyLong_AsLongLong", "retain": "Py_IncRef",
        }  # fmt: skip
        self.fields: dict[str, int] = {
            field: ctypes.cast(getattr(python, name), ctypes.c_void_p).value or 0
            for field, name in names.items()
        }
        self.fields |= {"class": id(np.ndarray), "true": id(True), "false": id(False)}


@functools.cache
def _builtin() -> _Builtin | None:
    """The function; None where objects do not lie in memory as it has to know."""
    return _Builtin() if KNOWN else None


def bound(
    arrays: Sequence[Any], places: Sequence[int], words: Any, *, kernel: int, strips: int, scratch: int,
    elements: int, alive: Any, pool: Pool | None,
) -> Callable[..., bool] | None:  # fmt: skip
    """A function that runs a kernel on arrays like given ones; None where there can be none.

    Args:
        arrays: what the kernel is called with.
        places: of their addresses among the kernel's arguments.
        words: those arguments.
        kernel: its address.
        strips: how many there are.
        scratch: bytes of memory that a call needs.
        elements: of all strips.
        alive: what must be there as long as the function is.
        pool: the threads that may help; None for none.
    """
    builtin = _builtin()
    if builtin is None:
        return None
    fields = builtin.fields | {
        "arrays": len(arrays), "kernel": kernel, "words": len(words), "strips": strips,
        "scratch": scratch and -(-scratch // 64) * 64 + 64, "release": int(elements >= _RELEASED),
        "share": pool.share if pool else 0, "pool": pool.state if pool else 0,
    }  # fmt: skip
    plan = [fields[name] for name in _FIELDS]
    for array, place in zip(arrays, places, strict=True):
        plan += id(array.dtype), array.ndim, place, *array.shape, *array.strides
    made = np.array([*plan, *words.tolist()], np.int64)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p],
    )
    dtypes = [a.dtype for a in arrays]
    found: Callable[..., bool] = new(
        ctypes.addressof(builtin.method), (made, builtin, dtypes, alive), None
    )
    return found
