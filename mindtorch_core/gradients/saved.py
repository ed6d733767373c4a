"""Values a node keeps for its gradient formulas, and how they are checked when they are used.

Inputs are kept as they are, with their version. Outputs are kept by their parts, not as tensors:
an output refers to its node, and a node that referred back would keep a graph that nobody walks
alive until the garbage collector finds the cycle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..dispatch.keys import AUTOGRAD
from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor, make_tensor
from ..values.devices import TABLE
from ..values.shapes import contiguous_strides
from .anomaly_mode import hint
from .node import WATCHERS, Node, short_name

__all__ = [
    "Packed",
    "output_parts",
    "saved_input",
    "saved_list",
    "saved_output",
    "unchanged",
    "versions_of",
]


class _NeverCurrent:
    """Stands for the storage of a packed value; its version is none that a storage has."""

    version = -1


class Packed:
    """What a hook made of a saved tensor.

    It is found out where reading a tensor would otherwise end in an error, so that those that are
    not packed are read as fast as if this class did not exist.

    Attributes:
        value: what the pack hook returned.
        meta: the tensor's place in the graph; None for one without, and for outputs.
        number: which output of the node it is, None for inputs.
    """

    __slots__ = ("_unpack", "meta", "number", "value")

    _storage: ClassVar[_NeverCurrent] = _NeverCurrent()

    def __init__(
        self,
        value: Any,
        unpack: Callable[[Any], Tensor],
        meta: AutogradMeta | None,
        number: int | None,
    ) -> None:
        self.value = value
        self._unpack = unpack
        self.meta = meta
        self.number = number

    def unpack(self, node: Node | None = None) -> Tensor:
        """The tensor as it was, with its place in the graph.

        Args:
            node: the node that saved it, for outputs.

        Raises:
            TypeError: if the hook returns no tensor.
        """
        t: Any = self._unpack(self.value)
        if not isinstance(t, Tensor):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(t).__name__}"
            )
        meta = self.meta if self.number is None else AutogradMeta(node, self.number)
        if meta is None and not t._keys & AUTOGRAD:
            return t
        keys = t._keys & ~AUTOGRAD
        if meta is not None:
            keys |= TABLE[t._device.type].autograd_key
        found = make_tensor(t._payload, t._shape, t._dtype, t._device, keys, t._storage, t._strided)
        _awaited(found)
        if t._payload is None and t.__class__ is not Tensor and t._pending is False:
            _Wrapped(t).dress(found)
        found._autograd = meta
        return found


class _Wrapped:
    """Stands for the payload of an output without elements of its own, whose class answers for them."""

    __slots__ = ("attributes", "kind")

    def __init__(self, t: Tensor) -> None:
        self.kind = t.__class__
        self.attributes = dict(t.__dict__)

    def dress(self, t: Tensor) -> None:
        """Make of a rebuilt output what it was."""
        t._payload = None
        t.__class__ = self.kind
        t.__dict__.update(self.attributes)


def output_parts(t: Tensor) -> tuple[Any, ...]:
    """The parts of an output that `saved_output` rebuilds it from."""
    if WATCHERS:  # it shares its storage with what hooks are shown
        t._own_storage()
    s = t._storage
    version = 0 if s is None else s.version
    data = t._payload
    if data is None and t.__class__ is not Tensor and t._pending is False:
        data = _Wrapped(t)
    return (data, t._shape, t._dtype, t._device, t._keys, s, t._strided, version)


def saved_output(node: Node, output_nr: int, parts: tuple[Any, ...] | Packed) -> Tensor:
    """Rebuild an output with its place in the graph.

    Raises:
        RuntimeError: if it was changed in place since.
    """
    try:
        data, shape, dtype, device, keys, storage, layout, version = parts  # type: ignore[misc]
    except TypeError:
        if isinstance(parts, Packed):
            return parts.unpack(node)
        raise
    row = TABLE[device.type]
    if storage is None and node.storages is not None:
        storage = node.storages.get(output_nr)
    if data is None and storage is not None and storage.pending is None:
        # It was pending when it was saved, and has a value now.
        strides, offset = layout or (contiguous_strides(shape), 0)
        data = row.runtime.payload(storage, shape, strides, offset, dtype)
    t = make_tensor(data, shape, dtype, device, keys | row.autograd_key, storage, layout)
    if data is None:
        _awaited(t)
    elif data.__class__ is _Wrapped:
        data.dress(t)
    t._autograd = AutogradMeta(node, output_nr)
    if storage is not None and storage.version != version:
        raise _changed_error(t, version, storage.version)
    return t


def _awaited(t: Tensor) -> None:
    """Have the pipeline that a tensor's memory waits for give it its payload."""
    storage = t._storage
    if t._payload is None and storage is not None and storage.pending is not None:
        storage.pending.remember(t)


def saved_input(t: Any, version: int) -> Any:
    """Check that an input is what it was.

    Raises:
        RuntimeError: if it was changed in place since.
    """
    s = t._storage
    if s is not None and s.version != version:
        if t.__class__ is Packed:
            return t.unpack()
        raise _changed_error(t, version, s.version)
    return t


def saved_list(values: Any, versions: list[int]) -> Any:
    """Check a list of inputs, some of which may be None."""
    return [
        None if t is None else saved_input(t, version)
        for t, version in zip(values, versions, strict=True)
    ]


def versions_of(values: Any) -> list[int]:
    """Versions of a list of inputs."""
    return [0 if t is None or (s := t._storage) is None else s.version for t in values]


def unchanged(node: Node) -> bool:
    """Whether what a node saved is as it was: for nodes without packed values, whose `saved` is there."""
    saved: Any = node.saved
    for at, kind in node.held:
        if (value := saved[at]) is None:
            continue
        if kind == "output":
            if (s := value[5]) is not None and s.version != value[7]:
                return False
        elif kind == "inputs":
            if versions_of(value) != saved[at + 1]:
                return False
        elif (s := getattr(value, "_storage", None)) is not None and s.version != saved[at + 1]:
            return False
    return True


def _changed_error(t: Any, version: int, found: int) -> RuntimeError:
    """The error for a saved tensor that an in-place op changed since."""
    shape = ", ".join(map(str, t._shape))
    origin = (
        "" if t.grad_fn is None else f", which is output {t.output_nr} of {short_name(t.grad_fn)},"
    )
    return RuntimeError(
        f"one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [torch.{t._dtype.label}Tensor [{shape}]]{origin} is at version {found}; expected "
        f"version {version} instead. Hint: {hint()}"
    )
