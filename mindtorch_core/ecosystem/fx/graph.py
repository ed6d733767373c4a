"""`Graph`: the steps of a function or module, in order, that passes read and rewrite."""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import mindtorch_core as torch

from ...utils._own_frames import warn_user
from ..absent import names_of
from .codegen import (
    CodeGen,
    PythonCode,
    _BoxedCodeGen,
    _PyTreeCodeGen,
    _PyTreeInfo,
    inplace_methods,
    magic_methods,
    reflectable_magic_methods,
)
from .immutable_collections import immutable_dict
from .linting import lint
from .naming import Namespace as _Namespace
from .naming import snake_case as _snake_case
from .node import Node, map_arg
from .node_list import InsertPoint, NodeList, NodesByTarget

if TYPE_CHECKING:
    from .graph_module import GraphModule

__all__ = [
    "CodeGen",
    "Graph",
    "PythonCode",
    "_BoxedCodeGen",
    "_Namespace",
    "_PyTreeCodeGen",
    "_PyTreeInfo",
    "_snake_case",
    "inplace_methods",
    "magic_methods",
    "reflectable_magic_methods",
]

__getattr__ = names_of(__name__)

_EMPTY: Final = inspect.Signature.empty


class Graph:
    """The steps of a function or module.

    Args:
        owning_module: the `GraphModule` that runs it.
        tracer_cls: the class of the tracer that made it.
        tracer_extras: what a tracer of that class is told when the graph is made again.

    Example:
        >>> graph = torch.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> y = graph.call_function(torch.relu, (x,))
        >>> _ = graph.output(y)
        >>> torch.fx.GraphModule({}, graph)(torch.tensor([-1.0, 1.0]))
        tensor([0., 1.])
    """

    def __init__(
        self,
        owning_module: GraphModule | None = None,
        tracer_cls: Any = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owners = 0
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict[str, Any] = {}
        self._find_nodes_lookup_table = NodesByTarget()

    @property
    def owning_module(self) -> GraphModule | None:
        """The `GraphModule` that has this graph, if it is one alone."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: GraphModule | None) -> None:
        if module is not None:
            self._owners += 1
            self._owning_module = module if self._owners == 1 else None
        else:
            self._owning_module = None

    @property
    def nodes(self) -> NodeList:
        """The nodes, first to last; ``reversed`` goes through them the other way."""
        return NodeList(self)

    def output_node(self) -> Node:
        """The last node, which says what is returned."""
        node = next(iter(reversed(self.nodes)))
        assert node.op == "output", f"Expected output node, got op={node.op}"
        found: Node = node
        return found

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Any]:
        """The nodes with an op and a target.

        Args:
            op: of the nodes.
            target: needed for functions; None for any of other ops.
            sort: whether they come in the graph's order.
        """
        found = self._find_nodes_lookup_table.find(op, target)
        return sorted(found) if sort else found

    # ---- making nodes --------------------------------------------------------------------------

    def create_node(
        self,
        op: str,
        target: Any,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Make a node at the point where nodes are put in.

        Args:
            op: as `Node` has it.
            target: as `Node` has it.
            args: positional arguments, with nodes of this graph.
            kwargs: keyword arguments.
            name: what its name is made of; None for the target's.
            type_expr: the annotation of its value.
        """
        args = () if args is None else args
        assert isinstance(args, tuple), f"args must be a tuple, got {type(args)}"
        kwargs = kwargs or immutable_dict()
        assert isinstance(kwargs, dict), f"kwargs must be a dict, got {type(kwargs)}"
        namespace = self._graph_namespace
        shown = namespace.create_name(self._target_to_str(target) if name is None else name, None)
        node = Node(self, shown, op, target, args, kwargs, type_expr)
        for hook in getattr(self.owning_module, "_create_node_hooks", None) or ():
            hook(node)
        namespace.associate_name_with_obj(shown, node)
        self._insert(node)
        self._find_nodes_lookup_table.insert(node)
        self._len += 1
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = _EMPTY) -> Node:
        """Make an argument.

        Args:
            name: of the argument; may begin with stars.
            type_expr: its annotation.
            default_value: its default, if it has one.
        """
        args = () if default_value is _EMPTY else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Make a node that reads an attribute of the module or of one below it."""
        owner = self.owning_module
        if owner is not None and not _is_there(owner, qualified_name):
            warn_user(
                "Attempted to insert a get_attr Node with no underlying reference in the owning "
                "GraphModule! Call GraphModule.add_submodule to add the necessary submodule, "
                "GraphModule.add_parameter to add the necessary Parameter, or nn.Module.register_buffer to "
                "add the necessary buffer"
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Make a call of a module below the owning one.

        Raises:
            AttributeError: if the owning one has no such module.
        """
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Make a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """Make a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """Say what is returned."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """Make a copy of another graph's node.

        Args:
            node: of the other graph.
            arg_transform: gives for a node among its arguments what stands in its place here.
        """
        args, kwargs = map_arg((node.args, node.kwargs), arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False
    ) -> Any:
        """Make copies of another graph's nodes.

        Args:
            g: the other graph.
            val_map: what stands here for some of its nodes; gets the copies of the others.
            return_output_node: whether the other graph's output node is returned as well.

        Returns:
            What the other graph returns, in nodes of this one; None if it has no output.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], val_map.__getitem__)
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls)
        copies: dict[Node, Any] = {}
        memo = {} if memo is None else memo
        result = made.graph_copy(self, copies, return_output_node=True)
        for old, new in copies.items():
            memo[id(old)] = new
        made._codegen = copy.deepcopy(self._codegen, memo)
        made._co_fields = self._co_fields
        if result is not None:
            value, old = result
            made.output(value, old.type).meta = copy.copy(old.meta)
        return made

    def _target_to_str(self, target: Any) -> str:
        name = target if isinstance(target, str) else target.__name__
        if isinstance(target, str) and target.startswith("__") and target.endswith("__"):
            name = target[2:-2]
        return _snake_case(name)

    # ---- where nodes are put in ----------------------------------------------------------------

    def inserting_before(self, n: Node | None = None) -> InsertPoint:
        """Put new nodes before one; in a ``with`` block, or from now on.

        Args:
            n: None for the beginning of the graph.
        """
        if n is None:
            return self.inserting_after(self._root)
        assert n.graph is self, "Node to insert before is not in graph."
        return InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> InsertPoint:
        """Put new nodes after one; in a ``with`` block, or from now on.

        Args:
            n: None for the end of the graph.
        """
        if n is None:
            return self.inserting_before(self._root)
        assert n.graph is self, "Node to insert after is not in graph."
        return InsertPoint(self, n.append)

    # ---- taking nodes out ----------------------------------------------------------------------

    def erase_node(self, to_erase: Node) -> None:
        """Take a node out that nobody uses.

        Raises:
            RuntimeError: if it has users, or is of another graph.
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the "
                f"graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warn_user(f"erase_node({to_erase}) on an already erased node")
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", None) or ():
            hook(to_erase)
        self._find_nodes_lookup_table.remove(to_erase)
        to_erase._unlink()
        to_erase._erased = True
        self._len -= 1
        to_erase._take((), {})

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Take out what nobody uses and what has no effect of its own; see `Node.is_impure`.

        Args:
            is_impure_node: says instead which nodes have one.

        Returns:
            Whether any node went.
        """
        self.lint()
        matters = Node.is_impure if is_impure_node is None else is_impure_node
        before = self._len
        for node in reversed(self.nodes):
            if not node.users and not matters(node):
                self.erase_node(node)
        changed = self._len < before
        if self.owning_module is not None:
            read = {node.target for node in self.find_nodes(op="get_attr")}
            children: Any = self.owning_module.named_children()
            for name, child in children:
                if name in read and isinstance(getattr(child, "graph", None), Graph):
                    changed |= child.graph.eliminate_dead_code()
                    child.recompile()
        return changed

    def _clear_nodes(self) -> None:
        for node in reversed(self.nodes):
            node.meta.clear()
            self.erase_node(node)

    def lint(self) -> None:
        """Check that nodes come before their users, names are there once, and targets exist.

        Raises:
            RuntimeError: if not.
            ValueError: for a target of a wrong type.
        """
        lint(self)

    # ---- code ----------------------------------------------------------------------------------

    def process_inputs(self, *args: Any) -> Any:
        """The arguments as the placeholders take them."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """What is returned, as the caller gets it."""
        return self._codegen.process_outputs(out)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Have code written in another way."""
        self._codegen = codegen

    def python_code(self, root_module: str, **options: Any) -> PythonCode:
        """The graph as a function in Python.

        Args:
            root_module: what the code calls the module, as ``self``.
            **options: ``verbose``, ``include_stride``, ``include_device``, ``colored``, ``expanded_def``,
                ``additional_meta``: what `GraphModule.print_readable` shows.
        """
        namespace = _Namespace()
        before = {node: node._repr_fn for node in self.nodes}
        try:
            for node in before:
                node._repr_fn = lambda n: namespace.create_name(n.name, n)
            return self._codegen._gen_python_code(self.nodes, root_module, namespace, **options)
        finally:
            for node, function in before.items():
                node._repr_fn = function

    def on_generate_code(
        self, make_transformer: Callable[[Any], Any]
    ) -> contextlib.AbstractContextManager[None]:
        """Change the lines of the code that is written, from now on or in a ``with`` block.

        Args:
            make_transformer: is given what changes them now, or None, and returns what does afterwards: a
                function of a list of lines, each with its end, that returns such a list.
        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def restoring() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return restoring()

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *(str(node.format_node()) for node in self.nodes)])

    def print_tabular(self) -> None:
        """Print a table of the nodes, by the package ``tabulate``.

        Raises:
            ImportError: if it is not installed.
        """
        try:
            from tabulate import tabulate  # type: ignore[import-untyped]
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, which could not be found on this machine. "
                "Run `pip install tabulate` to install the library."
            )
            raise
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))


def _is_there(owner: Any, path: str) -> bool:
    """Whether a module has a path's module, parameter or buffer."""
    parent, _, last = path.rpartition(".")
    try:
        module = owner.get_submodule(parent)
        value = getattr(module, last)
    except AttributeError:
        return False
    return isinstance(value, torch.nn.Module | torch.nn.Parameter) or last in module._buffers
