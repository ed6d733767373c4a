"""Generated recorders: for an op that makes one tensor, a function that records a call of it.

For ``mul(Tensor self, Tensor other)`` the function reads, in short::

    def mul(input, other):
        _open = STACK.open
        if not _open: return ELSEWHERE((input, other), NONE)
        _pipe = _open[-1]
        ... flush if the pipeline is full, or an argument waits for another one ...
        _key = (input._shape, input._dtype, layout of input, the same of other)
        _spec = MEMO.get(_key) or SPEC(_key, (input, other), NONE)
        _r = a pending tensor of that shape, dtype and layout
        ... find the user's frame ...
        _pipe.entries.append((OP, (input, other), NONE, (_r,), code, instruction))
        return _r

The op's rule runs once for each combination of shapes, dtypes and layouts: `Memo` keeps its answers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from ...devices import DeviceRow
from ...shapes import contiguous_strides, numel
from ...storage import Storage
from ...tensor import Tensor
from ..callpath import FRONT_ONLY, NUMBERS, compile_function, parameters, python_name
from ..entry import Kernel, OpEntry
from ..schema import Argument, OperatorSchema
from .context import STACK, USED_ELSEWHERE
from .frames import INSIDE, inside
from .trace import RecordedOp

__all__ = ["make_recorder", "recordable"]

_BOUND: Final = 4096
Spec = tuple[tuple[int, ...], Any, Any, int]


class Memo(dict[Any, Spec]):
    """Answers of an op's rule by shapes, dtypes, layouts and other arguments; bounded."""

    def __init__(self, rule: Callable[..., Any]) -> None:
        super().__init__()
        self.rule = rule

    def ask(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Spec:
        """Ask the rule, and keep its answer if the key can be looked up."""
        found = self.rule(*args, **kwargs)
        shape = tuple(found.shape)
        strides = getattr(found, "strides", None)
        if strides is None and len(shape) > 1:
            strides = contiguous_strides(shape)
        layout = None if strides is None else (tuple(strides), 0)
        spec = (shape, found.dtype, layout, numel(shape) * found.dtype.itemsize)
        if key is not None:
            if len(self) >= _BOUND:
                self.clear()
            self[key] = spec
        return spec


def recordable(schema: OperatorSchema | None) -> bool:
    """Whether `make_recorder` serves ops of this signature: one result, no lists of tensors."""
    if schema is None or len(schema.returns) != 1 or schema.returns[0].is_list:
        return False
    tensors = [a for a in schema.arguments if a.type == "Tensor"]
    first = schema.arguments[0] if schema.arguments else None
    return (
        not schema.is_mutable
        and first is not None
        and first.type == "Tensor"
        and not first.optional
        and not any(a.is_list or a.kwarg_only for a in tensors)
    )


FIND_USER: Final = [
    "_f = GETFRAME(1)",
    "while True:",
    "    _c = _f.f_code",
    "    _i = INSIDE.get(_c)",
    "    if _i is None: _i = IS_INSIDE(_f)",
    "    if not _i or _f.f_back is None: break",
    "    _f = _f.f_back",
]


def make_recorder(
    entry: OpEntry,
    schema: OperatorSchema,
    op: RecordedOp,
    rule: Callable[..., Any],
    row: DeviceRow,
    elsewhere: Callable[[tuple[Any, ...], dict[str, Any]], Any],
) -> Kernel:
    """Generate the recorder of an op for one backend.

    Args:
        entry: the op.
        schema: its signature, one that `recordable` accepts.
        op: what its recordings share.
        rule: tells shape and dtype of the result.
        row: the backend's device.
        elsewhere: runs the op at once, for threads that have no pipeline.
    """
    numbers = entry.definition is not None and entry.definition.numbers
    positional = ", ".join(python_name(a) for a in schema.positional)
    args = f"({positional},)"
    options = [a for a in schema.keyword_only if not a.is_out and a.name not in FRONT_ONLY]
    # The user may change a list after the call; what was recorded stays as it was.
    lists = [python_name(a) for a in (*schema.positional, *options) if a.is_list]
    lines = [f"if {n}.__class__ is list: {n} = list({n})" for n in lists]
    lines += _options(options)
    lines += [
        "_open = STACK.open",
        f"if not _open: return ELSEWHERE({args}, _kw)",
        "_pipe = _open[-1]",
        "_entries = _pipe.entries",
        "if len(_entries) >= _pipe.max_ops or _pipe.nbytes >= _pipe.max_bytes: _pipe.make_room()",
    ]
    parts: list[str] = []
    for i, a in enumerate(schema.positional):
        more, part = _key_part(a, i, numbers and i > 0)
        lines += more
        parts.append(part)
    parts += [f"type({a.name}), {a.name}" for a in options]
    lines += [
        f"_key = ({', '.join(parts)},)",
        "try: _spec = MEMO.get(_key)",
        f"except TypeError: _spec = ASK(None, {args}, _kw)",
        "else:",
        f"    if _spec is None: _spec = ASK(_key, {args}, _kw)",
        "_s = NEW_STORAGE(Storage)",
        "_s.memory = None",
        "_s.size_bytes = _n = _spec[3]",
        f"_s.device = _on = {python_name(schema.arguments[0])}._device",
        "_s.version = 0",
        "_s.views = None",
        "_s.pending = _pipe",
        "_s._prune_at = 32",
        "_r = NEW(Tensor)",
        "_r._data = None",
        "_r._shape, _r._dtype, _r._layout, _ = _spec",
        "_r._device = _on",
        "_r._keys = KEYS",
        "_r._storage = _s",
        "_r._base = None",
        "_r._autograd = None",
        *FIND_USER,
        f"_entries.append((OP, {args}, _kw, (_r,), _c, _f.f_lasti))",
        "_pipe.nbytes += _n",
        "return _r",
    ]
    name = schema.name if schema.name.isidentifier() else "op"
    body = "\n".join("    " + line for line in lines)
    source = f"def {name}({parameters(schema)}):\n{body}\n"
    memo = Memo(rule)
    scope: dict[str, Any] = {
        "ASK": memo.ask,
        "ELSEWHERE": elsewhere,
        "GETFRAME": sys._getframe,
        "INSIDE": INSIDE,
        "IS_INSIDE": inside,
        "KEYS": row.keys,
        "MEMO": memo,
        "NEW": object.__new__,
        "NEW_STORAGE": object.__new__,
        "NONE": {},
        "NUMBERS": NUMBERS,
        "OP": op,
        "STACK": STACK,
        "Storage": Storage,
        "Tensor": Tensor,
        "USED_ELSEWHERE": USED_ELSEWHERE,
    }
    return compile_function(name, source, scope)


def _options(options: list[Argument]) -> list[str]:
    """Lines that make ``_kw``: the keyword-only arguments, where one is not its default."""
    if not options:
        return ["_kw = NONE"]
    given = ", ".join(f"{a.name!r}: {a.name}" for a in options)
    if not all(a.has_default for a in options):
        return [f"_kw = {{{given}}}"]
    default = " and ".join(
        f"{a.name} is {a.default!r}"
        if a.default is None or isinstance(a.default, bool)
        else f"{a.name} == {a.default!r}"
        for a in options
    )
    return [f"_kw = NONE if {default} else {{{given}}}"]


def _key_part(a: Argument, i: int, numbers: bool) -> tuple[list[str], str]:
    """Lines that look at an argument, and what it contributes to the key."""
    n = python_name(a)
    if a.type != "Tensor":
        return [], f"type({n}), {n}"
    look = [
        f"_s = {n}._storage",
        "if _s is not None and _s.pending is not None and _s.pending is not _pipe:",
        "    _s.pending.flush_because(USED_ELSEWHERE)",
        f"_l{i} = {n}._layout",
        f"if _l{i} is None and len({n}._shape) > 1: _l{i} = {n}._geometry()",
    ]
    if not (a.optional or numbers):
        return look, f"{n}._shape, {n}._dtype, _l{i}"
    lines = [
        f"if {n}.__class__ is Tensor:",
        *("    " + line for line in look),
        f"    _k{i} = ({n}._shape, {n}._dtype, _l{i})",
        f"else: _k{i} = (type({n}), {n})",
    ]
    return lines, f"_k{i}"
