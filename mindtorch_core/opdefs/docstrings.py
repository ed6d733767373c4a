"""Docstrings of ops' functions: how they are called, and what their definitions say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ..dispatch.calls.parts import python_name
from ..dispatch.registry import OpEntry
from ..dispatch.schema import Argument

__all__ = ["docstring"]

_MODULES: Final = re.compile(r"^(fft|linalg|special)_")  # whose functions have it in the op's name


def docstring(name: str, entries: Iterable[OpEntry]) -> str:
    """What ``help`` shows of a function: a line for each way to call it, then what it does."""
    calls, texts = [], []
    shown = _MODULES.sub(r"\1.", name)
    for entry in entries:
        calls.append(_call(shown, entry))
        d = entry.definition
        if d is not None and d.doc and d.doc not in texts:
            texts.append(d.doc)
    from .manual import page  # when the first function is made: the import does without

    said = "\n".join(calls) + "\n\n" + "\n\n".join(texts)
    more = page(name)
    return f"{said}\n\n{more}" if more else said


def _call(name: str, entry: OpEntry) -> str:
    """Such as ``sum(input, dim, keepdim=False, *, dtype=None) -> Tensor``."""
    schema, d = entry.schema, entry.definition
    if schema is None:
        return f"{name}(...)"
    spread = d.operands.varargs if d is not None else ""
    shown, star = [], False
    for a in schema.arguments:
        if a.is_out:
            continue
        if a.kwarg_only and not star:
            shown.append("*")
        star = star or a.kwarg_only or a.name == spread
        shown.append(f"*{a.name}" if a.name == spread else _parameter(a))
    if d is not None and d.out:
        shown += ["out=None"] if star else ["*", "out=None"]
    results = [r.name or str(r.real_type) for r in schema.returns]
    result = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"{name}({', '.join(shown)}) -> {result}"


def _parameter(a: Argument) -> str:
    return f"{python_name(a)}={a.default!r}" if a.has_default else python_name(a)
