"""`Tracer`: calls a program with proxies, and records what it does."""

from __future__ import annotations

import copy
import functools
import math
import threading
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, Final

import mindtorch_core as torch

from ...frontend.overriding import TorchFunctionMode
from ...values.devices import STAND_INS, concrete
from ...values.forks import fork_safe
from .graph import Graph
from .node import map_aggregate
from .proxy import ParameterProxy, Proxy, Scope, TracerBase
from .root_arguments import annotations_of, arguments_for
from .wrapping import Patcher, _patch_wrapped_functions, find_proxy

__all__ = ["ProxyableClassMeta", "Tracer", "is_fx_tracing"]

_LEAVES: Final = ("torch.nn", "torch.ao.nn", "mindtorch_core.nn", "mindtorch_nn.")
_PROXYABLE: Final[dict[type, None]] = {}


# Methods are exchanged while a thread traces, and put back in the opposite order.
_TURN: Final = fork_safe(threading.RLock())


class _Thread(threading.local):
    tracing = 0


_thread = _Thread()


def is_fx_tracing() -> bool:
    """Whether this thread is tracing a program."""
    return _thread.tracing > 0


class _Device:
    """What a call takes for a device, on its way to the tracer."""

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy
        self.type = concrete(None).type


def _device_for(value: Any) -> _Device | None:
    return _Device(value) if isinstance(value, Proxy) and is_fx_tracing() else None


STAND_INS.append(_device_for)


class _Recording(TorchFunctionMode):
    """Hands calls to the proxies in them also where tensors are not expected, as among sizes."""

    def __torch_function__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        own = map_aggregate((args, kwargs), lambda v: v.proxy if isinstance(v, _Device) else v)
        proxy = find_proxy(own)
        if proxy is None:
            return func(*args, **kwargs)
        args, kwargs = own
        return proxy.__torch_function__(func, types, args, kwargs)


class ProxyableClassMeta(type):
    """The metaclass of classes whose construction with proxies is recorded."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _PROXYABLE[cls] = None
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """An object, or the proxy of one."""
        proxy = find_proxy(args, kwargs) if is_fx_tracing() else None
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


class Tracer(TracerBase):
    """Records what a module or function does; subclasses say what is recorded as one call.

    Args:
        autowrap_modules: modules whose functions are recorded wherever the program has them.
        autowrap_functions: functions that are.
        param_shapes_constant: whether the program may ask parameters for their shapes.

    Attributes:
        root: the module that is traced; one made for it, if it is a function.
    """

    root: Any

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        self._autowrap_search = [*autowrap_modules]
        self._autowrap_function_ids = {
            id(value)
            for module in autowrap_modules
            for name, value in vars(module).items()
            if name[0] != "_" and callable(value)
        } | set(map(id, autowrap_functions))
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Any, str] | None = None
        self.root_module_name = ""
        self.num_calls: dict[str, int] = {}
        self.tensor_attrs: dict[Any, str] = {}

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name with a number that the root has no attribute of."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def create_arg(self, a: Any) -> Any:
        """What stands in the graph for a value; for parameters, buffers and modules a node that reads them.

        Tensors that the root does not have become attributes of it.

        Raises:
            NameError: for a parameter that the root does not have.
        """
        if isinstance(a, torch.nn.Parameter):
            found = _name_of(a, self.root.named_parameters())
            if found is None:
                raise NameError("parameter is not a member of this module")
            return self.create_node("get_attr", found, (), {})
        if isinstance(a, torch.Tensor | torch.nn.Module):
            is_tensor = isinstance(a, torch.Tensor)
            found = _name_of(
                a, self.root.named_buffers() if is_tensor else self.root.named_modules()
            )
            if found is not None:
                return self.create_node("get_attr", found, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            args = tuple(self.create_arg(each) for each in a)
            return self.create_node("call_function", type(a), args, {})
        if isinstance(a, torch.Tensor):
            return self.create_node("get_attr", self._constant(a), (), {})
        if type(a) in _PROXYABLE:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def _constant(self, tensor: Any) -> str:
        """The name of the attribute that a tensor is, which it becomes if it is none."""
        name = self.tensor_attrs.get(tensor)
        if not name:
            name = self.tensor_attrs[tensor] = self.get_fresh_qualname("_tensor_constant")
            setattr(self.root, name, tensor)
        return name

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        """Whether calls of a module are recorded as such; here those of torch.nn but `Sequential`.

        Args:
            m: the module.
            module_qualified_name: its path below the root.
        """
        return m.__module__.startswith(_LEAVES) and not isinstance(m, torch.nn.Sequential)

    def path_of_module(self, mod: Any) -> str:
        """The path of a module below the root.

        Raises:
            NameError: if it is not there.
        """
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
        else:
            path = _name_of(mod, self.root.named_modules())
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(
        self,
        m: Any,
        forward: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """What a call of a module gives: a proxy for leaves; others are called.

        Args:
            m: the module.
            forward: calls it.
            args: of the call.
            kwargs: of the call.
        """
        path = self.path_of_module(m)
        before, self.scope = self.scope, Scope(path, type(m))
        calls = self.num_calls.get(path, 0)
        self.num_calls[path] = calls + 1
        key = f"{path}@{calls}" if calls else path
        self.module_stack[key] = path, type(m)
        try:
            if self.is_leaf_module(m, path):
                return self.create_proxy("call_module", path, args, kwargs)
            return forward(*args, **kwargs)
        finally:
            self.module_stack.pop(key, None)
            self.scope = before

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What the program gets that reads an attribute of a module: a proxy for parameters.

        Args:
            attr: its name.
            attr_val: the attribute.
            parameter_proxy_cache: the proxies that there are, by path.
        """
        if isinstance(attr_val, torch.nn.Parameter):
            named = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, torch.Tensor):
            named = self.root.named_buffers()
        else:
            return attr_val
        name = _name_of(attr_val, named)
        if name is None:
            return attr_val
        if name not in parameter_proxy_cache:
            more: dict[str, Any] = {}
            if self.param_shapes_constant and isinstance(attr_val, torch.nn.Parameter):
                more["proxy_factory_fn"] = lambda n: ParameterProxy(self, n, name, attr_val)
            parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, **more)
        return parameter_proxy_cache[name]

    def create_args_for_root(
        self,
        root_fn: Any,
        is_module: bool,
        concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
    ) -> tuple[Any, list[Any]]:
        """Make the graph's arguments.

        Args:
            root_fn: the function that is traced.
            is_module: whether its first argument is the root.
            concrete_args: arguments with values, as `symbolic_trace` takes them.

        Returns:
            What is to be called, and with what.
        """
        return arguments_for(self, root_fn, is_module, concrete_args)

    def trace(self, root: Any, concrete_args: dict[str, Any] | None = None) -> Graph:
        """Record what a module or function does.

        Args:
            root: the module or function.
            concrete_args: arguments with values, as `symbolic_trace` takes them.
        """
        is_module = isinstance(root, torch.nn.Module)
        if is_module:
            assert hasattr(type(root), self.traced_func_name), (
                f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}"
            )
            self.root = root
            function = getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root, function = torch.nn.Module(), root
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = {
            value: f"{path}.{name}".lstrip(".")
            for path, module in self.root.named_modules()
            for name, value in vars(module).items()
            if isinstance(value, torch.Tensor)
        }
        assert isinstance(function, FunctionType), f"Expected FunctionType, got {type(function)}"
        code = function.__code__
        self.graph._co_fields = {
            name: getattr(code, name) for name in ("co_name", "co_filename", "co_firstlineno")
        }
        _thread.tracing += 1
        try:
            self._run(function, is_module, concrete_args)
        finally:
            _thread.tracing -= 1
            self.submodule_paths = None
        graph: Graph = self.graph
        return graph

    def _run(self, function: FunctionType, is_module: bool, concrete_args: Any) -> None:
        call, args = self.create_args_for_root(function, is_module, concrete_args)
        returns = annotations_of(call).get("return")
        with _TURN, Patcher() as patcher, _Recording():
            self._patch_modules(patcher)
            _patch_wrapped_functions(patcher)
            known = self._autowrap_function_ids
            patcher.functions_among(function.__globals__, known)
            for module in self._autowrap_search:
                patcher.functions_among(vars(module), known)
            value = (self.create_arg(call(*args)),)
            self.create_node("output", "output", value, {}, type_expr=returns)

    def _patch_modules(self, patcher: Patcher) -> None:
        """Have this thread's calls and attributes of modules come here."""
        kind: Any = torch.nn.Module
        plain_call, plain_getattr = kind.__call__, kind.__getattr__
        thread = threading.get_ident()
        proxies: dict[str, Proxy] = {}

        @functools.wraps(plain_getattr)
        def module_getattr(mod: Any, attr: str) -> Any:
            value = plain_getattr(mod, attr)
            if threading.get_ident() != thread:
                return value
            return self.getattr(attr, value, proxies)

        @functools.wraps(plain_call)
        def module_call(mod: Any, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != thread:
                return plain_call(mod, *args, **kwargs)
            names = getattr(getattr(mod, "forward", mod), "__globals__", {})
            patcher.functions_among(names, self._autowrap_function_ids)
            forward = functools.partial(plain_call, mod)
            return self.call_module(mod, forward, args, kwargs)

        patcher.patch_method(kind, "__getattr__", module_getattr)
        patcher.patch_method(kind, "__call__", module_call)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        made = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            own = (
                copy.copy
                if name == "_autowrap_search"
                else functools.partial(copy.deepcopy, memo=memo)
            )
            made.__dict__[name] = own(value)
        return made


def _name_of(value: Any, named: Any) -> str | None:
    """The name of an object among pairs of names and objects, or None."""
    return next((name for name, each in named if each is value), None)
