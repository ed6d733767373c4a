"""`GraphModule`: a module whose ``forward`` is written from a graph."""

from __future__ import annotations

import copy
import itertools
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any, Final, Self

import mindtorch_core as torch

from ..absent import names_of
from .attributes import _assign_attr, _copy_attr, _del_attr, _get_attr, _has_attr
from .codegen import PythonCode, _BoxedCodeGen, _PyTreeCodeGen
from .folders import to_folder
from .graph import Graph
from .source import error_text, forward_from, import_block
from .tracer import Tracer

__all__ = [
    "GraphModule",
    "_assign_attr",
    "_copy_attr",
    "_del_attr",
    "_get_attr",
    "_has_attr",
    "reduce_graph_module",
]

__getattr__ = names_of(__name__)

_USER_PRESERVED_ATTRIBUTES_KEY: Final = "_user_preserved_attributes"
_HOOKS: Final = ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks")
_COPIED: Final = (
    "_state_dict_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
    *_HOOKS,
)


class _CodeOnlyModule(torch.nn.Module):
    """A module with the fields of another, to be traced by a ``forward`` from elsewhere."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Any:
    """The module of a pickle, which has the code; the graph is traced from it.

    Args:
        body: the module's fields.
        import_block: imports what the code uses.
    """
    source = body.get("_code") or body["code"]
    traced: Any = type("_CodeOnlyModule", (_CodeOnlyModule,), {})
    traced.forward = forward_from(import_block + source, {})
    kind: Any = body.get("_tracer_cls") or Tracer

    class KeepModules(kind):  # type: ignore[misc]  # the tracer's class is in the pickle
        """Enters no module: none was entered when the code was written."""

        def is_leaf_module(self, *args: Any) -> bool:
            """True."""
            return True

    root = traced(body)
    graph = KeepModules().trace(root, **body.get("_tracer_extras", {}))
    graph._tracer_cls = kind
    name = body.get("_graphmodule_cls_name", "GraphModule")
    made = GraphModule(root, graph, class_name=name)
    for field, value in body.items():
        if not hasattr(made, field):
            setattr(made, field, value)
    return made


class GraphModule(torch.nn.Module):
    """A module that does what a graph says.

    After the graph is changed in place, `recompile` writes ``forward`` again.

    Args:
        root: has the modules, parameters and buffers that the graph uses; or a dict of them by path.
        graph: the graph.
        class_name: what the module's class is called.

    Attributes:
        meta: what passes keep about the module.

    Raises:
        RuntimeError: if a dict lacks what the graph uses, or the root is something else.

    Example:
        >>> graph = torch.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> _ = graph.output(graph.call_module("act", (x,)))
        >>> module = torch.fx.GraphModule({"act": torch.nn.ReLU()}, graph)
        >>> print(module.code.strip())
        def forward(self, x):
            act = self.act(x);  x = None
            return act
    """

    _graph: Graph
    _code: str
    _replace_hooks: list[Callable[..., Any]]
    _create_node_hooks: list[Callable[..., Any]]
    _erase_node_hooks: list[Callable[..., Any]]
    _deepcopy_hooks: list[Callable[..., Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """A module of a class of its own, which has its ``forward``."""
        kind = next(
            c for c in cls.__mro__ if c.__name__ != "GraphModuleImpl" and "_own" not in vars(c)
        )
        own: Any = type("GraphModuleImpl", (kind,), {"_own": True, "__module__": __name__})
        made: Self = super().__new__(own)
        return made

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        targets = [n.target for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, torch.nn.Module):
            self.training = getattr(root, "training", True)
            if isinstance(root, _CodeOnlyModule):
                own = (root._modules, root._buffers, root._parameters)
                targets = [*itertools.chain(*own), *targets]
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in "
                        f"``root``!"
                    )
            for target in sorted(targets, key=lambda t: t.count(".")):  # those above come first
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        kind = graph._tracer_cls
        self._tracer_cls = kind if kind and "<locals>" not in kind.__qualname__ else None
        self._tracer_extras = graph._tracer_extras or {}
        self.meta: dict[str, Any] = {}
        for hooks in _HOOKS:
            setattr(self, hooks, [])

    @property
    def graph(self) -> Graph:
        """The graph; the module does what one that is assigned says."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        assert isinstance(g, Graph), f"Expected a Graph instance, but got {type(g)}"
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of ``forward``."""
        return self._code

    @property
    def _boxed_call(self) -> bool:
        return isinstance(self._graph._codegen, _BoxedCodeGen)

    def recompile(self) -> PythonCode:
        """Write ``forward`` from the graph again, in the modules below too.

        Returns:
            The code.
        """
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec = codegen.pytree_info.in_spec
            self._out_spec = codegen.pytree_info.out_spec
        code = self._graph.python_code(root_module="self")
        self._code = code.src
        self._lineno_map = code._lineno_map
        self._prologue_start = code._prologue_start
        type(self).forward = forward_from(code.src, code.globals, self._graph._co_fields)
        for child in self.children():
            if isinstance(child, GraphModule):
                child.recompile()
        return code

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Do what the graph says; what a line of it raises is shown with the lines around it."""
        try:
            return super().__call__(*args, **kwargs)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            if "eval_with_key" in last.filename:
                shown = "".join(traceback.format_exception(error))
                print(shown, error_text(last), sep="\n", file=sys.stderr)
                raise error.with_traceback(None)  # noqa: B904  (as PyTorch does)
            raise

    # ---- modules below -------------------------------------------------------------------------

    def add_submodule(self, target: str, m: Any) -> bool:
        """Put a module at a path, with modules on the way where there are none.

        Args:
            target: the path.
            m: the module.

        Returns:
            False if something that is no module is on the way.
        """
        *parents, last = target.split(".")
        module: Any = self
        for name in parents:
            below = getattr(module, name, None)
            if below is None:
                below = torch.nn.Module()
                setattr(module, name, below)
            if not isinstance(below, torch.nn.Module):
                return False
            module = below
        module.add_module(last, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Take the module at a path away.

        Returns:
            False if there is none.
        """
        path, _, last = target.rpartition(".")
        try:
            above = self.get_submodule(path)
            self.get_submodule(target)
        except AttributeError:
            return False
        if not last:
            return False
        delattr(above, last)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take all modules away that the graph neither calls nor reads from."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            used.update(itertools.accumulate(node.target.split("."), "{}.{}".format))
            if node.op == "call_module" and _has_attr(self, node.target):
                below = self.get_submodule(node.target).named_modules()
                used.update(f"{node.target}.{name}" for name, _ in below if name)
        for name in [name for name, _ in self.named_modules() if name not in used]:
            self.delete_submodule(name)

    # ---- copies and files ----------------------------------------------------------------------

    def to_folder(self, folder: str | PathLike[str], module_name: str = "FxModule") -> None:
        """Write a package from which the module can be imported.

        Args:
            folder: of the package.
            module_name: the class in it.
        """
        to_folder(self, folder, module_name)

    def __reduce__(self) -> Any:
        """A pickle has the code, which is traced when it is loaded."""
        code = self.recompile()
        fields = {name: value for name, value in self.__dict__.items() if name != "_graph"}
        return reduce_graph_module, (fields, import_block(code.globals))

    __reduce_ex__ = lambda self, protocol: self.__reduce__()  # noqa: E731  (object's does not ask)

    def _deepcopy_init(self) -> Callable[..., None]:
        return GraphModule.__init__

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        body = _CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        self._deepcopy_init()(made, body, body.__dict__["_graph"])
        for name in _COPIED:
            if name in self.__dict__:
                setattr(made, name, copy.deepcopy(self.__dict__[name], memo))
        made.meta = copy.deepcopy(getattr(self, "meta", {}), memo)
        for name, value in made.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(made, name, value)
        for hook in getattr(self, "_deepcopy_hooks", ()):
            hook(made)
        return made

    def __copy__(self) -> GraphModule:
        made = GraphModule(self, self.graph)
        made.meta = getattr(self, "meta", {})
        return made

    def _replicate_for_data_parallel(self) -> Any:
        made = self.__copy__()
        made.__dict__["_is_replica"] = True
        return made

    # ---- text ----------------------------------------------------------------------------------

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        *,
        fast_sympy_print: bool = False,
        expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> str:
        """The module as a class, with where each step comes from and what is known of its value.

        Args:
            print_output: whether it is printed too.
            include_stride: whether strides of tensors are shown, where ``meta`` has them.
            include_device: whether devices are.
            colored: whether a terminal shows colours.
            fast_sympy_print: no effect: sizes are numbers.
            expanded_def: whether each argument stands on a line of its own.
            additional_meta: keys of nodes' ``meta`` that are shown.
        """
        options = {
            "include_stride": include_stride,
            "include_device": include_device,
            "colored": colored,
            "expanded_def": expanded_def,
            "additional_meta": additional_meta,
        }
        text = _readable(self, self._get_name(), options)
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, hint])

    # ---- hooks ---------------------------------------------------------------------------------

    @contextmanager
    def _set_replace_hook(self, f: Callable[..., Any]) -> Iterator[None]:
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._replace_hooks.append(f)

    def _unregister_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f: Callable[..., Any]) -> None:
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f: Callable[..., Any]) -> None:
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f: Callable[..., Any]) -> None:
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f: Callable[..., Any]) -> None:
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f: Callable[..., Any]) -> None:
        self._deepcopy_hooks.append(f)

    def _unregister_deepcopy_hook(self, f: Callable[..., Any]) -> None:
        self._deepcopy_hooks.remove(f)


def _readable(module: Any, name: str, options: dict[str, Any]) -> str:
    code = module.graph.python_code(root_module="self", verbose=True, **options).src.lstrip("\n")
    parts = [_indented(f"class {name}(torch.nn.Module):\n{code}")]
    below = [""]
    for child_name, child in module.named_children():
        if isinstance(child, GraphModule):
            below.append(_readable(child, child_name, {**options, "expanded_def": False}))
    return "".join(parts) + _indented("\n".join(below))


def _indented(text: str) -> str:
    """All lines but the first moved to the right."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"    {line}" if line.strip() else "" for line in rest)])
