"""Steps of a graph as lines of Python."""

from __future__ import annotations

import enum
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import mindtorch_core as torch

from ...opdefs.torch_ops import OpOverload
from .formatting import dtype_text
from .naming import is_of_torch, qualified_name, surroundings, type_name

if TYPE_CHECKING:
    from .naming import Namespace
    from .node import Node

__all__ = ["Options", "Writer", "inplace_methods", "magic_methods", "reflectable_magic_methods"]

_SIGNS: Final = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "div": "/", "mod": "%",
    "pow": "**", "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "matmul": "@",
}  # fmt: skip
_COMPARISONS: Final = {"eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}

reflectable_magic_methods: Final = {
    **{name: f"{{}} {sign} {{}}" for name, sign in _SIGNS.items()},
    "getitem": "{}[{}]",
}
magic_methods: Final = {
    **{name: f"{{}} {sign} {{}}" for name, sign in _COMPARISONS.items()},
    "pos": "+{}",
    "neg": "-{}",
    "invert": "~{}",
    **reflectable_magic_methods,
}
inplace_methods: Final = {
    **{f"i{n.rstrip('_')}": f"{{}} {s}= {{}}" for n, s in _SIGNS.items() if n != "div"},
    "setitem": "{}[{}] = {}",
}
# Types that annotations of before Python 3.9 mean.
_OLD_GENERICS: Final = {
    list: typing.List, dict: typing.Dict, set: typing.Set, frozenset: typing.FrozenSet,  # noqa: UP006
    tuple: typing.Tuple,  # noqa: UP006
}  # fmt: skip
_FRAME: Final = re.compile(r"File \"(.+)\", line (\d+), in (.+)")


@dataclass(frozen=True)
class Options:
    """What is shown beside the steps; see `GraphModule.print_readable`."""

    verbose: bool = False
    include_stride: bool = False
    include_device: bool = False
    colored: bool = False
    expanded_def: bool = False
    record_func: bool = False
    additional_meta: list[str] | None = None


class Writer:
    """The lines of one function, as far as they are written.

    Args:
        root_module: what the module is called.
        namespace: the names of the function.
        options: what is shown beside the steps.

    Attributes:
        body: the lines, in parts.
        arguments: of the function, with annotations and defaults.
        returns: its annotation, from the arrow on.
        globals: what names in it stand for.
    """

    def __init__(self, root_module: str, namespace: Namespace, options: Options) -> None:
        self.root_module = root_module
        self.namespace = namespace
        self.options = options
        self.body: list[str] = []
        self.arguments: list[str] = []
        self.returns = ""
        self.globals: dict[str, Any] = {}
        self._wrapped: dict[str, None] = {}
        self._last_uses: dict[Node, list[Node]] = {}
        self._summary = ""
        for name, (value, _) in surroundings().items():
            self.global_name(name, value)

    # ---- names ---------------------------------------------------------------------------------

    def global_name(self, hint: str, value: Any) -> str:
        """The name of something outside the function."""
        if is_of_torch(value) and value is not torch.device:
            return qualified_name(value)
        name = self.namespace.create_name(hint, value)
        self.globals.setdefault(name, value)
        return name

    def annotation(self, kind: Any) -> str:
        """A type as it stands in code."""
        if kind == ():
            return "()"
        if isinstance(kind, types.UnionType):
            return "|".join(map(self.annotation, typing.get_args(kind)))
        origin = getattr(kind, "__origin__", None)
        if origin is None:
            return self.global_name(type_name(kind), kind)
        if isinstance(kind, typing._GenericAlias):  # type: ignore[attr-defined]
            origin = _OLD_GENERICS.get(origin, origin)
        name = self.global_name(type_name(origin), origin)
        parts = getattr(kind, "dims", None) or typing.get_args(kind)
        return f"{name}[{','.join(map(self.annotation, parts))}]" if parts else name

    def value(self, value: Any) -> str:
        """An argument as it stands in code."""
        if hasattr(value, "_input_nodes"):  # a node
            return repr(value)
        if isinstance(value, tuple):
            if hasattr(value, "_fields"):
                name = self.global_name(qualified_name(type(value)), type(value))
                return f"{name}{tuple(value)!r}"
            comma = "," if len(value) == 1 else ""
            return f"({', '.join(map(self.value, value))}{comma})"
        if isinstance(value, list):
            return f"[{', '.join(map(self.value, value))}]"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self.value, (value.start, value.stop, value.step)))})"
        if isinstance(value, OpOverload):
            return self.global_name(qualified_name(value), value)
        if isinstance(value, enum.Enum):
            return f"{self.global_name(type(value).__name__, type(value))}.{value.name}"
        if isinstance(value, torch.Tensor):
            dtype = str(value.dtype).rpartition(".")[2]
            return f"torch.Tensor(size={[*value.shape]}, dtype={dtype})"
        return self._colored("blue", repr(value))

    def _call(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        shown = [*map(self.value, args), *(f"{k} = {self.value(v)}" for k, v in kwargs.items())]
        return f"({', '.join(shown)})"

    def _colored(self, color: str, text: str) -> str:
        codes = {"red": "31", "blue": "34", "dim": "2", "dim_blue": "2m\033[34"}
        codes["dim_green"] = "2m\033[32"
        return f"\033[{codes[color]}m{text}\033[0m" if self.options.colored and text else text

    def wraps(self) -> str:
        """Lines that say which functions of the code are not to be entered by a tracer."""
        if not self._wrapped:
            return ""
        return "\n".join(f'torch.fx._symbolic_trace.wrap("{n}")' for n in self._wrapped)

    # ---- steps ---------------------------------------------------------------------------------

    def with_last_uses(self, nodes: Any) -> Iterator[Node]:
        """Learn which values each step uses last, and give the steps."""
        seen: set[Node] = set()
        for user in reversed(nodes):
            for used in user._input_nodes:
                if used not in seen:
                    seen.add(used)
                    self._last_uses.setdefault(user, []).append(used)
        return iter(nodes)

    def step(self, index: int, node: Node, returning: Callable[..., str]) -> None:
        """Write a step.

        Args:
            index: its number.
            node: the step.
            returning: gives the line that returns a value.
        """
        if self.options.verbose and node.op not in ("placeholder", "output"):
            self._say_where(node)
        self.body.append(f"# COUNTER: {index}\n")
        if node.op == "placeholder":
            self._argument(node)
        elif node.op == "output":
            self.returns = f" -> {self.annotation(node.type)}" if node.type is not None else ""
            descs = node.meta.get("desc") if self.options.expanded_def else None
            self.body.append(returning(node.args[0], descs, self.value) + "\n")
        else:
            note = self._note(node)
            self.body.append(self._line(node, note))
            self._free(node)

    def _argument(self, node: Node) -> None:
        default = f" = {self.value(node.args[0])}" if node.args else ""
        desc = node.meta.get("desc") if self.options.expanded_def else None
        comment = f"  # {desc}" if desc is not None else ""
        self.arguments.append(f"{node.target}{self._note(node)}{default}{comment}")
        bare = node.target.replace("*", "")
        if bare != repr(node):
            self.body.append(f"{node!r} = {bare}\n")

    def _line(self, node: Node, note: str) -> str:
        start = f"{node!r}{note} = "
        if node.op == "call_function":
            return self._function(node, start)
        if node.op == "call_method":
            owner = self.value(node.args[0])
            return f"{start}{_path(owner, node.target)}{self._call(node.args[1:], node.kwargs)}"
        path = _path(self.root_module, node.target)
        return (
            f"{start}{path}{self._call(node.args, node.kwargs) if node.op == 'call_module' else ''}"
        )

    def _function(self, node: Node, start: str) -> str:
        target = node.target
        if getattr(target, "__module__", "") == "_operator":
            shown = [*map(self.value, node.args)]
            if target.__name__ in magic_methods:
                return start + magic_methods[target.__name__].format(*shown)
            if target.__name__ in inplace_methods:
                return f"{inplace_methods[target.__name__].format(*shown)};  {start}{shown[0]}"
        name = self.global_name(qualified_name(target), target)
        args = node.args
        if (
            name == "getattr"
            and len(args) == 2
            and isinstance(args[1], str)
            and args[1].isidentifier()
        ):
            return f"{start}{_path(self.value(args[0]), args[1])}"
        if node.meta.get("is_wrapped", False):
            self._wrapped[name] = None
        return f"{start}{name}{self._call(args, node.kwargs)}"

    def _free(self, node: Node) -> None:
        """Let go of what the step uses last, and of its value if nobody uses it."""
        done = [*self._last_uses.get(node, ()), *([] if node.users else [node])]
        text = " = ".join([*map(repr, done), "None"])
        self.body.append(f";  {self._colored('dim', text)}\n" if done else "\n")

    # ---- what is known about a value -----------------------------------------------------------

    def _note(self, node: Node) -> str:
        """The annotation of a value: its type, or what is known of the tensor."""
        note = "" if node.type is None else f" : {self.annotation(node.type)}"
        if not self.options.verbose:
            return note
        meta = node.meta
        known: Any = meta.get("val", meta.get("tensor_meta", meta.get("example_value")))
        if isinstance(known, torch.Tensor):
            stride = f"{[*known.stride()]}" if self.options.include_stride else ""
            device = f"{known.device}" if self.options.include_device else ""
            text = (
                self._colored("red", dtype_text(known.dtype))
                + self._colored("blue", f"{[*known.shape]}")
                + self._colored("dim_blue", stride)
                + self._colored("dim_green", device)
            )
            kind = type(known)
            return f': "{text}"' if kind is torch.Tensor else f': "{kind.__name__}({text})"'
        if hasattr(known, "dtype") and hasattr(known, "shape"):
            return f': "{dtype_text(known.dtype)}{[*known.shape]}"'
        return note

    def _say_where(self, node: Node) -> None:
        """Write where in the program a step comes from, unless it is where the one before does."""
        keys = self.options.additional_meta or ()
        more = [f"{key}: {node.meta[key]}" for key in keys if key in node.meta]
        custom = {
            key: value if len(str(value)) <= 40 else f"{str(value)[:40]}..."
            for key, value in (node.meta.get("custom") or {}).items()
        }
        text = (
            (f"# {', '.join(more)} " if more else "")
            + "#"
            + (f" Annotation: {custom}" if custom else "")
            + f" {_place(node.stack_trace)}"
        )
        if text != self._summary:
            self._summary = text
            self.body.append(f"\n{self._colored('dim', text)}\n")


def _path(owner: str, path: str) -> str:
    """An attribute of an expression; names that Python cannot write stand in strings."""
    for part in path.split("."):
        owner = f"{owner}.{part}" if part.isidentifier() else f'getattr({owner}, "{part}")'
    return owner


def _place(trace: str | None) -> str:
    """The innermost line of a stack, in short."""
    lines = (trace or "").strip().split("\n")
    for at in range(len(lines) - 2, -1, -1):
        found = _FRAME.fullmatch(lines[at].strip())
        if found:
            file, number, name = found.groups()
            return f"File: {file}:{number} in {name}, code: {lines[at + 1].strip()}"
    return "No stacktrace found for following nodes"
