"""The kinds of containers that trees are made of, and the keys of their children."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from pkgutil import resolve_name
from typing import Any, Final, NamedTuple

__all__ = [
    "CLASSES_BY_NAME",
    "NAMED_TUPLE",
    "SUPPORTED_NODES",
    "SUPPORTED_SERIALIZED_TYPES",
    "GetAttrKey",
    "MappingKey",
    "NodeDef",
    "SequenceKey",
    "SerializedKind",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keystr",
    "node_of",
    "register_constant",
    "register_dataclass",
    "register_pytree_node",
]

Context = Any


class NodeDef(NamedTuple):
    """How a container is taken apart and made again."""

    type: type
    flatten_fn: Callable[[Any], tuple[list[Any], Context]]
    unflatten_fn: Callable[[Iterable[Any], Context], Any]
    keys: Callable[[Any], list[Any]]


class SerializedKind(NamedTuple):
    """How a kind of container stands in a file: its name, and its context as what JSON can hold."""

    type: Any
    serialized_type_name: str | None
    to_dumpable_context: Callable[[Context], Any] | None = None
    from_dumpable_context: Callable[[Any], Context] | None = None


# ---- paths --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SequenceKey:
    """The position of a child in a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """The child."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """The key of a child in a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """The child."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """The attribute that holds a child."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The child."""
        return getattr(obj, self.name)


def keystr(kp: Iterable[Any]) -> str:
    """A path as it would be written in Python."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: Iterable[Any]) -> Any:
    """What stands in a tree at the end of a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


# ---- kinds of containers ------------------------------------------------------------------------


def _list_flatten(d: list[Any]) -> tuple[list[Any], Context]:
    """The children of a list; nothing else is needed to make it again."""
    return list(d), None


def _list_flatten_with_keys(d: list[Any]) -> tuple[list[tuple[SequenceKey, Any]], Context]:
    """The children of a list, with their positions."""
    return [(SequenceKey(i), child) for i, child in enumerate(d)], None


def _list_unflatten(values: Iterable[Any], context: Context) -> list[Any]:
    """A list of children."""
    return list(values)


def _tuple_flatten(d: tuple[Any, ...]) -> tuple[list[Any], Context]:
    """The children of a tuple; nothing else is needed to make it again."""
    return list(d), None


def _tuple_flatten_with_keys(
    d: tuple[Any, ...],
) -> tuple[list[tuple[SequenceKey, Any]], Context]:
    """The children of a tuple, with their positions."""
    return [(SequenceKey(i), child) for i, child in enumerate(d)], None


def _tuple_unflatten(values: Iterable[Any], context: Context) -> tuple[Any, ...]:
    """A tuple of children."""
    return tuple(values)


def _positions(children: Any) -> list[Any]:
    return [SequenceKey(i) for i in range(len(children))]


def _of_mapping(d: Any) -> list[Any]:
    return [MappingKey(k) for k in d]


SUPPORTED_NODES: Final[dict[type, NodeDef]] = {
    each.type: each
    for each in (
        NodeDef(tuple, _tuple_flatten, _tuple_unflatten, _positions),
        NodeDef(list, _list_flatten, _list_unflatten, _positions),
        NodeDef(
            dict,
            lambda d: (list(d.values()), list(d)),
            lambda v, keys: dict(zip(keys, v, strict=True)),
            _of_mapping,
        ),
        NodeDef(
            OrderedDict,
            lambda d: (list(d.values()), list(d)),
            lambda v, keys: OrderedDict(zip(keys, v, strict=True)),
            _of_mapping,
        ),
        NodeDef(
            defaultdict,
            lambda d: (list(d.values()), [d.default_factory, list(d)]),
            lambda v, made: defaultdict(made[0], zip(made[1], v, strict=True)),
            _of_mapping,
        ),
        NodeDef(
            deque,
            lambda d: (list(d), d.maxlen),
            lambda v, longest: deque(v, maxlen=longest),
            _positions,
        ),
    )
}
NAMED_TUPLE: Final = NodeDef(
    tuple,
    lambda t: (list(t), type(t)),
    lambda v, kind: kind._make(v) if hasattr(kind, "_make") else kind(*v),
    lambda t: [GetAttrKey(name) for name in t._fields],
)


# ---- in files -----------------------------------------------------------------------------------

SUPPORTED_SERIALIZED_TYPES: Final[dict[Any, SerializedKind]] = {}
CLASSES_BY_NAME: Final[dict[str, Any]] = {}


def _serialize(kind: SerializedKind) -> None:
    SUPPORTED_SERIALIZED_TYPES[kind.type] = kind
    if kind.serialized_type_name is not None:
        CLASSES_BY_NAME[kind.serialized_type_name] = kind.type


def _name_of_tuples(cls: Any) -> Any:
    kind = SUPPORTED_SERIALIZED_TYPES.get(cls)
    if kind is None or kind.serialized_type_name is None:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {cls} because we didn't register a "
            "serializated_type_name. Please register using `_register_namedtuple`."
        )
    return kind.serialized_type_name


def _tuples_of_name(name: Any) -> Any:
    if name not in CLASSES_BY_NAME:
        raise NotImplementedError(
            f"Can't deserialize TreeSpec of namedtuple class {name} because we couldn't find a "
            "serializated name. Please register using `_register_namedtuple`."
        )
    return CLASSES_BY_NAME[name]


def _defaults_as_text(context: Context) -> dict[str, Any]:
    factory, keys = context
    module, name = factory.__module__, factory.__qualname__
    return {
        "default_factory_module": module, "default_factory_name": name, "dict_context": keys,
    }  # fmt: skip


def _defaults_of_text(found: dict[str, Any]) -> list[Any]:
    path = f"{found['default_factory_module']}:{found['default_factory_name']}"
    return [resolve_name(path), found["dict_context"]]


for _kind in (
    SerializedKind(tuple, "builtins.tuple"),
    SerializedKind(list, "builtins.list"),
    SerializedKind(dict, "builtins.dict"),
    SerializedKind(namedtuple, "collections.namedtuple", _name_of_tuples, _tuples_of_name),
    SerializedKind(OrderedDict, "collections.OrderedDict"),
    SerializedKind(defaultdict, "collections.defaultdict", _defaults_as_text, _defaults_of_text),
    SerializedKind(deque, "collections.deque"),
):
    _serialize(_kind)


# ---- registration -------------------------------------------------------------------------------


def is_namedtuple_class(cls: Any) -> bool:
    """Whether a class is of named tuples: a tuple with texts in ``_fields``."""
    fields = getattr(cls, "_fields", None) if isinstance(cls, type) else None
    return (
        isinstance(fields, tuple)
        and issubclass(cls, tuple)
        and all(type(name) is str for name in fields)
        and callable(getattr(cls, "_make", None))
    )


def is_structseq_class(cls: Any) -> bool:
    """Whether a class is of the interpreter's own named tuples, such as ``time.struct_time``."""
    counts = ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(isinstance(vars(cls).get(name), int) for name in counts)
    )


def is_namedtuple_instance(obj: object) -> bool:
    """Whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_structseq_instance(obj: object) -> bool:
    """Whether an object is one of the interpreter's own named tuples."""
    return is_structseq_class(type(obj))


def is_namedtuple(obj: object) -> bool:
    """Whether an object is a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq(obj: object) -> bool:
    """Whether an object is one of the interpreter's own named tuples, or a class of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def node_of(tree: Any) -> NodeDef | None:
    """How an object is taken apart; None for a leaf."""
    found = SUPPORTED_NODES.get(type(tree))
    if found is None and isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return NAMED_TUPLE
    return found


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Context], Any] | None = None,
    from_dumpable_context: Callable[[Any], Context] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Context]] | None = None,
) -> None:
    """Make a class a kind of container.

    Args:
        cls: the class.
        flatten_fn: gives an instance's children, and what else is needed to make it again.
        unflatten_fn: makes an instance of these.
        serialized_type_name: its name in what ``treespec_dumps`` writes.
        to_dumpable_context: makes what JSON can hold of that what else is needed.
        from_dumpable_context: undoes it.
        flatten_with_keys_fn: as ``flatten_fn``, with a key before each child.

    Raises:
        ValueError: if it is one already, or one of the last two functions comes without the other.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered."
        )
    with_keys = flatten_with_keys_fn

    def keys(tree: Any) -> list[Any]:
        if with_keys is None:
            raise ValueError(f"Did not find a flatten_with_keys_fn for type: {cls}.")
        return [key for key, _ in with_keys(tree)[0]]

    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, keys)
    _serialize(
        SerializedKind(cls, serialized_type_name, to_dumpable_context, from_dumpable_context)
    )


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Give a class of named tuples a name for ``treespec_dumps``.

    Raises:
        ValueError: if it has one already.
    """
    if cls in SUPPORTED_SERIALIZED_TYPES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _serialize(SerializedKind(cls, serialized_type_name, _name_of_tuples, _tuples_of_name))


_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls: type) -> None:
    """Make a class's instances leaves again."""
    SUPPORTED_NODES.pop(cls, None)  # classes of named tuples are not there
    kind = SUPPORTED_SERIALIZED_TYPES.pop(cls)
    if kind.serialized_type_name is not None:
        del CLASSES_BY_NAME[kind.serialized_type_name]


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make a dataclass, or another class that is made from its attributes, a kind of container of these.

    Args:
        cls: the class.
        field_names: what it contains; by default all that a dataclass is made from.
        drop_field_names: of a dataclass whose other fields are named, those that it does not contain.
        serialized_type_name: its name in structures that are written.

    Raises:
        ValueError: if the names of a dataclass are not its fields, or those of another class are not given.
    """
    if is_dataclass(cls):
        whole = [f.name for f in fields(cls) if f.init]
        names = whole if field_names is None else field_names
        wanted = {*whole}.difference((drop_field_names or ()) if field_names is not None else ())
        missing, unknown = wanted - {*names}, {*names} - wanted
        if missing or unknown:
            what = "do not name" if missing else "name what is not among its fields, or dropped:"
            raise ValueError(
                f"field_names of {cls.__name__} {what} {', '.join(sorted(missing or unknown))}: give every "
                f"field that it is made from, in field_names or in drop_field_names"
            )
    elif field_names is None:
        raise ValueError(
            f"{cls.__name__} is no dataclass: field_names must say what it is made from"
        )
    else:
        names = field_names

    def apart(obj: Any) -> tuple[list[Any], Context]:
        return [getattr(obj, name) for name in names], None

    register_pytree_node(
        cls,
        apart,
        lambda values, _: cls(**dict(zip(names, values, strict=True))),
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=lambda obj: (
            [(GetAttrKey(name), getattr(obj, name)) for name in names],
            None,
        ),
    )


def register_constant(cls: type) -> None:
    """Make a class's instances part of a tree's structure."""
    register_pytree_node(
        cls, lambda obj: ([], obj), lambda _, obj: obj, flatten_with_keys_fn=lambda obj: ([], obj)
    )
