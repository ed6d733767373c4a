"""Node classes of ops: each evaluates its op's gradient formulas, by a generated ``apply``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.calls.generated import Template, compile_function, function_name, own, own_scope
from . import saved
from .conform import conform
from .derivative import GIVEN, Derivative, Value
from .names import name_by_dim, node_name
from .node import Node, freed_error
from .saved_attributes import saved_attributes

__all__ = ["node_class"]

# What a formula is given stands in variables of the function's own: ``@v_self``.
_APPLY: Final = Template("""\
def apply(self, $gradients):
    saved = self.saved
    edges = self.edges
    $freed
    $first
    $formulas
    $conform
    return ($results,)
""")
_FIRST: Final = """\
g = grads[0]
if g is None:
    return (None,) * len(edges)
"""
_FORMULA: Final = Template("""\
$absent
if $needed:
    $wanted
    $freed
    $load
    $results = $computed
""")
_FREED: Final = own("""\
if saved is None:
    raise @freed_error()
""")
_CONFORM: Final = Template("""\
c = self.conform
if c is not None:
    $each
""")
_SCOPE: Final[dict[str, Any]] = {
    "conform": conform,
    "freed_error": freed_error,
    "saved_input": saved.saved_input,
    "saved_list": saved.saved_list,
    "saved_output": saved.saved_output,
}


def node_class(d: Derivative) -> type[Node]:
    """The class of an op's nodes; where there are no formulas, its ``apply`` says so."""
    fields = tuple(v.field for v in d.values)
    members: dict[str, Any] = {
        "__slots__": (),
        "splits": d.listed,
        "fields": fields,
        "held": tuple((f.at, f.kind) for f in fields if f.kind != "value"),
        **saved_attributes(fields),
    }
    if d.definition.grad is not None:
        members["apply"] = _apply(d)
        if not _all_hold(d):
            members["release"] = releasing(tuple(v.at for v in d.values if v.holds))
    named = name_by_dim(d.definition, next((f.at for f in fields if f.name == "dim"), None))
    if named is not None:
        members["name"] = named
    return type(node_name(d.definition), (Node,), members)


def _all_hold(d: Derivative) -> bool:
    """Whether every formula needs a value that is freed, in every call."""
    return all(
        any(v.holds and not v.conditional for v in d.values_of(i)) for i in range(len(d.wanted))
    )


def _apply(d: Derivative) -> Callable[..., Any]:
    """The function that evaluates the formulas."""
    places = _places(d)
    served = {i: d.served_with(i) for i in range(len(d.wanted))}
    alone = d.several and any("g" in d.needs(i) for i in served)
    each = [
        f"if c[{i}] is not None: r{i} = @conform(r{i}, *c[{i}])"
        for i in served
        if d.definition.operands.broadcasts
    ]
    source = _APPLY.fill(
        gradients="*grads" if d.several else "g",
        freed=_FREED if _all_hold(d) else "",
        first=_FIRST if alone else "",
        # A formula that serves several inputs is evaluated at the last of them.
        formulas="".join(_formula(d, served[i], places) for i in served if i == served[i][-1]),
        conform=_CONFORM.fill(each=own("\n".join(each))) if each else "",
        results=", ".join(f"*r{i}" if a.is_list else f"r{i}" for i, a in enumerate(d.wanted)),
    )
    formulas = {f"formula{i}": d.formulas[a.name] for i, a in enumerate(d.wanted)}
    file = f"{function_name(d.schema.name)}, its gradient"
    return compile_function("apply", source, own_scope({**_SCOPE, **formulas}), file=file)


def _places(d: Derivative) -> list[str]:
    """For each input the expression of its edge; for a list, of its edges."""
    count = len(d.wanted)
    spread = next((i for i, a in enumerate(d.wanted) if a.is_list), count)
    places = [f"edges[{i if i < spread else i - count}]" for i in range(count)]
    if spread < count:
        end = spread + 1 - count
        places[spread] = f"edges[{spread}:{end or ''}]"
    return places


def _formula(d: Derivative, served: list[int], places: list[str]) -> str:
    """The lines that read back what a formula needs and call it.

    Args:
        d: the op's gradient.
        served: the inputs whose gradients it gives.
        places: the edges of all inputs.
    """
    i = served[-1]
    values = d.values_of(i)
    frees = values and any(v.holds for v in d.values) and not _all_hold(d)
    if d.wanted[i].is_list:
        absent = [f"r{i} = [None] * len({places[i]})"]
        needed = [f"any(e is not None for e in {places[i]})"]
    else:
        absent = [f"r{j} = None" for j in served]
        needed = [f"{places[j]} is not None" for j in served]
    load = [f"@v_{v.name} = {_loaded(d, v)}" for v in values]
    return _FORMULA.fill(
        absent="\n".join(absent),
        needed=" or ".join(needed),
        wanted=f"wanted = [{', '.join(needed)}]" if len(served) > 1 else "",
        freed=_FREED if frees else "",
        load=own("\n".join(load)),
        results=", ".join(f"r{j}" for j in served),
        computed=own(_computed(d, i)),
    )


def _computed(d: Derivative, i: int) -> str:
    """The expression that calls a formula; where that hands the gradient on, the gradient itself."""
    given = ", ".join(n if n in GIVEN else f"@v_{n}" for n in d.needs(i))
    same = d.formulas[d.wanted[i].name].__code__.co_code == (lambda g: g).__code__.co_code
    return "g" if same and given == "g" else f"@formula{i}({given})"


def _loaded(d: Derivative, v: Value) -> str:
    """The expression that reads a value back, and checks that it is what it was."""
    item = f"saved[{v.at}]"
    if v.kind == "output":
        return f"@saved_output(self, {v.number}, {item})"
    if v.kind == "inputs":
        return f"@saved_list({item}, saved[{v.at + 1}])"
    if v.kind != "input":
        return item
    checked = f"@saved_input({item}, saved[{v.at + 1}])"
    if v.conditional or (v.argument is not None and d.may_lack_keys(v.argument)):
        return f"{checked} if hasattr({item}, '_storage') else {item}"
    return checked


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
