"""The parser of operator schemas: recursive descent over the tokens of one string."""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

from ...values.errors import SchemaError
from .data import AliasInfo, Argument, OperatorSchema
from .defaults import Misfit, read_default
from .types import (
    BASES,
    CONTAINERS,
    DICT_KEYS,
    SchemaType,
    class_type,
    container_type,
    dict_type,
    is_variable,
    list_type,
    optional_type,
    tuple_type,
    union_type,
    variable_type,
)

__all__ = ["Parser"]

# Names and marks, numbers, strings, comments; at last whatever else is not a space.
TOKEN: Final = re.compile(
    r"[A-Za-z_]\w*|->|\.\.\.|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?j?"
    r"|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|#[^\n]*|\S",
    re.ASCII | re.DOTALL,
)

# Words that PyTorch's lexer keeps for itself.
RESERVED: Final = frozenset([
    "False", "None", "True", "and", "as", "assert", "break", "class", "continue", "def", "del",
    "elif", "else", "for", "global", "if", "import", "in", "is", "not", "or", "pass", "raise",
    "return", "while", "with",
])  # fmt: skip

# What may follow a type's name and still belongs to the type.
_SUFFIXES: Final = frozenset("?[(!")
_ALIASING: Final = frozenset("(!")


class Parser:
    """Parses one schema string; an object is used once."""

    def __init__(self, text: str) -> None:
        self.text = text
        tokens: list[str] = TOKEN.findall(text)
        if "#" in text:
            tokens = [t for t in tokens if t[0] != "#"]
        # Ends enough that looking ahead needs no check.
        tokens += ("", "", "")
        self.tokens = tokens
        self.at = 0
        self.unnamed = 0

    def schema(self) -> OperatorSchema:
        """Parse the whole string."""
        try:
            return self._schema()
        except RecursionError:
            raise self._error("fewer types inside each other") from None

    def _schema(self) -> OperatorSchema:
        namespace, name = "", self._name("an operator name")
        if self.tokens[self.at] == ":":
            self.at += 1
            self._expect(":", "'::' between namespace and name")
            namespace, name = name, self._name("an operator name")
        overload = ""
        if self.tokens[self.at] == ".":
            self.at += 1
            overload = self._name("an overload name")
            if overload == "default" or overload.startswith("__"):
                self.at -= 1
                self._fail("an overload name that is not 'default' and has no '__' in front")
        self._expect("(", "'(' and the arguments")
        arguments, is_vararg = self._arguments()
        self._expect("->", "'->' and the returns")
        returns, is_varret = self._returns()
        if self.tokens[self.at]:
            self._fail("the end")
        return OperatorSchema(name, overload, arguments, returns, namespace, is_vararg, is_varret)

    # ---- arguments and returns --------------------------------------------------------------

    def _arguments(self) -> tuple[tuple[Argument, ...], bool]:
        """The arguments behind the bracket, and whether they end in ``...``."""
        tokens = self.tokens
        out: list[Argument] = []
        names: set[str] = set()
        kwarg_only = seen_default = False
        while out or kwarg_only or tokens[self.at] != ")":
            token = tokens[self.at]
            if token == "*":
                self.at += 1
                kwarg_only = True
            elif token == "...":
                if seen_default:
                    self._fail("no '...' behind arguments with defaults,")
                return tuple(out), self._dots()
            else:
                kind, alias = self._type(True)
                name = self._name("an argument name")
                if name in names:
                    self.at -= 1
                    self._fail(f"another argument name, since '{name}' is taken,")
                names.add(name)
                if tokens[self.at] == "=":
                    seen_default = True
                    default = self._default(kind)
                    out.append(Argument(name, kind, default, True, kwarg_only, alias))
                else:
                    if seen_default and not kwarg_only:
                        self._fail(
                            f"'=' and a default for '{name}', as one before it has a default,"
                        )
                    out.append(Argument(name, kind, None, False, kwarg_only, alias))
            token = tokens[self.at]
            if token == ")":
                break
            if token != ",":
                self._fail("',' or ')'")
            self.at += 1
        self.at += 1
        return tuple(out), False

    def _default(self, kind: SchemaType) -> Any:
        try:
            value, self.at = read_default(self.tokens, self.at + 1, kind)
        except Misfit as misfit:
            self.at = misfit.at
            self._fail(misfit.expected)
        return value

    def _dots(self) -> bool:
        self.at += 1
        self._expect(")", "')', for nothing may follow '...',")
        return True

    def _returns(self) -> tuple[tuple[Argument, ...], bool]:
        """One return or several in brackets, and whether they end in ``...``."""
        tokens = self.tokens
        if tokens[self.at] == "...":
            self.at += 1
            return (), True
        if tokens[self.at] != "(":
            return (self._return(),), False
        self.at += 1
        out: list[Argument] = []
        while out or tokens[self.at] != ")":
            if tokens[self.at] == "...":
                return tuple(out), self._dots()
            out.append(self._return())
            if tokens[self.at] == ")":
                break
            self._expect(",", "',' or ')'")
        self.at += 1
        return tuple(out), False

    def _return(self) -> Argument:
        kind, alias = self._type(True)
        named = self.tokens[self.at].isidentifier()
        return Argument(self._name("a name") if named else "", kind, None, False, False, alias)

    # ---- types ------------------------------------------------------------------------------

    def _type(self, outermost: bool) -> tuple[SchemaType, AliasInfo | None]:
        """A type with its suffixes and alias annotations.

        Args:
            outermost: whether it is the type of an argument or return. Inside another type a list
                has no length and nothing is annotated.
        """
        tokens = self.tokens
        kind = BASES.get(tokens[self.at])
        if kind is None:
            kind = self._made_type()
        else:
            self.at += 1
        if tokens[self.at] not in _SUFFIXES:
            return kind, None
        alias = None
        if tokens[self.at] in _ALIASING and kind.form not in _UNALIASED:
            alias = self._alias(outermost, None)
        while True:
            token = tokens[self.at]
            if token == "?":
                if kind is BASES["NoneType"]:
                    self._fail("no '?' behind NoneType, which has no value but None,")
                self.at += 1
                kind = optional_type(kind)
            elif token == "[":
                size = self._length(outermost)
                kind = list_type(kind, size)
                if tokens[self.at] in _ALIASING:
                    alias = self._alias(outermost, alias)
                elif alias is not None:
                    alias = AliasInfo(frozenset(), frozenset(), False, alias)
                if size is not None:  # nothing but '?' may follow
                    if tokens[self.at] == "?":
                        self.at += 1
                        kind = optional_type(kind)
                    return kind, alias
            else:
                return kind, alias

    def _length(self, outermost: bool) -> int | None:
        """What a list's brackets hold: its length, or None for any."""
        self.at += 1
        token = self.tokens[self.at]
        size = None
        if token != "]":
            if not outermost:
                self._fail("']', for a list inside another type has no length,")
            if not (token.isascii() and token.isdigit() and len(token) < 10):
                self._fail("']' or the length of the list")
            size = int(token)
            self.at += 1
        self._expect("]", "']'")
        return size

    def _made_type(self) -> SchemaType:
        """A type that is made of others or has a name of its own."""
        token = self.tokens[self.at]
        if token == "(":
            return tuple_type(self._elements())
        if token == "Dict":
            return self._dict()
        if token == "Union":
            return self._union()
        if token in CONTAINERS:
            self.at += 1
            return container_type(token, self._elements(1)[0])
        if token == "__torch__":
            return self._class()
        if not token.isidentifier() or not is_variable(token) or token in RESERVED:
            self._fail(f"a type{_advice(token)}")
        self.at += 1
        return variable_type(token)

    def _elements(self, count: int | None = None) -> tuple[SchemaType, ...]:
        """Types in brackets, as values carry them."""
        self._expect("(", "'('")
        out: list[SchemaType] = []
        while out or self.tokens[self.at] != ")" or count:
            out.append(self._type(False)[0].boxed())
            if self.tokens[self.at] == ")" and (count is None or len(out) == count):
                break
            if len(out) == count:
                self._fail("')'")
            self._expect(",", "','" if count else "',' or ')'")
        self.at += 1
        return tuple(out)

    def _dict(self) -> SchemaType:
        self.at += 1
        start = self.at + 1
        key, value = self._elements(2)
        if key.text not in DICT_KEYS:
            self.at = start
            self._fail(f"a type of keys (one of {', '.join(sorted(DICT_KEYS))}, not {key.text})")
        return dict_type(key, value)

    def _union(self) -> SchemaType:
        start = self.at
        self.at += 1
        found = union_type(self._elements())
        if found is None:
            self.at = start
            self._fail("a union of types of which none includes the others")
        return found

    def _class(self) -> SchemaType:
        """A registered class: ``__torch__.torch.classes.ns.Name``."""
        parts = ["__torch__"]
        self.at += 1
        for wanted in ("torch", "classes", "", ""):
            self._expect(".", "'.' and the rest of '__torch__.torch.classes.namespace.Name'")
            parts.append(self._name("a name in '__torch__.torch.classes.namespace.Name'"))
            if wanted and parts[-1] != wanted:
                self.at -= 1
                self._fail(f"'{wanted}', as in '__torch__.torch.classes.namespace.Name',")
        return class_type(".".join(parts))

    def _alias(self, outermost: bool, contained: AliasInfo | None) -> AliasInfo:
        """``(a)``, ``(a!)``, ``(a|b)``, ``(*)``, ``(a! -> b|c)``, or ``!`` alone."""
        if not outermost:
            self._fail("no alias annotation inside another type, where it would have no effect,")
        self.at += 1
        if self.tokens[self.at - 1] == "!":
            # Written, in a set of its own, whose name no text can hold.
            self.unnamed += 1
            return AliasInfo(frozenset([f"${self.unnamed - 1}"]), frozenset(), True, contained)
        before = after = self._alias_sets()
        tokens = self.tokens
        is_write = tokens[self.at] == "!"
        if is_write:
            self.at += 1
        if tokens[self.at] == "->":
            self.at += 1
            after = self._alias_sets()
        self._expect(")", "')' behind the alias annotation")
        return AliasInfo(before, after, is_write, contained)

    def _alias_sets(self) -> frozenset[str]:
        tokens = self.tokens
        sets: list[str] = []
        while True:
            if tokens[self.at] == "*":
                self.at += 1
                return frozenset((*sets, "*"))
            sets.append(self._name("an alias set such as a, or *"))
            if tokens[self.at] != "|":
                return frozenset(sets)
            self.at += 1

    # ---- tokens -----------------------------------------------------------------------------

    def _name(self, what: str) -> str:
        token = self.tokens[self.at]
        if not token.isidentifier() or token in RESERVED or not token.isascii():
            self._fail(f"{what}, not a reserved word," if token in RESERVED else what)
        self.at += 1
        return token

    def _expect(self, token: str, what: str) -> None:
        if self.tokens[self.at] != token:
            self._fail(what)
        self.at += 1

    def _fail(self, expected: str) -> NoReturn:
        raise self._error(expected)

    def _error(self, expected: str) -> SchemaError:
        """The error that points at the current token."""
        matches = [m for m in TOKEN.finditer(self.text) if m[0][0] != "#"]
        found, position = "the end", len(self.text.rstrip())
        if self.at < len(matches):
            found, position = f"'{matches[self.at][0]}'", matches[self.at].start()
        return SchemaError(
            f"expected {expected} but found {found} here:", schema=self.text, position=position
        )


# Behind these types no alias annotation may stand.
_UNALIASED: Final = frozenset(["tuple", "class", *CONTAINERS.values()])

# What to write for the types of other notations.
_NOTATIONS: Final = {
    "Dict": "Dict(K, V)",
    "List": "T[]",
    "Optional": "T?",
    "Sequence": "T[]",
    "Tuple": "(A, B)",
    "Union": "Union(A, B)",
    "device": "Device",
    "dict": "Dict(K, V)",
    "dtype": "ScalarType",
    "list": "T[]",
    "string": "str",
    "tuple": "(A, B)",
}


def _advice(name: str) -> str:
    """Which types may have been meant."""
    from difflib import get_close_matches  # costs a millisecond, and only errors need it

    if not name.isidentifier():
        return ""
    if name in _NOTATIONS:
        return f" ({name} is written '{_NOTATIONS[name]}')"
    spellings = {t.lower(): t for t in (*BASES, *CONTAINERS, "Dict", "Union")}
    near = [spellings[n] for n in get_close_matches(name.lower(), spellings, cutoff=0.6)]
    return f" (did you mean {' or '.join(near)}?)" if near else " such as Tensor, int or Scalar"
