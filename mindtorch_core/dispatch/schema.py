"""Operator schemas: PyTorch's grammar for signatures, parsed into plain data.

Source of the grammar: the schema strings of PyTorch's ``native_functions.yaml``, such as
``sum.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from ..errors import SchemaError

__all__ = ["AliasInfo", "Argument", "OperatorSchema", "parse_schema", "split_name"]

BASE_TYPES: Final = frozenset(
    [
        "Tensor",
        "int",
        "SymInt",
        "float",
        "double",
        "bool",
        "str",
        "Scalar",
        "complex",
        "number",
        "ScalarType",
        "Layout",
        "Device",
        "MemoryFormat",
        "Generator",
        "Storage",
        "Stream",
        "Any",
    ]
)


@dataclass(frozen=True, slots=True)
class AliasInfo:
    """What an alias annotation such as ``(a!)`` says: the sets' names, and whether it is written."""

    sets: tuple[str, ...]
    is_write: bool

    def __str__(self) -> str:
        return f"({'|'.join(self.sets)}{'!' if self.is_write else ''})"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument or return of a schema.

    Attributes:
        name: argument name; may be empty for a return.
        type: base type, such as ``Tensor`` or ``int``.
        is_list, size: ``int[2]`` is a list with size 2, ``int[]`` a list with size None.
        optional: whether None is accepted in place of the value (or list).
        element_optional: whether elements of the list may be None (``Tensor?[]``).
        default, has_default: the default value.
        kwarg_only: whether it follows ``*``.
        alias: aliasing and mutation, or None.
    """

    name: str
    type: str
    is_list: bool = False
    size: int | None = None
    optional: bool = False
    element_optional: bool = False
    default: Any = None
    has_default: bool = False
    kwarg_only: bool = False
    alias: AliasInfo | None = None

    @property
    def type_text(self) -> str:
        """The type as the schema writes it, without the alias annotation."""
        text = self.type + ("?" if self.element_optional else "")
        if self.is_list:
            text += f"[{'' if self.size is None else self.size}]"
        return text + ("?" if self.optional else "")

    def __str__(self) -> str:
        text = self.type_text
        if self.alias is not None:
            text = self.type + str(self.alias) + text[len(self.type) :]
        if self.name:
            text += f" {self.name}"
        if self.has_default:
            value = f'"{self.default}"' if isinstance(self.default, str) else str(self.default)
            text += f"={value}"
        return text


@dataclass(frozen=True, slots=True)
class OperatorSchema:
    """A parsed signature. ``str()`` gives the canonical text."""

    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]

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

    def __str__(self) -> str:
        parts = [str(a) for a in self.positional]
        if self.keyword_only:
            parts += ["*", *(str(a) for a in self.keyword_only)]
        returns = ", ".join(map(str, self.returns))
        if len(self.returns) != 1:
            returns = f"({returns})"
        dotted = f"{self.name}.{self.overload}" if self.overload else self.name
        return f"{dotted}({', '.join(parts)}) -> {returns}"


def split_name(name: str) -> tuple[str, str, str]:
    """Split ``ns::op.overload`` into its parts; the namespace is ``aten`` when none is given."""
    namespace, colons, rest = name.partition("::")
    if not colons:
        namespace, rest = "aten", name
    base, _, overload = rest.partition(".")
    return namespace, base, overload


_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>-?\d+\.?\d*(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z_][\w]*)"
    r"|(?P<string>'[^']*'|\"[^\"]*\")|(?P<punct>->|::|[()\[\]?,*=!|.]))"
)


class _Parser:
    """Recursive descent over the tokens of one schema string."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise SchemaError("unexpected character in schema", schema=text, position=position)
            kind = match.lastgroup or ""
            self.tokens.append((kind, match.group(kind), match.start(kind)))
            position = match.end()
        self.at = 0

    def fail(self, expected: str) -> SchemaError:
        found, position = "the end", len(self.text)
        if self.at < len(self.tokens):
            found, position = repr(self.tokens[self.at][1]), self.tokens[self.at][2]
        return SchemaError(
            f"expected {expected} but found {found} here:", schema=self.text, position=position
        )

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def accept(self, text: str) -> bool:
        if self.at < len(self.tokens) and self.tokens[self.at][1] == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.fail(f"'{text}'")

    def take(self, kind: str, what: str) -> str:
        if self.at >= len(self.tokens) or self.tokens[self.at][0] != kind:
            raise self.fail(what)
        self.at += 1
        return self.tokens[self.at - 1][1]

    def schema(self) -> OperatorSchema:
        name = self.take("name", "an operator name")
        if self.accept("::"):
            name = self.take("name", "an operator name")
        overload = self.take("name", "an overload name") if self.accept(".") else ""
        arguments = self.arguments()
        self.expect("->")
        returns = self.returns()
        if self.at < len(self.tokens):
            raise self.fail("the end")
        return OperatorSchema(name, overload, arguments, returns)

    def arguments(self) -> tuple[Argument, ...]:
        self.expect("(")
        out: list[Argument] = []
        kwarg_only = False
        while not self.accept(")"):
            if out or kwarg_only:
                self.expect(",")
            if self.accept("*"):
                kwarg_only = True
                continue
            start = self.at
            argument = self.argument(kwarg_only)
            if any(a.name == argument.name for a in out):
                self.at = start
                raise self.fail(f"an argument name other than '{argument.name}', which is taken,")
            if out and not kwarg_only and out[-1].has_default and not argument.has_default:
                self.at = start
                raise self.fail("an argument with a default after one that has a default")
            out.append(argument)
        return tuple(out)

    def returns(self) -> tuple[Argument, ...]:
        if not self.accept("("):
            return (self.argument(False, is_return=True),)
        out: list[Argument] = []
        while not self.accept(")"):
            if out:
                self.expect(",")
            out.append(self.argument(False, is_return=True))
        return tuple(out)

    def argument(self, kwarg_only: bool, *, is_return: bool = False) -> Argument:
        start = self.at
        base = self.take("name", "a type")
        if base not in BASE_TYPES:
            self.at = start
            raise self.fail(f"a type (one of {', '.join(sorted(BASE_TYPES))})")
        alias = self.alias()
        optional = self.accept("?")
        element_optional = is_list = False
        size: int | None = None
        if self.accept("["):
            is_list, element_optional, optional = True, optional, False
            if self.peek() != "]":
                size = int(self.take("number", "a list size"))
            self.expect("]")
            alias = alias or self.alias()
            optional = self.accept("?")
        name = ""
        if not is_return or (self.at < len(self.tokens) and self.tokens[self.at][0] == "name"):
            name = self.take("name", "an argument name")
        default, has_default = None, False
        if not is_return and self.accept("="):
            default, has_default = self.default(), True
        base = {"SymInt": "int", "double": "float", "number": "Scalar"}.get(base, base)
        return Argument(
            name, base, is_list, size, optional, element_optional, default, has_default,
            kwarg_only, alias,
        )  # fmt: skip

    def alias(self) -> AliasInfo | None:
        if not (self.peek() == "(" and self.at + 1 < len(self.tokens)):
            return None
        self.expect("(")
        sets = [self.take("name", "an alias set")]
        while self.accept("|"):
            sets.append(self.take("name", "an alias set"))
        is_write = self.accept("!")
        self.expect(")")
        return AliasInfo(tuple(sets), is_write)

    def default(self) -> Any:
        if self.accept("["):
            out: list[Any] = []
            while not self.accept("]"):
                if out:
                    self.expect(",")
                out.append(self.default())
            return tuple(out)
        if self.at >= len(self.tokens):
            raise self.fail("a default value")
        kind, text, _ = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
        if kind == "string":
            return text[1:-1]
        if kind == "name":
            return {"True": True, "False": False, "None": None}.get(text, text)
        self.at -= 1
        raise self.fail("a default value")


_CACHE: Final[dict[str, OperatorSchema]] = {}


def parse_schema(text: str) -> OperatorSchema:
    """Parse a schema string such as ``add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``.

    Raises:
        SchemaError: if it does not parse; the text shows the position.
    """
    found = _CACHE.get(text)
    if found is None:
        found = _CACHE[text] = _Parser(text).schema()
    return found
