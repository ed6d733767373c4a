"""The types that a schema's arguments and returns may have.

A type is interned: two equal types are one object. `SchemaType.text` is its spelling in a schema.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "BASES",
    "CONTAINERS",
    "DICT_KEYS",
    "SchemaType",
    "class_type",
    "container_type",
    "dict_type",
    "is_variable",
    "list_type",
    "optional_type",
    "tuple_type",
    "union_type",
    "variable_type",
]

# In PyTorch's order, which is that of a union's members.
_KINDS: Final = [
    "AnyType", "AnyEnumType", "TensorType", "StorageType", "TupleType", "ListType", "DictType",
    "NumberType", "FloatType", "ComplexType", "FutureType", "AwaitType", "RRefType", "IntType",
    "NoneType", "StringType", "GeneratorType", "QuantizerType", "BoolType", "OptionalType",
    "VarType", "DeviceObjType", "StreamObjType", "ClassType", "PyObjectType", "CapsuleType",
    "QSchemeType", "ScalarTypeType", "LayoutType", "MemoryFormatType", "AnyClassType",
    "SymIntType", "SymBoolType", "UnionType",
]  # fmt: skip


class SchemaType:
    """The type of an argument or return.

    Attributes:
        text: how a schema writes it, such as ``SymInt[2]?``.
        name: which values it has, seen from Python: ``int`` for SymInt, ``float`` for double.
        form: ``base``, ``list``, ``optional``, ``tuple``, ``dict``, ``union``, ``class``,
            ``variable`` or the name of a container in lower case.
        args: types it is made of.
        size: N of a list ``T[N]``, otherwise None.
        annotation_str: how PyTorch prints it as an annotation, such as ``Optional[List[int]]``.
        flat: name, whether it is a list, size, whether None is accepted, whether elements may be
            None: what `Argument` has as attributes.
    """

    __slots__ = ("_kind", "annotation_str", "args", "flat", "form", "name", "size", "text")

    def __init__(
        self,
        text: str,
        form: str,
        kind: str,
        annotation: str,
        args: tuple[SchemaType, ...] = (),
        size: int | None = None,
        name: str = "",
    ) -> None:
        self.text = text
        self.form = form
        self._kind = kind
        self.annotation_str = annotation
        self.args = args
        self.size = size
        self.name = name or text
        self.flat = self._flatten()

    def _flatten(self) -> tuple[str, bool, int | None, bool, bool]:
        listed = self.args[0] if self.form == "optional" else self
        if listed.form != "list":
            return listed.name, False, None, self.form == "optional", False
        element = listed.args[0]
        absent = element.form == "optional"
        plain = element.args[0] if absent else element
        return plain.name, True, listed.size, self.form == "optional", absent

    def kind(self) -> str:
        """PyTorch's name for what sort of type it is, such as ``ListType``."""
        return self._kind

    def containedTypes(self) -> list[SchemaType]:
        """The types it is made of."""
        return list(self.args)

    def getElementType(self) -> SchemaType:
        """Type of what a list, an optional type or a container holds."""
        if self.form in ("list", "optional") or self.form in CONTAINERS.values():
            return self.args[0]
        raise RuntimeError(f"{self.text} has no element type")

    def isSubtypeOf(self, other: SchemaType) -> bool:
        """Whether every value of this type is one of ``other``."""
        return _is_subtype(self.boxed(), other.boxed())

    def boxed(self) -> SchemaType:
        """The type as values carry it: SymInt, ScalarType, Layout and MemoryFormat are ints."""
        if not self.args:
            return BASES["int"] if self.text in _BOXED_AS_INT else self
        args = tuple([a.boxed() for a in self.args])
        return self if args == self.args else _rebuild(self.form, self.text, args, self.size)

    def __str__(self) -> str:
        return self.annotation_str

    def __repr__(self) -> str:
        return f"<SchemaType {self.text}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.form, self.text, self.args, self.size)


_KIND_OF: Final = {
    "Any": "AnyType",
    "AnyClassType": "AnyClassType",
    "AnyEnumType": "AnyEnumType",
    "Capsule": "CapsuleType",
    "Device": "DeviceObjType",
    "Generator": "GeneratorType",
    "Layout": "LayoutType",
    "MemoryFormat": "MemoryFormatType",
    "NoneType": "NoneType",
    "PyObject": "PyObjectType",
    "QScheme": "QSchemeType",
    "Quantizer": "QuantizerType",
    "ScalarType": "ScalarTypeType",
    "Storage": "StorageType",
    "Stream": "StreamObjType",
    "Tensor": "TensorType",
    "bool": "BoolType",
    "complex": "ComplexType",
    "float": "FloatType",
    "int": "IntType",
    "str": "StringType",
}

# Spelling, kind, annotation and what a value is. PyTorch documents the last three as types but
# prints them as it prints type variables.
_SPECIAL: Final = (
    ("SymInt", "SymIntType", "int", "int"),
    ("SymBool", "SymBoolType", "bool", "bool"),
    ("Scalar", "NumberType", "number", "Scalar"),
    ("number", "NumberType", "number", "Scalar"),
    ("double", "FloatType", "double", "float"),
    ("int64", "IntType", "int64", "int"),
)

# The types with a name of their own.
BASES: Final = {text: SchemaType(text, "base", kind, text) for text, kind in _KIND_OF.items()}
for _text, _kind, _annotation, _name in _SPECIAL:
    BASES[_text] = SchemaType(_text, "base", _kind, _annotation, name=_name)
BASES["DeviceIndex"] = BASES["ConstQuantizerPtr"] = BASES["int"]
BASES["Dimname"] = BASES["str"]
BASES["None"] = BASES["NoneType"]

_BOXED_AS_INT: Final = frozenset(["SymInt", "ScalarType", "Layout", "MemoryFormat"])

# Types of one element, written ``Future(int)``.
CONTAINERS: Final = {"Future": "future", "RRef": "rref", "Await": "await"}

DICT_KEYS: Final = frozenset(["int", "float", "complex", "Tensor", "Device", "str", "bool", "Any"])

_INTERNED: Final[dict[tuple[str, str], SchemaType]] = {}


def _intern(
    form: str,
    text: str,
    kind: str,
    annotation: str,
    args: tuple[SchemaType, ...] = (),
    size: int | None = None,
) -> SchemaType:
    found = _INTERNED.get((form, text))
    if found is None:
        new = SchemaType(text, form, kind, annotation, args, size)
        found = _INTERNED.setdefault((form, text), new)
    return found


def optional_type(inner: SchemaType) -> SchemaType:
    """``T?``; ``T??`` is ``T?``."""
    if inner.form == "optional":
        return inner
    return _intern(
        "optional", f"{inner.text}?", "OptionalType", f"Optional[{inner.annotation_str}]", (inner,)
    )


def list_type(element: SchemaType, size: int | None = None) -> SchemaType:
    """``T[]`` or ``T[size]``."""
    text = f"{element.text}[{'' if size is None else size}]"
    return _intern("list", text, "ListType", f"List[{element.annotation_str}]", (element,), size)


def tuple_type(elements: tuple[SchemaType, ...]) -> SchemaType:
    """``(A, B)``."""
    text = ", ".join([e.text for e in elements])
    inside = ", ".join([e.annotation_str for e in elements]) or "()"
    return _intern("tuple", f"({text})", "TupleType", f"Tuple[{inside}]", elements)


def dict_type(key: SchemaType, value: SchemaType) -> SchemaType:
    """``Dict(K, V)``; K is one of `DICT_KEYS`."""
    annotation = f"Dict[{key.annotation_str}, {value.annotation_str}]"
    return _intern("dict", f"Dict({key.text}, {value.text})", "DictType", annotation, (key, value))


def container_type(name: str, element: SchemaType) -> SchemaType:
    """``Future(T)``, ``RRef(T)`` or ``Await(T)``."""
    return _intern(
        CONTAINERS[name],
        f"{name}({element.text})",
        f"{name}Type",
        f"{name}[{element.annotation_str}]",
        (element,),
    )


def class_type(name: str) -> SchemaType:
    """A class registered under ``__torch__.torch.classes``."""
    return _intern("class", name, "ClassType", name)


def is_variable(name: str) -> bool:
    """Whether a name is that of a type variable: ``t``, ``t1``, ``tVal``."""
    return name[0] == "t" and (len(name) == 1 or name[1:].isdigit() or name[1].isupper())


def variable_type(name: str) -> SchemaType:
    """A type variable, such as ``t``."""
    return _intern("variable", name, "VarType", name)


def union_type(members: tuple[SchemaType, ...]) -> SchemaType | None:
    """``Union(A, B)`` in canonical order; None if fewer than two different types are left.

    A member that another one includes is dropped, and ``Union(T, None)`` is ``T?``.
    """
    none = BASES["NoneType"]
    parts: list[SchemaType] = []
    for member in members:
        if member.form == "optional":
            parts += [member.args[0], none]
        else:
            parts += member.args if member.form == "union" else (member,)
    parts = list(dict.fromkeys(parts))
    parts = [p for p in parts if not any(p is not q and _is_subtype(p, q) for q in parts)]
    if len(parts) < 2:
        return None
    if len(parts) == 2 and none in parts:
        return optional_type(parts[1] if parts[0] is none else parts[0])
    parts.sort(key=lambda p: (_KINDS.index(p.kind()), p.text))
    text = ", ".join([p.text for p in parts])
    annotation = ", ".join([p.annotation_str for p in parts])
    return _intern("union", f"Union({text})", "UnionType", f"Union[{annotation}]", tuple(parts))


def _is_subtype(one: SchemaType, other: SchemaType) -> bool:
    """Subtyping of boxed types: only optional, tuple, Future and Await types are covariant.

    How long a list is is said of an argument, not of its type.
    """
    if one is other or other.text == "Any":
        return True
    if one.form == "union":
        return all(_is_subtype(member, other) for member in one.args)
    if one.form == "optional":
        inner = one.args[0]
        return _is_subtype(BASES["NoneType"], other) and _is_subtype(inner, other)
    if other.form == "optional":
        return one.text == "NoneType" or _is_subtype(one, other.args[0])
    if other.form == "union":
        return any(_is_subtype(one, member) for member in other.args)
    if other.text == "Scalar":
        return one.text in ("int", "float", "complex")
    if other.text == "AnyClassType":
        return one.form == "class"
    if one.form == "list":
        return other.form == "list" and one.args == other.args
    covariant = one.form in ("tuple", "future", "await")
    if covariant and one.form == other.form and len(one.args) == len(other.args):
        return all(map(_is_subtype, one.args, other.args))
    return False


def _rebuild(
    form: str, text: str, args: tuple[SchemaType, ...], size: int | None = None
) -> SchemaType:
    """The type of this form, made of ``args``."""
    if form == "list":
        return list_type(args[0], size)
    if form == "optional":
        return optional_type(args[0])
    if form == "tuple":
        return tuple_type(args)
    if form == "dict":
        return dict_type(args[0], args[1])
    if form == "union":
        return union_type(args) or args[0]
    if form == "class":
        return class_type(text)
    if form == "variable":
        return variable_type(text)
    return BASES[text] if form == "base" else container_type(text.partition("(")[0], args[0])
