"""Calls of operators: functions compiled from the rows of the table, one per operator on first use.

The code of a function has no loop over its parameters left, because the calls of small operators
cost as much as what Python adds to them.
"""

from __future__ import annotations

import ctypes
import functools
import keyword
import re
import threading
from ctypes import ArgumentError, addressof, c_uint64
from itertools import compress, groupby, starmap
from operator import call
from typing import Any, Final

from .. import acl_loader
from ..acl import ACLError, raw, recent_message
from ..collecting import COLLECTING
from .descriptors import DESTROYERS, LISTS, MAKERS, data_type, shape_of, text, unmade
from .errors import APART, UnsupportedOperator, call_text, refused_argument
from .launching import host, launch
from .prepared import Alone, Cells
from .signatures import Operator, operator

__all__ = ["BoundOperator", "bound"]

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


class BoundOperator:
    """An operator with its C functions, and the Python functions compiled for it.

    Attributes:
        row: its row of the table.
        phase1, phase2: its C functions.
        call: runs both phases on the current stream.
        destroyers: the functions that destroy the executor and those objects.
    """

    def __init__(self, row: Operator, phase1: Any, phase2: Any) -> None:
        self.row = row
        self.phase1 = phase1
        self.phase2 = phase2
        objects = [DESTROYERS[kind] for _, kind in row.parameters if kind in MAKERS]
        self._destroyers = ("aclDestroyAclOpExecutor", *objects)
        self.destroyers = tuple(getattr(raw, name) for name in self._destroyers)
        phase1.argtypes = [
            *(_VALUES.get(kind, ctypes.c_void_p) for _, kind in row.parameters),
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        phase2.argtypes = [ctypes.c_void_p, c_uint64, ctypes.c_void_p, ctypes.c_void_p]
        phase1.restype = phase2.restype = ctypes.c_int32
        self.call = _compiled(self, _CALL)

    @functools.cached_property
    def call_sized(self) -> Any:
        """Runs both phases, waits, and gives the shapes of its results, which depend on the data.

        The caller makes results of the largest size; phase two writes the size that they have.
        """
        return _compiled(self, _CALL, sized=True)

    @functools.cached_property
    def prepare(self) -> Any:
        """Runs phase one; gives a `Prepared`."""
        return _compiled(self, _PREPARE)

    @functools.cached_property
    def collect(self) -> Any:
        """Runs phase one for the batch in which this thread's launches are collected."""
        return _compiled(self, _PREPARE, collecting=True)

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

    def unmade(self, made: list[int | None]) -> ACLError:
        """The error for an object that could not be made."""
        return unmade([name.replace("Destroy", "Create") for name in self._destroyers], made)

    def undestroyed(self, made: list[int | None], codes: list[int]) -> ACLError:
        """Try once more to destroy what could not be destroyed; gives the first failure.

        Args:
            made: the handles, of which some are empty.
            codes: what came of destroying the others.
        """
        names, handles = compress(self._destroyers, made), filter(None, made)
        lost = [each for each in zip(names, handles, codes, strict=True) if each[2]]
        failure = ACLError(lost[0][0], lost[0][2], recent_message())
        for name, handle, _ in lost:
            if getattr(raw, name)(handle):
                recent_message()
        return failure


# What a compiled function does, with the lines of one operator filled in. Its own names start with an
# underscore: the parameters have the others. Wherever an interrupt comes, the handles and phase two's code
# are in lists by then, and one call destroys everything; see `mindtorch_npu.lending`.
_CALL: Final = """
def aclnn{name}({parameters}):
    _batch = _collecting.batch
    if _batch is not None:
        {collected}
    _made = [0]
    _gone = _map(_call, _compress(_destroyers, _made), _filter(None, _made))
    _cells = _Cells()
    _at = _addressof(_cells)
    _code = None
    _ran = []
    try:
        try:
            _on = {lead}.raw_device
            if {apart}:
                raise TypeError(_apart)
            _index = _on.index
            _stream = _host.launch_stream(_index)
            {makes}
            _code = _phase1({passed}, _at, _at + 8)
        except _Misfits as _error:
            raise _operator.wrong(_error, {arguments}) from _error
        if _code:
            raise _operator.refused(_code, {arguments})
        _size, _executor = _cells
        _workspace = _host.workspace(_size, _index) if _size else 0
        _launch(_operator, {arguments}, _workspace, _size, _executor, _index, _stream, _ran)
        {shapes}
    finally:
        if not _code and not _ran:
            _made[0] = _cells[1]
        _codes = _list(_gone)
        if _any(_codes):
            raise _operator.undestroyed(_made, _codes)
"""
_PREPARE: Final = """
def aclnn{name}({parameters}):
    _into = {owner}
    _prepared = _into.opened = _into.kind(_operator, {arguments})
    _made = _prepared.made
    _cells = _prepared.cells
    _at = _addressof(_cells)
    try:
        _on = {lead}.raw_device
        if {apart}:
            raise TypeError(_apart)
        _prepared.device_index = _on.index
        _host.launch_stream(_on.index)
        {makes}
        _code = _phase1({passed}, _at, _at + 8)
        if _code:
            _cells[1] = 0
            raise _operator.refused(_code, {arguments})
    except BaseException as _error:
        _prepared.release()
        if isinstance(_error, _Misfits):
            raise _operator.wrong(_error, {arguments}) from _error
        raise
    _into.collected += ((_into.position, _prepared),)
    _into.opened = None
    return _prepared
"""
_SCOPE: Final[dict[str, Any]] = {
    "_Alone": Alone, "_Cells": Cells, "_Misfits": _Misfits, "_addressof": addressof, "_apart": APART,
    "_any": any, "_call": call, "_collecting": COLLECTING, "_compress": compress, "_data_type": data_type,
    "_filter": filter, "_host": host, "_launch": launch, "_list": list, "_map": map,
    "_shape_of": shape_of, "_starmap": starmap, "_text": text,
}  # fmt: skip
_INDENT: Final = re.compile(r"^( *){makes}$", re.MULTILINE)


def _compiled(
    operator: BoundOperator, template: str, *, sized: bool = False, collecting: bool = False
) -> Any:
    """The function that a template becomes for an operator.

    Args:
        operator: the operator.
        template: one of the two above.
        sized: whether it gives the shapes of its results; what was collected is queued before it.
        collecting: whether a batch gets what comes of phase one, instead of the caller.
    """
    row = operator.row
    names = [name + "_" * keyword.iskeyword(name) for name, _ in row.parameters]
    scope: dict[str, Any] = {
        **_SCOPE,
        "_operator": operator,
        "_phase1": operator.phase1,
        "_destroyers": operator.destroyers,
    }
    passed, objects = [], []
    for i, (name, (_, kind)) in enumerate(zip(names, row.parameters, strict=True)):
        if kind in MAKERS:
            scope[f"_make_{i}"] = MAKERS[kind]
            objects.append((kind in LISTS, i, name))
            passed.append(f"_h{i}")
        else:
            passed.append(f"{_CONVERTED[kind]}({name})" if kind in _CONVERTED else name)
    results = [f"_h{i}" for i, (_, kind) in enumerate(row.parameters) if kind == "T>"]
    makes = _makes(objects)
    source = _INDENT.sub(lambda m: "\n".join(m[1] + line for line in makes), template)
    filled = source.format(
        name=row.name,
        collected="_batch.send()" if sized else f"return _operator.collect({', '.join(names)})",
        shapes=f"return [{', '.join(f'_shape_of({h})' for h in results)}]" if sized else "",
        owner="_collecting.batch" if collecting else "_Alone()",
        parameters=", ".join(names),
        lead=_leading(row, names),
        apart=_apart(row, names),
        passed=", ".join(passed),
        arguments=f"({', '.join(names)},)",
    )
    exec(compile(filled, f"<aclnn{row.name}>", "exec"), scope)
    return scope[f"aclnn{row.name}"]


def _makes(objects: list[tuple[bool, int, str]]) -> list[str]:
    """The lines that make an operator's objects: of each whether it is a list, its number, its argument."""
    lines = []
    for in_lists, group in groupby(objects, key=lambda each: each[0]):
        if in_lists:
            lines += [f"_make_{i}({name}, _made)" for _, i, name in group]
        else:
            making = "".join(f"_make_{i}({name}), " for _, i, name in group)
            lines.append(f"_made.extend(_starmap(_call, ({making})))")
    handles = ", ".join(f"_h{i}" for _, i, _ in objects)
    return [
        *lines,
        "if None in _made:",
        "    raise _operator.unmade(_made)",
        f"_, {handles} = _made",
    ]


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
            there = f"any(_t.raw_device is not _on for _t in {name})"
            tests.append(f"{name} is not None and {there}")
        elif kind.startswith("T") and name != lead:
            tests.append(f"{name} is not None and {name}.raw_device is not _on")
    return " or ".join(tests) or "False"


_bound: Final[dict[str, BoundOperator]] = {}
_absent: Final[dict[str, str]] = {}
_lock: Final = threading.RLock()


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
