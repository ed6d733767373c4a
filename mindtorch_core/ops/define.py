"""Defining ops: one row per op, from which everything else about it is derived.

A row (`OpDef`) holds what does not depend on a device: schema, shape-and-dtype rule, gradient,
decomposition and properties. `op` turns it into a registry entry, a function ``torch.<name>``, a
``Tensor`` method, Python operators, and the in-place and ``out=`` variants. The functions are
generated on first use (`mindtorch_core.dispatch.callpath`), so a row costs microseconds at import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..dispatch.binding import fits, no_overload
from ..dispatch.callpath import make_front, make_operator
from ..dispatch.keys import DispatchKey
from ..dispatch.registry import OpEntry, registry
from ..dispatch.schema import split_name
from ..dtypes import dtype
from ..promotion import result_type
from ..shapes import Shape
from ..tensor import Tensor
from .variants import inplace_fallback, return_type, write_out

__all__ = ["FUNCTIONS", "NONDIFF", "OpDef", "TensorSpec", "fn", "function", "op"]

# The gradient of ops whose result does not depend smoothly on their inputs: comparisons, argmax.
NONDIFF: Final = "nondiff"

Formula = Callable[..., Any]


class TensorSpec:
    """What a rule says about an output: shape, dtype and, where not row-major, its layout.

    Attributes:
        shape: sizes.
        dtype: element type.
        strides: in elements, or None for row-major.
        offset: storage offset in elements; only views have one.
    """

    __slots__ = ("dtype", "offset", "shape", "strides")

    def __init__(
        self, shape: Shape, dtype: dtype, strides: Shape | None = None, offset: int = 0
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.strides = strides
        self.offset = offset

    @property
    def stride(self) -> Shape | None:
        """PyTorch's name of ``strides``."""
        return self.strides

    def __repr__(self) -> str:
        return f"TensorSpec({list(self.shape)}, {self.dtype}, strides={self.strides})"


@dataclass(frozen=True, slots=True, eq=False)
class OpDef:
    """One op: everything about it that does not depend on a device.

    Attributes:
        name: name with overload, such as ``max.dim``.
        schema: signature in PyTorch's grammar.
        doc: what it computes; becomes the docstring.
        rule: ``rule(*args) -> TensorSpec`` (or a tuple of them); also raises the errors about
            shapes and dtypes. None for compositions, and where the shape depends on data.
        grad: per differentiable argument a formula, or `NONDIFF`; None if a decomposition supplies
            it. A formula's parameter names say what it needs: ``g`` the incoming gradient, an
            argument's name, ``<argument>_shape``, ``result``.
        decomposition: the op in terms of other ops.
        primitive: whether a backend must supply a kernel.
        numbers: tensor operands after the first may be Python numbers.
        kinds: which dtypes the operands may have in common: the letters of bool, int, float and
            complex. The rule raises for others.
        promotes: kernels are handed operands of one dtype, ``compute_dtype(*args)``.
        broadcasts: gradients are summed back to the operands' shapes.
        inplace, out: whether ``op_`` and ``out=`` exist.
        varargs: name of the int-list argument that may be spread.
        view: whether the result shares the first argument's memory.
        random: whether results differ from call to call.
        data_dependent: whether the result's shape depends on values.
        crosses_devices: whether arguments may live on different devices.
        namespaces: where users find it: ``torch``, ``Tensor``, ``nn`` (torch.nn.functional), or
            ``nn:other`` for another name there.
        inplace_namespaces: the same for the in-place variant.
        functional: for an in-place variant, the op it is the variant of.
        tags: PyTorch's tags.
    """

    name: str
    schema: str
    doc: str = ""
    rule: Callable[..., Any] | None = None
    grad: Mapping[str, Formula] | str | None = None
    decomposition: Callable[..., Any] | None = None
    primitive: bool = False
    numbers: bool = False
    kinds: str = "bifc"
    promotes: bool = False
    compute_dtype: Callable[..., dtype] = result_type
    broadcasts: bool = False
    inplace: bool = False
    out: bool = False
    varargs: str = ""
    operators: Sequence[str] = ()
    view: bool = False
    random: bool = False
    data_dependent: bool = False
    crosses_devices: bool = False
    namespaces: Sequence[str] = ("torch", "Tensor")
    inplace_namespaces: Sequence[str] = ("Tensor",)
    functional: OpDef | None = None
    tags: frozenset[str] = field(default_factory=frozenset)

    @property
    def base_name(self) -> str:
        """Name without overload."""
        return self.name.partition(".")[0]


# Functions by namespace and name; `torch.__getattr__` and `torch.nn.functional` read this.
FUNCTIONS: Final[dict[str, dict[str, _Packet]]] = {"torch": {}, "Tensor": {}, "nn": {}}


class _Packet:
    """All overloads of one name in one namespace, and the function made of them on first use."""

    __slots__ = ("entries", "made", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.entries: list[OpEntry] = []
        self.made: Callable[..., Any] | None = None

    def function(self) -> Callable[..., Any]:
        """The function users call."""
        if self.made is None:
            fronts = [front(e) for e in self.entries]
            self.made = fronts[0] if len(fronts) == 1 else _overloaded(self.name, self.entries)
        return self.made

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        """Replace this placeholder on the Tensor class by the real method."""
        made = self.function()
        setattr(Tensor, self.name, made)
        return made if obj is None else made.__get__(obj, owner)


class _Operator:
    """Placeholder for a Python operator's method, replaced on first use."""

    __slots__ = ("dunder", "entry")

    def __init__(self, dunder: str, entry: OpEntry) -> None:
        self.dunder = dunder
        self.entry = entry

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        made = make_operator(self.entry, self.dunder, Tensor)
        setattr(Tensor, self.dunder, made)
        return made if obj is None else made.__get__(obj, owner)


_FRONTS: Final[dict[str, Callable[..., Any]]] = {}


def front(entry: OpEntry) -> Callable[..., Any]:
    """The generated call path of one op."""
    made = _FRONTS.get(entry.name)
    if made is None:
        d = entry.definition
        made = make_front(
            entry,
            Tensor,
            numbers=d is not None and d.numbers,
            varargs=d.varargs if d is not None else "",
            write_out=write_out if d is not None and d.out else None,
            result=return_type(entry),
        )
        made.__doc__ = d.doc if d is not None else None
        made.__qualname__ = made.__name__
        made.__module__ = "mindtorch_core"
        _FRONTS[entry.name] = made
    return made


def _overloaded(name: str, entries: list[OpEntry]) -> Callable[..., Any]:
    """One function for several overloads: the first whose schema fits is called."""
    fronts = [(e, front(e)) for e in entries]

    def call(*args: Any, **kwargs: Any) -> Any:
        for entry, fn in fronts:
            if fits(entry, args, kwargs):
                return fn(*args, **kwargs)
        raise no_overload(name, entries, args, kwargs)

    call.__name__ = call.__qualname__ = name
    call.__module__ = "mindtorch_core"
    call.__doc__ = next((d.doc for e in entries if (d := e.definition) is not None and d.doc), None)
    return call


def function(name: str, namespace: str = "torch") -> Callable[..., Any]:
    """The function of an op, for use inside decompositions and formulas."""
    return FUNCTIONS[namespace][name].function()


class _Functions:
    """Functions of ops as attributes, ``fn.where(...)``, for decompositions and formulas."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        made = function(name)
        setattr(self, name, made)
        return made


fn: Final = _Functions()


def _expose(entry: OpEntry, name: str, namespaces: Sequence[str]) -> None:
    for place in namespaces:
        namespace, colon, other = place.partition(":")
        name = other if colon else name
        packet = FUNCTIONS[namespace].get(name)
        if packet is None:
            packet = FUNCTIONS[namespace][name] = _Packet(name)
            if namespace == "Tensor" and name not in Tensor.__dict__:
                setattr(Tensor, name, packet)
        packet.entries.append(entry)


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
    definition = OpDef(dotted, schema, **properties)
    _register(definition)
    if definition.inplace:
        _register(_inplace_variant(definition))
    return definition


def _register(d: OpDef) -> None:
    name = d.name if "::" in d.name else f"aten::{d.name}"
    existing = registry.find(name)
    if existing is not None and existing.definition is not None:
        raise RuntimeError(
            f"Tried to register an operator ({d.schema}) with the same name and overload name "
            f"multiple times. Original registration: {existing.definition.schema}"
        )
    registry.register_schema(name, d.schema, definition=d)
    if d.decomposition is not None:
        explicit = (d.functional or d).grad is not None
        key = (
            DispatchKey.CompositeExplicitAutograd
            if explicit
            else DispatchKey.CompositeImplicitAutograd
        )
        registry.register_kernel(name, key, d.decomposition, promoted=True)
    entry = registry.entry(name)
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
    dunders = [
        f"__i{dunder[2:]}"
        for dunder in d.operators
        if dunder in _HAVE_INPLACE and not dunder.startswith("__r")
    ]
    return OpDef(
        name,
        f"{name}({arguments} -> Tensor(a!)",
        doc=f"In-place version of `{base}`: writes the result into ``input`` and returns it.",
        rule=d.rule,
        grad=d.grad,
        decomposition=inplace_fallback(d.name, recorded=d.grad is None),
        numbers=d.numbers,
        kinds=d.kinds,
        promotes=False,
        broadcasts=d.broadcasts,
        operators=dunders,
        random=d.random,
        crosses_devices=d.crosses_devices,
        namespaces=d.inplace_namespaces,
        functional=d,
        tags=d.tags,
    )


_HAVE_INPLACE: Final = frozenset(
    "__add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __pow__ __and__ __or__ __xor__".split()
)


def definitions() -> list[OpDef]:
    """Every definition in the process, in order of registration."""
    return [e.definition for e in registry if e.definition is not None]
