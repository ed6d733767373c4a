"""Tensors that carry a mask: ``torch.masked.masked_tensor``.

One holds its elements, an ordinary tensor, and where they count. What is computed from it is computed from
the elements, and recorded as that is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.functions import fn, function
from ..dispatch.overrides import DisableTorchFunctionSubclass
from ..tensors.storage import Storage
from ..tensors.tensor import Tensor, make_tensor
from ..values.devices import TABLE
from ..values.dtypes import bool_
from ..values.shapes import contiguous_strides

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Functions of each element; methods with underscores are called as these are.
_ELEMENTWISE: Final = _names("""
    abs absolute acos acosh add and angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin
    asinh atan atan2 atanh bfloat16 bitwise_and bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor bool byte ceil char clamp clip conj_physical copysign cos cosh
    deg2rad digamma div divide double elu eq erf erfc erfinv exp exp2 expm1 fix float floor
    floor_divide floordiv fmax fmin fmod frac ge gelu greater greater_equal gt half hypot i0 iadd
    idiv imul int invert isfinite isinf isnan isub itruediv le leaky_relu less less_equal lerp
    lgamma log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor
    logit long lt maximum minimum mod mul multiply nan_to_num ne neg negative nextafter not_equal or
    positive pos pow rad2deg radd rdiv reciprocal relu remainder rfloordiv rmod rmul round rpow
    rsqrt rsub rtruediv sgn short sigmoid sign signbit silu sin sinc sinh softplus sqrt square sub
    subtract tan tanh to true_divide truediv trunc type type_as xlogy xor
""")
# What says where elements lie: done to the elements and to the mask.
_MOVING: Final = _names("""
    broadcast_to cat chunk clone concat contiguous cpu diagonal expand expand_as flatten flip gather
    getitem hstack index_select movedim narrow permute repeat reshape reshape_as roll select split
    squeeze stack swapaxes t take_along_dim tensor_split tile transpose unbind unflatten unsqueeze
    view view_as vstack
""")
_LIKE: Final = _names("ones_like zeros_like full_like rand_like randn_like empty_like")
_REDUCING: Final = _names("sum prod amax amin argmax argmin mean median norm var std logsumexp")
_NORMALIZING: Final = _names("softmax log_softmax softmin cumsum cumprod normalize")
_ASKING: Final = _names("size dim ndimension numel len item is_floating_point is_complex")


class MaskedTensor(Tensor):
    """A tensor of whose elements some do not count; `masked_tensor` makes one."""

    __slots__ = ()

    _data: Tensor
    _mask: Tensor

    def __new__(cls, data: Any, mask: Any, requires_grad: bool = False) -> Any:
        """The same as `masked_tensor`."""
        return masked_tensor(data, mask, requires_grad)

    is_leaf = property(lambda self: self._data.is_leaf, doc="Whether its elements are a leaf.")
    grad_fn = property(lambda self: self._data.grad_fn, doc="The node of its elements.")
    requires_grad: Any = property(
        lambda self: self._data.requires_grad,
        lambda self, value: self.requires_grad_(value),
        doc="Whether its elements require grad.",
    )
    T = mT = property(lambda self: self.transpose(-2, -1), doc="Two dimensions exchanged.")

    @property
    def grad(self) -> Any:
        """The gradient of its elements, masked as they are."""
        g = self._data.grad
        return None if g is None else _made(g, self._mask)

    @grad.setter
    def grad(self, value: Any) -> None:
        self._data.grad = value._data if isinstance(value, MaskedTensor) else value

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Record what is computed from its elements."""
        self._data.requires_grad_(requires_grad)
        return self

    def detach(self) -> Any:
        """The same without history."""
        return _made(self._data.detach(), self._mask)

    def backward(self, gradient: Any = None, *args: Any, **kwargs: Any) -> None:
        """Differentiate it."""
        given = gradient._data if isinstance(gradient, MaskedTensor) else gradient
        self._data.backward(given, *args, **kwargs)

    def get_data(self) -> Tensor:
        """All elements, those that do not count too."""
        return self._data

    def get_mask(self) -> Tensor:
        """True where an element counts."""
        return self._mask

    def to_tensor(self, value: Any) -> Tensor:
        """An ordinary tensor with another value where elements do not count."""
        return fn.where(self._mask, self._data, value)

    def to_dense(self, *args: Any, **kwargs: Any) -> Any:
        """Itself: it is dense."""
        return self

    def __repr__(self, **kwargs: Any) -> str:
        text = _shown(self._data.tolist(), self._mask.tolist())
        if not self._shape:
            return f"MaskedTensor({text}, {self._mask.item()})"
        return "MaskedTensor(\n" + _indented(text) + "\n)"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _made, (self._data, self._mask)

    def __deepcopy__(self, memo: Any) -> Any:
        copied = _made(self._data.detach().clone(), self._mask.clone())
        return copied.requires_grad_(self.requires_grad)

    def tolist(self) -> Any:
        """Refused, as some elements do not count.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("a MaskedTensor has no list of numbers: call to_tensor(value) first")

    def numpy(self, **kwargs: Any) -> Any:
        """Refused, as some elements do not count.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("a MaskedTensor is no array: call to_tensor(value) first")

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """What a function does with elements and masks, by its name."""
        name = getattr(func, "__name__", str(func))
        with DisableTorchFunctionSubclass():
            return _computed(func, name.strip("_"), name, args, kwargs or {})

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Nothing: functions are found above.

        Raises:
            TypeError: always.
        """
        raise TypeError(_refusal(str(func)))


def _refusal(name: str) -> str:
    return (
        f"mindtorch does not serve {name} for masked tensors: compute with to_tensor(value), or with "
        f"get_data() and get_mask()"
    )


def _computed(func: Any, base: str, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a function with masked tensors among its arguments.

    Raises:
        TypeError: for one that is not served.
        ValueError: if masks differ.
    """
    masks = _parts("_mask", [*args, *kwargs.values()], only=True)

    def plain() -> Any:
        return _unwrapped(func, args, kwargs, "_data")

    if base in _ASKING:
        return plain()
    if name in ("__get__", "__set__"):  # an attribute that all tensors have
        return func(*args, **kwargs)
    if base in _MOVING:
        return _paired(plain(), _unwrapped(func, args, kwargs, "_mask"))
    if base in _LIKE:
        return _made(plain(), masks[0])
    if base == "where":
        return _chosen(*args)
    if base in _ELEMENTWISE:
        if any(not fn.equal(masks[0], other) for other in masks[1:]):
            raise ValueError(
                f"{name}: Input masks must match; combine them and make new tensors of the data"
            )
        result = plain()
        if args[0] is not None and isinstance(args[0], MaskedTensor) and result is args[0]._data:
            return args[0]
        return _made(result, fn.broadcast_to(masks[0], result._shape).to(result._device))
    if base in (*_REDUCING, *_NORMALIZING, "any", "all") and isinstance(args[0], MaskedTensor):
        return _reduced(base, *args, **kwargs)
    raise TypeError(_refusal(f"torch.{name}"))


def _parts(part: str, values: Any, *, only: bool = False) -> Any:
    """Values, lists among them too, with elements or masks in place of masked tensors; or only those."""
    found: list[Any] = []
    for each in values:
        if isinstance(each, MaskedTensor):
            found.append(getattr(each, part))
        elif isinstance(each, list | tuple):
            inner = _parts(part, each, only=only)
            found.extend(inner) if only else found.append(type(each)(inner))
        elif not only:
            found.append(each)
    return found


def _unwrapped(func: Callable[..., Any], args: Any, kwargs: dict[str, Any], part: str) -> Any:
    options = dict(zip(kwargs, _parts(part, kwargs.values()), strict=True))
    return func(*_parts(part, args), **options)


def _paired(data: Any, mask: Any) -> Any:
    if isinstance(data, Tensor):
        return _made(data, mask)
    return type(data)(_made(d, m) for d, m in zip(data, mask, strict=True))


def _chosen(condition: Any, one: Any, other: Any) -> Any:
    """Elements and masks of one tensor or another; what has no mask counts everywhere."""
    parts = [
        (each._data, each._mask) if isinstance(each, MaskedTensor) else (each, True)
        for each in (one, other)
    ]
    where = condition._data if isinstance(condition, MaskedTensor) else condition
    data = fn.where(where, parts[0][0], parts[1][0])
    mask = fn.where(where, parts[0][1], parts[1][1])
    return _made(data, fn.broadcast_to(mask, data._shape))


def _reduced(base: str, x: Any, dim: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A reduction of what counts, or what is normalised along a dimension."""
    data, mask = x._data, x._mask
    if base in _NORMALIZING:
        kwargs.pop("_stacklevel", None)
        return _made(function(base, "masked")(data, dim, *args, mask=mask, **kwargs), mask)
    keepdim = bool(kwargs.get("keepdim", args[0] if args else False))
    if base in ("any", "all"):
        found = (data.bool() & mask) if base == "any" else (data.bool() | ~mask)
        values = getattr(found, base)(*(() if dim is None else (dim, keepdim)))
    else:
        reduce, given = function(base, "masked"), {"mask": mask, **kwargs, "keepdim": keepdim}
        if base == "norm":  # the order comes first, and by default it is 2
            given.pop("out", None)
            if "p" not in given:
                given["p"], dim = dim, args[0] if args else None
                given["keepdim"] = keepdim = bool(kwargs.get("keepdim", False))
            order = given.pop("p")
            values = reduce(data, 2 if order in (None, "fro") else order, dim=dim, **given)
        else:
            values = reduce(data, **given) if dim is None else reduce(data, dim, **given)
    return _made(values, mask.any() if dim is None else mask.any(dim, keepdim))


def _made(data: Tensor, mask: Tensor) -> Any:
    """A masked tensor of elements and a mask that fit."""
    shape, on = data._shape, data._device
    made: Any = make_tensor(
        None,
        shape,
        data._dtype,
        on,
        TABLE[on.type].runtime.key,
        Storage(None, 0, on),
        (contiguous_strides(shape), 0),
    )
    made.__class__ = MaskedTensor
    made._data, made._mask = data, mask
    return made


def _checked(data: Any, mask: Any) -> None:
    """Refuse elements and a mask that do not fit.

    Raises:
        TypeError: if one is no tensor, or the mask is not of booleans.
        ValueError: if the shapes differ.
    """
    for name, each in (("data", data), ("mask", mask)):
        if not isinstance(each, Tensor) or isinstance(each, MaskedTensor):
            raise TypeError(f"{name} must be a Tensor, got {type(each).__name__}")
    if mask._dtype is not bool_:
        raise TypeError("mask must have dtype bool.")
    if data._shape != mask._shape:
        raise ValueError(
            f"data and mask must have the same shape, got {list(data._shape)} and {list(mask._shape)}"
        )


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> Any:
    """A tensor with a mask, of copies of both; a leaf.

    Args:
        data: the elements.
        mask: booleans of the same shape, true where an element counts.
        requires_grad: whether what is computed from it is recorded.

    Raises:
        TypeError: if one is no tensor, or the mask is not of booleans.
        ValueError: if the shapes differ.
    """
    _checked(data, mask)
    made = _made(data.detach().clone(), mask.detach().clone())
    return made.requires_grad_(requires_grad)


def as_masked_tensor(data: Any, mask: Any) -> Any:
    """A tensor with a mask, whose gradients reach ``data``: 0 where it does not count.

    Args:
        data: the elements.
        mask: booleans of the same shape, true where an element counts.

    Raises:
        TypeError: if one is no tensor, or the mask is not of booleans.
        ValueError: if the shapes differ.
    """
    _checked(data, mask)
    viewed = data.view_as(data)
    if viewed.requires_grad:
        viewed.register_hook(lambda g: fn.where(mask, g, 0))
    return _made(viewed, mask)


def is_masked_tensor(obj: Any, /) -> bool:
    """Whether it is a tensor with a mask."""
    return isinstance(obj, MaskedTensor)


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.split("\n"))


def _shown(data: Any, mask: Any) -> str:
    """Nested lists as text, with dashes where the mask is false."""
    if not isinstance(data, list):
        return "--" if not mask else f"{data:8.4f}" if isinstance(data, float) else str(data)
    if data and isinstance(data[0], list):
        rows = [_indented(_shown(d, m)) for d, m in zip(data, mask, strict=True)]
        return "[\n" + ",\n".join(rows) + "\n]"
    texts = [_shown(d, m) for d, m in zip(data, mask, strict=True)]
    width = max((8 if text == "--" else len(text) for text in texts), default=0)
    return "[" + ", ".join(t.rjust(width) if t == "--" else t for t in texts) + "]"
