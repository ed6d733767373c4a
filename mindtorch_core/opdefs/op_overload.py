"""``torch.ops.aten.add.Tensor``: one overload of an op, callable and self-describing.

A defined op that PyTorch splits by the kinds of its operands is one entry here, so several overloads
(``add.Tensor``, ``add.Scalar``) may call the same entry; where a kernel is registered under an
overload's own name, that overload has an entry of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from ..dispatch.adapters import as_called
from ..dispatch.calls.conversion import binding_problem, takes_strictly
from ..dispatch.calls.fronts import shown_as
from ..dispatch.calls.overload_choice import Candidate, candidate
from ..dispatch.calls.parts import own_name
from ..dispatch.calls.strict import make_strict
from ..dispatch.dispatcher import kernel_below
from ..dispatch.entry import OpEntry
from ..dispatch.keys import DispatchKey, DispatchKeySet, as_mask, parse_key
from ..dispatch.registry import registry
from ..dispatch.schema import OperatorSchema, parse_schema
from ..tensors.tensor import Tensor
from ..values.own_frames import hide
from .packets import front
from .tags import Tag, tags_of

if TYPE_CHECKING:
    from .torch_ops import OpOverloadPacket

__all__ = ["OpOverload", "as_candidate", "schema_of"]


class OpOverload:
    """One overload of an op, callable with its schema's arguments.

    ``torch.ops.aten.add.Tensor(a, b, alpha=2)`` dispatches as ``torch.add`` does. Arguments that
    do not bind to the schema are a RuntimeError that names op, argument, position, value and schema.

    Example:
        >>> op = torch.ops.aten.add.Tensor
        >>> op.name(), str(op._schema)
        ('aten::add.Tensor', 'aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor')
        >>> op(torch.ones(2), torch.ones(2), alpha=3)
        tensor([4., 4.])
    """

    __slots__ = (
        "__dict__",  # for __module__, which is an instance's own
        "__weakref__",
        "_call",
        "_entry",
        "_overloadname",
        "_packet",
        "_parsed",
        "_shown",
        "mode_rules",
    )

    def __init__(
        self, packet: OpOverloadPacket, name: str, entry: OpEntry, shown: Any = None
    ) -> None:
        self._packet = packet
        self._shown = shown or self  # what those who override its calls are told it is
        self._overloadname = name or "default"
        self._entry = entry
        self._call: Callable[..., Any] = self._first_call
        self._parsed: OperatorSchema | None = None
        self.__module__ = packet.__module__
        self.__qualname__ = self.name()
        self.mode_rules: dict[type, Callable[..., Any]] = {}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the op with its schema's arguments."""
        try:
            try:
                return self._call(*args, **kwargs)
            except TypeError as error:
                return self._call_or_explain(error, args, kwargs)
        except Exception as error:
            hide(error)
            raise

    def _first_call(self, /, *args: Any, **kwargs: Any) -> Any:
        self._entry = self._packet._entry(self._overloadname)
        self._call = call = shown_as(_caller(self._entry), self.name(), self._shown)
        return call(*args, **kwargs)

    def _call_or_explain(
        self, error: TypeError, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """After a TypeError: the call with Python's names of its arguments, or a better error."""
        named = {_python_name(self._entry, name): value for name, value in kwargs.items()}
        if named.keys() != kwargs.keys():  # then nothing has been called yet
            try:
                return self._call(*args, **named)
            except TypeError as second:
                error = second
        problem = self._problem(args, kwargs)
        if problem is None:
            raise error
        raise RuntimeError(problem) from None

    def _problem(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        """Why arguments do not bind; a RuntimeError's text."""
        takes = as_candidate(self._entry).takes
        return binding_problem(
            f"{self.namespace}::{self._opname}", self._schema, args, kwargs, takes
        )

    def _forget(self, entry: OpEntry | None) -> None:
        """Its registration changed: look it up again when it is used next."""
        self._call, self._parsed = self._first_call, None
        self._entry = entry or self._entry

    # ---- what it is ----------------------------------------------------------------------------

    def name(self) -> str:
        """Qualified name, such as ``aten::add.Tensor``; without overload for the default one."""
        overload = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.namespace}::{self._opname}{overload}"

    @property
    def namespace(self) -> str:
        """Such as ``aten``."""
        return self._packet._namespace

    @property
    def _opname(self) -> str:
        return self._packet.__name__

    @property
    def __name__(self) -> str:
        return f"{self._opname}.{self._overloadname}"

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """All overloads of the op."""
        return self._packet

    _overloadpacket = overloadpacket  # as dispatch modes ask for it

    @property
    def _name(self) -> str:
        return self.name()

    @property
    def _schema(self) -> OperatorSchema:
        if self._parsed is None:
            self._entry = self._packet._entry(self._overloadname)
            self._parsed = schema_of(self._entry, self.name())
        return self._parsed

    @property
    def tags(self) -> list[Tag]:
        """What the op is, for tools."""
        return tags_of(self._entry)

    @property
    def is_view(self) -> bool:
        """Whether the result aliases an argument without writing it."""
        return self._schema.is_view

    # ---- what it does --------------------------------------------------------------------------

    def redispatch(self, keyset: DispatchKeySet | int, /, *args: Any, **kwargs: Any) -> Any:
        """Call the op's next kernel: for kernels, with the keys below their own.

        Args:
            keyset: what to dispatch on, such as ``keyset & DispatchKeySet.full_after(my_key)``.
            args: the op's arguments, passed on as they are.
            kwargs: its keyword arguments.
        """
        return kernel_below(self._entry, as_mask(keyset))(*args, **kwargs)

    def decompose(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the op's CompositeImplicitAutograd kernel; NotImplemented if it has none."""
        record = self._entry.record(DispatchKey.CompositeImplicitAutograd)
        if record is None or record.falls_through:
            return NotImplemented
        return as_called(self._entry, record, 0)(*args, **kwargs)

    def has_kernel_for_dispatch_key(self, key: DispatchKey | str) -> bool:
        """Whether a kernel is registered at a key itself; the key may be an alias."""
        registry.load_backends()
        return parse_key(key) in self._entry.records

    def has_kernel_for_any_dispatch_key(self, keys: DispatchKeySet | int) -> bool:
        """Whether a kernel is registered at any key of a set."""
        registry.load_backends()
        mask = as_mask(keys)
        return any(k & mask for k in tuple(self._entry.records))

    def py_impl(
        self, key: DispatchKey | str | type
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator: register a function for this op, at a key or under a class of modes.

        Args:
            key: a dispatch key; or a subclass of `DispatchMode`, and the function is called as
                ``fn(mode, *args, **kwargs)`` in place of the mode's handler.
        """

        def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
            if isinstance(key, type):
                self.mode_rules[key] = fn
            else:
                registry.register_kernel(self._entry.name, parse_key(key), fn)
            return fn

        return decorate

    def __copy__(self) -> OpOverload:
        return self

    def __deepcopy__(self, memo: Any = None) -> OpOverload:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"cannot pickle {self!r}: pickle its name, {self.name()!r}, instead")

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        op = f"{self.namespace}.{self._opname}"
        return f"<OpOverload(op='{op}', overload='{self._overloadname}')>"


def _caller(entry: OpEntry) -> Callable[..., Any]:
    """The generated function of an op: the one users call, or a strict one for third parties'."""
    return front(entry) if entry.definition is not None else make_strict(entry, Tensor)


def as_candidate(entry: OpEntry) -> Candidate:
    """The entry as overloads are chosen in ``torch.ops``: by the schema's names."""
    schema = entry.needed_schema
    takes = takes_strictly if entry.definition is None else candidate(entry).takes
    return Candidate(schema, takes, lambda a: a.name)


def _python_name(entry: OpEntry, name: str) -> str:
    """What the op's generated function calls an argument."""
    if entry.definition is not None:
        return "input" if name == "self" else name
    found = [a for a in entry.schema.arguments if a.name == name] if entry.schema else []
    return own_name(found[0]) if found else name


def schema_of(entry: OpEntry, name: str) -> OperatorSchema:
    """The schema an overload shows: the entry's, under the overload's name."""
    arguments = str(entry.schema).partition("(")[2]
    overload = name.partition("::")[2].partition(".")[2]
    d = entry.definition
    if d is not None and overload in d.overloads[1:] and "Scalar" in overload:
        head, tensor, rest = arguments.rpartition(", Tensor ")  # the last operand is a number
        arguments = f"{head}, Scalar {rest}" if tensor else arguments
    return parse_schema(f"{name}({arguments}")
