"""Defining ops: one row per op, from which everything else about it is derived.

A row (`OpDef`) holds what does not depend on a device: schema, shape-and-dtype rule, gradient,
decomposition and groups of properties, which `op` takes as plain keywords. `op` turns it into a
registry entry, a function ``torch.<name>``, a ``Tensor`` method, Python operators, and the in-place
and ``out=`` variants. The functions are generated on first use (`mindtorch_core.dispatch.calls.fronts`),
so a row costs microseconds at import.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, TypeVar

from ..dispatch.asked_wrongly import guarded
from ..dispatch.functions import FUNCTIONS
from ..dispatch.keys import DispatchKey
from ..dispatch.opdef import Exposure, InplaceForm, OpDef, Operands, OutForm, Traits
from ..dispatch.registry import OpEntry, registry
from ..dispatch.schema import parse_schema, split_name
from ..dispatch.written_functions import overridable
from ..tensors.attached import attach, detach
from ..tensors.tensor import Tensor
from .inplace_variants import inplace_fallback
from .packets import OPERATORS, OpPacket, packet_of, remake, show_method

__all__ = ["EVERYWHERE", "definitions", "op", "op_of_backend", "public"]

# Where in-place methods are shown that are functions as well: ``torch.exp_(x)`` for ``x.exp_()``.
EVERYWHERE: Final = ("torch", "Tensor")

_PROPERTIES: Final = frozenset(inspect.signature(OpDef).parameters)

F = TypeVar("F", bound=Callable[..., Any])

_FEW: Final = 2  # functions of so few arguments are small, and little can be got wrong


def public(*places: str, name: str = "") -> Callable[[F], F]:
    """Decorator: show users a Python function, where PyTorch has one around its ops.

    Args:
        *places: as in `Exposure.namespaces`.
        name: the function's name, if one definition makes several functions.
    """
    own_name = name

    def decorate(shown: F) -> F:
        if own_name:
            shown.__name__ = shown.__qualname__ = own_name
        if isinstance(shown, FunctionType):
            code = shown.__code__
            if code.co_argcount + code.co_kwonlyargcount > _FEW:
                guarded(shown)
        for place in places:
            namespace, _, other = place.partition(":")
            name = other or shown.__name__
            if other and shown.__name__[0] == "_":
                shown.__name__ = shown.__qualname__ = other
            packet = packet_of(namespace, name)
            registry.note(functools.partial(_unpublish, namespace, packet))
            packet.python = overridable(shown)
            if namespace == "Tensor":
                attach(shown.__module__, {name: shown})
        return shown

    return decorate


def _unpublish(namespace: str, packet: OpPacket) -> None:
    if namespace == "Tensor" and vars(Tensor).get(packet.name) is packet.python:
        detach(packet.name)
    packet.python = None
    if not packet.entries:
        FUNCTIONS[namespace].pop(packet.name, None)
    remake(namespace, packet)


def _expose(entry: OpEntry, name: str, namespaces: Sequence[str]) -> None:
    """Show an op to users; taken back with the registrations of the transaction it is part of."""
    for place in namespaces:
        namespace, colon, other = place.partition(":")
        shown = other if colon else name
        packet = packet_of(namespace, shown)
        registry.note(functools.partial(_hide, entry, namespace, packet))
        packet.entries.append(entry)
        remake(namespace, packet)


def _hide(entry: OpEntry, namespace: str, packet: OpPacket) -> None:
    if entry in packet.entries:
        packet.entries.remove(entry)
    if not packet.entries and packet.python is None:
        FUNCTIONS[namespace].pop(packet.name, None)
    remake(namespace, packet)


# What `op` takes as plain keywords and the definition holds in a group, by keyword: group and field.
_GROUPS: Final[dict[str, Any]] = {
    "operands": Operands,
    "traits": Traits,
    "exposure": Exposure,
    "inplace": InplaceForm,
    "out": OutForm,
}
_PLACES: Final[dict[str, tuple[str, str]]] = {
    f"{group}_{field}" if group in ("inplace", "out") else field: (group, field)
    for group, made in _GROUPS.items()
    for field in made._fields
}


def op(schema: str, *, inplace: bool = False, out: bool = False, **properties: Any) -> OpDef:
    """Define an op; the one place where it is written down.

    Args:
        schema: such as ``mul(Tensor self, Tensor other) -> Tensor``. The first argument's name
            ``self`` shows as ``input`` in Python.
        inplace: whether ``op_`` exists.
        out: whether ``out=`` exists.
        **properties: fields of `OpDef`, `Operands`, `Traits` and `Exposure` by their names; those of
            `InplaceForm` and `OutForm` as ``inplace_rule``, ``out_needs`` and so on.

    Raises:
        RuntimeError: if an op of that name and overload exists.
        TypeError: if there is no such property, or it speaks of a form that the op has not.
    """
    dotted = schema.partition("(")[0]
    if properties.get("numbers") and "." not in dotted:
        properties.setdefault("overloads", ("Tensor", "Scalar"))
    definition = OpDef(dotted, schema, **_grouped(properties, inplace=inplace, out=out))
    on_demand = registry.on_demand
    if registry.journal is not on_demand.journal and on_demand.home(
        "aten", dotted.partition(".")[0]
    ):
        # Its module is imported by a plugin, whose transaction would take the op back with it.
        with registry.apart(on_demand.journal):
            _register_all(definition)
    else:
        _register_all(definition)
    return definition


def op_of_backend(
    schema: str, *, inplace: bool = False, out: bool = False, **properties: Any
) -> OpDef:
    """Define an op of a backend's own, as `op` does those of the core.

    Its schema is read at once, so that a mistake in it is told where it is; those of the core are read when
    one is called.

    Args:
        schema: see `op`, as for the others.
        inplace: whether ``op_`` exists.
        out: whether ``out=`` exists.
        **properties: of the op.

    Raises:
        SchemaError: if the schema does not parse.
        RuntimeError, TypeError: see `op`; TypeError, too, for a rule or decomposition that is no function.
    """
    parse_schema(schema)
    for name, value in properties.items():
        if name not in _PLACES and name not in _PROPERTIES:
            raise TypeError(f"op() got {name}={value!r}, but ops have no such property: {schema}")
        if name in ("rule", "decomposition") and not (value is None or callable(value)):
            raise TypeError(f"op() got {name}={value!r}, where a function is expected: {schema}")
    return op(schema, inplace=inplace, out=out, **properties)


def _register_all(definition: OpDef) -> None:
    _register(definition)
    if definition.inplace is not None:
        _register(_inplace_variant(definition, definition.inplace))


def _grouped(properties: dict[str, Any], **forms: bool) -> dict[str, Any]:
    """Plain keywords as the fields of `OpDef`. Groups of which nothing is said are shared defaults."""
    given: dict[str, dict[str, Any]] = {form: {} for form, exists in forms.items() if exists}
    made = {}
    for name, value in properties.items():
        place = _PLACES.get(name)
        if place is None:
            made[name] = value
        elif place[0] in forms and not forms[place[0]]:
            raise TypeError(f"op() got {name}, but not {place[0]}=True")
        else:
            given.setdefault(place[0], {})[place[1]] = value
    return made | {group: _GROUPS[group](**values) for group, values in given.items()}


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
    _expose(entry, base, d.exposure.namespaces)
    for dunder in d.exposure.operators:
        registry.note(functools.partial(_hide_operator, dunder))
        OPERATORS[dunder] = entry
        show_method(dunder)


def _hide_operator(dunder: str) -> None:
    OPERATORS.pop(dunder, None)
    show_method(dunder, there=False)


def _inplace_variant(d: OpDef, form: InplaceForm) -> OpDef:
    """The row of ``op_``: the same arguments, the first one written and returned."""
    head, _, rest = d.schema.partition("(")
    arguments = rest.rpartition(" -> ")[0].replace("Tensor self", "Tensor(a!) self", 1)
    base, dot, overload = head.partition(".")
    name = f"{base}_{dot}{overload}"
    dunders = [f"__i{dunder[2:]}" for dunder in d.exposure.operators if dunder in _HAVE_INPLACE]
    return OpDef(
        name,
        f"{name}({arguments} -> Tensor(a!)",
        doc=f"In-place version of `{base}`: writes the result into ``input`` and returns it.",
        rule=form.rule or d.rule,
        grad=d.grad,
        decomposition=(
            None
            if form.primitive
            else form.decomposition or inplace_fallback(d.name, recorded=d.grad is None)
        ),
        operands=Operands(
            numbers=d.operands.numbers,
            kinds=d.operands.kinds,
            broadcasts=d.operands.broadcasts,
            crosses_devices=d.operands.crosses_devices,
            number_source=d.operands.number_source,
        ),
        traits=Traits(primitive=form.primitive, random=d.traits.random),
        node_names=d.node_names,
        exposure=d.exposure._replace(namespaces=form.namespaces, operators=dunders),
        functional=d,
        overloads=[
            (_INPLACE_OVERLOADS.get(o, o) if "Tensor_Tensor" in d.overloads else o)
            or ("Tensor" if d.operands.numbers else "")
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
