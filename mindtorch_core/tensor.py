"""The tensor: metadata, a backend's payload, and the operations that are not ops.

Ops become methods when they are defined (`mindtorch_core.operators`); this file holds what reads the
metadata: shape, layout, storage, place in the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .autograd_attributes import AutogradAttributes
from .autograd_state import INFERENCE, AutogradMeta
from .devices import TABLE, device
from .dispatch.keys import AUTOGRAD, WITH_AUTOGRAD, DispatchKey
from .dispatch.registry import registry
from .dtypes import dtype, pack
from .interchange import Interchange
from .layouts import layout, strided
from .memory_formats import contiguous_format, has_format, memory_format
from .shapes import Shape, Size, contiguous_strides, is_contiguous, size_of, wrap_dim
from .shapes import numel as count
from .storage import SharedStorage, Storage

__all__ = ["Tensor", "make_tensor", "make_view"]


class _OpsOnDemand(type):
    """The class of tensors' class: finds methods of ops that are not defined yet."""

    def __getattr__(cls, name: str) -> Any:
        if registry.rest.pending and not name.startswith("__"):
            registry.rest.define()
            return getattr(cls, name)
        raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")

    def __dir__(cls) -> list[str]:
        registry.rest.define()
        return sorted({*super().__dir__()})


class Tensor(AutogradAttributes, Interchange, metaclass=_OpsOnDemand):
    """A multi-dimensional array of one dtype on one device.

    Tensors come from factories (``torch.tensor``, ``torch.zeros``); calling the class works as it
    always did (`mindtorch_core.tensor_types`).

    Attributes:
        _data: the backend's payload, read only by its kernels.
        _shape: shape as a plain tuple.
        _layout: (strides, offset) in elements, or None where the backend is asked when needed.
        _dtype, _device: element type and device.
        _keys: mask of dispatch keys: backend, ADInplaceOrView, and Autograd if it requires grad.
        _storage: shared memory, or None until a view or an in-place op needs it.
        _base: the tensor this one is a view of, or None.
        _autograd: place in the graph, or None.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_autograd", "_base", "_data", "_device", "_dtype", "_keys",
        "_layout", "_shape", "_storage",
    )  # fmt: skip

    _data: Any
    _shape: Shape
    _layout: tuple[Shape, int] | None
    _dtype: dtype
    _device: device
    _keys: int
    _storage: Storage | None
    _base: Tensor | None
    _autograd: AutogradMeta | None

    __array_priority__ = 1000

    __hash__ = object.__hash__

    # Ops attach themselves to the class: see TensorMethods. There is no __getattr__ for those that
    # are not defined yet, but a LateMethod of each name: with one, CPython finds every attribute of
    # a tensor at several times the price.

    def __dir__(self) -> list[str]:
        registry.rest.define()
        return sorted({*super().__dir__()})

    def __new__(cls, *args: Any, **kwargs: Any) -> Tensor:
        """A tensor of the default dtype: of given sizes, or with given data."""
        from .tensor_types import called

        made = called(None, args, **kwargs)
        made.__class__ = cls
        return made

    # ---- metadata ------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """Sizes of the dimensions."""
        return size_of(self._shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension."""
        return size_of(self._shape) if dim is None else _along(self._shape, dim)

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
        """``torch.strided``: there are no sparse tensors."""
        return strided

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    def dim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    ndimension = dim

    def numel(self) -> int:
        """Number of elements."""
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

    def _geometry(self) -> tuple[Shape, int]:
        """(strides, offset) in elements."""
        found = self._layout
        if found is None:
            if self._data is None and self._pending:
                return contiguous_strides(self._shape), 0
            found = self._layout = TABLE[self._device.type].runtime.layout(self)
        return found

    def stride(self, dim: int | None = None) -> Any:
        """Steps between neighbours in each dimension, in elements; or of one dimension."""
        strides = self._geometry()[0]
        return strides if dim is None else _along(strides, dim)

    def storage_offset(self) -> int:
        """Position of the first element in the storage, in elements."""
        return self._geometry()[1]

    def is_contiguous(self, *, memory_format: memory_format = contiguous_format) -> bool:
        """Whether the elements lie without gaps in a memory format, row-major by default."""
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

    def is_same_size(self, other: Tensor) -> bool:
        """Whether another tensor has the same shape."""
        return self._shape == other._shape

    @property
    def T(self) -> Tensor:
        """All dimensions reversed."""
        return self.permute(tuple(range(len(self._shape) - 1, -1, -1)))

    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged."""
        return self._of_matrices("mT").transpose(-2, -1) if self._shape else self

    @property
    def mH(self) -> Tensor:
        """Matrices transposed and conjugated."""
        return self._of_matrices("mH").transpose(-2, -1).conj() if self._shape else self.conj()

    def _of_matrices(self, name: str) -> Tensor:
        """The tensor, if its last two dimensions are those of matrices.

        Raises:
            RuntimeError: if it has one dimension only.
        """
        if len(self._shape) == 1:
            raise RuntimeError(
                f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
            )
        return self

    @property
    def H(self) -> Tensor:
        """Conjugate transpose of a matrix."""
        if len(self._shape) not in (0, 2):
            raise RuntimeError(
                f"tensor.H is only supported on matrices (2-D tensors). Got {len(self._shape)}-D tensor."
                + (
                    " For batches of matrices, consider using tensor.mH"
                    if len(self._shape) > 2
                    else ""
                )
            )
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
        if self._keys & INFERENCE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._storage is None else self._storage.version

    @property
    def _pending(self) -> bool:
        """Whether its value waits for a pipeline to be launched."""
        s = self._storage
        return s is not None and s.pending is not None

    def _settled(self) -> Tensor:
        """Launch what the tensor's value waits for and return the tensor."""
        s = self._storage
        if s is not None:
            if s.pending is not None:
                s.pending.flush()
            if self._data is None:
                self._fill(s)
        return self

    def _fill(self, storage: Storage) -> None:
        """Get the payload, if the tensor was made while its memory was pending."""
        if storage.memory is not None:
            strides, offset = self._layout or (contiguous_strides(self._shape), 0)
            runtime = TABLE[self._device.type].runtime
            self._data = runtime.payload(storage, self._shape, strides, offset, self._dtype)

    def _own_storage(self) -> Storage:
        """Its storage, made now if nobody needed it before."""
        s = self._storage
        if s is None:
            s = self._storage = TABLE[self._device.type].runtime.storage_of(self)
            meta = self._autograd
            if meta is not None and meta.node is not None:  # its node may have saved the output
                if meta.node.storages is None:
                    meta.node.storages = {}
                meta.node.storages[meta.output_nr] = s
        return s

    def untyped_storage(self) -> Storage:
        """The memory the tensor and its views share."""
        return self._own_storage()

    storage = untyped_storage

    def data_ptr(self) -> int:
        """Address of the first element."""
        start = self._settled()._own_storage().data_ptr()
        return start + self._geometry()[1] * self._dtype.itemsize

    def is_set_to(self, tensor: Tensor) -> bool:
        """Whether both tensors show the same memory with the same shape and strides."""
        return (
            self._own_storage().shows(tensor._own_storage())
            and self._shape == tensor._shape
            and self._geometry() == tensor._geometry()
        )

    def get_device(self) -> int:
        """Index of the tensor's device; -1 for a device without index."""
        index = self._device.index
        return -1 if index is None else index

    def record_stream(self, stream: Any) -> None:
        """Keep the memory, once the tensor is gone, until a stream has done what it has queued.

        To be called for a tensor that is used on another stream than it was made on.

        Raises:
            TypeError: if it is no stream.
            ValueError: if it is one of another device.
        """
        from .streams import Stream

        if not isinstance(stream, Stream):
            raise TypeError(f"record_stream expects a torch.Stream, got {type(stream).__name__}")
        if stream.device is not self._device:
            raise ValueError(f"a stream of {stream.device} cannot use a tensor on {self._device}")
        storage = self._settled()._own_storage()
        TABLE[self._device.type].runtime.record_stream(storage, stream)

    def is_shared(self) -> bool:
        """Whether the memory is shared between processes; no backend does that."""
        return False

    def is_pinned(self) -> bool:
        """Whether the memory is page-locked for copies to a device; no backend does that."""
        return False

    def as_subclass(self, cls: type[Tensor]) -> Any:
        """A view of the whole tensor as an instance of a subclass of Tensor.

        Ops on it return plain tensors; copies and pickles of it stay of the subclass.

        Raises:
            TypeError: if ``cls`` is no subclass of Tensor.
        """
        if not (isinstance(cls, type) and issubclass(cls, Tensor)):  # type: ignore[redundant-expr]
            raise TypeError(f"cls must be a subclass of Tensor, got {cls!r}")
        view = self.expand(self._shape)
        view.__class__ = cls
        return view

    def _is_view(self) -> bool:
        """Whether the tensor was made as a view of another one."""
        return self._base is not None

    @property
    def data(self) -> Tensor:
        """The tensor without its history; shares memory, but not the version counter."""
        shared = SharedStorage(self._settled()._own_storage())
        return make_tensor(
            self._data, self._shape, self._dtype, self._device, self._keys & ~AUTOGRAD, shared,
            self._layout,
        )  # fmt: skip

    @data.setter
    def data(self, value: Tensor) -> None:
        recorded = self._keys & AUTOGRAD
        if recorded and value._dtype.category < 2:
            raise RuntimeError(
                f"data set to a tensor that requires gradients must be floating point or complex "
                f"dtype, not {value._dtype}: call requires_grad_(False) first"
            )
        version = 0 if self._storage is None else self._storage.version
        self._settled()
        self._storage = SharedStorage(value._settled()._own_storage())
        self._storage.version = version
        self._data, self._shape, self._layout = value._data, value._shape, value._layout
        self._dtype, self._device = value._dtype, value._device
        keys = value._keys & ~AUTOGRAD
        self._keys = WITH_AUTOGRAD[keys] if recorded else keys


def _along(values: Shape, dim: int) -> int:
    """The entry of a shape or of strides that belongs to a dimension.

    Raises:
        IndexError: if there is no such dimension.
    """
    at = wrap_dim(dim, len(values))
    if not values:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return values[at]


def numel(input: Tensor) -> int:
    """Number of elements."""
    return input.numel()


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


_new: Callable[[type[Tensor]], Tensor] = object.__new__


def make_tensor(
    data: Any,
    shape: Shape,
    d: dtype,
    on: device,
    keys: int,
    storage: Storage | None = None,
    layout: tuple[Shape, int] | None = None,
) -> Tensor:
    """Make a tensor around a backend's payload. Kernels on the hot path write this out."""
    r = _new(Tensor)
    r._data = data
    r._shape = shape
    r._layout = layout
    r._dtype = d
    r._device = on
    r._keys = keys
    r._storage = storage
    r._base = None
    r._autograd = None
    return r


def make_view(
    base: Tensor, shape: Shape, strides: Shape, offset: int, d: dtype | None = None
) -> Tensor:
    """Make a view of ``base``'s storage; strides and offset count elements of the view's dtype."""
    storage = base._own_storage()
    d = base._dtype if d is None else d
    row = TABLE[base._device.type]
    data = None
    if storage.memory is not None:  # else it is pending, and the view gets its payload at launch
        data = row.runtime.payload(storage, shape, strides, offset, d)
    view = make_tensor(
        data, shape, d, base._device, base._keys & ~AUTOGRAD, storage, (strides, offset)
    )
    view._base = base if base._base is None else base._base
    storage.add_view(view)
    return view


def alias(t: Tensor) -> Tensor:
    """Another tensor over the same memory, without history and not tracked as a view."""
    return make_tensor(
        t._data,
        t._shape, t._dtype, t._device, t._keys & ~AUTOGRAD, t._own_storage(), t._layout,
    )  # fmt: skip


def from_values(values: list[Any], shape: Shape, d: dtype, on: device) -> Tensor:
    """Make a tensor from a flat list of Python numbers."""
    return TABLE[on.type].runtime.from_host(memoryview(pack(values, d)), shape, d, on)
