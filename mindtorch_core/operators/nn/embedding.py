"""Rows of a table at given indices."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.dtypes import INDEX_DTYPES, int64
from ...values.shapes import show
from ..elementwise.composed import by_name


def _check(indices: Tensor, name: str) -> None:
    if indices._dtype not in INDEX_DTYPES:
        raise RuntimeError(
            f"Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {indices._dtype.label} instead (while checking arguments for {name})"
        )


def _rule(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> TensorSpec:
    if len(weight._shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    _check(indices, "embedding")
    return TensorSpec((*indices._shape, weight._shape[1]), weight._dtype)


def _embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    spec = _rule(weight, indices, padding_idx, scale_grad_by_freq, sparse)
    return weight.index_select(0, indices.reshape(-1)).view(spec.shape)


def _backward(
    grad_output: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    columns = grad_output._shape[-1]
    flat = indices.reshape(-1)
    rows = grad_output.reshape(flat._shape[0], columns)
    if padding_idx >= 0:
        rows = fn.where((flat != padding_idx).unsqueeze(1), rows, 0)
    if scale_grad_by_freq:
        ones = rows.new_ones(flat._shape)
        counts = rows.new_zeros((num_weights,)).index_add(0, flat, ones)
        rows = rows / counts.index_select(0, flat).unsqueeze(1)
    found: Tensor = rows.new_zeros((num_weights, columns)).index_add(0, flat, rows)
    return found


def sparse_gradient(
    g: Any, weight_shape: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """The gradient of a table, held at the rows that were used.

    Raises:
        RuntimeError: with ``scale_grad_by_freq``, as in PyTorch.
    """
    if scale_grad_by_freq:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
        )
    rows = indices.reshape(-1)
    values = g.reshape((rows._shape[0], weight_shape[1]))
    if padding_idx >= 0:
        kept = rows != padding_idx
        rows, values = rows[kept], values[kept]
    from ...frontend.sparse_functions import sparse_of  # makes the class of sparse tensors

    return sparse_of(rows.to(int64).unsqueeze(0), values, weight_shape)


def _grad(
    g: Any,
    weight_shape: Any,
    indices: Any,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Any:
    if sparse:
        return sparse_gradient(g, weight_shape, indices, padding_idx, scale_grad_by_freq)
    return by_name("embedding_dense_backward")(
        g, indices, weight_shape[0], padding_idx, scale_grad_by_freq
    )


op(
    "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, "
    "bool sparse=False) -> Tensor",
    doc="Rows of ``weight`` (num_embeddings, dim) at integer indices; ``padding_idx`` gets no gradient.",
    rule=_rule,
    grad={"weight": _grad},
    decomposition=_embedding,
    namespaces=("torch",),
)
op(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, "
    "SymInt padding_idx, bool scale_grad_by_freq) -> Tensor",
    doc="Gradient of `embedding` for its table.",
    rule=lambda grad_output, indices, num_weights, *_: TensorSpec(
        (num_weights, grad_output._shape[-1]), grad_output._dtype
    ),
    decomposition=_backward,
    namespaces=(),
)


def _renormalise(self: Any, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    _check(indices, "embedding_renorm_")
    rows = indices.reshape(-1)
    chosen = self.index_select(0, rows)
    sizes = fn_linalg.vector_norm(chosen, norm_type, 1, True)
    scale = fn.where(sizes > max_norm, max_norm / (sizes + 1e-7), 1)
    # A row that occurs twice is written twice, with the same elements.
    self.index_put_([rows], chosen * scale)
    return self  # type: ignore[no-any-return]


op(
    "embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
    doc="Scale the rows that indices name down to a norm of at most ``max_norm``, in place.",
    decomposition=_renormalise,
    namespaces=("torch",),
)


@public("nn")
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of ``weight`` at the indices in ``input``.

    Args:
        input: indices, of any shape.
        weight: the table, (num_embeddings, dim).
        padding_idx: a row that gets no gradient.
        max_norm: rows that are used are first scaled down to this norm, in the table itself.
        norm_type: which norm.
        scale_grad_by_freq: divide gradients by how often an index occurs.
        sparse: whether the gradient is a sparse tensor.

    Returns:
        (*, dim), where * is the shape of ``input``.

    Raises:
        IndexError: for an index outside the table.
        AssertionError: if ``padding_idx`` is outside the table.
        RuntimeError: in the backward pass, for sparse gradients with ``scale_grad_by_freq``.

    Example:
        >>> table = torch.tensor([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
        >>> torch.nn.functional.embedding(torch.tensor([2, 0]), table)
        tensor([[2.0000, 2.5000],
                [0.0000, 0.5000]])
    """
    rows = weight._shape[0] if weight._shape else 0
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    at = -1 if padding_idx is None else padding_idx % rows
    if max_norm is not None:
        if not weight._shape:
            raise RuntimeError(f"'weight' must be 2-D, got shape {show(weight._shape)}")
        fn.embedding_renorm_(weight.detach(), input.contiguous(), max_norm, norm_type)
    return fn.embedding(weight, input, at, scale_grad_by_freq, sparse)
