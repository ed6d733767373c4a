"""The base of all optimizers: parameters in groups, their state, hooks, saving and loading."""

from __future__ import annotations

import functools
import itertools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any, ClassVar, Final

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._constructed import Constructed
from mindtorch_core.utils._own_frames import ending, warn_user
from mindtorch_core.utils.hooks import RemovableHandle

from ._inner_names import (  # noqa: F401 (optimizers of other packages import them from here)
    DeviceDict,
    DeviceDtypeDict,
    Indices,
    StateDict,
    TensorListList,
    _disable_dynamo_if_unsupported,
    _get_scalar_dtype,
    _get_value,
    _group_tensors_by_device_and_dtype,
    _stack_if_compiling,
    _to_scalar,
    _view_as_real,
)

__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]

ParamsT = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
_params_t = ParamsT  # its name before
Closure = Callable[[], Any]
Hooks = OrderedDict[int, Callable[..., Any]]


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Types of devices on which steps may be captured: that of the accelerator, if there is one."""
    found = torch.accelerator.current_accelerator()
    return [] if found is None else [found.type]


class _Required:
    """Stands for an option that every group must name."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: Final = _Required()

_global_optimizer_pre_hooks: Final[Hooks] = OrderedDict()
_global_optimizer_post_hooks: Final[Hooks] = OrderedDict()
_HOOKS: Final = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def _register(hooks: Hooks, hook: Callable[..., Any], *, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before a step of any optimizer.

    Returns:
        A handle whose ``remove()`` takes the hook back.
    """
    return _register(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after a step of any optimizer.

    Returns:
        A handle whose ``remove()`` takes the hook back.
    """
    return _register(_global_optimizer_post_hooks, hook)


def global_hooks() -> bool:
    """Whether there are hooks that are called with the steps of all optimizers."""
    return bool(_global_optimizer_pre_hooks or _global_optimizer_post_hooks)


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A class's ``step`` between the hooks of the optimizer it is called on."""

    @functools.wraps(step)
    def hooked(*args: Any, **kwargs: Any) -> Any:
        self: Optimizer = args[0]
        for pre in itertools.chain(
            _global_optimizer_pre_hooks.values(), self._optimizer_step_pre_hooks.values()
        ):
            result = pre(self, args, kwargs)
            if result is None:
                continue
            if not isinstance(result, tuple) or len(result) != 2:
                raise RuntimeError(
                    f"{pre} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                )
            args, kwargs = result
        if "_opt_called" in self.__dict__:  # a scheduler wants to know
            self._opt_called = True
        found = step(*args, **kwargs)
        for post in itertools.chain(
            self._optimizer_step_post_hooks.values(), _global_optimizer_post_hooks.values()
        ):
            post(self, args, kwargs)
        return found

    hooked.hooked = True  # type: ignore[attr-defined]
    return hooked


def _profiled(step: Callable[..., Any]) -> Callable[..., Any]:
    """A ``step`` with hooks around it, once: `Optimizer.profile_hook_step`."""
    return step if getattr(step, "hooked", False) else _with_hooks(step)


class Optimizer(Constructed):
    """Base of all optimizers.

    Args:
        params: tensors, pairs of names and tensors, or dicts with ``params`` and options of their own.
        defaults: the options of groups that do not name them.

    Attributes:
        param_groups: dicts with ``params`` and options.
        state: what the optimizer keeps of each parameter.
        defaults: as given.

    Raises:
        TypeError: if ``params`` is a tensor, or holds something else than tensors.
        ValueError: if there are none, or one is no leaf or in several groups.
    """

    _optimizer_step_pre_hooks: Hooks
    _optimizer_step_post_hooks: Hooks
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks
    _opt_called: bool
    profile_hook_step = staticmethod(_profiled)  # what decorates steps that are put in by hand
    # Options that older states lack, and what they were then.
    _since_then: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but "
                f"got {torch.typename(params)}"
            )
        if not hasattr(params, "__iter__") and not hasattr(params, "__getitem__"):
            meant = ": give it module.parameters()" if hasattr(params, "parameters") else ""
            raise TypeError(f"'{type(params).__name__}' object is not iterable{meant}")
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _patch_step_function(self) -> None:
        """Make what is not there of hooks, and have ``step`` call them."""
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        step = type(self).step
        if not getattr(step, "hooked", False):
            type(self).step = _with_hooks(step)  # type: ignore[method-assign]

    # ---- copies and what they show -------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)
        for group in self.param_groups:
            for name, value in self._since_then.items():
                group.setdefault(name, value)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}" if i == 0 else f"\nParameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    # ---- groups --------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, with options of their own.

        Args:
            param_group: a dict with ``params`` and options; missing ones are the defaults.

        Raises:
            TypeError: if it is no dict, or its parameters are no tensors or in a set.
            ValueError: if a parameter is no leaf or in another group, names or a required option are
                missing.

        Example:
            >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5)
            >>> optimizer.add_param_group({"params": [torch.ones(2, requires_grad=True)], "lr": 0.1})
            >>> [group["lr"] for group in optimizer.param_groups]
            [0.5, 0.1]
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _take_parameters(param_group)
        for p in param_group["params"]:
            self._check_parameter(p)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        own = set(param_group["params"])
        if len(own) != len(param_group["params"]):
            warn_user(
                "optimizer contains a parameter group with duplicate parameters; in future, this will "
                "cause an error; see github.com/pytorch/pytorch/issues/40967 for more information"
            )
        named = "param_names" in param_group
        for group in self.param_groups:
            if named != ("param_names" in group):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{'with' if named else 'without'} names to the optimizer"
                )
            if not own.isdisjoint(group["params"]):
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _check_parameter(self, p: Any) -> None:
        if not isinstance(p, Tensor):
            raise TypeError(
                f"optimizer can only optimize Tensors, but one of the params is {torch.typename(p)}"
            )
        if not (self.defaults.get("differentiable") or p.is_leaf or p.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    # ---- steps ---------------------------------------------------------------------------------

    @staticmethod
    def _group_tensors_by_device_and_dtype(
        tensorlistlist: TensorListList, with_indices: bool = False
    ) -> dict[Any, tuple[TensorListList, Indices]]:
        """Lists that belong together, by devices and dtypes: what functions over lists take."""
        return _group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters.

        Args:
            set_to_none: whether they become None, or zeros otherwise.

        Example:
            >>> w = torch.tensor([1.0], requires_grad=True)
            >>> w.sum().backward()
            >>> torch.optim.SGD([w], lr=0.5).zero_grad()
            >>> print(w.grad)
            None
        """
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:  # also where it is None: a recording of a step learns of it
                    p.grad = None
                    continue
                if p.grad is None:
                    continue
                if p.grad.grad_fn is not None:
                    p.grad.detach_()
                else:
                    p.grad.requires_grad_(False)
                p.grad.zero_()

    def step(self, closure: Closure | None = None) -> Any:
        """Update the parameters once.

        Args:
            closure: computes the loss again and returns it.

        Example:
            >>> w = torch.tensor([1.0], requires_grad=True)
            >>> optimizer = torch.optim.SGD([w], lr=0.5)
            >>> w.sum().backward()
            >>> optimizer.step()
            >>> w.tolist()
            [0.5]
        """
        raise NotImplementedError

    # ---- hooks ---------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; it may return both anew."""
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before the state is asked for."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` on the state; it may return another one."""
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before a state is loaded; it may return another one."""
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after a state was loaded."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend=prepend)

    # ---- state ---------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on later: ``state`` and ``param_groups``, parameters as numbers."""
        for pre in self._optimizer_state_dict_pre_hooks.values():
            pre(self)
        numbers: dict[int, int] = {}
        groups = []
        first = 0
        for group in self.param_groups:
            for i, p in enumerate(group["params"], first):
                numbers.setdefault(id(p), i)
            first += len(group["params"])
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        made: dict[str, Any] = {"state": state, "param_groups": groups}
        for post in self._optimizer_state_dict_post_hooks.values():
            made = _or(post(self, made), made)
        return made

    @ending()
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state over; tensors are moved to the devices and dtypes of their parameters.

        Args:
            state_dict: what `state_dict` of an optimizer with such groups gave.

        Raises:
            ValueError: if groups differ in number or size. Nothing has changed then.
            RecursionError: if the state holds itself.
        """
        state_dict = state_dict.copy()
        for pre in self._optimizer_load_state_dict_pre_hooks.values():
            state_dict = _or(pre(self, state_dict), state_dict)
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(
            len(new["params"]) != len(old["params"])
            for new, old in zip(saved, self.param_groups, strict=True)
        ):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        numbers = itertools.chain.from_iterable(g["params"] for g in saved)
        params = itertools.chain.from_iterable(g["params"] for g in self.param_groups)
        by_number = dict(zip(numbers, params, strict=True))
        on_device = {n for g in saved if g.get("capturable") or g.get("fused") for n in g["params"]}
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_number:
                p = by_number[key]
                state[p] = _cast(p, value, step_too=key in on_device)
            else:
                state[key] = value
        for new, old in zip(saved, self.param_groups, strict=True):
            new["params"] = old["params"]
            if "param_names" in old:
                new.setdefault("param_names", old["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for post in self._optimizer_load_state_dict_post_hooks.values():
            post(self)


def _or(result: Any, otherwise: Any) -> Any:
    return otherwise if result is None else result


def _take_parameters(group: dict[str, Any]) -> None:
    """Make a list of a group's parameters, and one of their names where they are given.

    Raises:
        KeyError: if there are none.
        TypeError: if they are in a set.
        ValueError: if only some have names.
    """
    if "params" not in group:
        raise KeyError(f"params: a group of parameters needs them, and this one has {list(group)}")
    params = group["params"]
    if isinstance(params, Tensor):
        params = [params]
    elif isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of "
            "tensors in sets will change between runs. Please use a list instead."
        )
    params = list(params)
    names = [each[0] for each in params if isinstance(each, tuple)]
    group["params"] = [each[1] if isinstance(each, tuple) else each for each in params]
    if names:
        if len(names) != len(params):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        group["param_names"] = names


def _cast(p: Tensor, value: Any, *, step_too: bool, key: Any = None) -> Any:
    """A loaded value as the state of a parameter.

    Args:
        p: the parameter.
        value: a tensor, or what holds some.
        step_too: whether the number of steps lives on the parameter's device.
        key: what the value is called.
    """
    if isinstance(value, Tensor):
        if key == "step":
            return value.to(dtype=torch.float32, device=p.device) if step_too else value
        if p.is_floating_point():
            return value.to(dtype=p.dtype, device=p.device)
        return value.to(device=p.device)
    if isinstance(value, dict):
        return {k: _cast(p, v, step_too=step_too, key=k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return type(value)(_cast(p, v, step_too=step_too) for v in value)  # type: ignore[call-arg]
    return value


# ---- what optimizers outside this package call --------------------------------------------------


def _use_grad_for_differentiable(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step that records for backward if the optimizer's ``differentiable`` asks for it."""

    @functools.wraps(step)
    def wrapped(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        with torch.set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *args, **kwargs)

    return wrapped


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether an optimizer is to be fused, and by lists, unless told: neither, on the CPU."""
    return False, False
