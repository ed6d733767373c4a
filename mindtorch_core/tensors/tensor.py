"""The tensor: metadata, a backend's payload, and the operations that are not ops.

This file holds what reads the metadata: shape, layout, storage, place in the graph. Modules above add
the rest, methods of ops among them: `mindtorch_core.tensors.attached` lists it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, overload

from ..dispatch.asked_wrongly import guarded
from ..dispatch.keys import ADINPLACE, AUTOGRAD, MASKS, UNRESOLVED, WITH_AUTOGRAD, DispatchKey
from ..values.devices import TABLE, device
from ..values.dtypes import dtype, pack
from ..values.layouts import check_same, layout, strided
from ..values.memory_formats import contiguous_format, has_format, memory_format
from ..values.own_frames import hide
from ..values.shapes import SIZES, Shape, Size, contiguous_strides, is_contiguous, wrap_dim
from ..values.shapes import numel as count
from .autograd_attributes import AutogradAttributes
from .autograd_state import INFERENCE, AutogradMeta
from .matrix_attributes import check_rank
from .storage import BEFORE_EXPORT, SharedStorage, Storage

if TYPE_CHECKING:
    from ..stubs.methods import TensorMethods
else:
    TensorMethods = object

__all__ = ["FIELDS", "PREPARE_CLASS", "Tensor", "fresh", "make_tensor"]

# Called with each class of tensors that is made.
PREPARE_CLASS: Final[list[Callable[[type], None]]] = []
_PYTHON: Final = int(DispatchKey.Python)


class _TensorMeta(type):
    """The type of `Tensor`: it says when a class of tensors was made.

    It leaves the fields that are for backends out of what ``dir`` lists.
    """

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for prepare in PREPARE_CLASS:
            prepare(cls)

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__()} - FIELDS.keys())


class Tensor(AutogradAttributes, TensorMethods, metaclass=_TensorMeta):
    """A multi-dimensional array of one dtype on one device.

    Tensors come from factories (``torch.tensor``, ``torch.zeros``); calling the class works as it
    always did (`mindtorch_core.frontend.legacy_constructors`).

    What a tensor consists of has two names, both of one slot: ``raw_shape``, for backends, stays as
    it is (`mindtorch_core.backend`), ``_shape`` is the core's own. Reading either costs the same.

    Attributes:
        raw_data: the backend's payload, which only its kernels look into; None while a pipeline has
            still to compute it.
        raw_shape: the shape, as a plain tuple.
        raw_layout: (strides, offset) in elements, or None where the backend is asked when they are
            needed; `raw_geometry` gives them in any case.
        raw_dtype, raw_device: element type and device.
        raw_keys: mask of dispatch keys: backend, ADInplaceOrView, Autograd if it requires grad, and
            Conjugate or Negative for views that are; kernels never meet those.
        raw_storage: shared memory, or None until a view or an in-place op needs it;
            `untyped_storage` gives it in any case.
        raw_base: the tensor this one is a view of, or None.
        raw_autograd: place in the graph, or None.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_autograd", "_base", "_device", "_dtype", "_keys", "_payload",
        "_shape", "_storage", "_strided",
    )  # fmt: skip

    _payload: Any
    _shape: Shape
    _strided: tuple[Shape, int] | None
    _dtype: dtype
    _device: device
    _keys: int
    _storage: Storage | None
    _base: Tensor | None
    _autograd: AutogradMeta | None

    raw_data: Any
    raw_shape: Shape
    raw_layout: tuple[Shape, int] | None
    raw_dtype: dtype
    raw_device: device
    raw_keys: int
    raw_storage: Storage | None
    raw_base: Tensor | None
    raw_autograd: AutogradMeta | None

    __array_priority__ = 1000

    def __hash__(self) -> int:
        return id(self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - FIELDS.keys())

    if TYPE_CHECKING:  # `Tensor(...)` is among what `mindtorch_core.tensors.attached` lists

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    # ---- metadata ------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """Sizes of the dimensions."""
        return SIZES[self._shape]

    @overload
    def size(self, dim: None = None) -> Size: ...

    @overload
    def size(self, dim: int) -> int: ...

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension.

        Args:
            dim: which one; None for all.

        Raises:
            IndexError: if there is no such dimension.

        Example:
            >>> torch.zeros(2, 3).size(), torch.zeros(2, 3).size(-1)
            (torch.Size([2, 3]), 3)
        """
        return SIZES[self._shape] if dim is None else _along("size", self._shape, dim)

    @property
    def dtype(self) -> dtype:
        """Element type."""
        return self._dtype

    @property
    def device(self) -> device:
        """Where the elements live."""
        return self._device

    @property
    def layout(self) -> layout:
        """``torch.strided``; sparse tensors have others."""
        return strided

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    def dim(self) -> int:
        """Number of dimensions.

        Example:
            >>> torch.zeros(2, 3).dim()
            2
        """
        return len(self._shape)

    ndimension = dim

    def numel(self) -> int:
        """Number of elements.

        Example:
            >>> torch.zeros(2, 3).numel()
            6
        """
        return count(self._shape)

    nelement = numel

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self._dtype.itemsize

    def element_size(self) -> int:
        """Bytes per element."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return count(self._shape) * self._dtype.itemsize

    def raw_geometry(self) -> tuple[Shape, int]:
        """(strides, offset) in elements; for backends."""
        found = self._strided
        if found is None:
            if self._payload is None and (s := self._storage) is not None:
                if s.pending is not None:
                    return contiguous_strides(self._shape), 0
                self._fill(s)
            found = self._strided = TABLE[self._device.type].runtime.layout(self)
        return found

    _geometry = raw_geometry

    def stride(self, dim: int | None = None) -> Any:
        """Steps between neighbours in each dimension, in elements; or of one dimension.

        Args:
            dim: which one; None for all.

        Raises:
            IndexError: if there is no such dimension.

        Example:
            >>> torch.zeros(2, 3).stride(), torch.zeros(2, 3).t().stride()
            ((3, 1), (1, 3))
        """
        strides = self._geometry()[0]
        return strides if dim is None else _along("stride", strides, dim)

    def storage_offset(self) -> int:
        """Position of the first element in the storage, in elements."""
        return self._geometry()[1]

    def is_contiguous(self, *, memory_format: memory_format = contiguous_format) -> bool:
        """Whether the elements lie without gaps in a memory format, row-major by default.

        Args:
            memory_format: ``torch.contiguous_format``, or with channels last.

        Example:
            >>> x = torch.zeros(2, 3)
            >>> x.is_contiguous(), x.t().is_contiguous()
            (True, False)
        """
        if memory_format is contiguous_format:
            return is_contiguous(self._shape, self._geometry()[0])
        return has_format(self._shape, self._geometry()[0], memory_format)

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating-point one."""
        return self._dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the dtype is a complex one."""
        return self._dtype.is_complex

    def is_signed(self) -> bool:
        """Whether the dtype holds negative numbers."""
        return self._dtype.is_signed

    def is_nonzero(self) -> bool:
        """Whether the only element differs from zero."""
        return bool(self)

    @guarded
    def is_same_size(self, other: Tensor) -> bool:
        """Whether another tensor has the same shape."""
        return self._shape == other._shape

    @property
    def T(self) -> Tensor:
        """All dimensions reversed; deprecated for other than two."""
        rank = len(self._shape)
        if rank != 2:
            check_rank("T", rank)
        return self.permute(tuple(range(rank - 1, -1, -1)))

    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged."""
        check_rank("mT", len(self._shape))
        return self.transpose(-2, -1) if self._shape else self

    @property
    def mH(self) -> Tensor:
        """Matrices transposed and conjugated."""
        check_rank("mH", len(self._shape))
        return self.transpose(-2, -1).conj() if self._shape else self.conj()

    @property
    def H(self) -> Tensor:
        """Conjugate transpose of a matrix."""
        check_rank("H", len(self._shape))
        return self.conj().transpose(0, 1) if self._shape else self.conj()

    @property
    def is_meta(self) -> bool:
        """Whether the tensor has a shape and a dtype but no data."""
        return bool(self._keys & DispatchKey.Meta)

    @property
    def is_cpu(self) -> bool:
        """Whether the tensor lives in host memory."""
        return bool(self._keys & DispatchKey.CPU)

    @property
    def _version(self) -> int:
        """Number of in-place changes its memory has seen.

        Raises:
            RuntimeError: for inference tensors, whose changes are not counted.
        """
        if self._keys & INFERENCE and not self._keys & ADINPLACE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._storage is None else self._storage.version

    @property
    def _pending(self) -> bool:
        """Whether its value waits for a pipeline to be launched."""
        s = self._storage
        return s is not None and s.pending is not None

    def settled(self) -> Tensor:
        """Launch what the tensor's value waits for and return the tensor; for backends."""
        s = self._storage
        if s is not None:
            if s.pending is not None:
                try:
                    s.pending.flush_for(s)
                except Exception as error:
                    hide(error)
                    raise
            if self._payload is None:
                self._fill(s)
        return self

    _settled = settled

    def _fill(self, storage: Storage) -> None:
        """Get the payload, if the tensor was made while its memory was pending."""
        if storage.memory is not None:
            strides, offset = self._strided or (contiguous_strides(self._shape), 0)
            runtime = TABLE[self._device.type].runtime
            self._payload = runtime.payload(storage, self._shape, strides, offset, self._dtype)

    def untyped_storage(self) -> Storage:
        """The memory the tensor and its views share, made an object now if nobody needed it before."""
        s = self._storage
        if s is None:
            s = self._storage = TABLE[self._device.type].runtime.storage_of(self)
            meta = self._autograd
            if meta is not None and meta.node is not None:  # its node may have saved the output
                if meta.node.storages is None:
                    meta.node.storages = {}
                meta.node.storages[meta.output_nr] = s
        return s

    _own_storage = untyped_storage

    def data_ptr(self) -> int:
        """Address of the first element; 0 where there is none."""
        if 0 in self._shape or (self._payload is None and self._keys & _PYTHON):
            return 0
        start = self._settled()._own_storage().data_ptr()
        return start + self._geometry()[1] * self._dtype.itemsize

    @guarded
    def is_set_to(self, tensor: Tensor) -> bool:
        """Whether both tensors show the same memory with the same shape and strides."""
        return (
            self._own_storage().shows(tensor._own_storage())
            and self._shape == tensor._shape
            and self._geometry() == tensor._geometry()
            and not (self._keys ^ tensor._keys) & UNRESOLVED
        )

    def get_device(self) -> int:
        """Index of the tensor's device; -1 for a device without index."""
        index = self._device.index
        return -1 if index is None else index

    def _is_view(self) -> bool:
        """Whether the tensor was made as a view of another one."""
        return self._base is not None

    @property
    def data(self) -> Tensor:
        """The tensor without its history; shares memory, but not the version counter."""
        settled = self._settled()
        if self._payload is None and self._keys & _PYTHON:  # its class answers for it
            return self.detach()
        shared, keys = SharedStorage(settled._own_storage()), self._keys & ~AUTOGRAD
        if keys & INFERENCE and not MASKS.include & INFERENCE:  # as what `detach` gives
            keys |= ADINPLACE
        return make_tensor(
            self._payload, self._shape, self._dtype, self._device, keys, shared, self._strided
        )

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        check_same(self.layout, value.layout)
        recorded = self._keys & AUTOGRAD
        if recorded and value._dtype.category < 2:
            raise RuntimeError(
                f"data set to a tensor that requires gradients must be floating point or complex "
                f"dtype, not {value._dtype}: call requires_grad_(False) first"
            )
        version = 0 if self._storage is None else self._storage.version
        for flush in BEFORE_EXPORT:  # a recorded op may have to read what the tensor was
            flush()
        storage = SharedStorage(value._settled()._own_storage())
        storage.version = version
        self._storage = storage
        self._payload, self._shape, self._strided = value._payload, value._shape, value._strided
        self._dtype, self._device = value._dtype, value._device
        keys = value._keys & ~AUTOGRAD
        self._keys = WITH_AUTOGRAD[keys] if recorded else keys


def _along(name: str, values: Shape, dim: int) -> int:
    """The entry of a shape or of strides that belongs to a dimension.

    Raises:
        IndexError: if there is no such dimension.
        TypeError: if it is no int.
    """
    if type(dim) is not int:
        kind = type(dim).__name__
        if kind == "bool" or not hasattr(dim, "__index__"):
            raise TypeError(f"{name}(): argument 'dim' (position 1) must be int, not {kind}")
    at = wrap_dim(dim, len(values))
    if not values:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return values[at]


# The public name of each slot, and the core's own.
FIELDS: Final = {
    {"_payload": "raw_data", "_strided": "raw_layout"}.get(name, f"raw{name}"): name
    for name in Tensor.__slots__
    if not name.startswith("__")
}
for _public, _slot in FIELDS.items():
    setattr(Tensor, _public, vars(Tensor)[_slot])

# A tensor of which no field is set yet: the caller sets all of `FIELDS`, as `make_tensor` does. For
# kernels so small that the call of `make_tensor` would show.
fresh: Final[Callable[[], Tensor]] = partial(object.__new__, Tensor)


def make_tensor(
    data: Any,
    shape: Shape,
    d: dtype,
    on: device,
    keys: int,
    storage: Storage | None = None,
    layout: tuple[Shape, int] | None = None,
) -> Tensor:
    """Make a tensor around a backend's payload.

    Args:
        data: what the backend's kernels find in ``tensor.raw_data``.
        shape: the shape, as a plain tuple.
        d: dtype of the elements.
        on: the device, with an index if its devices have indices.
        keys: ``Runtime.key`` of the device.
        storage: the memory; None if ``Runtime.storage_of`` makes it when it is needed.
        layout: (strides, offset) in elements; None if ``Runtime.layout`` says it when it is needed,
            by default row-major from 0.
    """
    r = fresh()
    r._payload = data
    r._shape = shape
    r._strided = layout
    r._dtype = d
    r._device = on
    r._keys = keys
    r._storage = storage
    r._base = None
    r._autograd = None
    return r


def alias(t: Tensor) -> Tensor:
    """Another tensor over the same memory, without history and not tracked as a view."""
    storage = t._own_storage()
    made = make_tensor(
        t._payload, t._shape, t._dtype, t._device, t._keys & ~AUTOGRAD, storage, t._strided
    )
    if t._payload is None and storage.pending is not None:
        storage.pending.remember(made)  # which gives it its payload
    return made


def from_values(values: list[Any], shape: Shape, d: dtype, on: device) -> Tensor:
    """Make a tensor from a flat list of Python numbers."""
    return TABLE[on.type].runtime.from_host(memoryview(pack(values, d)), shape, d, on)
