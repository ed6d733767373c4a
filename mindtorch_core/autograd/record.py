"""The Autograd key: kernels that run the op below and record a node for backward.

For each op two functions are generated from its schema and its gradient formulas: a recording
kernel, and the node's ``apply``. What a formula needs is read from its parameter names: ``g`` is
the gradient of the output (``grads`` those of all outputs), an argument's name is that argument,
``<argument>_shape`` only its shape, ``result`` the op's output (``result1`` the second one). A value
is saved only if a formula that will be evaluated needs it. A formula with ``wanted`` serves all
arguments that it is given for: one call gives their gradients, of which ``wanted`` says which are
needed. For ``mul(Tensor self, Tensor other)`` the kernel reads::

    def mul(input, other):
        _result = BELOW(input, other)
        _n0 = input._keys & AUTOGRAD
        _n1 = 0 if type(other) in NUMBERS else other._keys & AUTOGRAD
        if not (_n0 or _n1): return _result
        ...
        _node = NODE((edge of input, edge of other), (saved other, its version, ...), _conforming)
        _result._autograd = META(_node)
        _result._keys = WITH_AUTOGRAD[_result._keys]
        return _result
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..autograd_state import INFERENCE, AutogradMeta
from ..dispatch.callpath import NUMBERS, compile_function, kernel_call, parameters, python_name
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.keys import (
    ADINPLACE,
    AUTOGRAD,
    AUTOGRAD_OF,
    WITH_AUTOGRAD,
    DispatchKey,
)
from ..dispatch.registry import registry
from ..dispatch.schema import Argument, OperatorSchema
from . import fallback, inference, inplace, saved
from .compositions import is_decomposed, unrecorded
from .conform import conform
from .names import name_by_dim, node_name
from .node import Field, Node, freed_error

__all__ = ["autograd_kernel", "formula_needs", "recorder"]

_RECORDERS: Final[dict[tuple[OpEntry, bool], Callable[..., Kernel]]] = {}
_NODES: Final[dict[OpEntry, type[Node]]] = {}
# Parameters of formulas that are not saved.
_GIVEN: Final = frozenset({"g", "grads", "wanted"})
# ``self_shape`` saves only the shape of ``self``; a geometry is (shape, strides, offset).
_PARTS: Final = ("shape", "dtype", "device", "geometry")


def autograd_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What the Autograd keys run for an op; None where there is nothing to record."""
    d = entry.definition
    if d is None:
        return fallback.warning_kernel(entry, resolve(below_mask)) if entry.has_schema else None
    if isinstance(d.grad, str):
        return None
    below = resolve(below_mask)
    if is_decomposed(entry, below_mask):
        below = unrecorded(below)
    guarded = bool(below_mask & INFERENCE)
    if d.functional is not None:
        return inplace.inplace_kernel(entry, below, guarded=guarded)
    return recorder(entry, guarded=guarded)(below)


def recorder(entry: OpEntry, *, guarded: bool = False) -> Callable[..., Kernel]:
    """The generated maker of recording kernels for an op: ``maker(below) -> kernel``.

    Args:
        entry: the op.
        guarded: whether an argument may be an inference tensor; it is then refused if it would
            have to be saved.
    """
    made = _RECORDERS.get((entry, guarded))
    if made is None:
        made = _RECORDERS[entry, guarded] = _Generator(entry, guarded=guarded).maker()
    return made


def formula_needs(formula: Callable[..., Any]) -> tuple[str, ...]:
    """Names of a formula's parameters."""
    code = formula.__code__
    return code.co_varnames[: code.co_argcount]


class _Value(NamedTuple):
    """One saved value: how it is saved, and how it is read back.

    Attributes:
        name: the formula parameter it serves.
        prepare: statements before the node is made.
        items: expressions that go into the node's ``saved`` tuple.
        load: expression that reads it back; ``{0}`` is the index of its first item.
        holds: whether it holds on to a tensor's memory; only such values are freed.
    """

    name: str
    prepare: list[str]
    items: list[str]
    load: str
    holds: bool = False


class _Generator:
    """Writes the recording kernel and the node class of one op."""

    def __init__(self, entry: OpEntry, *, guarded: bool = False) -> None:
        schema, d = entry.schema, entry.definition
        if schema is None or d is None:
            raise TypeError(f"{entry.name} has no definition to differentiate")
        self.entry = entry
        self.guarded = guarded
        self.schema: OperatorSchema = schema
        self.formulas = dict(d.grad) if isinstance(d.grad, Mapping) else {}
        self.has_formulas = d.grad is not None
        self.broadcasts = d.broadcasts
        self.promotes = d.promotes
        self.saved_if = d.saved_if
        self.numbers = d.numbers
        self.listed = len(schema.returns) == 1 and schema.returns[0].is_list
        self.several = len(schema.returns) > 1 or self.listed
        self.arguments = {a.name: a for a in schema.arguments}
        self.wanted = [
            a for a in schema.arguments if a.type == "Tensor" and a.name in self.formulas
        ]
        self.values = [self._value(name) for name in self._needed()]

    # ---- what is saved -------------------------------------------------------------------------

    def _needed(self) -> list[str]:
        """Every value some formula needs, in a fixed order."""
        names = [n for f in self.formulas.values() for n in formula_needs(f)]
        return list(dict.fromkeys(n for n in names if n not in _GIVEN))

    def _value(self, name: str) -> _Value:
        unless = self._condition(name)
        if name not in self.arguments and name.startswith("result"):
            number = name[6:] or "0"
            source = f"_result[{number}]" if self.several else "_result"
            return _Value(
                name,
                [],
                [f"OUTPUT_PARTS({source}){unless}"],
                f"saved_output(self, {number}, saved[{{0}}])",
                holds=True,
            )
        owner, _, part = name.rpartition("_")
        if name not in self.arguments and part in _PARTS and owner in self.arguments:
            return _Value(
                name, [], [self._part(self.arguments[owner], part) + unless], "saved[{0}]"
            )
        a = self.arguments[name]
        source = python_name(a)
        if a.type != "Tensor":
            return _Value(name, [], [source], "saved[{0}]")
        if a.is_list:
            items = [source + unless, f"VERSIONS_OF({source}){unless}"]
            return _Value(name, [], items, "saved_list(saved[{0}], saved[{0} + 1])", True)
        storage = f"_s_{source}"
        check = "saved_input(saved[{0}], saved[{0} + 1])"
        if self._may_lack_keys(a) or name in self.saved_if:
            find = f"{storage} = getattr({source}, '_storage', None)"
            check += " if hasattr(saved[{0}], '_storage') else saved[{0}]"
        else:
            find = f"{storage} = {source}._storage"
        items = [source + unless, f"0 if {storage} is None else {storage}.version"]
        return _Value(name, [find], items, check, holds=True)

    def _condition(self, name: str) -> str:
        """Save only if an input whose formula needs the value requires grad."""
        users = self._users(name)
        tests = [] if len(users) == len(self.wanted) else [f"({' or '.join(users)})"]
        tests += [self.saved_if[name]] if name in self.saved_if else []
        return f" if {' and '.join(tests)} else None" if tests else ""

    def _users(self, name: str) -> list[str]:
        """Flags of the inputs whose formula needs a value."""
        return [
            f"_n{i}"
            for i, a in enumerate(self.wanted)
            if name in formula_needs(self.formulas[a.name])
        ]

    def _part(self, a: Argument, part: str) -> str:
        source = python_name(a)
        if part == "geometry":
            return f"({source}._shape, *{source}._geometry())"
        if a.is_list:
            return f"[None if t is None else t._{part} for t in {source}]"
        return (
            f"getattr({source}, '_{part}', None)" if self._may_lack_keys(a) else f"{source}._{part}"
        )

    def _may_lack_keys(self, a: Argument) -> bool:
        """Whether the argument may be None or a number."""
        return a.optional or (self.numbers and a is not self.schema.arguments[0])

    # ---- the recording kernel ------------------------------------------------------------------

    def maker(self) -> Callable[..., Kernel]:
        """Compile ``make(below) -> kernel``."""
        body = [line.replace("return ", "_result = ") for line in kernel_call(self.schema, "BELOW")]
        if len(body) > 1:  # one call with keyword-only arguments, one without
            body[2:] = ["else:", "    " + body[2]]
        body = [*self._guards(), *body, *self._which_require_grad(), *self._only_if_needed()]
        if not self.wanted and self.has_formulas:
            body.append("return _result")
        else:
            body += self._make_node()
        inner = "\n".join("        " + line for line in body)
        name = self.schema.name
        source = f"def make(BELOW):\n    def {name}({parameters(self.schema)}):\n{inner}\n    return {name}\n"
        scope: dict[str, Any] = {
            "AUTOGRAD": AUTOGRAD,
            "META": AutogradMeta,
            "NUMBERS": NUMBERS,
            "NODE": self._node_class(),
            "WITH_AUTOGRAD": WITH_AUTOGRAD,
            "OUTPUT_PARTS": saved.output_parts,
            "REFUSE": inference.refuse_saving,
            "VERSIONS_OF": saved.versions_of,
        }
        return compile_function("make", source, scope)

    def _which_require_grad(self) -> list[str]:
        """``n0``, ``n1``...: for each differentiable input, whether it requires grad."""
        lines = []
        for i, a in enumerate(self.wanted):
            n = python_name(a)
            if a.is_list:
                absent = "_t is None or " if a.element_optional else ""
                lines.append(
                    f"_e{i} = [None if {absent}not _t._keys & AUTOGRAD else _t._autograd for _t in {n}]"
                )
                lines.append(f"_n{i} = any(e is not None for e in _e{i})")
            elif a.optional:
                lines.append(f"_n{i} = 0 if {n} is None else {n}._keys & AUTOGRAD")
            elif self._may_lack_keys(a):
                lines.append(f"_n{i} = 0 if type({n}) in NUMBERS else {n}._keys & AUTOGRAD")
            else:
                lines.append(f"_n{i} = {n}._keys & AUTOGRAD")
        return lines

    def _only_if_needed(self) -> list[str]:
        """Leave the kernel if no differentiable input requires grad, or the result cannot."""
        tensors = [a for a in self.schema.arguments if a.type == "Tensor"]
        lines = []
        if self.wanted and len(tensors) > 1:
            flags = " or ".join(f"_n{i}" for i in range(len(self.wanted)))
            lines.append(f"if not ({flags}): return _result")
        chosen = any(a.type == "ScalarType" for a in self.schema.arguments)
        if not self.several and (chosen or (len(tensors) > 1 and not self.promotes)):
            lines.append(
                "if _result._dtype.category < 2: return _result  # integers have no gradient"
            )
        return lines

    def _guards(self) -> list[str]:
        """Refuse inference tensors that would have to be saved, before anything is computed."""
        if not self.guarded:
            return []
        lines = self._which_require_grad()
        for v in self.values:
            if v.holds and v.name in self.arguments:
                source = python_name(self.arguments[v.name])
                tests = [f"({' or '.join(self._users(v.name))})", self.saved_if.get(v.name, "True")]
                lines.append(f"if {' and '.join(tests)}: REFUSE({source})")
        return lines

    def _make_node(self) -> list[str]:
        edges = "".join(
            f"*_e{i}, " if a.is_list else f"{python_name(a)}._autograd if _n{i} else None, "
            for i, a in enumerate(self.wanted)
        )
        lines = [line for v in self.values for line in v.prepare]
        items = "".join(f"{item}, " for v in self.values for item in v.items)
        conforming = "None"
        if self.broadcasts:
            lines += self._conforming()
            conforming = "_conforming"
        outputs = f", {len(self.schema.returns)}" if self.several else ""
        if self.listed:
            outputs = ", len(_result)"
        lines.append(f"_node = NODE(({edges}), ({items}), {conforming}{outputs})")
        if self.several:
            return [
                *lines,
                f"for _i, _r in {self._outputs()}:",
                "    if _r._dtype.category >= 2:",
                "        _r._autograd = META(_node, _i)",
                "        _r._keys = WITH_AUTOGRAD[_r._keys]",
                *self._plain_outputs(),
                "return _result",
            ]
        return [
            *lines,
            "_result._autograd = META(_node)",
            "_result._keys = WITH_AUTOGRAD[_result._keys]",
            "return _result",
        ]

    def _outputs(self) -> str:
        """What runs over the results that may require grad, with their positions."""
        d = self.entry.definition
        if d is None or not d.output_differentiability:
            return "enumerate(_result)"
        chosen = [i for i, flag in enumerate(d.output_differentiability) if flag]
        return f"({''.join(f'({i}, _result[{i}]), ' for i in chosen)})"

    def _plain_outputs(self) -> list[str]:
        """Take the history off results that never require grad: a kernel's parts may have one."""
        d = self.entry.definition
        if d is None or not d.output_differentiability:
            return []
        plain = [i for i, flag in enumerate(d.output_differentiability) if not flag]
        return [
            f"for _r in ({''.join(f'_result[{i}], ' for i in plain)}):",
            "    _r._autograd = None",
            "    _r._keys &= ~AUTOGRAD",
        ]

    def _conforming(self) -> list[str]:
        """Remember shape and dtype of inputs whose gradient will have to be summed or converted."""
        differs = [
            f"_n{i} and ({n}._shape != _shape or {n}._dtype is not _dtype)"
            for i, n in enumerate(map(python_name, self.wanted))
        ]
        parts = "".join(
            f"({n}._shape, {n}._dtype) if {test} else None, "
            for n, test in zip(map(python_name, self.wanted), differs, strict=True)
        )
        return [
            "_shape = _result._shape; _dtype = _result._dtype",
            f"_conforming = ({parts}) if {' or '.join(differs)} else None",
        ]

    # ---- the node ------------------------------------------------------------------------------

    def _node_class(self) -> type[Node]:
        """The op's Node subclass; without formulas its ``apply`` says that there are none."""
        made = _NODES.get(self.entry)
        if made is not None:
            return made
        members: dict[str, Any] = {
            "__slots__": (),
            "splits": self.listed,
            "fields": tuple(self._fields()),
        }
        if self.has_formulas:
            members["apply"] = self._apply()
        if self.has_formulas and not self._all_hold():
            members["release"] = releasing(self._held_positions())
        at = next((field.at for field in members["fields"] if field.name == "dim"), None)
        named = name_by_dim(self.entry.name, at)
        if named is not None:
            members["name"] = named
        made = _NODES[self.entry] = type(node_name(self.entry.name), (Node,), members)
        return made

    def _fields(self) -> Iterator[Field]:
        """What the nodes save, and where."""
        at = 0
        for v in self.values:
            kind, number = "value", 0
            if v.holds and v.name not in self.arguments:
                kind, number = "output", int(v.name[6:] or "0")
            elif v.holds:
                kind = "inputs" if self.arguments[v.name].is_list else "input"
            yield Field(v.name, at, kind, number)
            at += len(v.items)

    def _apply(self) -> Callable[..., Any]:
        lines = ["saved = self.saved", "edges = self.edges"]
        if self._all_hold():
            lines.append("if saved is None: raise freed_error()")
        if any("g" in formula_needs(f) for f in self.formulas.values()) and self.several:
            lines += ["g = grads[0]", "if g is None: return (None,) * len(edges)"]
        results = []
        scalars = sum(not a.is_list for a in self.wanted)
        position = "0"
        needed: dict[int, str] = {}
        for i, a in enumerate(self.wanted):
            if a.is_list:
                count = f"(len(edges) - {scalars})"
                lines += [
                    f"r{i} = [None] * {count}",
                    f"if any(e is not None for e in edges[{position}:{position} + {count}]):",
                ]
                results.append(f"*r{i}")
                position += f" + {count}"
            else:
                results.append(f"r{i}")
                lines.append(f"r{i} = None")
                needed[i] = f"edges[{position}] is not None"
                position += " + 1"
                served = self._served_with(i)
                if i != served[-1]:
                    continue  # it comes with the last one's
                lines.append(f"if {' or '.join(needed[j] for j in served)}:")
                if served != [i]:
                    lines.append(f"    wanted = [{', '.join(needed[j] for j in served)}]")
            lines += ["    " + line for line in self._evaluate(i, a)]
        if self.broadcasts:
            lines += ["c = self.conform", "if c is not None:"]
            lines += [
                f"    if c[{i}] is not None: r{i} = conform(r{i}, *c[{i}])"
                for i in range(len(self.wanted))
            ]
        lines.append(f"return ({', '.join(results)},)")
        body = "\n".join("    " + line for line in lines)
        source = f"def apply(self, {'*grads' if self.several else 'g'}):\n{body}\n"
        scope: dict[str, Any] = {
            f"formula{i}": self.formulas[a.name] for i, a in enumerate(self.wanted)
        }
        scope |= {
            "conform": conform,
            "freed_error": freed_error,
            "saved_input": saved.saved_input,
            "saved_list": saved.saved_list,
            "saved_output": saved.saved_output,
        }
        return compile_function("apply", source, scope)

    def _served_with(self, i: int) -> list[int]:
        """The inputs whose gradients the formula of an input gives, itself among them."""
        formula = self.formulas[self.wanted[i].name]
        if "wanted" not in formula_needs(formula):
            return [i]
        return [j for j, a in enumerate(self.wanted) if self.formulas[a.name] is formula]

    def _all_hold(self) -> bool:
        """Whether every formula needs a value that is freed."""
        return all(any(v.holds for v in self._values_of(a)) for a in self.wanted)

    def _values_of(self, a: Argument) -> list[_Value]:
        """The saved values that the formula of an input needs."""
        needs = formula_needs(self.formulas[a.name])
        return [v for v in self.values if v.name in needs]

    def _held_positions(self) -> tuple[int, ...]:
        """Where in ``saved`` the values are that are freed."""
        out = []
        at = 0
        for v in self.values:
            if v.holds:
                out.append(at)
            at += len(v.items)
        return tuple(out)

    def _evaluate(self, i: int, a: Argument) -> list[str]:
        """Read back what a formula needs and call it."""
        needs = formula_needs(self.formulas[a.name])
        lines = []
        if self._values_of(a) and self._held_positions() and not self._all_hold():
            lines.append("if saved is None: raise freed_error()")
        at = 0
        for v in self.values:
            if v.name in needs:
                lines.append(f"v_{v.name} = {v.load.format(at)}")
            at += len(v.items)
        given = ", ".join(n if n in _GIVEN else f"v_{n}" for n in needs)
        served = self._served_with(i)
        return [*lines, f"{', '.join(f'r{j}' for j in served)} = formula{i}({given})"]


def releasing(held: tuple[int, ...]) -> Callable[[Node], None]:
    """`Node.release` of nodes that may hold no tensor: those can be walked again.

    Args:
        held: where in ``saved`` tensors are.
    """
    if not held:
        return lambda self: None

    def release(self: Node) -> None:
        kept = self.saved
        if kept is not None and any(kept[i] is not None for i in held):
            self.saved = None

    return release


def install() -> None:
    """Serve the Autograd keys, ADInplaceOrView and Inference."""
    for key in (*AUTOGRAD_OF.values(), DispatchKey.AutogradOther, DispatchKey.AutogradNestedTensor):
        registry.wrappers[key] = autograd_kernel
    registry.wrappers[ADINPLACE] = inplace.version_kernel
    inference.install()
