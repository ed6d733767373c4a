"""`Module`: parameters, buffers and submodules under names, and what is done with all of them."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from types import FunctionType
from typing import Any, Self, TypeVar

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._constructed import Constructed
from mindtorch_core.utils._own_frames import warn_user

from ..parameter import Buffer, Parameter
from . import base
from .base import ends
from .calling import Calling
from .conversion import Conversion
from .hooks import (
    OfAllModules,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from .state import EXTRA_STATE as _EXTRA_STATE_KEY_SUFFIX  # noqa: F401  (programs look here)
from .state import StateDict, _IncompatibleKeys  # noqa: F401
from .traversal import Traversal
from .utils import shown

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

T = TypeVar("T", bound="Module")

# Where functions say they are that are builtins in PyTorch.
_BUILTINS = {
    root + room
    for root in ("torch", "mindtorch_core")
    for room in ("", ".nn.functional", ".fft", ".linalg", ".special")
}

# Hooks that every module calls, by the names that libraries look for.
_global_parameter_registration_hooks = OfAllModules.parameter
_global_buffer_registration_hooks = OfAllModules.buffer
_global_module_registration_hooks = OfAllModules.module
_global_forward_pre_hooks = OfAllModules.forward_pre
_global_forward_hooks = OfAllModules.forward
_global_forward_hooks_with_kwargs = OfAllModules.forward_with_kwargs
_global_forward_hooks_always_called = OfAllModules.forward_always
_global_backward_pre_hooks = OfAllModules.backward_pre
_global_backward_hooks = OfAllModules.backward

_TABLES_OF_HOOKS = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


def _fresh_fields() -> dict[str, Any]:
    """The fields of a module that has nothing yet."""
    return {
        "training": True,
        "_parameters": {},
        "_buffers": {},
        "_non_persistent_buffers_set": set(),
        "_is_full_backward_hook": None,
        **{name: OrderedDict() for name in _TABLES_OF_HOOKS},
        "_modules": {},
    }


class Module(Calling, StateDict, Conversion, Traversal, Constructed):
    """Base class of all modules.

    A subclass calls ``super().__init__()`` and defines ``forward``. What it assigns to its attributes
    becomes part of it: a `Parameter`, a `Buffer`, another module.

    Args:
        *args: for the next base class, if ``call_super_init`` is set; refused otherwise.
        **kwargs: likewise.

    Attributes:
        training: whether the module is in training mode.
        call_super_init: whether ``__init__`` passes its arguments on to the next base class.

    Raises:
        TypeError: for arguments without ``call_super_init``.

    Example:
        >>> class Twice(torch.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.scale = torch.nn.Parameter(torch.tensor(2.0))
        ...     def forward(self, x):
        ...         return x * self.scale
        >>> model = Twice()
        >>> model(torch.ones(2)).tolist(), [name for name, _ in model.named_parameters()]
        ([2.0, 2.0], ['scale'])
    """

    dump_patches: bool = False
    call_super_init: bool = False
    _told: tuple[str, ...] = ()  # attributes that stand in the text

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Leave ops in the class's body functions: PyTorch's are builtins, which are no methods there."""
        super().__init_subclass__(**kwargs)
        for name, value in [*vars(cls).items()]:
            if type(value) is FunctionType and value.__module__ in _BUILTINS:
                setattr(cls, name, staticmethod(value))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            start = f"{type(self).__name__}.__init__()"
            if kwargs:
                raise TypeError(
                    f"{start} got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{start} takes 1 positional argument but {len(args) + 1} were given"
                )
        self.__dict__.update(_fresh_fields())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ---- registration --------------------------------------------------------------------------

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a buffer: a tensor that moves with the module and is no parameter.

        Args:
            name: of the attribute.
            tensor: None for a buffer that is not there.
            persistent: whether it is part of ``state_dict``.

        Raises:
            KeyError: for a name that is taken or cannot be one.
            TypeError: if it is no tensor.

        Example:
            >>> model = torch.nn.Module()
            >>> model.register_buffer("mean", torch.zeros(2))
            >>> model.mean, list(model.state_dict())
            (tensor([0., 0.]), ['mean'])
        """
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{torch.typename(tensor)}' object to buffer '{name}' (torch Tensor or "
                f"None required)"
            )
        for hook in OfAllModules.buffer.values():
            found = hook(self, name, tensor)
            tensor = tensor if found is None else found
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter.

        Args:
            name: of the attribute.
            param: None for a parameter that is not there.

        Raises:
            KeyError: for a name that is taken or cannot be one.
            TypeError: if it is no parameter.
            ValueError: if it is the result of an op.

        Example:
            >>> model = torch.nn.Module()
            >>> model.register_parameter("scale", torch.nn.Parameter(torch.ones(2)))
            >>> [name for name, _ in model.named_parameters()]
            ['scale']
        """
        self._check_name("parameter", name, "_parameters")
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{torch.typename(param)}' object to parameter '{name}' "
                f"(torch.nn.Parameter or None required)"
            )
        if param.grad_fn:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                f"explicitly. To express '{name}' as a function of another Tensor, compute the value in "
                f"the forward() method."
            )
        for hook in OfAllModules.parameter.values():
            found = hook(self, name, param)
            param = param if found is None else found
        self._parameters[name] = param

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule.

        Args:
            name: of the attribute.
            module: None for one that is not there.

        Raises:
            KeyError: for a name that is taken or cannot be one.
            TypeError: if it is no module.

        Example:
            >>> model = torch.nn.Module()
            >>> model.add_module("act", torch.nn.ReLU())
            >>> model.act
            ReLU()
        """
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{torch.typename(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._put_module(name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a submodule, as `add_module` does."""
        self.add_module(name, module)

    def _check_name(self, kind: str, name: str, table: str) -> None:
        there = self.__dict__.get(table)
        if there is None:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {torch.typename(name)}")
        if hasattr(self, name) and name not in there:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            got = f", got: {name}" if kind == "module" else ""
            raise KeyError(f'{kind} name can\'t contain "."{got}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    def _put_module(self, name: str, module: Any) -> None:
        for hook in OfAllModules.module.values():
            found = hook(self, name, module)
            module = module if found is None else found
        self._modules[name] = module

    # ---- attributes ----------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Tensor | Module:
        fields = self.__dict__
        # Without a loop: a forward pass reads a whole model here.
        if "_parameters" in fields and name in (found := fields["_parameters"]):
            return found[name]  # type: ignore[no-any-return]
        if "_modules" in fields and name in (found := fields["_modules"]):
            return found[name]  # type: ignore[no-any-return]
        if "_buffers" in fields and name in (found := fields["_buffers"]):
            return found[name]  # type: ignore[no-any-return]
        raise AttributeError(
            f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self
        )

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        params, modules = fields.get("_parameters"), fields.get("_modules")
        if isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{torch.typename(value)}' as parameter '{name}' (torch.nn.Parameter "
                    f"or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_parameters", "_buffers")
            self._put_module(name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{torch.typename(value)}' as child module '{name}' (torch.nn.Module "
                    f"or None expected)"
                )
            self._put_module(name, value)
        elif isinstance(value, Buffer) or name in fields.get("_buffers", ()):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _forget(self, name: str, *tables: str) -> None:
        """Take a name out of everything that something else of the same name replaces."""
        for table in (self.__dict__, *(self.__dict__[t] for t in tables)):
            table.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{torch.typename(value)}' as buffer '{name}' (torch.nn.Buffer, "
                f"torch.Tensor or None expected)"
            )
        persistent = name not in self.__dict__.get("_non_persistent_buffers_set", ())
        if isinstance(value, Buffer):
            persistent = value.persistent  # type: ignore[attr-defined]
        own = type(self).register_buffer
        if own is Module.register_buffer or "persistent" in inspect.signature(own).parameters:
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements "
                "register_buffer() without the persistent argument is not allowed."
            )

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [
            *dir(type(self)),
            *self.__dict__,
            *self._parameters,
            *self._modules,
            *self._buffers,
        ]
        return sorted({name for name in names if name and not name[0].isdigit()})

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name, value in _fresh_fields().items():  # of pickles that are older than a field
            self.__dict__.setdefault(name, value)

    # ---- modes ---------------------------------------------------------------------------------

    @ends
    def train(self, mode: bool = True) -> Self:
        """Set training mode in this module and all below it.

        Args:
            mode: False for `eval`.

        Raises:
            ValueError: if ``mode`` is no bool.

        Example:
            >>> model = torch.nn.Sequential(torch.nn.Dropout())
            >>> model.train(False)[0].training
            False
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Leave training mode.

        Example:
            >>> torch.nn.Dropout().eval()(torch.ones(3))
            tensor([1., 1., 1.])
        """
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Have all parameters require grad, or not.

        Args:
            requires_grad: whether they do.

        Returns:
            This module.

        Example:
            >>> torch.nn.Linear(2, 1).requires_grad_(False).weight.requires_grad
            False
        """
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Take the parameters' gradients away, or fill them with zeros.

        Args:
            set_to_none: False to fill them with zeros.

        Example:
            >>> model = torch.nn.Linear(2, 1)
            >>> model(torch.ones(2)).sum().backward()
            >>> model.zero_grad()
            >>> print(model.weight.grad)
            None
        """
        if getattr(self, "_is_replica", False):
            warn_user(
                "Calling .zero_grad() from a module created with nn.DataParallel() has no effect: its "
                "parameters are no leaves, and accumulate no gradients.",
            )
        for parameter in self.parameters():
            if set_to_none:  # also where it is None: a recording of a step learns of it
                parameter.grad = None
                continue
            grad = parameter.grad
            if grad is None:
                continue
            if grad.grad_fn is not None:
                grad.detach_()
            else:
                grad.requires_grad_(False)
            grad.zero_()

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Have calls run what ``torch.compile`` makes of the module, with the same arguments."""
        self._compiled_call_impl = torch.compile(self._call_impl, *args, **kwargs)

    def _replicate_for_data_parallel(self) -> Self:
        replica = type(self).__new__(type(self))
        replica.__dict__.update(
            self.__dict__,
            _parameters={},
            _buffers=self._buffers.copy(),
            _modules=self._modules.copy(),
            _is_replica=True,
        )
        return replica

    # ---- text ----------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What stands between the parentheses of the text, beside submodules: the attributes `_told`."""
        return shown(self, *type(self)._told)

    @ends
    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        if len(lines) == 1 and not self._modules:
            return f"{self._get_name()}({extra})"
        lines += [f"({name}): {_indented(repr(m))}" for name, m in self._modules.items()]
        inner = "\n  ".join(lines)
        return f"{self._get_name()}(\n  {inner}\n)" if lines else f"{self._get_name()}()"

    def _repr_html_(self) -> str:
        """What notebooks show: the submodules as a tree that unfolds."""
        from .markup import module_html

        return module_html(self)


def _indented(text: str) -> str:
    """All lines but the first moved to the right."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"  {line}" if line.strip() else "" for line in rest)])


vars(base)["Module"] = Module  # programs read the annotations of its fields at run time
