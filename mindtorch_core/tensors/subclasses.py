"""Classes of tensors: the keys by which calls go to their handlers, and tensors made instances of them.

A class with a ``__torch_function__`` or ``__torch_dispatch__`` of its own, or Tensor's, reads its
instances' keys with the bit added that leads there. The slot never holds it, so that what an op makes
of a tensor's keys is plain, and in a thread where the handlers are off it is not seen.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Final

from ..dispatch.adapters import tensors_in
from ..dispatch.keys import AUTOGRAD, FUNCTION_CLASSES, MASKS, DispatchKey
from ..dispatch.overrides import DISABLED, PLAIN, TENSOR, arm, beneath, undisturbed
from ..values.containers import filled
from ..values.devices import TABLE, concrete, device
from ..values.dtypes import dtype, get_default_dtype
from ..values.flags import check_bool
from ..values.layouts import layout
from ..values.memory_formats import memory_format
from ..values.shapes import Size, contiguous_strides, numel, storage_extent
from .attached import attach
from .storage import Storage
from .tensor import FIELDS, PREPARE_CLASS, Tensor, alias, make_tensor

__all__ = [
    "ANY_DISPATCHES",
    "DISABLED_DISPATCH",
    "become",
    "default_torch_function",
    "dispatches",
    "dispatching",
    "hollow",
    "instance",
]

_PYTHON: Final = int(DispatchKey.Python)
_SLOT: Final[Any] = Tensor.__dict__["_keys"]
_FIELDS: Final[list[Any]] = [Tensor.__dict__[name] for name in FIELDS.values()]


class _DisabledDispatch:
    """What a class has as ``__torch_dispatch__`` for its instances to be dispatched as tensors are."""

    __name__ = "_disabled_torch_dispatch_impl"

    def __call__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


DISABLED_DISPATCH: Final = _DisabledDispatch()
ANY_DISPATCHES: Final[list[bool]] = []  # not empty once a class has one of its own


def dispatches(kind: type) -> bool:
    """Whether a class of tensors has a ``__torch_dispatch__`` of its own."""
    return getattr(kind, "__torch_dispatch__", DISABLED_DISPATCH) is not DISABLED_DISPATCH


def hollow(t: Tensor) -> bool:
    """Whether a tensor has no elements, and its class answers for it."""
    return t._payload is None and t.__class__ is not Tensor and dispatches(t.__class__)


def dispatching(values: Iterable[Any]) -> tuple[type, ...]:
    """The classes among arguments that have one, subclasses before what they derive from."""
    found: list[type] = []
    for t in tensors_in(values):
        kind = type(t)
        if kind is not Tensor and kind not in found and dispatches(kind):
            at = (i for i, other in enumerate(found) if issubclass(kind, other))
            found.insert(next(at, len(found)), kind)
    return tuple(found)


def _prepare(cls: Any) -> None:
    """Have a new class of tensors read the bits of its handlers with its instances' keys.

    One with a ``__torch_dispatch__`` and Tensor's own ``__torch_function__`` gets none, as in PyTorch: what
    the former returns stays what it is.
    """
    own = getattr(cls.__torch_function__, "__func__", None)
    if own is default_torch_function and dispatches(cls):
        cls.__torch_function__ = DISABLED
    overriding = cls.__torch_function__ is not DISABLED
    bits = FUNCTION_CLASSES if overriding else 0
    if dispatches(cls):
        bits |= _PYTHON
        ANY_DISPATCHES[:] = [True]
    held = cls._keys
    if bits != getattr(held, "bits", 0):
        cls._keys = _KeysWith(bits) if bits else _SLOT
    if overriding:
        if "_arms_when_made" not in cls.__dict__:
            arm()
    elif "_shown_as_tensor" in cls.__dict__:  # parameters, which are many
        PLAIN.add(cls)


class _KeysWith(property):
    """The keys of tensors, with bits added that are in force in this thread."""

    bits: int

    def __init__(self, bits: int) -> None:
        read, write, without = _SLOT.__get__, _SLOT.__set__, ~bits
        masks = MASKS
        super().__init__(
            lambda t: read(t) | bits & masks.keep, lambda t, keys: write(t, keys & without)
        )
        self.bits = bits


PREPARE_CLASS.append(_prepare)
PLAIN.update((Tensor, Size, device, dtype, layout, memory_format))
TENSOR.append(Tensor)


# ---- the handlers of Tensor itself --------------------------------------------------------------

NOT_WRAPPED: Final[set[Any]] = set()  # functions whose results stay as they are


class _Called(threading.local):
    """Functions that handlers of this thread call now."""

    def __init__(self) -> None:
        self.functions: list[Any] = []


_CALLED: Final = _Called()


def default_torch_function(
    cls: type[Tensor],
    func: Callable[..., Any],
    types: tuple[type, ...],
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """Call the function and make the tensors among its results instances of the class.

    Returns NotImplemented where an argument is of a class that this one does not derive from, and where the
    function asks again: it is another library's, which knows nothing of ours.
    """
    functions = _CALLED.functions
    if func in functions or not all(issubclass(cls, t) for t in types):
        return NotImplemented
    depth = len(functions)
    try:
        functions.append(func)
        result = beneath(func, args, kwargs)
    finally:
        del functions[depth:]
    return result if func in NOT_WRAPPED else beneath(_converted, (result, cls), None)


def _converted(result: Any, cls: type[Tensor]) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, tuple | list):
        return filled(type(result), [_converted(each, cls) for each in result])
    return result


# ---- instances ----------------------------------------------------------------------------------


def _checked(cls: Any) -> Any:
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"cls must be a subclass of Tensor, got {cls!r}")
    return cls


def instance(made: Tensor, cls: type[Any]) -> Any:
    """A tensor that nobody has seen yet as an instance of a class.

    It stays the object that it is, but for a class with ``__slots__``, whose objects are laid out otherwise.
    """
    try:
        made.__class__ = cls
        return made
    except TypeError:
        other = object.__new__(cls)
    made._settled()
    _take(other, made)
    return other


def become(t: Tensor, made: Tensor) -> None:
    """Make a tensor whose elements were to come the one that has come, which nobody else knows."""
    made._settled()
    t.__class__ = made.__class__
    _take(t, made)


def _take(t: Tensor, made: Tensor) -> None:
    for field in _FIELDS:
        field.__set__(t, field.__get__(made))
    if made._autograd is not None and made.is_leaf:
        made._autograd.owner = weakref.ref(t)
    if made._base is not None:
        made._own_storage().add_view(t)


def as_subclass(self: Tensor, cls: type[Tensor]) -> Any:
    """A view of the whole tensor as an instance of a subclass of Tensor.

    Raises:
        TypeError: if ``cls`` is no subclass of Tensor.
    """
    _checked(cls)
    view = undisturbed(self.expand, self._shape)
    return instance(view, cls)


def _make_subclass(cls: type[Any], data: Tensor, require_grad: bool = False) -> Any:
    """A leaf of a subclass over a tensor's memory; unlike `as_subclass` it is no view.

    Raises:
        TypeError: if ``cls`` is no subclass of Tensor, or ``require_grad`` no bool.
    """
    _checked(cls)
    check_bool(require_grad, "_make_subclass(): argument 'require_grad' (position 3)")
    made = undisturbed(alias, data)
    if require_grad:
        undisturbed(made.requires_grad_)
    return instance(made, cls)


def _make_wrapper_subclass(
    cls: type[Any],
    size: Any,
    strides: Any = None,
    storage_offset: int | None = None,
    memory_format: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: device | str | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    dispatch_sizes_strides_policy: str | None = None,
    dispatch_device: bool = False,
    dispatch_layout: bool = False,
    _extra_dispatch_keys: Any = None,
    storage_size: int | None = None,
) -> Any:
    """A tensor of a subclass with a shape, a dtype and a device, and no elements of its own.

    Its ``__torch_dispatch__`` answers for all that needs them.

    Raises:
        RuntimeError: if the class has no ``__torch_dispatch__``, or sizes, strides and offset do not
            go together.
        TypeError: if ``cls`` is no subclass of Tensor.
    """
    _checked(cls)
    if not dispatches(cls):
        raise RuntimeError(
            f"{cls.__name__} must define a __torch_dispatch__: its instances have no elements that "
            f"an op could read"
        )
    shape = tuple(map(int, size))
    if any(n < 0 for n in shape):
        raise RuntimeError(f"Trying to create tensor with negative dimension in the size {shape}")
    if strides is None and storage_offset is not None:
        raise RuntimeError("a storage_offset is for a tensor whose strides are given too")
    if strides is not None and len(strides) != len(shape):
        raise RuntimeError(
            f"mismatch in length of strides and shape: {len(strides)} strides for {len(shape)} "
            f"dimensions"
        )
    on = concrete("cpu" if device is None else device)
    d = get_default_dtype() if dtype is None else dtype
    steps = contiguous_strides(shape) if strides is None else tuple(map(int, strides))
    offset = int(storage_offset or 0)
    extent = storage_extent(shape, steps, offset) * d.itemsize if numel(shape) else 0
    storage = Storage(None, storage_size or extent, on)
    key = TABLE[on.type].runtime.key
    made = make_tensor(None, shape, d, on, key & ~AUTOGRAD, storage, (steps, offset))
    if requires_grad:
        made.requires_grad_()
    if cls.__torch_function__ is not DISABLED:
        arm()  # a class may have left it to its first instance
    return instance(made, cls)


def _refuse_ops(cls: type[Any], refuse: Callable[[Any], Any]) -> None:
    """Have ops call ``refuse(tensor)``, which raises, when they get an instance of a subclass.

    Every op reads its operands' keys. So the slot is covered; setting it works as before.
    """
    cls._keys = property(refuse, _SLOT.__set__)


attach(
    __name__,
    {
        "__torch_dispatch__": DISABLED_DISPATCH,
        "__torch_function__": classmethod(default_torch_function),
        "_make_subclass": staticmethod(_make_subclass),
        "_make_wrapper_subclass": staticmethod(_make_wrapper_subclass),
        "_refuse_ops": staticmethod(_refuse_ops),
        "as_subclass": as_subclass,
    },
)
