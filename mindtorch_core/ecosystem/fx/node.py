"""`Node`: one step of a graph, its arguments, and who uses its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Union

import mindtorch_core as torch

from ..absent import names_of
from .formatting import formatted, node_line, target_text
from .immutable_collections import frozen
from .naming import qualified_name
from .purity import has_side_effect, is_impure_call

if TYPE_CHECKING:
    from .graph import Graph
    from .operator_schemas import ArgsKwargsPair

__all__ = ["Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

__getattr__ = names_of(__name__)

Target = Union[Callable[..., Any], str]  # noqa: UP007 (at run time)
Argument = Any

OPS: Final = (
    "placeholder",
    "call_method",
    "call_module",
    "call_function",
    "get_attr",
    "output",
    "root",
)
_format_arg = formatted
_get_qualified_name = qualified_name


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """What a function makes of each part of a value; lists and dicts become ones that nobody changes.

    Args:
        a: tuples, lists, dicts, slices and ranges are gone through.
        fn: is called with everything else.
    """
    return frozen(a, fn)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """What a function makes of each node in a value.

    Args:
        a: as `map_aggregate` takes it.
        fn: is called with nodes.
    """
    assert callable(fn), "torch.fx.map_arg(a, fn): fn must be a callable"
    return frozen(a, lambda each: fn(each) if isinstance(each, Node) else each)


class Node:
    """A step of a graph: an argument, a call, an attribute that is read, or what is returned.

    `Graph` makes nodes; programs change ``args``, ``kwargs``, ``target``, and ``meta``.

    Attributes:
        graph: whose it is.
        name: of its value; once in a graph.
        op: ``placeholder``, ``get_attr``, ``call_function``, ``call_module``, ``call_method`` or ``output``.
        target: the function; for other ops the name of the argument, attribute, module or method.
        type: the annotation of its value, or None.
        users: the nodes that use it, as keys.
        meta: what passes keep about it.
    """

    graph: Graph
    name: str
    op: str
    target: Any
    type: Any

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        return_type: Any = None,
    ) -> None:
        assert op in OPS, f"op '{op}' is not one of {', '.join(OPS)}"
        expected = "Callable" if op == "call_function" else "str"
        if not (callable(target) if op == "call_function" else isinstance(target, str)):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                f"{torch.typename(target)} but a {expected} is expected"
            )
        self.__dict__.update(graph=graph, name=name, op=op, target=target, type=return_type)
        self._input_nodes: dict[Node, None] = {}
        self.users: dict[Node, None] = {}
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._repr_fn: Callable[[Node], str] | None = None
        self._prev: Node = self
        self._next: Node = self
        self._erased = False
        self._sort_key: tuple[int, ...] = ()
        self.meta: dict[str, Any] = {}
        self._take(args, kwargs)

    # ---- order ---------------------------------------------------------------------------------

    @property
    def next(self) -> Node:
        """The node after it."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before it."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move a node before this one; it itself stays where it is.

        Args:
            x: of the same graph.
        """
        assert self.graph is x.graph, "Attempting to move a Node into a different Graph"
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x
        x._sort_key = _between(before._sort_key, self._sort_key)

    def append(self, x: Node) -> None:
        """Move a node after this one.

        Args:
            x: of the same graph.
        """
        self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    _remove_from_list = _unlink

    def __lt__(self, other: Node) -> bool:
        return self._sort_key < other._sort_key

    def __gt__(self, other: Node) -> bool:
        return self._sort_key > other._sort_key

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or self > other

    # ---- arguments -----------------------------------------------------------------------------

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments; what is assigned is counted among its nodes' users."""
        return self._args

    @args.setter
    def args(self, a: tuple[Any, ...]) -> None:
        self._take(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments; what is assigned is counted among its nodes' users."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Any]) -> None:
        self._take(self._args, k)

    def _take(self, args: Any, kwargs: Any) -> None:
        """Have other arguments."""
        for used in self._input_nodes:
            used.users.pop(self, None)
        self._input_nodes = {}

        def used_here(node: Node) -> Node:
            self._input_nodes[node] = None
            node.users[self] = None
            return node

        self._args, self._kwargs = map_arg(tuple(args), used_here), map_arg(kwargs, used_here)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among its arguments, each once."""
        return [*self._input_nodes]

    def update_arg(self, idx: int, arg: Any) -> None:
        """Put something in the place of a positional argument."""
        args = [*self._args]
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put something before a positional argument."""
        assert 0 <= idx <= len(self._args), (
            f"insert_args index must be between 0 and len(self.args), got {idx}"
        )
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Put something in the place of a keyword argument."""
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use another node wherever it uses one."""
        self._tell_of_replacement(old_input, new_input)
        args, kwargs = map_arg(
            (self._args, self._kwargs), lambda n: new_input if n is old_input else n
        )
        self._take(args, kwargs)

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Have its users use another node.

        Args:
            replace_with: the other node.
            delete_user_cb: says which users change; None for all.
            propagate_meta: whether the other node, which must have none, gets what is known of this one.

        Returns:
            The users that changed.
        """
        if propagate_meta:
            assert not replace_with.meta, (
                "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with "
                "already has .meta keys"
            )
            replace_with.meta.update(self.meta)
        changed = [u for u in self.users if delete_user_cb is None or delete_user_cb(u)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def _tell_of_replacement(self, old: Node, new: Any) -> None:
        for hook in getattr(self.graph.owning_module, "_replace_hooks", None) or ():
            hook(old=old, new=getattr(new, "name", new), user=self)

    # ---- facts ---------------------------------------------------------------------------------

    @property
    def stack_trace(self) -> str | None:
        """Where in the program the step was recorded, innermost line last; None if it was not kept."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the step matters though nobody uses its value.

        Args:
            impure_random: whether drawing random numbers does.
        """
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module":
            owner: Any = self.graph.owning_module
            assert owner is not None, "self.graph.owning_module not set for purity check"
            return bool(getattr(owner.get_submodule(self.target), "_is_impure", False))
        return self.op == "call_function" and is_impure_call(
            self.target, self.args, self.kwargs, impure_random
        )

    def normalized_arguments(
        self,
        root: Any,
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> ArgsKwargsPair | None:
        """The arguments with defaults filled in; see `operator_schemas`.

        Returns:
            None where the target has no signature, or is no function or module.
        """
        from .operator_schemas import normalize_function, normalize_module

        if self.op == "call_function":
            return normalize_function(
                self.target,
                self.args,
                self.kwargs,
                arg_types,
                kwarg_types,
                normalize_to_only_use_kwargs,
            )
        if self.op == "call_module":
            return normalize_module(
                root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs
            )
        return None

    # ---- text ----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    @staticmethod
    def _pretty_print_target(target: Any) -> str:
        return target_text(target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """The step as a line of text.

        Args:
            placeholder_names: gets the line of an argument, if it has others already.
            maybe_return_typename: its first element becomes the annotation of what is returned.
            include_tensor_metadata: whether the shape and dtype that `meta` has are shown.

        Returns:
            None where a list got the line.
        """
        return node_line(self, placeholder_names, maybe_return_typename, include_tensor_metadata)

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._rename_object(self, self.name)

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        if name == "name" and "name" in fields:
            for user in fields.get("users", ()):
                user._tell_of_replacement(self, value)
        if name in ("op", "target") and fields.get("_listed"):
            table = self.graph._find_nodes_lookup_table
            table.remove(self)
            object.__setattr__(self, name, value)
            table.insert(self)
            return
        object.__setattr__(self, name, value)


def _between(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
    """A key that sorts between two; the one of a graph's ends is empty."""
    if len(before) > len(after):
        at = len(after)
        return (*before[:at], before[at] + 1)
    if len(before) < len(after):
        at = len(before)
        return (*after[:at], after[at] - 1)
    return (*before, 0)
