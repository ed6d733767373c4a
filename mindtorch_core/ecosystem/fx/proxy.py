"""`Proxy`: a value that is not there yet; and `TracerBase`, which records what is done with it."""

from __future__ import annotations

import copy
import dis
import enum
import operator
import os
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any, Final, NamedTuple, NoReturn

import mindtorch_core as torch

from ...dispatch.overrides import arm
from ...opdefs.torch_ops import OpOverload
from ...tensors.tensor import FIELDS, Tensor
from ...values.devices import device
from ...values.dtypes import dtype
from ...values.layouts import layout
from ...values.memory_formats import memory_format
from ...values.named_only import SymBool, SymFloat, SymInt
from . import traceback as kept
from .immutable_collections import frozen
from .naming import is_of_torch, public_name, qualified_name
from .node import Node, map_arg
from .writing import magic_methods, reflectable_magic_methods

__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "ParameterProxy",
    "Proxy",
    "TraceError",
    "TracerBase",
    "assert_fn",
    "is_method",
]

_OF_TENSORS: Final = {*FIELDS, *FIELDS.values()} - {"_base"}  # what tensors alone have


class TraceError(ValueError):
    """What a program does cannot be recorded."""


def assert_fn(x: Any) -> None:
    """Assert what was asserted when the program was traced."""
    assert x, "Assertion failed"


# What an argument of a node can be beside nodes and containers.
BASE_TYPES: Final = (
    str, int, float, bool, complex, dtype, Tensor, device, memory_format, layout, OpOverload,
    SymInt, SymBool, SymFloat,
)  # fmt: skip
_OURS: Final = os.path.dirname(torch.__file__) + os.sep


class Scope(NamedTuple):
    """Where in a module a tracer is.

    Attributes:
        module_path: the path of the module, empty for the root.
        module_type: its class.
    """

    module_path: str
    module_type: Any


class TracerBase:
    """Makes nodes of calls, and proxies of nodes.

    Attributes:
        graph: where nodes are put.
        record_stack_traces: whether nodes remember the lines of the program.
        check_mutable_operations: whether calls that change their arguments are refused.
        trace_asserts: whether ``assert`` of a proxy is recorded.
        proxy_buffer_attributes: whether buffers that are read are recorded.
        traced_func_name: the method that is traced.
    """

    graph: Any
    record_stack_traces: bool = False
    _record_forward_stack_traces_only: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"

    def __init__(self) -> None:
        self.scope = Scope("", None)
        self.module_stack: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        self.node_name_to_scope: dict[str, tuple[str, Any]] = {}

    def create_node(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Make a node, and note where the program is.

        Raises:
            RuntimeError: for a call that changes an argument, if such are refused.
        """
        if kind == "call_function" and self.check_mutable_operations:
            from .operator_schemas import check_for_mutable_operation

            check_for_mutable_operation(target, args, kwargs)
        node: Node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = self.scope
        if kept.has_preserved_node_meta():
            node.meta.update(kept.kept_for_new_nodes())
        elif self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        if self.record_stack_traces and not node.stack_trace:
            frames = self._filter_traceback_frames(traceback.extract_stack())
            if frames:
                node.stack_trace = "".join(frames.format()).strip()
        return node

    def _filter_traceback_frames(
        self, user_stack_summary: traceback.StackSummary
    ) -> traceback.StackSummary:
        """The frames of the program, from its first ``forward`` on."""
        names = [frame.name for frame in user_stack_summary]
        first = names.index("forward") if "forward" in names else len(names)
        alone = self._record_forward_stack_traces_only
        return traceback.StackSummary.from_list(
            frame
            for frame in user_stack_summary[first:]
            if not _is_ours(frame.filename) and (not alone or frame.name == "forward")
        )

    def proxy(self, node: Node) -> Proxy:
        """The proxy of a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Make a node of a call whose arguments may be proxies, and give its proxy."""
        made_args, made_kwargs = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, made_args, made_kwargs, name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: Any) -> Any:
        """What stands in a graph for a value that the program passes.

        Raises:
            NotImplementedError: for a type that cannot.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            parts = [self.create_arg(each) for each in a]
            return type(a)(*parts) if hasattr(a, "_fields") else type(a)(parts)
        if isinstance(a, list):
            return [self.create_arg(each) for each in a]
        if isinstance(a, dict):
            return {self._key(key): self.create_arg(each) for key, each in a.items()}
        if isinstance(a, slice | range):
            return type(a)(*(self.create_arg(each) for each in (a.start, a.stop, a.step)))
        if isinstance(a, (*BASE_TYPES, enum.Enum)) or a is None or a is ...:
            return a
        if is_dataclass(a) and not isinstance(a, type):
            kwargs = {f.name: self.create_arg(getattr(a, f.name)) for f in fields(a)}
            return self.create_node("call_function", type(a), (), kwargs)
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key: Any) -> Any:
        def refuse(node: Node) -> NoReturn:
            raise RuntimeError(
                f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {node}"
            )

        if isinstance(key, str):
            return key
        made = self.create_arg(key)
        map_arg(made, refuse)
        return made

    # ---- what a program asks of a value --------------------------------------------------------

    def to_bool(self, obj: Proxy) -> bool:
        """Whether a value is true.

        Raises:
            TraceError: as nobody knows.
        """
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """The elements of a value.

        Raises:
            TraceError: as nobody knows how many there are.
        """
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a "
            "*args or **kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed "
            "explanation of what types of control flow can be traced, and check out the Proxy docstring for "
            "help troubleshooting Proxy iteration errors"
        )

    def keys(self, obj: Proxy) -> Any:
        """The keys of a value that is spread with two stars."""
        return Attribute(obj, "keys")()


def _is_ours(file: str) -> bool:
    return file.startswith((_OURS, "<mindtorch")) or f"{os.sep}mindtorch_nn{os.sep}" in file


class Proxy:
    """A value of a graph. Operators, functions of torch, attributes and methods make further ones.

    What asks for the value itself cannot be recorded: ``if``, ``for``, ``len``, ``*`` before an argument.
    Loop over a number that is known, give it by ``concrete_args``, have the function that asks recorded as
    one call by `wrap`, or have a `Tracer` take its module for a leaf.

    Args:
        node: the step that gives the value.
        tracer: what records; None for one that puts nodes into the node's graph.
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        arm()  # functions that are written in Python ask for it from now on
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Any:
        if k in _OF_TENSORS:  # it is none, and calls that look find out
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        made = object.__new__(type(self))
        memo[id(self)] = made
        for name, value in self.__dict__.items():
            made.__dict__[name] = copy.deepcopy(value, memo)
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        """What a call of the value gives."""
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Proxy]:
        step = _instruction(sys._getframe(1))[0]
        if step is not None and step.opname == "UNPACK_SEQUENCE":
            return (self[i] for i in range(step.argval))  # type: ignore[index]
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts and _is_asserted(sys._getframe(1)):
            self.tracer.create_proxy("call_function", assert_fn, (self,), {})
            return True
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """What ``**proxy`` asks for; see `TracerBase.keys`."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, "
            "please call torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(
        cls,
        orig_method: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> Proxy:
        args, kwargs = args or (), kwargs or {}
        tracers: dict[TracerBase, None] = {}
        frozen((args, kwargs), lambda v: tracers.setdefault(v.tracer) if isinstance(v, cls) else v)
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {[*tracers]} while trying to trace operations "
                f"{orig_method}"
            )
        tracer = next(iter(tracers))
        name = orig_method.__name__
        if name == "__get__" or is_method(orig_method):
            name = {"__eq__": "eq", "__pow__": "pow"}.get(name, name)
            return tracer.create_proxy("call_method", name, args, kwargs)
        if isinstance(orig_method, FunctionType) and is_of_torch(orig_method):
            name = qualified_name(orig_method).rpartition(".")[2]
        shown = tracer.graph._target_to_str(name)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=shown)


def is_method(function: Any) -> bool:
    """Whether a function is one of tensors, and none of torch."""
    name = function.__name__
    if getattr(function, "__qualname__", "").startswith(("Tensor.", "__")):
        return True
    if not isinstance(function, FunctionType) or not is_of_torch(function):
        return False
    return hasattr(Tensor, name) and not public_name(function)


class Attribute(Proxy):
    """An attribute of a value: a method if it is called, read only if it is used."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The step that reads it, which is recorded now."""
        if self._node is None:
            made = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = made.node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        """What the method gives."""
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter whose shape is known while a program is traced, so that it can be asked for."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        assert isinstance(param, torch.nn.Parameter), f"Expected Parameter, got {type(param)}"
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """Of the parameter."""
        return self.param.shape

    @property
    def ndim(self) -> int:
        """Of the parameter."""
        return int(self.param.ndim)

    def size(self) -> Any:
        """Of the parameter."""
        return self.param.size()

    def dim(self) -> int:
        """Of the parameter."""
        return int(self.param.dim())

    def numel(self) -> int:
        """Of the parameter."""
        return int(self.param.numel())

    nelement = numel


class GraphAppendingTracer(TracerBase):
    """Puts what is done with proxies into a graph that is there.

    Args:
        graph: the graph.
    """

    def __init__(self, graph: Any) -> None:
        super().__init__()
        self.graph = graph


# ---- operators ----------------------------------------------------------------------------------


def _operator(name: str, reflected: bool) -> Callable[..., Proxy]:
    if reflected:

        def reflect(self: Proxy, other: Any) -> Proxy:
            function = getattr(operator, name)
            return self.tracer.create_proxy("call_function", function, (other, self), {})

        return reflect

    def operate(*args: Any, **kwargs: Any) -> Proxy:
        function = getattr(operator, name)
        made: Proxy = args[0].tracer.create_proxy("call_function", function, args, kwargs)
        return made

    return operate


for _names, _prefix in ((magic_methods, ""), (reflectable_magic_methods, "r")):
    for _name in _names:
        _method = _operator(_name, bool(_prefix))
        _method.__name__ = f"__{_prefix}{_name.strip('_')}__"
        setattr(Proxy, _method.__name__, _method)
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]


# ---- what the program is about to do ------------------------------------------------------------


def _instruction(frame: Any) -> list[dis.Instruction | None]:
    """The instruction that a frame is at, and those behind it."""
    steps = [*dis.get_instructions(frame.f_code)]
    at = next((n for n, step in enumerate(steps) if step.offset >= frame.f_lasti), len(steps))
    return [*steps[at:], None]


def _is_asserted(frame: Any) -> bool:
    """Whether a frame is about to assert a value."""
    here, *behind = _instruction(frame)
    if here is None or "JUMP" not in here.opname or "IF_TRUE" not in here.opname:
        return False
    following = behind[0]
    return following is not None and (
        following.opname == "LOAD_ASSERTION_ERROR" or following.argval == "AssertionError"
    )
