"""The choice among the overloads of an op, remembered by the types of a call's arguments.

Overloads are tried in order, and the first whose schema takes the arguments is called. Whether it
does is mostly decided by their types (a tensor is no dtype), so the next call with arguments of
these types needs one dict look-up. Where values decide (a tensor of one integer may be an int), the
choice is made anew each time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..entry import OpEntry
from ..nearest import suggestion
from ..schema import Argument, OperatorSchema
from .binding import accepts, named, printed

__all__ = ["Candidate", "candidate", "fits", "key_of_types", "no_overload", "pick", "tensors_first"]

Takes = Callable[[Argument, Any], bool]
Naming = Callable[[Argument], str]


class Candidate:
    """One overload that a call may mean.

    Attributes:
        schema: its signature.
        takes: whether one of its arguments takes a value.
        naming: what keyword an argument goes by.
        varargs: name of the list argument that may be spread, if there is one.
    """

    __slots__ = ("naming", "schema", "takes", "varargs")

    def __init__(
        self, schema: OperatorSchema, takes: Takes, naming: Naming, varargs: str = ""
    ) -> None:
        self.schema = schema
        self.takes = takes
        self.naming = naming
        self.varargs = varargs


def candidate(entry: OpEntry) -> Candidate:
    """An overload as the Python function of a defined op is called."""
    schema, d = entry.needed_schema, entry.definition
    numbers = d is not None and d.operands.numbers
    first = schema.arguments[0] if schema.arguments else None
    return Candidate(
        schema,
        lambda a, value: (
            (value is None and a.has_default and a.default is None)
            or accepts(a, value, numbers=numbers and a is not first)
        ),
        lambda a: "input" if a.name == "self" else a.name,
        d.operands.varargs if d is not None else "",
    )


def tensors_first(entries: Iterable[OpEntry]) -> list[OpEntry]:
    """Overloads in the order to try them: a tensor is meant as one where an overload takes one."""
    return sorted(entries, key=functools.cmp_to_key(_which_takes_a_tensor))


def _which_takes_a_tensor(one: OpEntry, other: OpEntry) -> int:
    first, second = one.schema, other.schema
    if first is not None and second is not None:
        for a, b in zip(first.positional, second.positional, strict=False):
            if (a.type == "Tensor") != (b.type == "Tensor"):
                return -1 if a.type == "Tensor" else 1
    return 0


def fits(entry: OpEntry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether arguments bind to the schema of a defined op's overload."""
    return _verdict(candidate(entry), args, kwargs)[0]


def key_of_types(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What a choice is remembered by."""
    if kwargs:
        return (*map(type, args), *kwargs, *map(type, kwargs.values()))
    return tuple(map(type, args))


def pick(
    candidates: Sequence[Candidate], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[int | None, bool]:
    """Which overload takes the arguments first, and whether their types alone say so."""
    certain = True
    for i, each in enumerate(candidates):
        ok, sure = _verdict(each, args, kwargs)
        if ok:
            # Where only values could speak against it and nothing else takes such arguments, a call
            # with other values is an error of this overload in any case.
            rest = candidates[i + 1 :]
            sure = sure or all(_verdict(c, args, kwargs) == (False, True) for c in rest)
            return i, certain and sure
        certain = certain and sure
    return None, False


def _verdict(c: Candidate, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, bool]:
    """Whether arguments bind to an overload, and whether their types alone decide it."""
    positional = c.schema.positional
    remaining = dict(kwargs)
    remaining.pop("out", None)
    spread = None
    if c.varargs and len(args) >= len(positional):
        at = next(i for i, a in enumerate(positional) if a.name == c.varargs)
        if not isinstance(args[at], list | tuple):
            spread = positional[at]
            args = (*args[:at], args[at:])
    if len(args) > len(positional):
        return False, True
    sure = True
    for i, a in enumerate(c.schema.arguments):
        name = c.naming(a)
        if i < len(args) and not a.kwarg_only:
            value = args[i]
        elif name in remaining:
            value = remaining.pop(name)
        elif a.has_default:
            continue
        else:
            return False, True
        by_type = all(type(v) is int for v in value) if a is spread else _type_decides(a, value)
        if not c.takes(a, value):
            return False, by_type
        sure = sure and by_type
    return not remaining, sure or bool(remaining)


def _type_decides(a: Argument, value: Any) -> bool:
    """Whether the type of a value says that an argument takes it, or that it does not."""
    if isinstance(value, list | tuple | range):
        return not a.is_list
    return not (hasattr(value, "_keys") and a.type not in ("Tensor", "str", "ScalarType", "Device"))


def no_overload(
    name: str,
    entries: Sequence[OpEntry],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    method: bool = False,
) -> TypeError:
    """The error for a call that fits none of an op's overloads: what each takes, and why it is not meant.

    Of a method's arguments the object itself is not spoken.
    """
    got = [named(a) for a in args[method:]] + [f"{k}={named(v)}" for k, v in kwargs.items()]
    lines, known = [], []
    for entry in entries:
        if entry.schema is None:
            continue
        each = candidate(entry)
        names = [each.naming(a) for a in each.schema.arguments]
        has_out = entry.definition is not None and entry.definition.out is not None
        known += [n for n in (*names, *["out"] * has_out) if n not in known]
        lines.append(f" * ({_signature(each, has_out, method)})")
        why = _why_not(each, args, {k: v for k, v in kwargs.items() if k != "out"}, method)
        lines += [f"      {why}"] * bool(why)
    near = [suggestion(k, [n for n in known if n not in kwargs]) for k in kwargs if k not in known]
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(got)}), "
        "but expected one of:\n" + "\n".join(lines) + "".join(f"\n{n[1:]}" for n in near if n)
    )


def _signature(c: Candidate, has_out: bool, method: bool) -> str:
    """The arguments of an overload, with PyTorch's names for their types."""
    parts = []
    for a in c.schema.arguments[method:]:
        if a.kwarg_only and "*" not in parts:
            parts.append("*")
        text = f"{printed(a)} {c.naming(a)}"
        parts.append(text + (f" = {a.default!r}" if a.has_default else ""))
    if has_out:
        parts += [*["*"] * ("*" not in parts), "Tensor out = None"]
    return ", ".join(parts)


def _why_not(c: Candidate, args: tuple[Any, ...], kwargs: dict[str, Any], method: bool) -> str:
    """Why a call does not fit an overload; empty if that takes a closer look than at names and types."""
    names = [c.naming(a) for a in c.schema.arguments]
    unknown = [k for k in kwargs if k not in names]
    if unknown:
        return f"it has no argument {' or '.join(map(repr, unknown))}"
    positional = c.schema.positional
    if len(args) > len(positional) and not c.varargs:
        return f"it takes {len(positional) - method} positional arguments, not {len(args) - method}"
    given = dict(zip(map(c.naming, positional), args, strict=False)) | kwargs
    for a in c.schema.arguments:
        n = c.naming(a)
        if n in given and n != c.varargs and not c.takes(a, given[n]):
            return f"'{n}' must be {printed(a)}, not {named(given[n])}"
    missing = [
        repr(c.naming(a))
        for a in c.schema.arguments
        if not a.has_default and c.naming(a) not in given
    ]
    return f"it needs {' and '.join(missing)}" if missing else ""
