"""Sparse tensors in coordinates, in the small form that programs use.

One holds the positions of some elements and their values, two dense tensors, and computes with these:
what is differentiated are the values. What is not served says so and names `to_dense`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.functions import fn
from ..dispatch.overrides import DisableTorchFunctionSubclass
from ..tensors.storage import Storage
from ..tensors.tensor import Tensor, make_tensor
from ..values.devices import TABLE
from ..values.dtypes import DTYPES, dtype
from ..values.layouts import sparse_coo, sparse_csr
from ..values.promotion import check_cast
from ..values.shapes import Shape, contiguous_strides, numel, wrap_dim
from . import sparse_compressed as compressed

__all__ = ["FUNCTIONS", "SparseTensor", "refusal", "sparse_of"]

# What functions of `torch` do with sparse tensors, by name; `sparse_functions` fills it.
FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {}


class SparseTensor(Tensor):
    """A tensor that holds some of its elements; the others are 0.

    Positions are (sparse_dim, nnz), values (nnz, *dense sizes); a position may occur several times until
    `coalesce` adds up what stands there.
    """

    __slots__ = ()

    _positions: Tensor
    _elements: Tensor
    _sorted: bool
    _how: compressed.Compressed | None  # how a compressed matrix lies; None for coordinates

    # ---- what it holds --------------------------------------------------------------------------

    layout = property(
        lambda self: self._how.layout if self._how else sparse_coo,
        doc="``torch.sparse_coo``, or the layout of a compressed matrix.",
    )
    is_sparse: Any = property(lambda self: not self._how, doc="Whether it is in coordinates.")
    is_sparse_csr: Any = property(lambda self: self.layout is sparse_csr, doc="Whether by rows.")
    requires_grad: Any = property(
        lambda self: self._elements.requires_grad,
        lambda self, value: self.requires_grad_(value),
        doc="Whether its values require grad.",
    )
    is_leaf = property(lambda self: self._elements.is_leaf, doc="Whether its values are a leaf.")
    grad_fn = property(lambda self: self._elements.grad_fn, doc="The node of its values.")

    @property
    def grad(self) -> Any:
        """The gradient of its values, at their positions."""
        g = self._elements.grad
        return None if g is None else self._with(g)

    @grad.setter
    def grad(self, value: Any) -> None:
        if isinstance(value, Tensor):  # what is none is refused below
            if type(value) is not SparseTensor or not fn.equal(self._positions, value._positions):
                raise RuntimeError("assigned grad must be sparse, with the positions of its tensor")
            value = value._elements
        self._elements.grad = value

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Record what is computed from its values."""
        self._elements.requires_grad_(requires_grad)
        return self

    def _indices(self) -> Tensor:
        """Positions, (sparse_dim, nnz)."""
        return self._positions

    def _values(self) -> Tensor:
        """Values, (nnz, *dense sizes)."""
        return self._elements

    def _nnz(self) -> int:
        """How many elements it holds, or blocks."""
        rows, columns = self._how.block if self._how else (1, 1)
        return self._positions._shape[1] // (rows * columns)

    def sparse_dim(self) -> int:
        """Number of dimensions that positions have."""
        return self._positions._shape[0]

    def dense_dim(self) -> int:
        """Number of dimensions of each value."""
        return len(self._elements._shape) - 1

    def is_coalesced(self) -> bool:
        """Whether every position occurs once, in order."""
        self._needs_coordinates("is_coalesced")
        return self._sorted

    def _coalesced_(self, coalesced: bool) -> Any:
        self._sorted = coalesced
        return self

    def _needs_coordinates(self, name: str) -> None:
        if self._how:
            got = self._how.label
            raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got {got}")

    def _needs_coalesced(self, name: str) -> None:
        if not self._sorted:
            raise RuntimeError(
                f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first"
            )

    def indices(self) -> Tensor:
        """Positions of a coalesced tensor.

        Raises:
            RuntimeError: if it is not coalesced.
        """
        self._needs_coordinates("indices")
        self._needs_coalesced("indices")
        return self._positions

    def values(self) -> Tensor:
        """Values of a coalesced tensor, or of a compressed matrix.

        Raises:
            RuntimeError: if it is not coalesced.
        """
        if self._how and self._how.blocked:
            return self._elements.reshape(-1, *self._how.block)
        if not self._how:
            self._needs_coalesced("values")
        return self._elements

    def crow_indices(self) -> Tensor:
        """Where each row of a matrix in compressed rows begins, and how many elements it has."""
        return self._indices_by(0, "crow_indices", compressed.outer)

    def col_indices(self) -> Tensor:
        """The column of each element, or block, of a matrix in compressed rows."""
        return self._indices_by(0, "col_indices", compressed.inner)

    def ccol_indices(self) -> Tensor:
        """Where each column of a matrix in compressed columns begins, and how many elements it has."""
        return self._indices_by(1, "ccol_indices", compressed.outer)

    def row_indices(self) -> Tensor:
        """The row of each element, or block, of a matrix in compressed columns."""
        return self._indices_by(1, "row_indices", compressed.inner)

    def _indices_by(self, axis: int, name: str, made: Callable[[Any], Tensor]) -> Tensor:
        if not self._how or self._how.axis != axis:
            raise RuntimeError(
                f"{name} expected sparse {('row', 'column')[axis]} compressed tensor layout but got "
                f"{self._how.label if self._how else 'Sparse'}"
            )
        return made(self)

    def _flat(self) -> Tensor:
        """Positions as numbers, row-major."""
        sizes = self._shape[: self.sparse_dim()]
        found = self._positions.new_zeros((self._positions._shape[1],))
        for row, step in zip(self._positions.unbind(0), contiguous_strides(sizes), strict=True):
            found = found + row * step
        return found

    def coalesce(self) -> Any:
        """The same with every position once, in order, and the sum of what stands there."""
        self._needs_coordinates("coalesce")
        return self._summed()

    def _summed(self) -> Any:
        """What it holds, in coordinates, coalesced."""
        if self._sorted:
            return self
        flat, places = fn.unique(self._flat(), sorted=True, return_inverse=True)
        total = self._elements.new_zeros((flat._shape[0], *self._elements._shape[1:]))
        values = total.index_add(0, places, self._elements)
        rows, rest = [], flat
        for step in contiguous_strides(self._shape[: self.sparse_dim()]):
            rows.append(fn.div(rest, max(step, 1), rounding_mode="floor"))
            rest = rest % max(step, 1)
        indices = fn.stack(rows) if rows else self._positions
        return sparse_of(indices, values, self._shape, True)

    def to_dense(self, dtype: dtype | None = None, *, masked_grad: bool | None = None) -> Tensor:
        """All elements, as an ordinary tensor."""
        values = self._elements if dtype is None else self._elements.to(dtype)
        sizes, dense = self._shape[: self.sparse_dim()], self._shape[self.sparse_dim() :]
        flat = values.new_zeros((numel(sizes), *dense))
        return flat.index_add(0, self._flat(), values).reshape(self._shape)

    def to_sparse_coo(self) -> Any:
        """Itself, or what it holds, in coordinates."""
        if not self._how:
            return self
        return sparse_of(self._positions, self._elements, self._shape, self.is_sparse_csr)

    def masking(self, dense: Tensor) -> Any:
        """A dense tensor's elements at its positions."""
        return self._with(fn.index(dense, list(self._positions.unbind(0))))

    # ---- what is computed -----------------------------------------------------------------------

    def _with(self, values: Tensor, *, sorted: bool | None = None) -> Any:
        kept = self._sorted if sorted is None else sorted
        return sparse_of(self._positions, values, self._shape, kept, self._how)

    def clone(self, **kwargs: Any) -> Any:
        """A copy."""
        made = self._with(self._elements.clone())
        made._positions = self._positions.clone()
        return made

    def detach(self) -> Any:
        """The same without history."""
        return self._with(self._elements.detach())

    @property
    def data(self) -> Any:
        """The same without history; assigned, it takes over what another one holds."""
        return self.detach()

    @data.setter
    def data(self, value: Any) -> None:
        given = value if isinstance(value, SparseTensor) else self
        new = given._elements.detach().requires_grad_(self.requires_grad)
        Tensor.data.__set__(self, value)  # type: ignore[attr-defined]  # refuses what is none
        if self.grad is not None and fn.equal(self._positions, given._positions):
            new.grad = self._elements.grad
        self._positions, self._elements = given._positions, new
        self._sorted, self._how = given._sorted, given._how

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """The same with other values: of another dtype or on another device."""
        values = self._elements.to(*args, **kwargs)
        on = self._positions.to(values._device)
        if values is self._elements:
            return self
        return sparse_of(on, values, self._shape, self._sorted, self._how)

    def zero_(self) -> Any:
        """Hold nothing from now on; a compressed matrix holds zeros."""
        if self._how:
            self._elements = fn.zeros_like(self._elements.detach())
            return self
        self._positions = self._positions[:, :0]
        self._elements = self._elements.detach()[:0]
        self._sorted = True
        return self

    def t(self) -> Any:
        """A matrix with its dimensions exchanged; what has fewer of them as it is."""
        if len(self._shape) and (self.sparse_dim() > 2 or self.dense_dim()):
            raise RuntimeError(
                f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
                f"{self.sparse_dim()} sparse and {self.dense_dim()} dense dimensions"
            )
        return self.transpose(0, 1) if len(self._shape) == 2 else self._with(self._elements)

    def transpose(self, dim0: int, dim1: int) -> Any:
        """Two of its sparse dimensions exchanged."""
        a, b = (wrap_dim(d, len(self._shape)) for d in (dim0, dim1))
        if max(a, b) >= self.sparse_dim():
            raise NotImplementedError(refusal("transpose() of dense dimensions"))
        order, shape = list(range(self.sparse_dim())), list(self._shape)
        order[a], order[b] = order[b], order[a]
        shape[a], shape[b] = shape[b], shape[a]
        if self._how and a != b:
            indices, elements, how = compressed.turned(self)
            return sparse_of(indices, elements, tuple(shape), False, how)
        indices = fn.stack([self._positions[i] for i in order])
        return sparse_of(indices, self._elements, tuple(shape), self._sorted and a == b)

    T = property(t)

    def neg(self) -> Any:
        """Its negative."""
        return self._with(-self._elements)

    def mul(self, other: Any) -> Any:
        """Its product with a number or a tensor, sparse."""
        if isinstance(other, Tensor) and other._shape:
            return FUNCTIONS["_intersection"](self, other)
        return self._with(self._elements * other)

    def div(self, other: Any, *, rounding_mode: str | None = None) -> Any:
        """Its quotient by a number, or a tensor without dimensions."""
        if isinstance(other, Tensor) and other._shape:
            raise NotImplementedError(refusal("div() by a tensor"))
        return self._with(fn.div(self._elements, other, rounding_mode=rounding_mode))

    def add(self, other: Any, *, alpha: Any = 1) -> Any:
        """Its sum with another tensor: sparse with a sparse one, dense with a dense one."""
        if type(other) is not SparseTensor:
            if not isinstance(other, Tensor):
                raise NotImplementedError(refusal("add() of a number"))
            return self.to_dense() + other * alpha
        if other._shape != self._shape or other.sparse_dim() != self.sparse_dim():
            raise RuntimeError(
                f"add: expected sizes of 'self' and 'other' to match, but {list(self._shape)} != "
                f"{list(other._shape)}"
            )
        values = other._elements if alpha == 1 else other._elements * alpha
        indices = fn.cat([self._positions, other._positions], 1)
        found = sparse_of(indices, fn.cat([self._elements, values]), self._shape, False)
        return compressed.relaid(found, self._how if other._how else None)

    def sub(self, other: Any, *, alpha: Any = 1) -> Any:
        """Its difference from another tensor."""
        return self.add(other, alpha=-alpha)

    def add_(self, other: Any, *, alpha: Any = 1) -> Any:
        """Add another sparse tensor."""
        made = self.add(other, alpha=alpha)
        if type(made) is not SparseTensor:
            raise RuntimeError(
                "add(sparse, dense) is not supported. Use add(dense, sparse) instead."
            )
        return self._become(made)

    def mul_(self, other: Any) -> Any:
        """Multiply by a number or a tensor."""
        return self._become(self.mul(other))

    def _become(self, made: Any) -> Any:
        """Hold from now on what was computed, in its own dtype and layout."""
        check_cast(made._dtype, self._dtype)
        made = compressed.relaid(made, None if made._how else self._how).to(self._dtype)
        self._positions, self._elements, self._sorted = (
            made._positions,
            made._elements,
            made._sorted,
        )
        return self

    def sum(self, dim: Any = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Any:
        """The sum of all elements, or along dimensions; that is dense."""
        if dim is None:
            return self._elements.sum(dtype=dtype)
        return self.to_dense().sum(dim, keepdim, dtype=dtype)

    def norm(self, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        """The norm of all its elements."""
        rank, dims = len(self._shape), () if dim is None else dim
        chosen = {wrap_dim(d, rank) for d in ((dims,) if isinstance(dims, int) else dims)}
        if len(chosen) not in (0, rank):
            raise RuntimeError(
                "norm_sparse currently only supports full reductions, so 'dim' must either be empty or "
                "contain all dimensions of the input"
            )
        if keepdim:
            raise RuntimeError("norm_sparse currently does not support keepdim=True")
        return self._summed()._elements.norm(p, dtype=dtype)

    def matmul(self, other: Any) -> Any:
        """Its product with a dense matrix or vector."""
        return FUNCTIONS["_sparse_mm"](self, other)

    mm = __matmul__ = matmul  # type: ignore[assignment]  # with another name of the argument

    def mv(self, vec: Any) -> Any:
        """A matrix's product with a vector."""
        if (len(self._shape), len(vec._shape)) != (2, 1):
            raise RuntimeError(
                f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {len(self._shape)}"
                f"Tensor Dim: {len(vec._shape)}"
            )
        return FUNCTIONS["_sparse_mm"](self, vec)

    def __rmatmul__(self, other: Any) -> Any:
        return FUNCTIONS["_sparse_mm"](self.t(), other.t()).t()

    multiply = __mul__ = __rmul__ = mul
    divide = __truediv__ = div
    __add__ = __radd__ = add
    __sub__ = sub
    __neg__ = neg
    __iadd__ = add_
    __imul__ = mul_

    # ---- as an object ---------------------------------------------------------------------------

    def __repr__(self, **kwargs: Any) -> str:
        return compressed.shown(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        held = self._positions, self._elements, self._shape, self._sorted, self._how
        return sparse_of, held

    def __deepcopy__(self, memo: Any) -> Any:
        return self.detach().clone().requires_grad_(self.requires_grad)

    def __getitem__(self, index: Any) -> Any:
        found: Any = self
        for at, each in enumerate(index if isinstance(index, tuple) else (index,)):
            if not isinstance(each, int):
                raise NotImplementedError(refusal("indexing by anything but numbers"))
            size = found._shape[0] if found._shape else 0
            if not -size <= each < size:
                raise IndexError(
                    f"index {each} is out of bounds for dimension {at} with size {size}"
                )
            found = found.select(0, each)
        return found

    def tolist(self) -> Any:
        """All elements, as nested lists."""
        return self.to_dense().tolist()

    def numpy(self, **kwargs: Any) -> Any:
        """Refused.

        Raises:
            TypeError: always.
        """
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Functions of `sparse_functions`, whose parts are recorded; others go on to be ops."""
        with DisableTorchFunctionSubclass():
            own = {} if kwargs and "mask" in kwargs else FUNCTIONS  # not torch.masked's
            return own.get(getattr(func, "__name__", ""), func)(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Ops on sparse tensors: those of the class, and what dense ones do with them."""
        name, options = func.overloadpacket.__name__, kwargs or {}
        first, rest = args[0], args[1:]
        recorded = any(type(a) is cls and a._elements.requires_grad for a in args)
        if recorded and name in _LOST:
            raise NotImplementedError(  # what is computed below autograd would have no history
                f"torch.{name} does not record what it computes from the values of a sparse tensor: call "
                f"the tensor's own method of that name, which does, or pass t.detach()"
            )
        if name in ("add", "add_", "sub", "sub_") and type(first) is not cls:
            return FUNCTIONS["_into_dense"](name, first, rest[0], **options)
        if name in ("mm", "matmul", "mv", "_sparse_mm_reduce_impl"):
            return FUNCTIONS[name](*args)
        if name == "mul" and type(first) is not cls:
            return rest[0].mul(first)
        if name in _SERVED and type(first) is cls:
            return getattr(first, _SERVED[name])(*rest, **options)
        raise NotImplementedError(refusal(str(func)))


_SERVED: Final = {
    **{n: n for n in ("add", "add_", "sub", "mul", "mul_", "div", "neg", "clone", "detach", "zero_", "t",
                      "transpose", "sum", "norm")},
    "linalg_vector_norm": "norm", "_to_copy": "to",
}  # fmt: skip

_LOST: Final = {*_SERVED, "sub_", "mm", "matmul", "mv"} - {"detach"}
for _name in ("double", "float", "half", "bfloat16"):
    _to = DTYPES[{"double": "float64", "float": "float32", "half": "float16"}.get(_name, _name)]
    setattr(SparseTensor, _name, lambda self, _to=_to: self.to(_to))


def refusal(what: str) -> str:
    """What is said of that which sparse tensors do not serve."""
    return (
        f"{what} is not served for sparse tensors (torch.sparse_coo) here: compute with its values, or with "
        f"to_dense()"
    )


def sparse_of(
    indices: Tensor,
    values: Tensor,
    size: Any,
    coalesced: bool = False,
    how: compressed.Compressed | None = None,
) -> Any:
    """A sparse tensor of positions and values that are known to fit."""
    shape: Shape = tuple(size)
    on = values._device
    keys = TABLE[on.type].runtime.key
    made: Any = make_tensor(
        None, shape, values._dtype, on, keys, Storage(None, 0, on), (contiguous_strides(shape), 0)
    )
    made.__class__ = SparseTensor
    made._positions, made._elements, made._sorted = indices, values, coalesced
    made._how = how
    return made
