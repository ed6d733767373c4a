"""Calls of operators: functions compiled from the rows of the table, one per operator on first use.

The code of a function has no loop over its parameters left, because the calls of small operators
cost as much as what Python adds to them.
"""

from __future__ import annotations

import ctypes
import keyword
import re
import threading
from ctypes import ArgumentError, addressof, c_uint64
from typing import Any, Final

from .. import acl_loader
from ..acl import ACLError, raw, recent_message
from ..batching import COLLECTING
from .descriptors import DESTROYERS, MAKERS, data_type, destroyed, text, undestroyed
from .errors import APART, UnsupportedOperator, call_text, refused_argument
from .launching import host, launch
from .signatures import Operator, operator

__all__ = ["BoundOperator", "Prepared", "bound"]

_VALUES: Final[dict[str, Any]] = {
    "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64,
    "i32": ctypes.c_int32,
    "i8": ctypes.c_int8,
    "f64": ctypes.c_double,
    "f32": ctypes.c_float,
    "b": ctypes.c_bool,
    "DT": ctypes.c_int32,
    "str": ctypes.c_char_p,
}
_CONVERTED: Final = {"DT": "_data_type", "str": "_text"}
_Misfits: Final = (AttributeError, TypeError, OverflowError, ArgumentError)  # arguments raise them
_Cells: Final = c_uint64 * 2  # the size of the workspace and the executor, which phase one writes


class Prepared:
    """An operator after phase one, to be launched once.

    Attributes:
        operator: the operator.
        device_index: the device of its tensors.
        workspace_size: how many bytes of workspace `launch` wants.
    """

    __slots__ = (
        "__weakref__",
        "_arguments",
        "_executor",
        "_handles",
        "device_index",
        "operator",
        "workspace_size",
    )

    def __init__(
        self,
        operator: BoundOperator,
        device_index: int,
        arguments: tuple[Any, ...],
        handles: tuple[int, ...],
        size: int,
        executor: int,
    ) -> None:
        self.operator = operator
        self.device_index = device_index
        self.workspace_size = size
        self._arguments = arguments
        self._handles = handles
        self._executor = executor

    def launch(self, workspace: int, stream: int | None, *, release: bool = True) -> None:
        """Queue the operator's kernels.

        Args:
            workspace: address of at least `workspace_size` bytes that nothing else on another stream
                uses; 0 if none are wanted.
            stream: handle of a stream of the current device.
            release: whether to release the descriptors; False to read shapes from them.

        Raises:
            ACLError: if it could not be queued; where launches are blocking, also if it fails.
            RuntimeError: if it was launched or released before.
        """
        executor, self._executor = self._executor, 0
        if not executor:
            raise RuntimeError(f"{self!r} can be launched once, before it is released")
        try:
            launch(self.operator, self._arguments, workspace, self.workspace_size, executor, stream)
        except BaseException:
            self.release()
            raise
        if release:
            self.release()

    def launch_sized(self) -> list[tuple[int, ...]]:
        """Launch it on the current stream, wait for it, and give the shapes of its results.

        For operators whose results have a size that depends on the data, such as Nonzero: the caller
        makes results of the largest size, and phase two waits and writes the size that they have.
        """
        try:
            stream = host.launch_stream(self.device_index)
            size = self.workspace_size
            workspace = host.workspace(size, self.device_index) if size else 0
            self.launch(workspace, stream, release=False)
            return [self.view_shape(p) for p, kind in self.operator.row.parameters if kind == "T>"]
        finally:
            self.release()

    def forget_arguments(self) -> None:
        """Let go of the tensors it was called with, whose memory may serve again from now on.

        Right where what reuses it is queued after this operator. Errors show no arguments then.
        """
        self._arguments = ()

    def view_shape(self, parameter: str) -> tuple[int, ...]:
        """The shape of a tensor parameter, which operators such as Nonzero change when launched."""
        at = self.operator.tensors[parameter]
        dims, rank = ctypes.POINTER(ctypes.c_int64)(), c_uint64()
        handle = self._handles[at]
        code = raw.aclGetViewShape(handle, addressof(dims), addressof(rank))
        if code:
            raise ACLError("aclGetViewShape", code, recent_message())
        try:
            return tuple(dims[: rank.value])
        finally:
            _free(dims)

    def release(self) -> None:
        """Destroy what is left: the executor if it was not launched, and the descriptors."""
        executor, self._executor = self._executor, 0
        handles, self._handles = self._handles, ()
        failures = [destroyed("aclDestroyAclOpExecutor", executor)]
        failures += map(destroyed, self.operator.destroyers, handles)
        self._arguments = ()
        for failure in failures:
            if failure is not None:
                raise failure

    def __del__(self) -> None:
        if self._executor or self._handles:
            self.release()

    def __repr__(self) -> str:
        return f"<aclnn{self.operator.row.name}, prepared>"


def _free(dims: Any) -> None:
    """Free an array that the library made with ``new[]``, as the accessors of shapes do."""
    free = ctypes.CDLL(None).free
    free.argtypes, free.restype = (ctypes.c_void_p,), None
    free(dims)


class BoundOperator:
    """An operator with its C functions, and the Python functions compiled for it.

    Attributes:
        row: its row of the table.
        phase1, phase2: its C functions.
        call: runs both phases on the current stream.
        prepare: runs phase one; gives a `Prepared`.
        tensors: positions of tensors among the objects that are made of arguments, by parameter.
        destroyers: names of the functions that destroy those objects.
    """

    def __init__(self, row: Operator, phase1: Any, phase2: Any) -> None:
        self.row = row
        self.phase1 = phase1
        self.phase2 = phase2
        objects = [(name, kind) for name, kind in row.parameters if kind in MAKERS]
        self.tensors = {name: i for i, (name, kind) in enumerate(objects) if kind.startswith("T")}
        self.destroyers = tuple(DESTROYERS[kind] for _, kind in objects)
        phase1.argtypes = [
            *(_VALUES.get(kind, ctypes.c_void_p) for _, kind in row.parameters),
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        phase2.argtypes = [ctypes.c_void_p, c_uint64, ctypes.c_void_p, ctypes.c_void_p]
        phase1.restype = phase2.restype = ctypes.c_int32
        self.call = _compiled(self, _CALL)
        self.prepare = _compiled(self, _PREPARE)

    def text(self, arguments: tuple[Any, ...]) -> str:
        """A call of it, for errors."""
        return call_text(f"aclnn{self.row.name}", self.row, arguments)

    def refused(self, code: int, arguments: tuple[Any, ...]) -> ACLError:
        """The error for phase one's code."""
        message = recent_message()
        return ACLError(
            call_text(f"aclnn{self.row.name}GetWorkspaceSize", self.row, arguments), code, message
        )

    def wrong(self, error: Exception, arguments: tuple[Any, ...]) -> TypeError:
        """The error for an argument that cannot be passed."""
        return refused_argument(self.row, arguments, error)

    def abandon(self, executor: int) -> None:
        """Destroy an executor that is not launched because an exception is on its way."""
        destroyed("aclDestroyAclOpExecutor", executor)


# What a compiled function does, with the lines of one operator filled in. Its own names start with an
# underscore: the parameters have the others.
_CALL: Final = """
def aclnn{name}({parameters}):
    _batch = _collecting.batch
    if _batch is not None:
        _batch.add(_operator.prepare({listed}))
        return
    {zeros}_lost = None
    try:
        try:
            _on = {lead}._device
            if {apart}:
                raise TypeError(_apart)
            _index = _on.index
            _stream = _host.launch_stream(_index)
            {makes}
            _cells = _Cells()
            _at = _addressof(_cells)
            _code = _phase1({passed}, _at, _at + 8)
        except _Misfits as _error:
            raise _operator.wrong(_error, {arguments}) from _error
        if _code:
            raise _operator.refused(_code, {arguments})
        _size, _executor = _cells
        if _size:
            try:
                _workspace = _host.workspace(_size, _index)
            except BaseException:
                _operator.abandon(_executor)
                raise
        else:
            _workspace = 0
        _launch(_operator, {arguments}, _workspace, _size, _executor, _stream)
    finally:
        {destroys}
        if _lost:
            raise _lost
"""
_PREPARE: Final = """
def aclnn{name}({parameters}):
    {zeros}_lost = None
    try:
        _on = {lead}._device
        if {apart}:
            raise TypeError(_apart)
        _index = _on.index
        _host.launch_stream(_index)
        {makes}
        _cells = _Cells()
        _at = _addressof(_cells)
        _code = _phase1({passed}, _at, _at + 8)
        if _code:
            raise _operator.refused(_code, {arguments})
        return _Prepared(_operator, _index, {arguments}, ({handles}), *_cells)
    except BaseException as _error:
        {destroys}
        if isinstance(_error, _Misfits):
            raise _operator.wrong(_error, {arguments}) from _error
        raise
"""
_INDENT: Final = re.compile(r"^( *){(makes|destroys)}$", re.MULTILINE)


def _compiled(operator: BoundOperator, template: str) -> Any:
    """The function that a template becomes for an operator."""
    row = operator.row
    names = [name + "_" * keyword.iskeyword(name) for name, _ in row.parameters]
    scope: dict[str, Any] = {
        "_operator": operator,
        "_phase1": operator.phase1,
        "_host": host,
        "_launch": launch,
        "_Prepared": Prepared,
        "_Cells": _Cells,
        "_addressof": addressof,
        "_collecting": COLLECTING,
        "_Misfits": _Misfits,
        "_undestroyed": undestroyed,
        "_data_type": data_type,
        "_text": text,
        "_apart": APART,
    }
    passed, made, gone, handles = [], [], [], []
    for i, (name, (_, kind)) in enumerate(zip(names, row.parameters, strict=True)):
        if kind in MAKERS:
            handle, destroyer = f"_h{i}", DESTROYERS[kind]
            scope[f"_make_{i}"], scope[f"_{destroyer}"] = MAKERS[kind], getattr(raw, destroyer)
            made.append(f"{handle} = _make_{i}({name})")
            gone.append(f"if {handle} and (_code := _{destroyer}({handle})):")
            gone.append(f"    _lost = _undestroyed({destroyer!r}, {handle}, _code)")
            handles.append(handle)
            passed.append(handle)
        else:
            passed.append(f"{_CONVERTED[kind]}({name})" if kind in _CONVERTED else name)
    blocks = {"makes": made, "destroys": gone}
    source = _INDENT.sub(lambda m: "\n".join(m[1] + line for line in blocks[m[2]]), template)
    filled = source.format(
        name=row.name,
        parameters=", ".join(names),
        zeros="".join(f"{handle} = " for handle in handles) + "0; " if handles else "",
        lead=_leading(row, names),
        apart=_apart(row, names),
        passed=", ".join(passed),
        listed=", ".join(names),
        arguments=f"({', '.join(names)},)",
        handles="".join(f"{handle}, " for handle in handles),
    )
    exec(compile(filled, f"<aclnn{row.name}>", "exec"), scope)
    return scope[f"aclnn{row.name}"]


def _leading(row: Operator, names: list[str]) -> str:
    """The expression of the tensor that tells on which device an operator runs."""
    tensors = [(n, k) for n, (_, k) in zip(names, row.parameters, strict=True) if k.startswith("T")]
    required = [(n, k) for n, k in tensors if "ptional" not in n] or tensors
    name, kind = next(((n, k) for n, k in required if not k.startswith("TL")), required[0])
    return f"{name}[0]" if kind.startswith("TL") else name


def _apart(row: Operator, names: list[str]) -> str:
    """The expression that tells whether a tensor is on another device than that one."""
    lead = _leading(row, names)
    tests = []
    for name, (_, kind) in zip(names, row.parameters, strict=True):
        if kind.startswith("TL"):
            there = f"any(_t._device is not _on for _t in {name})"
            tests.append(f"{name} is not None and {there}")
        elif kind.startswith("T") and name != lead:
            tests.append(f"{name} is not None and {name}._device is not _on")
    return " or ".join(tests) or "False"


_bound: Final[dict[str, BoundOperator]] = {}
_absent: Final[dict[str, str]] = {}
_lock: Final = threading.Lock()


def bound(name: str) -> BoundOperator:
    """An operator, ready to be called.

    Raises:
        UnsupportedOperator: if the installed toolkit does not have it.
        ToolkitError: if there is no toolkit.
        ValueError: if the table does not have it.
    """
    found = _bound.get(name)
    return found if found is not None else _bind(name)


def _bind(name: str) -> BoundOperator:
    row = operator(name)
    with _lock:
        if name in _absent:
            raise UnsupportedOperator(name, _absent[name])
        if name not in _bound:
            libraries = acl_loader.load()
            phase1 = libraries.function(f"aclnn{name}GetWorkspaceSize")
            phase2 = libraries.function(f"aclnn{name}")
            if phase1 is None or phase2 is None:
                toolkit = libraries.toolkit
                _absent[name] = f"CANN {toolkit.version} in {toolkit.root}"
                raise UnsupportedOperator(name, _absent[name])
            _bound[name] = BoundOperator(row, phase1, phase2)
        return _bound[name]
