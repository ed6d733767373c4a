"""Defining ops: one row per op, from which everything else about it is derived.

A row (`OpDef`) holds what does not depend on a device: schema, shape-and-dtype rule, gradient,
decomposition and properties. `op` turns it into a registry entry, a function ``torch.<name>``, a
``Tensor`` method, Python operators, and the in-place and ``out=`` variants. The functions are
generated on first use (`mindtorch_core.dispatch.callpath`), so a row costs microseconds at import.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from ..dispatch.binding import operand_of, tensor_type_error
from ..dispatch.callpath import make_front, make_operator
from ..dispatch.keys import DispatchKey
from ..dispatch.numpy_names import own_names
from ..dispatch.opdef import NONDIFF, OpDef, TensorSpec
from ..dispatch.overload_choice import (
    candidate,
    key_of_types,
    no_overload,
    pick,
    tensors_first,
)
from ..dispatch.registry import OpEntry, registry
from ..dispatch.schema import split_name
from ..tensor import Tensor
from .docstrings import docstring
from .inplace_functions import INPLACE_FUNCTIONS
from .variants import inplace_fallback, return_type, write_out

__all__ = [
    "FUNCTIONS",
    "NONDIFF",
    "LateMethod",
    "OpDef",
    "TensorSpec",
    "find_packet",
    "fn",
    "fn_fft",
    "fn_linalg",
    "fn_nn",
    "fn_special",
    "function",
    "names_in",
    "op",
    "public",
]

F = TypeVar("F", bound=Callable[..., Any])

# Functions by namespace and name; `torch.__getattr__` and `torch.nn.functional` read this.
FUNCTIONS: Final[dict[str, dict[str, _Packet]]] = {
    name: {} for name in ("torch", "Tensor", "nn", "linalg", "special", "fft", "masked", "signal")
}


class _Packet:
    """All overloads of one name in one namespace, and the function made of them on first use."""

    __slots__ = ("entries", "made", "name", "python")

    def __init__(self, name: str) -> None:
        self.name = name
        self.entries: list[OpEntry] = []
        self.made: Callable[..., Any] | None = None
        self.python: Callable[..., Any] | None = None  # what `public` showed

    def function(self) -> Callable[..., Any]:
        """The function users call."""
        if self.python is not None:
            return self.python
        if self.made is None:
            fronts = [front(e) for e in self.entries]
            self.made = fronts[0] if len(fronts) == 1 else _overloaded(self.name, self.entries)
            _MADE.add(self.made)
        return self.made

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        """Replace this placeholder on the Tensor class by the real method."""
        made = self.function()
        setattr(Tensor, self.name, made)
        return made if obj is None else made.__get__(obj, owner)


class LateMethod:
    """Placeholder for a method of an op that is not defined yet: a look at it defines the rest.

    It stands on the class, so that tensors need no ``__getattr__``: with one, CPython finds each of
    their attributes at several times the price.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        registry.rest.define()
        if vars(Tensor).get(self.name) is self:
            raise AttributeError(f"'Tensor' object has no attribute {self.name!r}")
        return getattr(Tensor if obj is None else obj, self.name)


class _Operator:
    """Placeholder for a Python operator's method, replaced on first use."""

    __slots__ = ("dunder", "entry")

    def __init__(self, dunder: str, entry: OpEntry) -> None:
        self.dunder = dunder
        self.entry = entry

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        d = self.entry.definition
        numbers = d is not None and d.numbers
        made = make_operator(self.entry, self.dunder, Tensor, numbers=numbers)
        setattr(Tensor, self.dunder, made)
        return made if obj is None else made.__get__(obj, owner)


_FRONTS: Final[dict[OpEntry, Callable[..., Any]]] = {}
_MADE: Final[set[Callable[..., Any]]] = set()


def front(entry: OpEntry) -> Callable[..., Any]:
    """The generated call path of one op."""
    made = _FRONTS.get(entry)
    if made is None:
        d = entry.definition
        made = make_front(
            entry,
            Tensor,
            numbers=d is not None and d.numbers,
            varargs=d.varargs if d is not None else "",
            write_out=_writer(d),
            result=return_type(entry),
            of_number=(
                functools.partial(_of_number, entry) if d is not None and d.number_first else None
            ),
        )
        made.__doc__ = docstring(made.__name__, [entry])
        made.__qualname__ = made.__name__
        made.__module__ = "mindtorch_core"
        _FRONTS[entry] = made
    return made


def _of_number(entry: OpEntry, value: Any, other: Any) -> Tensor:
    """A number as the first of two operands.

    Raises:
        TypeError: if it is none.
    """
    from .elementwise.arithmetic import as_operand

    number = operand_of(entry, "input", value, Tensor)
    if isinstance(other, Tensor):
        return as_operand(other, number)
    if entry.definition is not None and entry.definition.number_first != "any":
        raise tensor_type_error(entry, "input", value)
    made: Tensor = Tensor._from_array(number)
    return made


def _writer(d: OpDef | None) -> Callable[..., Any] | None:
    """What serves ``out=`` of an op, if it has that."""
    if d is None or not d.out:
        return None
    return functools.partial(write_out, elementwise="pointwise" in d.tags, needs=d.out_needs)


def _overloaded(name: str, entries: list[OpEntry]) -> Callable[..., Any]:
    """One function for several overloads: the first whose schema fits is called."""
    ordered = tensors_first(entries)
    fronts = [front(e) for e in ordered]
    candidates = [candidate(e) for e in ordered]
    chosen: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def choose(
        args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], dict[str, Any]]:
        index, certain = pick(candidates, args, kwargs)
        if index is None:
            renamed = own_names(kwargs)
            if renamed is not kwargs:
                return choose(args, renamed)
            raise no_overload(name, entries, args, kwargs)
        if certain:
            chosen[key_of_types(args, kwargs)] = fronts[index]
        return fronts[index], kwargs

    def call(*args: Any, **kwargs: Any) -> Any:
        key = key_of_types(args, kwargs) if kwargs else tuple(map(type, args))
        fn = chosen.get(key)
        if fn is None:
            fn, kwargs = choose(args, kwargs)
        try:
            return fn(*args, **kwargs)
        except TypeError:
            if pick(candidates, args, kwargs)[0] is None:
                raise no_overload(name, entries, args, kwargs) from None
            raise

    call.__name__ = call.__qualname__ = name
    call.__module__ = "mindtorch_core"
    call.__doc__ = docstring(name, ordered)
    return call


def function(name: str, namespace: str = "torch") -> Callable[..., Any]:
    """The function of an op, for use inside decompositions and formulas."""
    packet = find_packet(namespace, name)
    if packet is None:
        raise AttributeError(f"there is no function {name!r} in {namespace!r}")
    return packet.function()


def find_packet(namespace: str, name: str) -> _Packet | None:
    """The overloads of a name, with all ops defined if it is not known without."""
    packets = FUNCTIONS[namespace]
    found = packets.get(name)
    if found is None and registry.rest.pending:
        registry.rest.define()
        found = packets.get(name)
    return found


def names_in(namespace: str) -> list[str]:
    """All names of functions in a namespace."""
    registry.rest.define()
    return sorted(FUNCTIONS[namespace])


class _Functions:
    """Functions of ops as attributes, ``fn.where(...)``, for decompositions and formulas."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    def __getattr__(self, name: str) -> Callable[..., Tensor]:
        if name.startswith("__"):  # what tools look for on any object
            raise AttributeError(name)
        made = function(name, self._namespace)
        setattr(self, name, made)
        return made


_CALLED: Final = {namespace: _Functions(namespace) for namespace in FUNCTIONS}
fn: Final = _CALLED["torch"]
fn_nn: Final = _CALLED["nn"]
fn_linalg: Final = _CALLED["linalg"]
fn_special: Final = _CALLED["special"]
fn_fft: Final = _CALLED["fft"]


def public(*places: str, name: str = "") -> Callable[[F], F]:
    """Decorator: show users a Python function, where PyTorch has one around its ops.

    Args:
        *places: as in `OpDef.namespaces`.
        name: the function's name, if one definition makes several functions.
    """
    own_name = name

    def decorate(shown: F) -> F:
        if own_name:
            shown.__name__ = shown.__qualname__ = own_name
        for place in places:
            namespace, _, other = place.partition(":")
            name = other or shown.__name__
            FUNCTIONS[namespace].setdefault(name, _Packet(name)).python = shown
            if namespace == "Tensor":
                setattr(Tensor, name, shown)
        return shown

    return decorate


def _expose(entry: OpEntry, name: str, namespaces: Sequence[str]) -> None:
    """Show an op to users; taken back with the registrations of the transaction it is part of."""
    if name in INPLACE_FUNCTIONS and "torch" not in namespaces:
        namespaces = ("torch", *namespaces)
    for place in namespaces:
        namespace, colon, other = place.partition(":")
        shown = other if colon else name
        packet = FUNCTIONS[namespace].setdefault(shown, _Packet(shown))
        packet.entries.append(entry)
        _remake(namespace, packet)
        registry.note(functools.partial(_hide, entry, namespace, packet))


def _hide(entry: OpEntry, namespace: str, packet: _Packet) -> None:
    packet.entries.remove(entry)
    if not packet.entries:
        del FUNCTIONS[namespace][packet.name]
    _remake(namespace, packet)


def _remake(namespace: str, packet: _Packet) -> None:
    """Forget functions made of a packet whose overloads changed."""
    name, packet.made = packet.name, None
    vars(_CALLED[namespace]).pop(name, None)
    if namespace == "Tensor":
        held = Tensor.__dict__.get(name)
        if not packet.entries and held is not None:
            delattr(Tensor, name)
        elif held is None or isinstance(held, _Packet | LateMethod) or held in _MADE:
            setattr(Tensor, name, packet)
        return
    module = _MODULES.get(namespace, f"mindtorch_core.{namespace}")
    if module in sys.modules:
        vars(sys.modules[module]).pop(name, None)


_MODULES: Final = {
    "torch": "mindtorch_core",
    "nn": "mindtorch_core.nn.functional",
    "signal": "mindtorch_core.signal.windows",
}


def op(schema: str, **properties: Any) -> OpDef:
    """Define an op; the one place where it is written down.

    Args:
        schema: such as ``mul(Tensor self, Tensor other) -> Tensor``. The first argument's name
            ``self`` shows as ``input`` in Python.
        **properties: the fields of `OpDef`.

    Raises:
        RuntimeError: if an op of that name and overload exists.
    """
    dotted = schema.partition("(")[0]
    if properties.get("numbers") and "." not in dotted:
        properties.setdefault("overloads", ("Tensor", "Scalar"))
    definition = OpDef(dotted, schema, **properties)
    _register(definition)
    if definition.inplace:
        _register(_inplace_variant(definition))
    return definition


def _register(d: OpDef) -> None:
    name = d.name if "::" in d.name else f"aten::{d.name}"
    existing = registry.known(name)
    if existing is not None and existing.definition is not None:
        raise RuntimeError(
            f"Tried to register an operator ({d.schema}) with the same name and overload name "
            f"multiple times. Original registration: {existing.definition.schema}"
        )
    registry.register_schema(name, d.schema, definition=d)
    if d.overloads and d.overloads[0]:
        registry.overload_names[f"{name}.{d.overloads[0]}"] = name
    if d.decomposition is not None:
        explicit = (d.functional or d).grad is not None
        key = (
            DispatchKey.CompositeExplicitAutograd
            if explicit
            else DispatchKey.CompositeImplicitAutograd
        )
        registry.register_kernel(name, key, d.decomposition, promoted=True)
    entry = registry.known(name)
    assert entry is not None, "just registered"
    base = split_name(name)[1]
    _expose(entry, base, d.namespaces)
    for dunder in d.operators:
        setattr(Tensor, dunder, _Operator(dunder, entry))


def _inplace_variant(d: OpDef) -> OpDef:
    """The row of ``op_``: the same arguments, the first one written and returned."""
    head, _, rest = d.schema.partition("(")
    arguments = rest.rpartition(" -> ")[0].replace("Tensor self", "Tensor(a!) self", 1)
    base, dot, overload = head.partition(".")
    name = f"{base}_{dot}{overload}"
    dunders = [f"__i{dunder[2:]}" for dunder in d.operators if dunder in _HAVE_INPLACE]
    return OpDef(
        name,
        f"{name}({arguments} -> Tensor(a!)",
        doc=f"In-place version of `{base}`: writes the result into ``input`` and returns it.",
        rule=d.inplace_rule or d.rule,
        grad=d.grad,
        decomposition=(
            None
            if d.inplace_primitive
            else d.inplace_decomposition or inplace_fallback(d.name, recorded=d.grad is None)
        ),
        primitive=d.inplace_primitive,
        numbers=d.numbers,
        kinds=d.kinds,
        promotes=False,
        broadcasts=d.broadcasts,
        operators=dunders,
        random=d.random,
        crosses_devices=d.crosses_devices,
        namespaces=d.inplace_namespaces,
        functional=d,
        overloads=[
            (_INPLACE_OVERLOADS.get(o, o) if "Tensor_Tensor" in d.overloads else o)
            or ("Tensor" if d.numbers else "")
            for o in d.overloads
        ],
        tags=d.tags,
    )


# PyTorch names the overloads of some in-place variants otherwise than the op's.
_INPLACE_OVERLOADS: Final = {"Tensor_Tensor": "Tensor", "Tensor_Scalar": "Scalar"}

_HAVE_INPLACE: Final = frozenset(
    [
        "__add__",
        "__sub__",
        "__mul__",
        "__truediv__",
        "__div__",
        "__floordiv__",
        "__mod__",
        "__pow__",
        "__and__",
        "__or__",
        "__xor__",
        "__lshift__",
        "__rshift__",
    ]
)


def definitions() -> list[OpDef]:
    """Every definition in the process, in order of registration."""
    return [e.definition for e in registry if e.definition is not None]
