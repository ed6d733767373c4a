"""The functions and methods that ops show: made on first use, remade when overloads come or go."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakSet

from ..dispatch.calls.binding import operand_of, tensor_type_error
from ..dispatch.calls.fronts import make_front, shown_as
from ..dispatch.calls.numpy_names import own_names
from ..dispatch.calls.operator_methods import make_operator
from ..dispatch.calls.overload_choice import (
    candidate,
    key_of_types,
    no_overload,
    pick,
    tensors_first,
)
from ..dispatch.functions import FUNCTIONS, find_packet, forget
from ..dispatch.opdef import OpDef
from ..dispatch.overrides import active, handle, keys_of_foreign
from ..dispatch.registry import OpEntry, registry
from ..tensors.attached import attach, detach
from ..tensors.tensor import Tensor
from ..values.own_frames import hide
from .docstrings import docstring
from .operands import as_operand, as_source
from .variants import return_type, write_out

__all__ = [
    "OPERATORS",
    "OpMethod",
    "OpPacket",
    "front",
    "is_made_for_op",
    "packet_of",
    "remake",
    "show_method",
]


class OpPacket:
    """All overloads of one name in one namespace, and the function made of them on first use."""

    __slots__ = ("entries", "made", "name", "namespace", "python")

    def __init__(self, name: str, namespace: str = "torch") -> None:
        self.name = name
        self.namespace = namespace
        self.entries: list[OpEntry] = []
        self.made: Callable[..., Any] | None = None
        self.python: Callable[..., Any] | None = None  # what `public` showed

    def function(self) -> Callable[..., Any]:
        """The function users call."""
        if self.python is not None:
            return self.python
        if self.made is None:
            from .signatures import show_signature  # the import does without

            prefix = {"torch": "", "nn": ""}.get(self.namespace, f"{self.namespace}.")
            name = f"{prefix}{self.name}"
            method = self.namespace == "Tensor"
            if len(self.entries) > 1:
                self.made = _overloaded(self.name, name, self.entries, method=method)
            else:
                only = front(self.entries[0])
                self.made = shown_as(only, name, method=method) if prefix else only
                if method:  # the function may say by now that it is of a module that shows it, too
                    self.made.__module__ = sys.modules["mindtorch_core"].__name__
            show_signature(self.made, self.entries, method=method)
            _MADE.add(self.made)
        return self.made


class OpMethod:
    """Stands on `Tensor` for a method of an op until a look at it, which puts the method there.

    The op may not be defined yet. There is one on the class for each such name, so that tensors need
    no ``__getattr__``: with one, CPython finds each of their attributes at several times the price.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        made = _method(self.name)
        setattr(Tensor, self.name, made)
        return made if obj is None else made.__get__(obj, owner)


_EARLY: Final = "mindtorch_core.operators"  # whose import defines what no table names
OPERATORS: Final[dict[str, OpEntry]] = {}  # by the name of the Python operator's method


def _method(name: str) -> Any:
    """A method of an op, or what stands on `Tensor` by its name since its module was imported.

    Raises:
        AttributeError: if the op that had it was taken back.
    """
    packet = None
    if name not in OPERATORS:
        packet = find_packet("Tensor", name)
    if packet is not None:
        return packet.function()
    entry = OPERATORS.get(name)
    if entry is None:
        # A method in Python may have come with the ops of its module.
        held: Any = vars(Tensor).get(name)
        if held is None or isinstance(held, OpMethod):
            raise AttributeError(f"'Tensor' object has no attribute {name!r}")
        return held
    d = entry.definition
    made = make_operator(entry, name, Tensor, numbers=d is not None and d.operands.numbers)
    _MADE.add(made)
    return made


def show_method(name: str, *, there: bool = True) -> None:
    """Put the placeholder of an op's method on `Tensor`, unless a method in Python is there.

    Args:
        name: of the method.
        there: whether it has an op; otherwise it stays only if one can be defined on demand.
    """
    held = vars(Tensor).get(name)
    if held is not None and not isinstance(held, OpMethod) and held not in _MADE:
        return
    home = registry.on_demand.home("Tensor", name)
    if there or home is not None:
        attach(home or _EARLY, {name: OpMethod(name)})
    elif held is not None:
        detach(name)


def is_made_for_op(function: Any) -> bool:
    """Whether a function was generated for ops."""
    return function in _MADE


_MADE: Final[WeakSet[Callable[..., Any]]] = WeakSet()  # functions of ops, to be told from others


def front(entry: OpEntry) -> Callable[..., Any]:
    """The generated call path of one op."""
    generated = entry.generated
    made: Callable[..., Any] | None = generated.get(front)
    if made is None:
        d = entry.definition
        made = make_front(
            entry,
            Tensor,
            numbers=d is not None and d.operands.numbers,
            varargs=d.operands.varargs if d is not None else "",
            write_out=_writer(d),
            result=return_type(entry),
            of_number=(
                functools.partial(_of_number, entry)
                if d is not None and d.operands.number_first
                else None
            ),
            of_source=(
                functools.partial(_of_source, entry)
                if d is not None and d.operands.number_source
                else None
            ),
        )
        made.__doc__ = docstring(made.__name__, [entry])
        made.__qualname__ = made.__name__
        made.__module__ = sys.modules[
            "mindtorch_core"
        ].__name__  # torch, for a program of PyTorch's
        generated[front] = made
    return made


def _of_number(
    entry: OpEntry, value: Any, other: Any, rounding_mode: str | None = None
) -> tuple[Any, int]:
    """A number as the first of two operands, as a tensor, and its keys.

    Raises:
        TypeError: if it is none.
    """
    try:
        number, keys = operand_of(entry, "input", value, Tensor)
    except TypeError as error:
        hide(error)
        raise
    keys = keys or keys_of_foreign(other)
    if keys:
        return number, keys
    first = "any" if entry.definition is None else entry.definition.operands.number_first
    if isinstance(other, Tensor):
        made = as_operand(other, number, floating=first == "quotient" and rounding_mode is None)
        return made, made._keys
    if first == "tensor":
        raise tensor_type_error(entry, "input", value) from None
    made = Tensor._from_array(number)
    return made, made._keys


def _of_source(entry: OpEntry, which: str, value: Any, written: Any) -> tuple[Any, int]:
    """A number that is to be copied, as a tensor of what it is written to, and its keys.

    Raises:
        TypeError: if it is none.
    """
    try:
        number, keys = operand_of(entry, which, value, Tensor, method=True)
    except TypeError as error:
        hide(error)
        raise
    if keys or not isinstance(written, Tensor):
        return number, keys
    scalar = as_source(written, number)
    return scalar, scalar._keys


def _writer(d: OpDef | None) -> Callable[..., Any] | None:
    """What serves ``out=`` of an op, if it has that."""
    if d is None or d.out is None:
        return None
    if d.out.like:
        return functools.partial(_write_like, d.out.like)
    return functools.partial(
        write_out, elementwise="pointwise" in d.tags, needs=d.out.needs, draw=d.out.draw
    )


def _write_like(name: str, *call: Any) -> Any:
    """Serve ``out=`` of an op as that of another, which it is another name of."""
    writer = _writer(registry.entry(name).definition)
    assert writer is not None, name
    return writer(*call)


def _overloaded(
    name: str, qualified: str, entries: list[OpEntry], *, method: bool
) -> Callable[..., Any]:
    """One function for several overloads: the first whose schema fits is called."""
    ordered = tensors_first(entries)
    fronts: list[Callable[..., Any]] = []
    candidates = [candidate(e) for e in ordered]
    chosen: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def choose(
        args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any] | None, dict[str, Any]]:
        index, certain = pick(candidates, args, kwargs)
        if index is None:
            renamed = own_names(kwargs)
            if renamed is not kwargs:
                return choose(args, renamed)
            if active((*args, *kwargs.values())):
                return None, kwargs
            raise no_overload(name, entries, args, kwargs, method=method)
        if certain:
            chosen[key_of_types(args, kwargs)] = fronts[index]
        return fronts[index], kwargs

    def call(*args: Any, **kwargs: Any) -> Any:
        key = key_of_types(args, kwargs) if kwargs else tuple(map(type, args))
        fn = chosen.get(key)
        if fn is None:
            try:
                fn, named = choose(args, kwargs)
            except TypeError as error:
                hide(error)
                raise
            if fn is None:  # something overrides it that no overload takes
                return handle(call, (*args, *kwargs.values()), args, kwargs)
            kwargs = named
        try:
            return fn(*args, **kwargs) if kwargs else fn(*args)
        except Exception as error:
            if (
                isinstance(error, TypeError)
                and not active((*args, *kwargs.values()))
                and pick(candidates, args, kwargs)[0] is None
            ):
                raise no_overload(name, entries, args, kwargs, method=method) from None
            hide(error)
            raise

    call.__name__, call.__qualname__ = name, qualified
    call.__module__ = sys.modules["mindtorch_core"].__name__
    call.__doc__ = docstring(name, ordered)
    fronts += [shown_as(front(e), name, call, method=method) for e in ordered]
    return call


def packet_of(namespace: str, name: str) -> OpPacket:
    """The packet of a name, made if nothing was shown under it yet."""
    packet = FUNCTIONS[namespace].setdefault(name, OpPacket(name, namespace))
    assert isinstance(packet, OpPacket), "only packets of ops are put there"
    return packet


def remake(namespace: str, packet: OpPacket) -> None:
    """Forget functions made of a packet whose overloads changed."""
    name, packet.made = packet.name, None
    forget(namespace, name)
    if namespace == "Tensor":
        show_method(name, there=bool(packet.entries))
        return
    module = _MODULES.get(namespace, f"mindtorch_core.{namespace}")
    if module in sys.modules:
        vars(sys.modules[module]).pop(name, None)


_MODULES: Final = {
    "torch": "mindtorch_core",
    "nn": "mindtorch_core.nn.functional",
    "signal": "mindtorch_core.signal.windows",
}
