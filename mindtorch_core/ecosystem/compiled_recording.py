"""What a call of a compiled function does, recorded for a backend that takes graphs.

The function runs in each call, with tensors that are still to come: of each function of torch that it
calls the results' shapes are found on the Meta device, and the call is noted. Where values are wanted,
and at the end, what was noted is a graph, and the tensors become what the backend makes of it.
"""

from __future__ import annotations

import enum
import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import mindtorch_core as torch

from ..deferred.frames import request
from ..dispatch.keys import AUTOGRAD, MASKS, is_grad_enabled
from ..dispatch.masks import with_masks
from ..dispatch.overrides import DISABLED, MODE, MODES, handle, pop_mode, push_mode
from ..frontend.overriding import TorchFunctionMode
from ..gradients.custom_call import ASKED_FIRST
from ..gradients.duals import LEVELS as DUALS
from ..gradients.vmap_levels import LEVELS as MAPPED
from ..tensors.subclasses import become
from ..tensors.tensor import Tensor
from ..values.devices import concrete, device, get_default_device
from ..values.dtypes import dtype
from ..values.layouts import layout, strided
from ..values.memory_formats import memory_format
from ..values.shapes import Size
from .compiled_operators import called_as

__all__ = ["Awaited", "Call", "Recorder", "Value"]

_META: Final = device("meta")
# What a tensor that is still to come can say itself, by name.
_KNOWN: Final = frozenset({
    "__len__", "dim", "element_size", "get_device", "is_complex", "is_contiguous", "is_floating_point",
    "is_signed", "ndimension", "nelement", "numel", "size", "storage_offset", "stride",
})  # fmt: skip
_KNOWN_ATTRIBUTES: Final = frozenset({
    "device", "dtype", "itemsize", "layout", "nbytes", "ndim", "requires_grad", "shape",
})  # fmt: skip
_VIEWS: Final = frozenset({"H", "T", "data", "imag", "mH", "mT", "real"})
# What needs values, memory or the graph of gradients, or changes what only the tensor itself holds.
_WANTS_VALUES: Final = frozenset({
    "__array__", "__bool__", "__complex__", "__deepcopy__", "__dlpack__", "__float__", "__format__",
    "__index__", "__int__", "__reduce_ex__", "__repr__", "__set__", "allclose", "backward", "cpu", "cuda",
    "data_ptr", "detach_", "equal", "grad", "is_nonzero", "item", "numpy", "pin_memory", "record_stream",
    "register_hook", "register_post_accumulate_grad_hook", "requires_grad_", "retain_grad",
    "share_memory_", "storage", "tolist", "untyped_storage",
})  # fmt: skip
_OF: Final = "_awaited"  # the attribute with a tensor's `Place`
_GRADIENTS: Final = int(AUTOGRAD)
_SEQUENCES: Final = (list, tuple, Size)
# What can stand in a graph beside tensors.
_CONSTANTS: Final = (
    str, int, float, bool, complex, type(None), type(...), dtype, device, layout, memory_format, enum.Enum,
)  # fmt: skip


class Value(int):
    """The number of a value of a graph; those of its inputs are below 0."""

    def __repr__(self) -> str:
        return f"%{int(self)}"


class Call(NamedTuple):
    """A call that was noted.

    Attributes:
        kind: as nodes of `torch.fx` have it: ``call_function`` or ``call_method``.
        target: the function, or the method's name.
        args, kwargs: with a `Value` for each tensor.
        outs: the value; several where the call gives several tensors.
    """

    kind: str
    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outs: tuple[Value, ...] | Value


class Segment(NamedTuple):
    """What was recorded up to a place where values are wanted.

    Attributes:
        calls: in program order.
        inputs: the tensors that they read and that were there before, by their values from -1 down.
        outs: values of what somebody holds.
        masks: under which it is to run.
    """

    calls: list[Call]
    inputs: list[Tensor]
    outs: list[Value]
    masks: tuple[int, int]


class Place(NamedTuple):
    """Where a tensor that is still to come stands.

    Attributes:
        recorder: what has recorded it.
        value: its number.
        meta: what stands for it on the Meta device.
    """

    recorder: Recorder
    value: Value
    meta: Tensor


class Awaited(Tensor):
    """A tensor of a graph that has not run: it has a shape, a dtype and a device, and no elements yet.

    It becomes an ordinary one when the graph runs, at the latest where something wants its elements.
    """

    __torch_function__ = DISABLED

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Reached where no function of torch was called: have the graph run, and call the op."""
        for t in _tensors((args, kwargs)):
            _have(t, func)
        return func(*args, **(kwargs or {}))


def _have(t: Tensor, wanted: Any) -> None:
    """Have a tensor's graph run.

    Raises:
        RuntimeError: if it has failed before.
    """
    if t.__class__ is Awaited:
        t.__dict__[_OF].recorder.run(wanted)
    if t.__class__ is Awaited:
        raise RuntimeError("this tensor was to come of a compiled graph that has failed")


def _field(name: str) -> property:
    """A field that a tensor has once its graph has run, for whoever reads it without a function of torch."""
    slot: Any = vars(Tensor)[name]

    def read(t: Tensor) -> Any:
        _have(t, request().removesuffix("()"))
        return slot.__get__(t)

    return property(read, slot.__set__)


for _name in ("_autograd", "_base", "_payload", "_storage"):
    setattr(Awaited, _name, _field(_name))


class Recorder(TorchFunctionMode):
    """Records what is called while it is open.

    Args:
        call: is given a `Segment`, and returns what its `outs` are.
        breaks: is told why a graph ends before the function does: what wanted values.
    """

    def __init__(
        self, call: Callable[[Segment], list[Tensor]], breaks: Callable[[str], None]
    ) -> None:
        if _ask not in ASKED_FIRST:
            ASKED_FIRST.append(_ask)
        self._call, self._breaks = call, breaks
        self._begin()

    def _begin(self) -> None:
        self._calls: list[Call] = []
        self._inputs: list[Tensor] = []
        self._numbers: dict[int, Value] = {}  # of `_inputs`, by identity
        self._metas: dict[
            int, tuple[Tensor, Tensor]
        ] = {}  # likewise: the tensor, and what stands for it
        self._made: list[tuple[Value, weakref.ref[Tensor]]] = []
        self._count = 0
        self._masks: tuple[int, int] = 0, -1
        self._recording = True

    # ---- calls ---------------------------------------------------------------------------------

    def __torch_function__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Note a call, or answer it; what cannot be noted has the graph run first, and is called."""
        kwargs = kwargs or {}
        if MAPPED.stack or MAPPED.gradients or DUALS:  # the tensors are those of a transformation
            self.run(func)
            return func(*args, **kwargs)
        name = func.__name__
        if name == "__get__":
            name = _properties().get(id(func.__self__), "")
            known = name in _KNOWN_ATTRIBUTES or (name.startswith("is_") and name != "is_leaf")
            if known and not self._written(args[0]):
                return func(*args, **kwargs)
            noted = self._note(func, name, args[:1], {}) if name in _VIEWS else None
        elif name in _KNOWN and args and not self._written(args[0]):
            return func(*args, **kwargs)
        else:
            noted = None if name in _WANTS_VALUES else self._note(func, name, args, kwargs)
        if noted is not None:
            return noted[0]
        self.run(func if name == func.__name__ else name)
        return func(*args, **kwargs)

    def _written(self, t: Any) -> bool:
        """Whether a call that was noted has changed what a tensor that is there says of itself."""
        found = self._metas.get(id(t))
        return found is not None and found[1]._version > 0

    def _note(
        self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any] | None:
        """Note a call, if it can be.

        Returns:
            What it gives, in a tuple.
        """
        tensors = [*_tensors((args, kwargs))]
        if not all(map(_is_plain, tensors)) or not _fits((args, kwargs)):
            return None
        if self._calls and (MASKS.include, MASKS.keep | _GRADIENTS) != self._modes:
            self.run(None)  # the next one is to run under other modes
        try:
            on = _device_of(tensors, kwargs)
            if name == "to" and any(d != on for d in _devices(args[1:], kwargs)):
                return None
            metas = _mapped(self._meta, args), _mapped(self._meta, kwargs)
            if not tensors:
                metas[1]["device"] = _META
            found = func(*metas[0], **metas[1])
        except Exception:  # noqa: BLE001 (the call itself raises it again, or can do without Meta)
            return None
        several = found.__class__ in (tuple, list) or hasattr(found, "_fields")
        parts = [*found] if several else [found]
        if name == "__setitem__":
            parts = [metas[0][0]]
        if not parts or not all(isinstance(p, Tensor) and p._device is _META for p in parts):
            return None
        self._note_mode()
        kind, target, given = called_as(func, name, args)
        noted = _mapped(self._number, given), _mapped(self._number, kwargs)
        same = {id(self._meta(t)): t for t in tensors}
        results = [same.get(id(p)) for p in parts]
        values = tuple([self._next() if t is None else self._number(t) for t in results])
        self._calls.append(Call(kind, target, *noted, values if several else values[0]))
        made = [
            self._awaited(v, p, on) if t is None else t
            for t, v, p in zip(results, values, parts, strict=True)
        ]
        if not several:
            return (made[0],)
        return (type(found)(made) if type(found) in (tuple, list) else type(found)(*made),)

    def _next(self) -> Value:
        self._count += 1
        return Value(self._count - 1)

    @property
    def _modes(self) -> tuple[int, int]:
        """The masks but for the gradient mode."""
        return self._masks[0], self._masks[1] | _GRADIENTS

    def _note_mode(self) -> None:
        """Note under which masks the first call runs, and changes of the gradient mode after it."""
        if not self._calls:
            self._masks, self._recording = (MASKS.include, MASKS.keep), is_grad_enabled()
        elif self._recording != is_grad_enabled():
            self._recording = not self._recording
            switch = torch._C._set_grad_enabled  # type: ignore[attr-defined]
            self._calls.append(Call("call_function", switch, (self._recording,), {}, ()))

    def _number(self, t: Any) -> Any:
        if not isinstance(t, Tensor):
            return t
        if t.__class__ is Awaited:
            return t.__dict__[_OF].value
        found = self._numbers.get(id(t))
        if found is None:
            self._inputs.append(t)
            found = self._numbers[id(t)] = Value(-len(self._inputs))
        return found

    def _meta(self, t: Any) -> Any:
        """What stands for an argument on the Meta device."""
        if isinstance(t, device):
            return _META
        if not isinstance(t, Tensor):
            return t
        if t.__class__ is Awaited:
            return t.__dict__[_OF].meta
        if (known := self._metas.get(id(t))) is not None:
            return known[1]
        found = torch.empty_strided(t._shape, t._geometry()[0], dtype=t._dtype, device=_META)
        if t.requires_grad:
            found.requires_grad_()
            if not t.is_leaf:
                found = with_masks(0, -1, found.clone)
        self._metas[id(t)] = t, found
        return found

    def _awaited(self, value: Value, meta: Tensor, on: device) -> Tensor:
        made: Tensor = Tensor._make_wrapper_subclass(
            Awaited, meta._shape, *meta._geometry(), dtype=meta._dtype, device=on,
            requires_grad=meta.requires_grad,
        )  # fmt: skip
        made.__dict__[_OF] = Place(self, value, meta)
        self._made.append((value, weakref.ref(made)))
        return made

    # ---- graphs --------------------------------------------------------------------------------

    def run(self, wanted: Any) -> None:
        """Have what was recorded computed, and begin anew.

        Args:
            wanted: the function that wants values; None where none does.
        """
        if not self._calls:
            return
        held = [(v, t) for v, ref in self._made if (t := ref()) is not None]
        segment = Segment(self._calls, self._inputs, [v for v, _ in held], self._masks)
        self._begin()
        if wanted is not None:
            self._breaks(wanted if isinstance(wanted, str) else wanted.__name__)
        found = with_masks(*segment.masks, self._call, segment)
        for (_, t), result in zip(held, found, strict=True):
            del t.__dict__[_OF]
            become(t, result)

    def apart(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function that is no part of a graph."""
        self.run(fn)
        if MODES.stack[-1:] != [self]:  # it is called by a handler, or under another mode
            return fn(*args, **kwargs)
        pop_mode()
        try:
            return fn(*args, **kwargs)
        finally:
            push_mode(self)


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """A copy of arguments, with what a function gives for each of those that are no container."""
    kind = value.__class__
    if kind in _SEQUENCES:
        return (list if kind is list else tuple)([_mapped(change, v) for v in value])
    if kind is dict:
        return {k: _mapped(change, v) for k, v in value.items()}
    if kind is slice:
        return slice(*[_mapped(change, v) for v in (value.start, value.stop, value.step)])
    return change(value)


def _leaves(value: Any) -> Iterator[Any]:
    """Arguments that are no containers."""
    kind = value.__class__
    if kind in _SEQUENCES:
        for each in value:
            yield from _leaves(each)
    elif kind is dict:
        yield from _leaves([*value.values()])
    elif kind is slice:
        yield from _leaves([value.start, value.stop, value.step])
    else:
        yield value


def _tensors(value: Any) -> Iterator[Tensor]:
    return (v for v in _leaves(value) if isinstance(v, Tensor))


def _fits(value: Any) -> bool:
    """Whether arguments can stand in a graph: a generator or an array cannot."""
    return all(isinstance(v, (Tensor, *_CONSTANTS)) for v in _leaves(value))


def _is_plain(t: Tensor) -> bool:
    """Whether a tensor is an ordinary one, of no class with handlers of its own."""
    kind = t.__class__
    return (kind in (Tensor, Awaited) or "_shown_as_tensor" in vars(kind)) and t.layout is strided


def _devices(args: Any, kwargs: dict[str, Any]) -> Iterator[device]:
    """Devices among the arguments of ``to``."""
    for v in (*args, kwargs.get("device"), kwargs.get("other")):
        if isinstance(v, Tensor):
            yield v._device
        elif isinstance(v, str | device):
            yield concrete(v)


def _device_of(tensors: list[Tensor], kwargs: dict[str, Any]) -> device:
    """The device of a call's results."""
    if kwargs.get("device") is not None:
        return concrete(kwargs["device"])
    if tensors:
        return next((t for t in tensors if t._shape), tensors[0])._device
    return concrete(get_default_device())


@functools.cache
def _properties() -> dict[int, str]:
    """The properties of tensors, by identity: a handler is told no name."""
    kinds = reversed(Tensor.__mro__[:-1])
    return {id(m): n for k in kinds for n, m in vars(k).items() if isinstance(m, property)}


def _ask(apply: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Have an operation of `torch.autograd.Function` recorded as one call, where calls are."""
    if MODES.stack and MASKS.include & MASKS.keep & MODE and isinstance(MODES.stack[-1], Recorder):
        return handle(_written(apply.__self__), (), args, kwargs)  # type: ignore[attr-defined]
    return NotImplemented


@functools.lru_cache(maxsize=1024)
def _written(cls: Any) -> Callable[..., Any]:
    """An operation of `torch.autograd.Function` as a function that generated code can name."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        return cls.apply(*args, **kwargs)

    apply.__module__, apply.__qualname__ = cls.__module__, f"{cls.__qualname__}.apply"
    return apply
