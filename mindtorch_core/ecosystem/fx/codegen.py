"""How the head and the end of generated functions look; what stands between is `writing`'s."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ...utils import _pytree as pytree
from .writing import Options, Writer, inplace_methods, magic_methods, reflectable_magic_methods

if TYPE_CHECKING:
    from .naming import Namespace
    from .node_list import NodeList

__all__ = [
    "CodeGen",
    "PythonCode",
    "_BoxedCodeGen",
    "_PyTreeCodeGen",
    "_PyTreeInfo",
    "inplace_methods",
    "magic_methods",
    "reflectable_magic_methods",
]


@dataclass
class PythonCode:
    """A graph as code.

    Attributes:
        src: the function ``forward``.
        globals: what the names in it stand for.
    """

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None = field(default=None)
    _prologue_start: int = 0


class CodeGen:
    """Writes a graph as a function; subclasses change its head, its end, and what callers pass and get."""

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """The line with ``def``, and what follows before the first step.

        Args:
            free_vars: the arguments, with annotations and defaults.
            maybe_return_annotation: from the arrow on; empty if there is none.
            expanded_def: whether each argument stands on a line of its own.
        """
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        shown = ", ".join(free_vars)
        if expanded_def:
            shown = "\n" + "".join(f"    {_with_comma(each)}\n" for each in free_vars)
        return f"def {self._func_name}({shown}){maybe_return_annotation}:"

    def generate_output(
        self,
        output_args: Any,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[Any], str] | None = None,
    ) -> str:
        """The line that returns.

        Args:
            output_args: what is returned.
            descs: a comment for each element, which then stands on a line of its own.
            repr_fn: shows what is returned; None for ``repr``.
        """
        return f"return {_container(output_args, descs, repr_fn or repr)}"

    def process_inputs(self, *args: Any) -> Any:
        """The arguments as the graph's placeholders take them."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What the graph returns, as callers get it."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names that the head or end of the function uses, and what they stand for."""
        return []

    def _gen_python_code(
        self, nodes: NodeList, root_module: str, namespace: Namespace, **options: Any
    ) -> PythonCode:
        writer = Writer(root_module, namespace, Options(**options))
        for index, node in enumerate(writer.with_last_uses(nodes)):
            writer.step(index, node, self._return)
        body = writer.body or ["pass\n"]
        if self._body_transformer:
            body = self._body_transformer(body)
        for name, value in self.additional_globals():
            writer.global_name(name, value)
        expanded = {"expanded_def": True} if writer.options.expanded_def else {}
        head = self.gen_fn_def(writer.arguments, writer.returns, **expanded)
        wraps = writer.wraps()
        code, numbers = _numbered(body, head.count("\n") + 1)
        src = f"\n{wraps}\n\n{head}\n{code}"
        return PythonCode(src, writer.globals, numbers, wraps.count("\n") + 4)

    def _return(self, value: Any, descs: Any, shown: Callable[[Any], str]) -> str:
        known = inspect.signature(self.generate_output).parameters
        given = {"descs": descs, "repr_fn": shown}
        return self.generate_output(value, **{k: v for k, v in given.items() if k in known})


def _with_comma(argument: str) -> str:
    start, mark, comment = argument.partition("#")
    return f"{start.rstrip()},  # {comment.lstrip()}" if mark else f"{argument},"


def _container(value: Any, descs: Sequence[str] | None, shown: Callable[[Any], str]) -> str:
    if descs is None or not isinstance(value, list | tuple):
        return shown(value)
    left, right = "()" if isinstance(value, tuple) else "[]"
    lines = [f"    {shown(v)},  # {d}\n" for v, d in zip(value, descs, strict=False)]
    return f"{left}\n{''.join(lines)}{right}"


def _numbered(body: list[str], first: int) -> tuple[str, dict[int, int | None]]:
    """The lines without the marks of steps, and the step of each line."""
    lines: list[str] = []
    numbers: dict[int, int | None] = {}
    step = None
    for line in "".join(body).split("\n"):
        mark, found, number = line.partition("# COUNTER: ")
        if found and not mark.strip():
            step = int(number)
        else:
            numbers[len(lines) + first] = step
            lines.append(line)
    code = "\n".join(lines).lstrip("\n")
    return "\n".join(f"    {line}" for line in code.split("\n")), numbers


class _BoxedCodeGen(CodeGen):
    """Writes a function of one list, which it empties, so that arguments can be freed."""

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        head = f"def {self._func_name}(self, args_list){maybe_return_annotation}:"
        names = [v.split(":")[0].split("=")[0].strip() for v in free_vars if v != "self"]
        if not names:
            return head
        taken = "".join(f"\n    {name} = next(args_iter)" for name in names)
        return f"{head}\n    args_iter = iter(args_list){taken}\n    args_list.clear()"


class _PyTreeInfo(NamedTuple):
    """How callers' arguments and results lie in containers.

    Attributes:
        orig_args: names of the callers' arguments.
        in_spec: their structure.
        out_spec: that of the result, or None for what the graph returns.
    """

    orig_args: list[str]
    in_spec: Any
    out_spec: Any


class _PyTreeCodeGen(CodeGen):
    """Writes a function that takes its arguments apart, and puts its result together."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        """The leaves of the arguments."""
        return pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, out: Any) -> Any:
        """The leaves that the graph returns, in their containers."""
        if self.pytree_info.out_spec is None:
            return out
        leaves = out if isinstance(out, list | tuple) else [out]
        return pytree.tree_unflatten(leaves, self.pytree_info.out_spec)

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        info = self.pytree_info
        names = info.orig_args
        if names and names[0] == "self":
            free_vars.insert(0, "self")
        head = super().gen_fn_def(names[:], maybe_return_annotation, expanded_def=expanded_def)
        if not free_vars:
            return head
        # A line can annotate one name or set several, not both.
        notes = [each for each in free_vars if ":" in each]
        if notes and expanded_def:
            head += "\n    " + "\n    ".join(notes)
        elif notes:
            head += "\n    " + "".join(f"{note}; " for note in notes) + "\n"
        bare = [each.split(":")[0].split("#")[0] for each in free_vars]
        given = _arguments(names, info.in_spec)
        return (
            f"{head}\n    {', '.join(bare)}, = fx_pytree.tree_flatten_spec({given}, self._in_spec)"
        )

    def generate_output(
        self,
        output_args: Any,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[Any], str] | None = None,
    ) -> str:
        shown = _container(output_args, descs, repr_fn or repr)
        if self.pytree_info.out_spec:
            return f"return pytree.tree_unflatten({shown}, self._out_spec)"
        return f"return {shown}"


def _arguments(names: list[str], spec: Any) -> str:
    """The callers' arguments as one expression of a structure: a list, or a list and a dict."""
    kinds = [child.type for child in spec.children()] if spec.type is tuple else []
    if kinds != [tuple, dict]:
        return f"[{', '.join(names)}]"
    count = spec.child(0).num_children
    pairs = zip(spec.child(1).context, names[count:], strict=False)
    keywords = ", ".join(f"'{key}':{name}" for key, name in pairs)
    return f"([{', '.join(names[:count])}], {{{keywords}}})"
