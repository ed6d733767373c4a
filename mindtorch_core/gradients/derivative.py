"""What an op's row says about its gradient, and what a node has to save for that.

What a formula needs is read from its parameter names: ``g`` is the gradient of the output (``grads``
those of all outputs), an argument's name is that argument, ``<argument>_shape`` only its shape,
``result`` the op's output (``result1`` the second one). A formula with ``wanted`` serves all arguments
that it is given for: one call gives their gradients, of which ``wanted`` says which are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ..dispatch.entry import OpEntry
from ..dispatch.functions import fn
from ..dispatch.opdef import OpDef
from ..dispatch.schema import Argument, OperatorSchema
from .node import Field

__all__ = ["GIVEN", "Derivative", "Value", "formula_needs"]

# Parameters of formulas that are not saved.
GIVEN: Final = frozenset({"g", "grads", "wanted"})
# ``self_shape`` saves only the shape of ``self``; a geometry is (shape, strides, offset).
_PARTS: Final = ("shape", "dtype", "device", "geometry")

_MAY_ASK: Final = (
    "A formula may ask for g, the gradient of the result (grads, where there are several), for arguments by "
    f"name, for ARGUMENT_{'|'.join(_PARTS)}, for result (result0, result1, ..., where there are several) "
    "and for wanted"
)


def formula_needs(formula: Callable[..., Any]) -> tuple[str, ...]:
    """Names of a formula's parameters."""
    code = formula.__code__
    return code.co_varnames[: code.co_argcount]


class Value(NamedTuple):
    """One value that a node saves.

    Attributes:
        name: the parameter of formulas that it serves.
        kind: "input", "inputs" or "output" for what holds on to tensors, and is freed; "part" for a
            tensor's shape or the like; "argument" for what is no tensor.
        at: where in ``saved`` it begins; inputs take two places, for themselves and their versions.
        argument: the argument that it is, or is part of; None for results.
        part: which part.
        number: which output.
        conditional: whether the row says when it is not needed, and None is saved.
    """

    name: str
    kind: str
    at: int
    argument: Argument | None = None
    part: str = ""
    number: int = 0
    conditional: bool = False

    @property
    def holds(self) -> bool:
        """Whether it holds on to a tensor's memory; only such values are freed."""
        return self.kind in ("input", "inputs", "output")

    @property
    def field(self) -> Field:
        """What a node's class says of it."""
        return Field(self.name, self.at, self.kind if self.holds else "value", self.number)


class Derivative:
    """The gradient of one op.

    Attributes:
        name: the op's.
        schema, definition: the op's.
        formulas: by argument.
        wanted: the arguments that have a formula, in the order of the node's edges.
        values: what a node saves.
        listed: whether the op returns a list.
        several: whether it returns several tensors.

    Raises:
        TypeError: for an op without a definition, a formula for what is no argument, or one that asks for
            what there is not.
    """

    def __init__(self, entry: OpEntry) -> None:
        schema, d = entry.schema, entry.definition
        if schema is None or d is None:
            raise TypeError(f"{entry.name} has no definition to differentiate")
        self.name = entry.name
        self.schema: OperatorSchema = schema
        self.definition: OpDef = d
        self.formulas = _formulas(schema, d)
        self._check_names()
        self.listed = len(schema.returns) == 1 and schema.returns[0].is_list
        self.several = len(schema.returns) > 1 or self.listed
        self.wanted = [
            a for a in schema.arguments if a.type == "Tensor" and a.name in self.formulas
        ]
        self.values = self._values()

    def _check_names(self) -> None:
        tensors = [a.name for a in self.schema.arguments if a.type == "Tensor"]
        for of, formula in self.formulas.items():
            if of not in tensors:
                raise TypeError(
                    f"{self.name} has a gradient formula for {of!r}, and its tensors are {tensors}"
                )
            for name in formula_needs(formula):
                if name not in GIVEN and not self._knows(name):
                    raise TypeError(
                        f"the gradient formula of {self.name} for {of!r} asks for {name!r}. {_MAY_ASK}"
                    )

    def _knows(self, name: str) -> bool:
        """Whether there is a value of the name for formulas."""
        known = [a.name for a in self.schema.arguments]
        owner, _, part = name.rpartition("_")
        number = name.removeprefix("result") or "0"
        result = name.startswith("result") and number.isdecimal()
        returned = result and int(number) < len(self.schema.returns)
        return name in known or returned or (part in _PARTS and owner in known)

    def _values(self) -> list[Value]:
        """Every value some formula needs, in a fixed order."""
        names = (n for f in self.formulas.values() for n in formula_needs(f) if n not in GIVEN)
        arguments = {a.name: a for a in self.schema.arguments}
        out: list[Value] = []
        at = 0
        for name in dict.fromkeys(names):
            value = _value(name, at, arguments, self.definition)
            at += 2 if value.kind in ("input", "inputs") else 1
            out.append(value)
        return out

    def needs(self, i: int) -> tuple[str, ...]:
        """Names of what the formula of an input is given."""
        return formula_needs(self.formulas[self.wanted[i].name])

    def values_of(self, i: int) -> list[Value]:
        """The saved values that the formula of an input needs."""
        needs = self.needs(i)
        return [v for v in self.values if v.name in needs]

    def users(self, value: Value) -> list[int]:
        """The inputs whose formula needs a value."""
        return [i for i in range(len(self.wanted)) if value.name in self.needs(i)]

    def served_with(self, i: int) -> list[int]:
        """The inputs whose gradients the formula of an input gives, itself among them."""
        formula = self.formulas[self.wanted[i].name]
        if "wanted" not in formula_needs(formula):
            return [i]
        return [j for j, a in enumerate(self.wanted) if self.formulas[a.name] is formula]

    def may_lack_keys(self, a: Argument) -> bool:
        """Whether an argument may be None or a number."""
        numbers = self.definition.operands.numbers
        return a.optional or (numbers and a is not self.schema.arguments[0])


def _formulas(schema: OperatorSchema, d: OpDef) -> dict[str, Callable[..., Any]]:
    """The formulas of an op; the gradient of one that is nowhere smooth is zero."""
    if isinstance(d.grad, str):
        return {a.name: _zero for a in schema.arguments if a.type == "Tensor"}
    return dict(d.grad or {})


def _zero(g: Any) -> Any:
    return fn.zeros_like(g)


def _value(name: str, at: int, arguments: Mapping[str, Argument], d: OpDef) -> Value:
    """What a formula's parameter of that name is.

    A result outside the graph, as indices, does not refer to the node and is kept as inputs are.
    """
    a, conditional = arguments.get(name), name in d.saved_if
    if a is not None:
        kind = "argument" if a.type != "Tensor" else "inputs" if a.is_list else "input"
        return Value(name, kind, at, a, conditional=conditional)
    if name.startswith("result"):
        number, chosen = int(name[6:] or "0"), d.output_differentiability
        kind = "input" if chosen and not chosen[number] else "output"
        return Value(name, kind, at, number=number, conditional=conditional)
    owner, _, part = name.rpartition("_")
    return Value(name, "part", at, arguments[owner], part, conditional=conditional)
