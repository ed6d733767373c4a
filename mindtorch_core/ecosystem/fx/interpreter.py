"""`Interpreter` runs a graph step by step; `Transformer` makes another graph of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from ..absent import names_of
from . import traceback as kept
from .graph import Graph
from .graph_module import GraphModule
from .node import Node, map_aggregate, map_arg
from .proxy import Proxy
from .tracer import Tracer

__all__ = ["Interpreter", "Transformer"]

__getattr__ = names_of(__name__)


class Interpreter:
    """Runs a graph step by step; subclasses say what a step does.

    Args:
        module: has what the graph uses, and the graph.
        garbage_collect_values: whether values go after their last use; else ``env`` has all of them.
        graph: to be run instead of the module's.

    Attributes:
        env: the values of the nodes that have run.

    Example:
        >>> class Negated(torch.fx.Interpreter):
        ...     def call_function(self, target, args, kwargs):
        ...         return -super().call_function(target, args, kwargs)
        >>> traced = torch.fx.symbolic_trace(lambda x: torch.exp(x))
        >>> Negated(traced).run(torch.zeros(2))
        tensor([-1., -1.])
    """

    def __init__(
        self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.args_iter: Iterator[Any] = iter(())
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        seen: set[Node] = set()
        for user in reversed(self.graph.nodes) if garbage_collect_values else ():
            for used in user._input_nodes:
                if used not in seen:
                    seen.add(used)
                    self.user_to_last_uses.setdefault(user, []).append(used)

    def run(
        self,
        *args: Any,
        initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:
        """Run the graph.

        Args:
            *args: by position.
            initial_env: values of nodes that need not run.
            enable_io_processing: whether containers are taken apart and put together, where the graph's
                code does so.

        Raises:
            RuntimeError: if an argument is missing. What a step raises says which step it was.
        """
        self.env = {} if initial_env is None else initial_env
        self.args_iter = iter(self.graph.process_inputs(*args) if enable_io_processing else args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    _say_where(error, node)
                    if isinstance(error, KeyError):
                        raise RuntimeError(*error.args) from error
                raise
            for done in self.user_to_last_uses.get(node, ()):
                del self.env[done]
            if node.op == "output":
                value = self.env[node]
                return self.graph.process_outputs(value) if enable_io_processing else value
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Run the graph with arguments from a list, which is emptied.

        Raises:
            RuntimeError: if it has too many or too few.
        """
        nodes = self.graph.find_nodes(op="placeholder")
        if len(args_list) != len(nodes):
            detail = "extra" if len(args_list) > len(nodes) else "missing"
            raise RuntimeError(
                f"Interpreter.boxed_run expected {len(nodes)} arguments for placeholders but received "
                f"{len(args_list)} ({detail} arguments)"
            )
        values = dict(zip(nodes, args_list, strict=True))
        args_list.clear()
        return self.run(initial_env=values)

    def _set_current_node(self, node: Node) -> AbstractContextManager[None]:
        return kept.set_current_meta(node, f"Interpreter_{type(self).__name__}")

    def run_node(self, n: Node) -> Any:
        """Run one step: the method with the name of its op."""
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The next argument of the run, or its default.

        Raises:
            RuntimeError: if it has none.
        """
        if target.startswith("*"):
            return [*self.args_iter]
        for value in self.args_iter:
            return value
        if args:
            return args[0]
        raise RuntimeError(
            f"Expected positional argument for parameter {target}, but one was not passed in!"
        )

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The module's attribute at a path."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a function gives."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a method of the first argument gives."""
        owner, *rest = args
        return getattr(owner, target)(*rest, **kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the module at a path gives."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What is returned."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """The module's attribute at a path.

        Raises:
            RuntimeError: if it is not there.
        """
        found: Any = self.module
        names = target.split(".")
        for at, name in enumerate(names):
            if not hasattr(found, name):
                path = ".".join(names[: at + 1])
                raise RuntimeError(f"Node referenced nonexistent target {path}")
            found = getattr(found, name)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a step, with values in the place of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Arguments with values in the place of nodes.

        Raises:
            RuntimeError: for a node that has not run.
        """

        def value(used: Node) -> Any:
            if used not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {used}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[used]

        return map_arg(args, value)


def _say_where(error: Exception, node: Node) -> None:
    """Have an error's text name the step."""
    said = f"While executing {node.format_node()}\nOriginal traceback:\n{node.stack_trace}"
    error.args = (f"{error.args[0]}\n\n{said}" if error.args else said, *error.args[1:])


class Transformer(Interpreter):
    """Makes another graph of a module's: its steps are run with proxies.

    Args:
        module: the module, whose graph stays as it is.

    Example:
        >>> class Swapped(torch.fx.Transformer):
        ...     def call_function(self, target, args, kwargs):
        ...         target = torch.cos if target is torch.sin else target
        ...         return super().call_function(target, args, kwargs)
        >>> traced = torch.fx.symbolic_trace(lambda x: torch.sin(x))
        >>> Swapped(traced).transform()(torch.zeros(1))
        tensor([1.])
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph(tracer_cls=module.graph._tracer_cls)
        self.new_graph.set_codegen(module.graph._codegen)

        class TransformerTracer(Tracer):
            """Enters no module: the graph has calls of those that were not entered."""

            def is_leaf_module(self, _: Any, __: str) -> bool:
                """True."""
                return True

        self.tracer = TransformerTracer()
        self.tracer.graph = self.new_graph
        self.tracer.root = module

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The proxy of an argument."""
        default = (next(iter(args)),) if args else ()
        return self._proxy(self.new_graph.create_node("placeholder", target, default))

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The proxy of an attribute."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The proxy of what a module gives."""
        module = self.fetch_attr(target)
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The proxy of what a function gives."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The module with the other graph."""
        with kept.preserve_node_meta():
            value = super().run(enable_io_processing=False)
        if value is not None:
            old = self.graph.output_node()
            node = self.new_graph.output(
                map_aggregate(value, lambda v: v.node if isinstance(v, Proxy) else v), old.type
            )
            node.meta.update(old.meta)
        return GraphModule(self.module, self.new_graph)

    def _proxy(self, node: Node) -> Proxy:
        return Proxy(node, self.tracer)
