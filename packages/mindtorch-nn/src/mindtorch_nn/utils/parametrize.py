"""Parameters computed from others each time they are read."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import mindtorch_core as torch
from mindtorch_core import Tensor

from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter, swaps

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

M = TypeVar("M", bound=Module)


class _Cache:
    """What was computed inside of `cached`, by module and name.

    Attributes:
        blocks: how many blocks are open.
        found: what was computed in them.
    """

    blocks = 0
    found: dict[tuple[int, str], Any] = {}  # noqa: RUF012  (one for all)


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once in the block."""
    _Cache.blocks += 1
    try:
        yield
    finally:
        _Cache.blocks -= 1
        if not _Cache.blocks:
            _Cache.found.clear()


def _register(module: Module, name: str, value: Any) -> None:
    """A parameter as such, anything else as a buffer."""
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _put(place: Any, value: Tensor) -> None:
    """Have a tensor show what another one shows."""
    if not swaps(place):
        place.data = value.detach()
    elif value is not place:
        kept = (
            Parameter(value, place.requires_grad)
            if isinstance(place, Parameter)
            else value.detach()
        )
        torch.utils.swap_tensors(place, kept)


def _check_same(what: str, before: Any, after: Any, names: tuple[str, str]) -> None:
    """Refuse a parametrization that changes dtype or shape.

    Raises:
        ValueError: if it does.
    """
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for field in ("dtype", "shape"):
        old, new = getattr(before, field), getattr(after, field)
        if old != new:
            raise ValueError(
                f"Registering a parametrization may not change the {field} of the tensor, unless "
                f"{what} flag is enabled.\n{names[0].format(field)}: {old}\n"
                f"{names[1].format(field)}: {new}"
            )


class ParametrizationList(ModuleList):
    """The parametrizations of a tensor, and the tensors it is computed from.

    They are its parameter ``original``, or ``original0``, ``original1`` and so on where ``right_inverse``
    gives several.

    Args:
        modules: applied one after another.
        original: the tensor, from which ``right_inverse`` computes the others.
        unsafe: allow a result of another dtype or shape.
    """

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        wanted = torch.empty(original.shape, dtype=original.dtype, device="meta")
        made: Any = original
        with torch.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):  # it may be computed, not assigned to
                        made = module.right_inverse(made)
        if not isinstance(made, Tensor | Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(made).__name__}"
            )
        self.is_tensor = isinstance(made, Tensor)
        self.ntensors = 1 if self.is_tensor else len(made)
        if isinstance(made, Tensor):
            self._keep_one(original, made)
        else:
            self._keep_several(original, made)
        if not unsafe:
            names = f"unparametrized {'{}'}", f"parametrized {'{}'}"
            _check_same("`unsafe`", wanted, self(), names)

    def _keep_one(self, original: Any, made: Tensor) -> None:
        for field in ("dtype", "device"):
            if getattr(original, field) != getattr(made, field):
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the {field}.\n"
                    f"original.{field}: {getattr(original, field)}\n"
                    f"right_inverse(original).{field}: {getattr(made, field)}"
                )
        _put(original, made)
        _register(self, "original", original)

    def _keep_several(self, original: Any, made: Sequence[Any]) -> None:
        for i, each in enumerate(made):
            if not isinstance(each, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {i} of the sequence with type {type(each).__name__}."
                )
            kept: Any = each
            if isinstance(original, Parameter):
                kept = Parameter(each, original.requires_grad)
            kept.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", kept)

    def right_inverse(self, value: Any) -> None:
        """Assign to the tensor: what it is computed from becomes what gives ``value``.

        Raises:
            RuntimeError: if a parametrization cannot be assigned to.
            ValueError: if what it gives does not fit.
        """
        with torch.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError(
                        f"`right_inverse` should return a tensor. Got {type(value).__name__}"
                    )
                value = [value]
            elif not isinstance(value, Sequence):
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}."
                )
            elif len(value) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a "
                    f"sequence of length {len(value)}."
                )
            places = self._originals()
            for i, (place, new) in enumerate(zip(places, value, strict=True)):
                self._check_new(i, place, new)
            for place, new in zip(places, value, strict=True):
                _put(place, new)

    def _check_new(self, i: int, place: Any, new: Any) -> None:
        number = "" if self.is_tensor else str(i)
        if not isinstance(new, Tensor):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got element {i} of type "
                f"{type(new).__name__}."
            )
        if new.dtype != place.dtype:
            what = "The tensor" if self.is_tensor else f"Tensor {i}"
            raise ValueError(
                f"{what} returned by `right_inverse` has dtype {new.dtype} while `original{number}` has "
                f"dtype {place.dtype}"
            )

    def _originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def forward(self) -> Any:
        """Compute the tensor."""
        first, *rest = self
        made = first(*self._originals())
        for module in rest:
            made = module(made)
        return made


def _parametrized_class(module: Module) -> None:
    """Give a module a class of its own, for the properties."""
    cls = type(module)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        made = memo.get(id(self))
        if made is None:
            own = type(self)  # the copy gets another: parametrizations may be removed from either
            members = {k: v for k, v in vars(own).items() if k not in ("__dict__", "__weakref__")}
            kind = type(own.__name__, own.__bases__, members)
            made = memo[id(self)] = object.__new__(kind)
            made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made

    def __getstate__(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict()."
        )

    members: dict[str, Any] = {"__getstate__": __getstate__}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _add_property(module: Module, name: str) -> None:
    if hasattr(module, name):
        raise AssertionError(f"Module already has an attribute named '{name}'")

    def get(self: Any) -> Any:
        compute = self.parametrizations[name]
        if not _Cache.blocks:
            return compute()
        key = id(self), name
        if key not in _Cache.found:
            _Cache.found[key] = compute()
        return _Cache.found[key]

    def assign(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, assign))


def register_parametrization(
    module: M, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> M:
    """Compute a parameter or buffer by a module each time it is read.

    Where the parametrization has a ``right_inverse``, the tensor can be assigned to, and starts with
    the value it has; else what it is computed from starts with it.

    Args:
        module: whose tensor it is.
        tensor_name: its name.
        parametrization: gives it, of one tensor or of several.
        unsafe: allow another dtype or shape.

    Returns:
        The module, whose class is now a subclass of the one it had.

    Raises:
        ValueError: if there is no such tensor, or the parametrization does not fit.
    """
    parametrization.train(module.training)
    me: Any = module
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(me, tensor_name, parametrization)
        me.parametrizations[tensor_name].append(parametrization)
        me.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        made = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _parametrized_class(module)
            me.parametrizations = ModuleDict()
        _add_property(module, tensor_name)
        me.parametrizations[tensor_name] = made
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_next(module: Any, name: str, parametrization: Any) -> None:
    """Refuse a further parametrization that does not fit."""
    before = getattr(module, name)
    after = parametrization(before)
    names = f"module.{name}.{'{}'}", f"parametrization(module.{name}).{'{}'}"
    _check_same("the `unsafe`", before, after, names)
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(
            f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}"
        )
    for field in ("dtype", "shape"):
        if getattr(back, field) != getattr(before, field):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {field} as "
                f"module.{name}, unless the `unsafe` flag is enabled.\nmodule.{name}.{field}: "
                f"{getattr(before, field)}\nreturned {field}: {getattr(back, field)}"
            )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a tensor of a module, or any, is parametrized."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: M, tensor_name: str, leave_parametrized: bool = True) -> M:
    """Make a tensor one of its own again.

    Args:
        module: whose tensor it is.
        tensor_name: its name.
        leave_parametrized: whether it keeps its present value, else it becomes what it was computed
            from.

    Raises:
        ValueError: if it is not parametrized, or was computed from several tensors that it shall become.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    me: Any = module
    made: Any = me.parametrizations[tensor_name]
    if made.is_tensor:
        original = made.original
        if leave_parametrized:
            with torch.no_grad():
                _put(original, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
            "terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del me.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del me.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of a module before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: M, tensor_name: str | None = None
) -> M:
    """Give a module the parametrizations of another one, and what they compute from."""
    if not is_parametrized(from_module):
        return to_module
    source: Any = from_module.parametrizations
    target: Any = to_module
    for name in list(source) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for module in source[name]:
            register_parametrization(to_module, name, module)
        for key, value in [*source[name]._parameters.items(), *source[name]._buffers.items()]:
            setattr(target.parametrizations[name], key, value)
    return to_module
