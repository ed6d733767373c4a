"""What a schema says, as plain data: arguments, returns, aliasing, and the canonical text."""

from __future__ import annotations

from typing import Any, Final

from ...values.dtypes import dtype
from .types import SchemaType

__all__ = ["AliasInfo", "Argument", "OperatorSchema"]


class AliasInfo:
    """What an alias annotation such as ``(a!)`` says.

    Attributes:
        before_set, after_set: names of the alias sets that the value belongs to before and after
            the call; ``*`` stands for all of them, and ``Tensor!`` is alone in an unnamed one.
        contained: what is said of a list's elements, as in ``Tensor(a!)[]``.
        is_write: whether the value or an element of it is written.
    """

    __slots__ = ("_own_write", "after_set", "before_set", "contained", "is_write")

    def __init__(
        self,
        before_set: frozenset[str],
        after_set: frozenset[str],
        is_write: bool,
        contained: AliasInfo | None = None,
    ) -> None:
        self.before_set = before_set
        self.after_set = after_set
        self.contained = contained
        self._own_write = is_write
        self.is_write: bool = is_write or (contained is not None and contained.is_write)

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the alias sets of the value and of its elements, before the call."""
        inner = self.contained.sets if self.contained is not None else ()
        return tuple(sorted({*self.before_set, *inner}))

    def __str__(self) -> str:
        """The annotation of the value itself; empty if only its elements have one."""
        if not self.before_set:
            return ""
        if not self.after_set:
            return "!"
        text = _union_text(self.before_set) + ("!" if self._own_write else "")
        if self.after_set != self.before_set:
            text += f" -> {_union_text(self.after_set)}"
        return f"({text})"

    def __repr__(self) -> str:
        return f"<AliasInfo {self}>" if self.contained is None else f"<AliasInfo {self.sets}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AliasInfo):
            return NotImplemented
        return str(self) == str(other) and self.contained == other.contained

    def __hash__(self) -> int:
        return hash((str(self), self.contained))


def _union_text(sets: frozenset[str]) -> str:
    # The grammar wants the wildcard last.
    return "|".join(sorted(sets, key=lambda name: (name == "*", name)))


class Argument:
    """One argument or return of a schema.

    Attributes:
        name: argument name; may be empty for a return.
        real_type: the type, with its structure.
        type: which values it takes or which its elements are, such as ``Tensor`` or ``int``. A
            SymInt is an ``int``; elements that are lists or tuples have their own type's text.
        is_list, size: ``int[2]`` is a list with size 2, ``int[]`` a list with size None.
        optional: whether None is accepted in place of the value (or list).
        element_optional: whether elements of the list may be None (``Tensor?[]``).
        default, has_default: the default value as Python has it; a list is a tuple.
        kwarg_only: whether it follows ``*``.
        alias: aliasing and mutation, or None.
    """

    __slots__ = (
        "alias",
        "default",
        "element_optional",
        "has_default",
        "is_list",
        "kwarg_only",
        "name",
        "optional",
        "real_type",
        "size",
        "type",
    )

    def __init__(
        self,
        name: str,
        real_type: SchemaType,
        default: Any = None,
        has_default: bool = False,
        kwarg_only: bool = False,
        alias: AliasInfo | None = None,
    ) -> None:
        self.name = name
        self.real_type = real_type
        self.type, self.is_list, self.size, self.optional, self.element_optional = real_type.flat
        self.default = default
        self.has_default = has_default
        self.kwarg_only = kwarg_only
        self.alias = alias

    @property
    def type_text(self) -> str:
        """The type as the schema writes it, without the alias annotation."""
        return self.real_type.text

    @property
    def N(self) -> int | None:
        """Length of a list with a fixed one, otherwise None."""
        return self.size

    @property
    def alias_info(self) -> AliasInfo | None:
        """Aliasing and mutation, or None."""
        return self.alias

    @property
    def is_write(self) -> bool:
        """Whether it, or an element of it, is written."""
        return self.alias is not None and self.alias.is_write

    @property
    def is_out(self) -> bool:
        """Whether a result is written to it: it is keyword-only and written."""
        return self.kwarg_only and self.is_write

    @property
    def default_value(self) -> Any:
        """The default as PyTorch has it: lists are lists, dtypes their numbers."""
        value = self.default
        if isinstance(value, tuple):
            return [v.index if isinstance(v, dtype) else v for v in value]
        return value.index if isinstance(value, dtype) else value

    def has_default_value(self) -> bool:
        """Whether it may be left out of a call."""
        return self.has_default

    def __str__(self) -> str:
        text = _annotated(self.real_type, self.alias)
        if self.name:
            text += f" {self.name}"
        return f"{text}={_default_text(self)}" if self.has_default else text

    def __repr__(self) -> str:
        return f"<Argument {self}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Argument):
            return NotImplemented
        return self.kwarg_only == other.kwarg_only and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class OperatorSchema:
    """A parsed signature.

    Attributes:
        name: the op's name without namespace, such as ``add``.
        namespace: what stands before ``::``; empty if the text has none.
        overload: what stands behind the dot; empty for the default overload.
        arguments, returns: in order, keyword-only arguments last.
        is_vararg, is_varret: whether the arguments or the returns end in ``...``.
    """

    __slots__ = (
        "arguments",
        "is_vararg",
        "is_varret",
        "name",
        "namespace",
        "overload",
        "returns",
    )

    def __init__(
        self,
        name: str,
        overload: str,
        arguments: tuple[Argument, ...],
        returns: tuple[Argument, ...],
        namespace: str = "",
        is_vararg: bool = False,
        is_varret: bool = False,
    ) -> None:
        self.name = name
        self.namespace = namespace
        self.overload = overload
        self.arguments = arguments
        self.returns = returns
        self.is_vararg = is_vararg
        self.is_varret = is_varret

    @property
    def overload_name(self) -> str:
        """The overload's name; empty for the default overload."""
        return self.overload

    @property
    def qualified_name(self) -> str:
        """Namespace and name, such as ``aten::add``: what PyTorch's schemas have as name."""
        return f"{self.namespace}::{self.name}" if self.namespace else self.name

    @property
    def is_mutable(self) -> bool:
        """Whether any argument is written."""
        return any(a.alias is not None and a.alias.is_write for a in self.arguments)

    @property
    def is_view(self) -> bool:
        """Whether a return aliases an argument without writing it."""
        return any(r.alias is not None and not r.alias.is_write for r in self.returns)

    @property
    def positional(self) -> tuple[Argument, ...]:
        """Arguments that may be passed by position."""
        return tuple(a for a in self.arguments if not a.kwarg_only)

    @property
    def keyword_only(self) -> tuple[Argument, ...]:
        """Arguments that follow ``*``."""
        return tuple(a for a in self.arguments if a.kwarg_only)

    def is_backward_compatible_with(self, old: OperatorSchema) -> bool:
        """Whether every call that ``old`` allows means the same with this schema."""
        from .compatibility import backward_compatible

        return backward_compatible(self, old)

    def check_forward_compatible_with(self, old: OperatorSchema) -> tuple[bool, str]:
        """Whether calls written for this schema also work with ``old``, and if not, why."""
        from .compatibility import forward_problem

        problem = forward_problem(self, old)
        return problem is None, problem or ""

    def __str__(self) -> str:
        parts = [str(a) for a in self.positional]
        if self.keyword_only:
            parts += ["*", *(str(a) for a in self.keyword_only)]
        if self.is_vararg:
            parts.append("...")
        dotted = f"{self.qualified_name}.{self.overload}" if self.overload else self.qualified_name
        return f"{dotted}({', '.join(parts)}) -> {self._returns_text()}"

    def _returns_text(self) -> str:
        parts = [str(r) for r in self.returns]
        if self.is_varret:
            parts.append("...")
        # In brackets a tuple is one return; without them it would be several.
        if len(parts) == 1 and not parts[0].startswith("("):
            return parts[0]
        return f"({', '.join(parts)})"

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OperatorSchema):
            return NotImplemented
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def _annotated(kind: SchemaType, alias: AliasInfo | None) -> str:
    """A type's text with the alias annotations of it and its elements in place."""
    if alias is None:
        return kind.text
    if kind.form == "optional":
        return _annotated(kind.args[0], alias) + "?"
    if kind.form == "list":
        size = "" if kind.size is None else kind.size
        return f"{_annotated(kind.args[0], alias.contained)}[{size}]{alias}"
    return f"{kind.text}{alias}"


def _default_text(a: Argument) -> str:
    value = a.default
    if not isinstance(value, tuple):
        return _constant_text(value, a.type)
    # PyTorch abbreviates lists of ints only.
    expands = a.real_type.form == "list" and a.real_type.args[0].text == "int"
    if expands and len(value) == a.size and len(value) > 1 and len(set(value)) == 1:
        return str(value[0])
    return f"[{', '.join([_constant_text(v, a.type) for v in value])}]"


def _constant_text(value: Any, kind: str) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join([_constant_text(v, kind) for v in value])}]"
    if isinstance(value, str):
        return value if kind == "Device" else _quoted(value)
    if isinstance(value, dtype):
        return str(value.index)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, complex):
        imaginary = _float_text(value.imag)
        sign = "" if imaginary.startswith("-") else "+"
        return f"{_float_text(value.real)}{sign}{imaginary}j"
    return str(value)


def _float_text(value: float) -> str:
    """17 digits, which is enough to read the same number back; whole numbers end in a point."""
    if value.is_integer() and abs(value) < 2**63:
        return f"{int(value)}."
    return f"{value:.17g}"


_ESCAPED: Final = {
    "\\": r"\\",
    '"': r"\"",
    "'": r"\'",
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
}


def _quoted(text: str) -> str:
    def shown(c: str) -> str:
        return _ESCAPED.get(c) or (c if c >= " " and c != "\x7f" else f"\\{ord(c):03o}")

    return f'"{"".join([shown(c) for c in text])}"'
