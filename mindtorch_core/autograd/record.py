"""The Autograd key: kernels that run the op below and record a node for backward.

For each op a recording function is generated from its schema and its gradient formulas. What a
formula needs is read from its parameter names: ``g`` is the gradient of the output, an argument's
name is that argument, ``<argument>_shape`` only its shape, ``result`` the op's output (``result1``
the second one). A value is saved only if a formula that will be evaluated needs it.

Saved tensors remember their version; using one that was changed in place since is an error. An
output is saved by its parts, not as a tensor, so that a graph nobody walks is freed at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..autograd_state import AutogradMeta
from ..devices import TABLE
from ..dispatch.callpath import _call, compile_function, python_name
from ..dispatch.keys import ADINPLACE, AUTOGRAD, AUTOGRAD_OF, BACKEND_KEYS, DispatchKey
from ..dispatch.registry import Kernel, OpEntry, registry
from ..dispatch.schema import OperatorSchema
from ..tensor import Tensor, make_tensor
from . import inplace
from .conform import conform
from .node import Node, changed_error, freed_error

__all__ = ["autograd_kernel", "recorder"]

_RECORDERS: Final[dict[str, Callable[..., Kernel]]] = {}


def autograd_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What the Autograd keys run for an op; None where there is nothing to record."""
    d = entry.definition
    if d is None or isinstance(d.grad, str):
        return None
    below = resolve(below_mask)
    if d.functional is not None:
        return inplace.inplace_kernel(entry, below)
    return recorder(entry)(below)


def saved_output(node: Node, output_nr: int, parts: tuple[Any, ...]) -> Tensor:
    """Rebuild an output that was saved by its parts, with its place in the graph."""
    data, shape, dtype, device, keys, storage, layout, version = parts
    found = storage.version
    t = make_tensor(data, shape, dtype, device, keys, storage, layout)
    if found != version:
        raise changed_error(t, version, found)
    if storage.pending is not None or data is None:
        storage.settle()
    t._autograd = AutogradMeta(node, output_nr)
    t._keys = keys | TABLE[device.type].autograd_key
    return t


def output_parts(t: Tensor) -> tuple[Any, ...]:
    """The parts of an output that `saved_output` rebuilds it from."""
    s = t._storage
    if s is None:
        s = t._own_storage()
    return (t._data, t._shape, t._dtype, t._device, t._keys, s, t._layout, s.version)


def saved_input(t: Any, version: int) -> Any:
    """Check that a saved input is what it was."""
    s = t._storage
    found = 0 if s is None else s.version
    if found != version:
        raise changed_error(t, version, found)
    return t


def saved_list(values: Any, versions: list[int]) -> Any:
    """Check a saved list of inputs."""
    for t, version in zip(values, versions, strict=True):
        if t is not None:
            saved_input(t, version)
    return values


def versions_of(values: Any) -> list[int]:
    """Versions of a list of inputs."""
    return [
        0 if t is None or (s := t._storage) is None else s.version for t in values
    ]


class _Plan:
    """What has to be generated for one op: its differentiable arguments and saved values."""

    def __init__(self, entry: OpEntry) -> None:
        schema, d = entry.schema, entry.definition
        if schema is None or d is None:
            raise TypeError(f"{entry.name} has no definition to differentiate")
        self.schema: OperatorSchema = schema
        self.formulas = dict(d.grad) if d.grad is not None and not isinstance(d.grad, str) else {}
        self.arguments = {a.name: a for a in schema.arguments}
        self.broadcasts = d.broadcasts
        self.numbers = d.numbers
        self.several = len(schema.returns) > 1
        self.wanted = [
            a for a in schema.arguments if a.type == "Tensor" and a.name in self.formulas
        ]
        self.missing = d.grad is None

    def needs(self, formula: Callable[..., Any]) -> tuple[str, ...]:
        code = formula.__code__
        return code.co_varnames[: code.co_argcount]

    def saved_names(self) -> list[str]:
        """Every value some formula needs, in a fixed order."""
        out: list[str] = []
        for formula in self.formulas.values():
            out += [n for n in self.needs(formula) if n not in ("g", "grads") and n not in out]
        return out


def recorder(entry: OpEntry) -> Callable[..., Kernel]:
    """The generated maker of recording kernels for an op: ``maker(below) -> kernel``."""
    made = _RECORDERS.get(entry.name)
    if made is None:
        made = _RECORDERS[entry.name] = _generate(entry)
    return made


def node_name(op_name: str) -> str:
    """PyTorch's name for an op's node: ``log_softmax`` gives ``LogSoftmaxBackward0``."""
    base, _, overload = op_name.rpartition("::")[2].partition(".")
    parts = base.split("_")
    index = "1" if overload in ("dim", "other") else "0"
    return "".join(p[:1].upper() + p[1:] for p in parts) + f"Backward{index}"


def _py(name: str) -> str:
    return "input" if name == "self" else name


def _generate(entry: OpEntry) -> Callable[..., Kernel]:
    plan = _Plan(entry)
    node_class = _node_class(entry, plan)
    schema = plan.schema
    names = ", ".join(
        [python_name(a) for a in schema.positional]
    )
    params = ", ".join(
        [f"{python_name(a)}={a.default!r}" if a.has_default else python_name(a) for a in schema.positional]
        + (["*"] if schema.keyword_only else [])
        + [f"{python_name(a)}={a.default!r}" for a in schema.keyword_only if a.alias is None]
    )
    call = [line.replace("return ", "result = ") for line in _call(schema, "{}")]
    if len(call) > 1:
        call.insert(2, "else:")
        call[3] = "    " + call[3]
    call = [line.replace("kernel(", "below(") for line in call]

    body = list(call)
    flags: list[str] = []
    for i, a in enumerate(plan.wanted):
        n = python_name(a)
        if a.is_list:
            guard = "t is not None and t._keys & AUTOGRAD" if a.element_optional else "t._keys & AUTOGRAD"
            body.append(f"n{i} = [t._autograd if {guard} else None for t in {n}]")
            body.append(f"a{i} = any(e is not None for e in n{i})")
            flags.append(f"a{i}")
            continue
        if a.optional:
            body.append(f"n{i} = 0 if {n} is None else {n}._keys & AUTOGRAD")
        elif plan.numbers and i > 0 or plan.numbers and a is not schema.arguments[0]:
            body.append(f"n{i} = 0 if type({n}) in NUMBERS else {n}._keys & AUTOGRAD")
        else:
            body.append(f"n{i} = {n}._keys & AUTOGRAD")
        flags.append(f"n{i}")
    if len(flags) > 1 or (plan.wanted and len([a for a in schema.arguments if a.type == "Tensor"]) > 1):
        body.append(f"if not ({' or '.join(flags)}): return result")
    if not plan.wanted and not plan.missing:
        body.append("return result")

    edges = ", ".join(
        f"*n{i}" if a.is_list else f"{python_name(a)}._autograd if n{i} else None"
        for i, a in enumerate(plan.wanted)
    )
    saved = _saving(plan)
    body += saved[0]
    if plan.broadcasts:
        first = "result[0]" if plan.several else "result"
        parts = ", ".join(
            f"({python_name(a)}._shape, {python_name(a)}._dtype) if n{i} and "
            f"({python_name(a)}._shape != rs or {python_name(a)}._dtype is not rd) else None"
            for i, a in enumerate(plan.wanted)
        )
        body += [f"rs = {first}._shape; rd = {first}._dtype", f"conforming = ({parts},)"]
        nones = " and ".join(f"conforming[{i}] is None" for i in range(len(plan.wanted)))
        body.append(f"if {nones}: conforming = None")
    else:
        body.append("conforming = None")
    outputs = len(schema.returns)
    body.append(
        f"node = Node(({edges}{',' if edges else ''}), ({saved[1]}), conforming"
        f"{f', {outputs}' if outputs > 1 else ''})"
    )
    if plan.several:
        body += [
            "for i, r in enumerate(result):",
            "    if r._dtype.category >= 2:",
            "        r._autograd = Meta(node, i)",
            "        r._keys |= bits",
        ]
    else:
        body += ["result._autograd = Meta(node)", "result._keys |= bits"]
    body.append("return result")
    text = "\n".join("        " + line for line in body)
    source = (
        f"def make(below):\n    def {schema.name}({params}):\n"
        f"{text}\n    return {schema.name}\n"
    )
    scope: dict[str, Any] = {
        "AUTOGRAD": AUTOGRAD,
        "Meta": AutogradMeta,
        "NUMBERS": frozenset({int, float, bool, complex}),
        "Node": node_class,
        "bits": 0,
        "output_parts": output_parts,
        "versions_of": versions_of,
    }
    source = source.replace("_keys |= bits", "_keys |= autograd_of[r._keys & BACKENDS]" if plan.several
                            else "_keys |= autograd_of[result._keys & BACKENDS]")
    scope["autograd_of"] = {int(k): int(v) for k, v in AUTOGRAD_OF.items()}
    scope["BACKENDS"] = sum(BACKEND_KEYS)
    del names
    return compile_function("make", source, scope)


def _saving(plan: _Plan) -> tuple[list[str], str]:
    """Lines that prepare saved values, and the expression of the saved tuple."""
    lines: list[str] = []
    items: list[str] = []
    for k, name in enumerate(plan.saved_names()):
        users = [
            f"{'a' if a.is_list else 'n'}{i}"
            for i, a in enumerate(plan.wanted)
            if name in plan.needs(plan.formulas[a.name])
        ]
        condition = "" if len(users) == len(plan.wanted) else f" if {' or '.join(users)} else None"
        if name == "result" or (name.startswith("result") and name[6:].isdigit()):
            value = "result" if name == "result" else f"result[{name[6:]}]"
            if name == "result" and plan.several:
                value = "result[0]"
            items.append(f"output_parts({value}){condition}")
            continue
        argument, _, part = name.rpartition("_")
        if name not in plan.arguments and part in ("shape", "dtype", "device") and argument in plan.arguments:
            source = _py(argument)
            attribute = f"_{part}"
            if plan.arguments[argument].is_list:
                value = f"[t.{attribute} if t is not None else None for t in {source}]"
            else:
                value = f"getattr({source}, {attribute!r}, None)" if plan.numbers else f"{source}.{attribute}"
            items.append(value + condition)
            continue
        a = plan.arguments[name]
        source = _py(name)
        if a.type != "Tensor":
            items.append(source)
        elif a.is_list:
            items += [source + condition, f"versions_of({source}){condition}"]
        else:
            maybe = a.optional or (plan.numbers and a is not plan.schema.arguments[0])
            s = f"s{k}"
            lines.append(
                f"{s} = getattr({source}, '_storage', None)" if maybe else f"{s} = {source}._storage"
            )
            items += [source + condition, f"0 if {s} is None else {s}.version"]
    expression = ", ".join(items)
    return lines, expression + ("," if items else "")


def _node_class(entry: OpEntry, plan: _Plan) -> type[Node]:
    """The Node subclass of an op, its ``apply`` generated from the formulas."""
    name = node_name(entry.name)
    if plan.missing:
        return type(name, (Node,), {"__slots__": ()})
    lines = ["saved = self.saved", "if saved is None: raise freed_error()", "edges = self.edges"]
    slot = 0
    access: dict[str, list[str]] = {}
    for saved_name in plan.saved_names():
        argument = plan.arguments.get(saved_name)
        if saved_name.startswith("result") and argument is None:
            nr = saved_name[6:] or "0"
            access[saved_name] = [f"v_{saved_name} = saved_output(self, {nr}, saved[{slot}])"]
            slot += 1
        elif argument is None or argument.type != "Tensor":
            access[saved_name] = [f"v_{saved_name} = saved[{slot}]"]
            slot += 1
        else:
            check = "saved_list" if argument.is_list else "saved_input"
            maybe = argument.optional or plan.numbers
            guard = f" if hasattr(saved[{slot}], '_storage') else saved[{slot}]" if maybe and not argument.is_list else ""
            access[saved_name] = [
                f"v_{saved_name} = {check}(saved[{slot}], saved[{slot + 1}]){guard}"
            ]
            slot += 2
    position = "0"
    results: list[str] = []
    single = [a for a in plan.wanted if not a.is_list]
    for i, a in enumerate(plan.wanted):
        formula = plan.formulas[a.name]
        arguments = ", ".join("g" if n == "g" else "grads" if n == "grads" else f"v_{n}" for n in plan.needs(formula))
        loads = [line for n in plan.needs(formula) if n in access for line in access[n]]
        if a.is_list:
            count = f"len(edges) - {len(single)}"
            lines += [f"r{i} = [None] * ({count})", f"if any(e is not None for e in edges[{position}:{position} + {count}]):"]
            lines += ["    " + line for line in loads]
            lines.append(f"    r{i} = formula{i}({arguments})")
            results.append(f"*r{i}")
            position = f"{position} + {count}"
        else:
            lines += [f"r{i} = None", f"if edges[{position}] is not None:"]
            lines += ["    " + line for line in loads]
            lines.append(f"    r{i} = formula{i}({arguments})")
            results.append(f"r{i}")
            position = str(int(position) + 1) if position.isdigit() else f"{position} + 1"
    if plan.broadcasts:
        lines.append("c = self.conform")
        lines.append("if c is not None:")
        for i in range(len(plan.wanted)):
            lines.append(f"    if c[{i}] is not None and r{i} is not None: r{i} = conform(r{i}, *c[{i}])")
    lines.append(f"return ({', '.join(results)},)")
    head = "g = grads[0]" if plan.several else None
    params = "self, *grads" if plan.several else "self, g"
    if head:
        lines.insert(0, head)
    text = "\n".join("    " + line for line in lines)
    scope: dict[str, Any] = {
        "conform": conform,
        "freed_error": freed_error,
        "saved_input": saved_input,
        "saved_list": saved_list,
        "saved_output": saved_output,
    }
    for i, a in enumerate(plan.wanted):
        scope[f"formula{i}"] = plan.formulas[a.name]
    apply = compile_function("apply", f"def apply({params}):\n{text}\n", scope)
    return type(name, (Node,), {"__slots__": (), "apply": apply})


def install() -> None:
    """Serve the Autograd keys and ADInplaceOrView."""
    for key in (*AUTOGRAD_OF.values(), DispatchKey.AutogradOther):
        registry.wrappers[key] = autograd_kernel
    registry.wrappers[ADINPLACE] = inplace.version_kernel
