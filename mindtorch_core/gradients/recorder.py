"""Recording kernels: run the op below and make a node for backward.

One is generated for each op from its schema and its `Derivative`. A value is saved only if a formula
that will be evaluated needs it. For ``mul(Tensor self, Tensor other)`` the kernel reads::

    def mul(input, other):
        @result = @below(input, other)
        @n0 = input._keys & @AUTOGRAD
        @n1 = 0 if @type(other) in @NUMBERS else other._keys & @AUTOGRAD
        if not (@n0 or @n1): return @result
        ...
        @node = @NEW(@Node)
        @node.edges = (edge of input, edge of other)
        @node.saved = (saved other, its version, ...)
        ...
        @result._autograd = @meta = @NEW(@Meta)
        ...
        @result._keys = @WITH_AUTOGRAD[@result._keys]
        return @result
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.calls.generated import Template, compile_function, function_name, own, own_scope
from ..dispatch.calls.parts import DEFAULT_NUMBERS, NUMBERS, kernel_call, parameters, python_name
from ..dispatch.entry import Kernel
from ..dispatch.keys import AUTOGRAD, WITH_AUTOGRAD
from ..dispatch.schema import Argument
from ..tensors.autograd_state import AutogradMeta
from . import saved
from .derivative import Derivative, Value, formula_needs
from .inference import refuse_saving
from .node import WATCHERS, Node, announce, next_number

__all__ = ["recorder"]

_KERNEL: Final = Template("""\
def make(@below):
    def $name($parameters):
        $guards
        $call
        $flags
        $leave
        $prepare
        @node = @NEW(@Node)  # as `Node` makes it, whose call costs a sixth of a small op
        @node.edges = ($edges)
        @node.saved = ($items)
        @node.conform = $conform
        @node.outputs = $outputs
        @node.hooks = @node.storages = None
        @node.number = @NUMBER()
        if @WATCHERS:
            @ANNOUNCE(@node)
        $attach
        return @result
    return $name
""")
_ATTACH: Final = own("""\
@result._autograd = @meta = @NEW(@Meta)
@meta.node = @node
@meta.output_nr = 0
@meta.grad = None
@meta.is_leaf = False
@result._keys = @WITH_AUTOGRAD[@result._keys]
""")
# What a composition ends with may be a view of something that only it has seen. It has no history, so
# a write into the result would find none either.
_APART: Final = Template("""\
if @result._base is not None and not @result._base._keys & @AUTOGRAD$unlike:
    @result._base = None
""")
_ATTACH_SEVERAL: Final = Template("""\
for @i, @r in $outputs:
    if @r._dtype.category >= 2:
        @r._autograd = @Meta(@node, @i)
        @r._keys = @WITH_AUTOGRAD[@r._keys]
""")
_DETACH: Final = Template("""\
for @r in ($plain):
    if @r is not None:
        @r._autograd = None
        @r._keys &= ~@AUTOGRAD
""")
_SCOPE: Final[dict[str, Any]] = {
    **DEFAULT_NUMBERS,
    "ANNOUNCE": announce,
    "AUTOGRAD": AUTOGRAD,
    "Meta": AutogradMeta,
    "NEW": object.__new__,
    "NUMBER": next_number,
    "NUMBERS": NUMBERS,
    "WATCHERS": WATCHERS,
    "WITH_AUTOGRAD": WITH_AUTOGRAD,
    "output_parts": saved.output_parts,
    "refuse": refuse_saving,
    "versions_of": saved.versions_of,
}


def recorder(
    d: Derivative, node_class: type[Node], *, guarded: bool, inplace: bool
) -> Callable[..., Kernel]:
    """The maker of an op's recording kernels: ``maker(below) -> kernel``.

    Args:
        d: the op's gradient.
        node_class: of its nodes.
        guarded: whether an argument may be an inference tensor; it is then refused if it would
            have to be saved.
        inplace: whether the result is the first argument, whose dtype may be none that the operands
            meet in.
    """
    return _Writer(d, inplace).maker(node_class, guarded)


class _Writer:
    """Writes the recording kernel of one op."""

    def __init__(self, d: Derivative, inplace: bool) -> None:
        self.d = d
        self.inplace = inplace
        conditions = d.definition.saved_if
        self.conditions = list(dict.fromkeys(conditions.values()))
        self.flags = {name: f"@c{self.conditions.index(c)}" for name, c in conditions.items()}

    def maker(self, node_class: type[Node], guarded: bool) -> Callable[..., Kernel]:
        """Compile ``make(below) -> kernel``."""
        d = self.d
        prepare = [*self._conditions(), *(line for v in d.values for line in _found(d, v))]
        if d.definition.operands.broadcasts:
            prepare += self._conform()
        edges = "".join(
            f"*@e{i}, " if a.is_list else f"{python_name(a)}._autograd if @n{i} else None, "
            for i, a in enumerate(d.wanted)
        )
        items = [item for v in d.values for item in _items(d, v, self._unless(v))]
        outputs = "@len(@result)" if d.listed else f"{len(d.schema.returns)}"
        source = _KERNEL.fill(
            name=function_name(d.schema.name),
            parameters=parameters(d.schema),
            guards=_lines(self._guards() if guarded else []),
            call=kernel_call(d.schema, own("@below"), own("@result = {}")),
            flags=_lines(self._which_require_grad()),
            leave=_lines(self._leave()),
            prepare=_lines(prepare),
            edges=own(edges),
            items=own("".join(f"{item}, " for item in items)),
            conform=own("@conform") if d.definition.operands.broadcasts else "None",
            outputs=own(outputs) if d.several else "1",
            attach=self._attach(),
        )
        scope = {**_SCOPE, "Node": node_class}
        scope |= {f"condition{i}": c for i, c in enumerate(self.conditions)}
        file = f"{function_name(d.schema.name)}, recorded"
        return compile_function("make", source, own_scope(scope), file=file)

    def _which_require_grad(self) -> list[str]:
        """``_n0``, ``_n1``...: for each differentiable input, whether it requires grad."""
        lines = []
        for i, a in enumerate(self.d.wanted):
            n = python_name(a)
            if a.is_list:
                absent = "@t is None or " if a.element_optional else ""
                edge = f"None if {absent}not @t._keys & @AUTOGRAD else @t._autograd"
                lines.append(f"@e{i} = [{edge} for @t in {n}]")
                lines.append(f"@n{i} = @any(@e is not None for @e in @e{i})")
            elif a.optional:
                lines.append(f"@n{i} = 0 if {n} is None else {n}._keys & @AUTOGRAD")
            elif self.d.may_lack_keys(a):
                lines.append(f"@n{i} = 0 if @type({n}) in @NUMBERS else {n}._keys & @AUTOGRAD")
            else:
                lines.append(f"@n{i} = {n}._keys & @AUTOGRAD")
        return lines

    def _leave(self) -> list[str]:
        """Leave the kernel if no differentiable input requires grad, or the result cannot."""
        d = self.d
        tensors = [a for a in d.schema.arguments if a.type == "Tensor"]
        lines = []
        if d.wanted and len(tensors) > 1:
            flags = " or ".join(f"@n{i}" for i in range(len(d.wanted)))
            lines.append(f"if not ({flags}): return @result")
        chosen = any(a.type == "ScalarType" for a in d.schema.arguments)
        if not d.several and (chosen or (len(tensors) > 1 and not d.definition.operands.promotes)):
            lines.append(
                "if @result._dtype.category < 2: return @result  # integers have no gradient"
            )
        return lines

    # ---- what is saved -------------------------------------------------------------------------

    def _conditions(self) -> list[str]:
        """``_c0``, ``_c1``...: what the row says about when values are needed."""
        names = {a.name: python_name(a) for a in self.d.schema.arguments}
        return [
            f"@c{i} = @condition{i}({', '.join(names[n] for n in formula_needs(condition))})"
            for i, condition in enumerate(self.conditions)
        ]

    def _flag(self, v: Value) -> list[str]:
        """The row's condition for saving a value, if it has one."""
        return [self.flags[v.name]] if v.conditional else []

    def _tests(self, v: Value) -> list[str]:
        """Save only if an input whose formula needs the value requires grad, and as the row says."""
        users = self.d.users(v)
        used = f"({' or '.join(f'@n{i}' for i in users)})"
        tests = [] if len(users) == len(self.d.wanted) else [used]
        return [*tests, *self._flag(v)]

    def _unless(self, v: Value) -> str:
        tests = self._tests(v) if v.kind != "argument" else []
        return f" if {' and '.join(tests)} else None" if tests else ""

    def _guards(self) -> list[str]:
        """Refuse inference tensors that would have to be saved, before anything is computed."""
        lines = [*self._which_require_grad(), *self._conditions()]
        for v in self.d.values:
            if v.argument is not None and v.holds:
                flags = [f"@n{i}" for i in self.d.users(v)]
                tests = [f"({' or '.join(flags)})", *self._flag(v)]
                lines.append(f"if {' and '.join(tests)}: @refuse({python_name(v.argument)})")
        return lines

    def _conform(self) -> list[str]:
        """Remember shape and dtype of inputs whose gradient will have to be summed or converted.

        Formulas compute in the dtype in which the operands meet. That is the result's, unless the
        result is an operand that changed in place.
        """
        names = [python_name(a) for a in self.d.wanted]
        operands = [python_name(a) for a in self.d.schema.arguments if a.type == "Tensor"]
        differs = [
            f"@n{i} and ({'@mixed or ' * self.inplace}{n}._shape != @shape or "
            f"{n}._dtype is not @dtype)"
            for i, n in enumerate(names)
        ]
        mixed = " or ".join(f"@getattr({n}, '_dtype', @dtype) is not @dtype" for n in operands)
        parts = "".join(
            f"({n}._shape, {n}._dtype) if {test} else None, "
            for n, test in zip(names, differs, strict=True)
        )
        return [
            "@shape = @result._shape",
            "@dtype = @result._dtype",
            *([f"@mixed = {mixed}"] if self.inplace else []),
            f"@conform = ({parts}) if {' or '.join(differs)} else None",
        ]

    # ---- the results ---------------------------------------------------------------------------

    def _attach(self) -> str:
        """Give the results their places in the graph; take them off those that never require grad.

        A kernel's parts may have given such a result a history.
        """
        definition = self.d.definition
        if not self.d.several:
            composed = definition.decomposition is not None and not definition.traits.view
            if not composed or self.inplace:
                return _ATTACH
            given = [python_name(a) for a in self.d.wanted if not a.is_list]
            unlike = "".join(
                f" and @result._base is not @getattr({n}, '_base', None)" for n in given
            )
            return _APART.fill(unlike=own(unlike)) + _ATTACH
        chosen = definition.output_differentiability
        if not chosen:
            return _ATTACH_SEVERAL.fill(outputs=own("@enumerate(@result)"))
        outputs = "".join(f"({i}, @result[{i}]), " for i, flag in enumerate(chosen) if flag)
        returns = self.d.schema.returns
        others = (i for i, flag in enumerate(chosen) if not flag and returns[i].type == "Tensor")
        plain = "".join(f"@result[{i}], " for i in others)
        attach = _ATTACH_SEVERAL.fill(outputs=own(f"({outputs})"))
        return attach + _DETACH.fill(plain=own(plain)) if plain else attach


def _lines(lines: list[str]) -> str:
    """Lines of generated code, with each ``@name`` as a name of its own."""
    return own("\n".join(lines))


def _found(d: Derivative, v: Value) -> list[str]:
    """What has to be looked up before a value is saved."""
    if v.kind != "input" or v.argument is None:
        return []
    n = python_name(v.argument)
    if _may_be_none(d, v):
        return [f"@s_{n} = @getattr({n}, '_storage', None)"]
    return [f"@s_{n} = {n}._storage"]


def _items(d: Derivative, v: Value, unless: str) -> list[str]:
    """The expressions of what goes into a node's ``saved`` for a value.

    Args:
        d: the op's gradient.
        v: the value.
        unless: what makes None of it where it is not needed.
    """
    if v.argument is None:
        source = f"@result[{v.number}]" if d.several else "@result"
        if v.kind == "input":
            s = f"{source}._storage"
            return [f"{source}{unless}", f"0 if {source} is None or {s} is None else {s}.version"]
        return [f"@output_parts({source}){unless}"]
    n = python_name(v.argument)
    if v.kind == "part":
        return [_part(d, v.argument, v.part) + unless]
    if v.kind == "inputs":
        return [n + unless, f"@versions_of({n}){unless}"]
    if v.kind == "input":
        return [n + unless, f"0 if @s_{n} is None else @s_{n}.version"]
    return [n]


def _part(d: Derivative, a: Argument, part: str) -> str:
    """The expression of a part of a tensor."""
    n = python_name(a)
    if part == "geometry":
        return f"({n}._shape, *{n}._geometry())"
    if a.is_list:
        return f"[None if @t is None else @t._{part} for @t in {n}]"
    return f"@getattr({n}, '_{part}', None)" if d.may_lack_keys(a) else f"{n}._{part}"


def _may_be_none(d: Derivative, v: Value) -> bool:
    """Whether an input may be saved as None, or be no tensor."""
    return v.conditional or (v.argument is not None and d.may_lack_keys(v.argument))
