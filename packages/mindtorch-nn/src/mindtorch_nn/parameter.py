"""Tensors that modules register by themselves: parameters, buffers, and those without a shape yet."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import mindtorch_core as torch
from mindtorch_core.ecosystem._C import _disabled_torch_function_impl
from mindtorch_core.utils._python_dispatch import is_traceable_wrapper_subclass

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


class _ParameterMeta(type(torch.Tensor)):  # type: ignore[misc]  # the class of Tensor is not a public name
    """The type of `Parameter` and `Buffer`: tensors of other classes belong to them by a mark."""

    mark: str = ""

    def __instancecheck__(cls, instance: Any) -> bool:
        mark = vars(cls).get("mark")
        if mark and isinstance(instance, torch.Tensor) and getattr(instance, mark, False):
            return True
        found: bool = super().__instancecheck__(instance)
        return found


class Parameter(torch.Tensor, metaclass=_ParameterMeta):
    """A tensor that becomes a module's parameter when it is assigned to one.

    It shares memory with ``data``, and is a leaf. Ops on it return plain tensors. Of a tensor of another
    class it makes one of that class, which ``isinstance`` takes for a parameter too.

    Args:
        data: its values; an empty tensor if there are none.
        requires_grad: whether ops on it are recorded.

    Raises:
        RuntimeError: for a tensor of a class whose ``detach()`` gives another one.

    Example:
        >>> torch.nn.Parameter(torch.zeros(2))
        Parameter containing:
        tensor([0., 0.], requires_grad=True)
    """

    mark: ClassVar[str] = "_is_param"
    __torch_function__ = _disabled_torch_function_impl
    _rebuilt_by: ClassVar[str] = "torch._utils _rebuild_parameter"  # what files of PyTorch's call
    _shown_as_tensor: ClassVar[bool] = True

    def __new__(cls, data: torch.Tensor | None = None, requires_grad: bool = True) -> Self:  # noqa: D102
        if data is None:
            data = torch.empty(0)
        if type(data) in (torch.Tensor, Parameter) or getattr(data, "_kept_as_tensor", False):
            of_class: Self = torch.Tensor._make_subclass(cls, data, requires_grad)
            return of_class
        made: Any = data.detach()
        if not getattr(data, "_stands_for_many", False):  # which `vmap` does not let be changed
            made = made.requires_grad_(requires_grad)
        if type(made) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that "
                f"detach() returns an instance of the same type, but return type {type(made).__name__} "
                f"was found instead. Define detach() in the class, or pass a plain tensor."
            )
        made._is_param = True  # type: ignore[attr-defined]
        return made  # type: ignore[return-value]  # of another class, which is a parameter too

    if not TYPE_CHECKING:  # to whom `__new__` says what it takes

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            """Nothing is left to do; the base class would make the tensor anew."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made: Self | None = memo.get(id(self))
        if made is None:
            values = self.data.clone(memory_format=torch.preserve_format)
            made = memo[id(self)] = type(self)(values, self.requires_grad)
        return made

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(torch.Tensor, metaclass=_ParameterMeta):
    """A tensor that becomes a module's buffer when it is assigned to one.

    Args:
        data: its values; an empty tensor if there are none.
        persistent: whether it is part of the module's ``state_dict``.

    Example:
        >>> layer = torch.nn.Identity()
        >>> layer.mean = torch.nn.Buffer(torch.zeros(2))
        >>> layer.state_dict()
        OrderedDict([('mean', tensor([0., 0.]))])
    """

    mark: ClassVar[str] = "_is_buffer"
    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: torch.Tensor | None = None, *, persistent: bool = True) -> Any:  # noqa: D102
        if data is None:
            data = torch.empty(0)
        made: Any = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


class UninitializedTensorMixin:
    """What parameters and buffers without a shape share: ops on them raise ValueError."""

    cls_to_become: ClassVar[builtins.type[torch.Tensor]] = torch.Tensor
    __torch_function__ = _disabled_torch_function_impl
    grad_fn: ClassVar[None] = None
    is_leaf: ClassVar[bool] = True

    def _refused(self) -> NoReturn:
        raise ValueError(
            f"Attempted to use an uninitialized parameter ({type(self).__name__}), which has no shape and "
            f"no values yet. Lazy modules get theirs from the first batch: call `forward` with one before "
            f"parameters are used, or call `materialize(shape)`."
        )

    def _empty(self) -> Any:
        """The same as a plain tensor, which has no elements."""
        own = self.__class__
        self.__class__ = self.cls_to_become  # type: ignore[assignment]
        try:
            return self.data
        finally:
            self.__class__ = own

    def _become(self, values: torch.Tensor, kind: Any) -> None:
        """Take over values as an instance of a class."""
        self.__class__ = self.cls_to_become  # type: ignore[assignment]
        self.data = values
        self.__class__ = kind

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a parameter, or a tensor, of a shape; its values are whatever was in memory.

        Args:
            shape: what it becomes.
            device: where; by default where it is.
            dtype: of its elements; by default its own.
        """
        made = torch.empty(shape, device=device or self.device, dtype=dtype or self.dtype)  # type: ignore[attr-defined]
        self._become(made, self.cls_to_become)

    @property
    def data(self) -> Any:
        """The same as a plain tensor, which has no elements; assigned, device and dtype to have."""
        return self._empty()

    @data.setter
    def data(self, values: Any) -> None:
        self._become(values._empty() if is_lazy(values) else values, type(self))

    @property
    def is_meta(self) -> bool:
        """Whether it will have a shape and no values."""
        found: str = self.device.type  # type: ignore[attr-defined]
        return found == "meta"

    @property
    def shape(self) -> Any:
        """There is none.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens "
            "in `load_state_dict` when trying to load an uninitialized parameter into an initialized "
            "one. Call `forward` to initialize the parameters before accessing their attributes."
        )

    @property
    def requires_grad(self) -> bool:
        """Whether it will require grad."""
        own = self.__class__
        self.__class__ = self.cls_to_become  # type: ignore[assignment]
        try:
            found: bool = self.requires_grad
        finally:
            self.__class__ = own
        return found

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Whether it will require grad; returns it."""
        own = self.__class__
        self.__class__ = self.cls_to_become  # type: ignore[assignment]
        try:
            return self.requires_grad_(requires_grad)
        finally:
            self.__class__ = own

    def numel(self) -> NoReturn:
        """There are none to count.

        Raises:
            ValueError: always.
        """
        self._refused()

    nelement = dim = numel

    def share_memory_(self) -> NoReturn:
        """There is none.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize "
            "the parameters before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad, str(self.device), self.dtype)  # type: ignore[attr-defined]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = memo.get(id(self))
        if made is None:
            kind, arguments = self.__reduce_ex__(4)
            made = memo[id(self)] = kind(*arguments)
        return made


def _converting(name: str) -> Any:
    """A method that a tensor without elements has as well: its result is of the mixin's class."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        empty = self._empty()
        made = getattr(empty, name)(*args, **kwargs)
        if made is empty:
            return self
        kind, rest = type(self), {"persistent": self.persistent} if is_buffer(self) else {}
        return kind(self.requires_grad, made.device, made.dtype, **rest)

    method.__name__ = name
    method.__doc__ = f"As ``Tensor.{name}``."
    return method


def is_buffer(t: Any) -> bool:
    """Whether a tensor is marked as a buffer."""
    return hasattr(t, "_is_buffer")


for _name in (
    "to", "half", "float", "double", "bfloat16", "char", "short", "int", "long", "cpu", "cuda", "npu", "type",
):  # fmt: skip
    if hasattr(torch.Tensor, _name):
        setattr(UninitializedTensorMixin, _name, _converting(_name))


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[metaclass]
    """A parameter whose shape is not known yet.

    Args:
        requires_grad: whether it will require grad.
        device: where it will be.
        dtype: of its elements.
    """

    mark: ClassVar[str] = ""
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:  # noqa: D102
        empty = torch.empty(0, device=device, dtype=dtype)
        return torch.Tensor._make_subclass(cls, empty, requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, torch.Tensor):
    """A buffer whose shape is not known yet.

    Args:
        requires_grad: whether it will require grad.
        device: where it will be.
        dtype: of its elements.
        persistent: whether it is part of the module's ``state_dict``.
    """

    def __new__(  # noqa: D102
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        empty = torch.empty(0, device=device, dtype=dtype)
        made = torch.Tensor._make_subclass(cls, empty, requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is left to do; the base class would make the tensor anew."""


for _class in (UninitializedParameter, UninitializedBuffer):
    torch.Tensor._refuse_ops(_class, UninitializedTensorMixin._refused)


def swaps(t: torch.Tensor) -> bool:
    """Whether a tensor changes places with a parameter's whole object, not with its data alone.

    So it does if ``torch.__future__`` says so, and if it is made of other tensors, which data cannot say.
    """
    wanted: bool = torch.__future__.get_swap_module_params_on_conversion()
    return wanted or is_traceable_wrapper_subclass(t)


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)
