"""How an op on samples becomes one on what holds them: from the op's row, or by a rule of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.entry import OpEntry
from ..dispatch.functions import fn
from ..dispatch.registry import registry
from ..opdefs.packets import front
from ..tensors.tensor import Tensor
from ..values.containers import filled
from ..values.memory_formats import contiguous_format, preserve_format
from ..values.shapes import wrap_dim
from .batched import Batched, Level, batched, held, level_of, plain

__all__ = ["RULES", "by_row", "follows", "rule"]

Rule = Callable[..., Any]
RULES: Final[dict[str, Rule]] = {}  # by name of the op, called with the level and the arguments

_DIMS: Final = frozenset({"dim", "dims", "dim0", "dim1", "dim2", "start_dim", "end_dim"})
# Ops of one tensor that leave its shape, or look at nothing but that.
_SAME_SHAPE_NAMES: Final = """
    clone contiguous detach _to_dtype _to_device empty_like zeros_like ones_like full_like conj
    _conj _neg_view resolve_conj resolve_neg zero_ zero fill_.Scalar fill.Scalar detach_copy
    alias alias_copy _real _imag real imag view_as_real view_as_complex tril triu linalg_inv linalg_inv_ex
    inverse linalg_det det _linalg_det linalg_cholesky linalg_cholesky_ex cholesky linalg_qr
    linalg_svdvals linalg_slogdet _linalg_slogdet slogdet logdet linalg_eigvals linalg_eigvalsh
    linalg_eigh _linalg_eigh _linalg_svd linalg_svd linalg_matrix_exp matrix_exp one_hot bernoulli
    dropout native_dropout rand_like randn_like randint_like randint_like.low_dtype uniform_ normal_
    bernoulli_.float exponential_ isreal linalg_pinv adjoint linalg_lu_factor_ex
"""
_SAME_SHAPE: Final = frozenset(_SAME_SHAPE_NAMES.split())
# Ops of tensors that have all the same number of dimensions.
_ALIGNED_NAMES: Final = """
    gather scatter.src scatter.value scatter_.src scatter_.value scatter_add scatter_add_
    scatter_reduce.two scatter_reduce_.two scatter.reduce take_along_dim
    value_selecting_reduction_backward _softmax_backward_data _log_softmax_backward_data
    cumprod_backward glu_backward linalg_cross cross
"""
_ALIGNED: Final = frozenset(_ALIGNED_NAMES.split())
# Views of a part: a single number has none.
_PARTS_NAMES: Final = """
    select select_copy split split_copy split_with_sizes split_with_sizes_copy unbind unbind_copy
    unsafe_split unsafe_split_with_sizes
"""
_PARTS: Final = frozenset(_PARTS_NAMES.split())
# Without a dimension these take all.
_ALL_DIMS: Final = frozenset({"int[]", "int[1]"})


_KEPT_FORMATS: Final = (preserve_format, contiguous_format)


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Decorator: the rule of ops."""

    def decorate(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return decorate


def wrapped(result: Any, level: Level) -> Any:
    """Results with the samples along their first dimension."""
    if isinstance(result, Tensor):
        return batched(result, 0, level.number)
    if isinstance(result, tuple | list):
        return filled(type(result), [wrapped(r, level) for r in result])
    return result


# Compositions that look at values, at memory, or at what is not there.
_ONE_BY_ONE_NAMES: Final = """
    _embedding_bag _embedding_bag_forward_only adjoint as_strided_copy as_strided_scatter
    cov cross diag diag_embed diagflat embedding_bag embedding_bag.padding_idx fft_hfft fft_hfft2
    fft_hfftn fft_ifft fft_ihfft fft_ihfft2 fft_ihfftn fill_diagonal_ index_reduce linalg_cross
    linspace.Scalar_Tensor linspace.Tensor_Scalar linspace.Tensor_Tensor logspace.Scalar_Tensor
    logspace.Tensor_Scalar logspace.Tensor_Tensor masked_scatter nanquantile nanquantile.scalar
    quantile quantile.scalar segment_reduce stft stft.center value_selecting_reduction_backward vdot
    view.dtype view_copy.dtype
"""
ONE_BY_ONE: Final = frozenset(_ONE_BY_ONE_NAMES.split())
# Writes that change the shape of what is written, or its memory: a sample has none of its own.
_REFUSED_NAMES: Final = """
    as_strided_ resize_ resize_as_ set_ set_.source_Tensor set_.source_Tensor_storage_offset squeeze_
    squeeze_.dim squeeze_.dims swapaxes_ swapdims_ t_ transpose_ unsqueeze_
"""
REFUSED: Final = frozenset(_REFUSED_NAMES.split())


def follows(entry: OpEntry) -> bool:
    """Whether an op is of a group that needs no composition to be taken apart."""
    name = entry.name.removeprefix("aten::")
    d = entry.definition
    if name in _SAME_SHAPE or name in _ALIGNED or name in ONE_BY_ONE or name in REFUSED:
        return True
    return d is not None and ("pointwise" in d.tags or _written(entry))


def _written(entry: OpEntry) -> bool:
    schema = entry.schema
    return schema is not None and bool(schema.returns) and schema.returns[0].is_write


# Ops with a gradient of their own whose parts have rules.
_BY_PARTS_NAMES: Final = """
    stack mse_loss smooth_l1_loss huber_loss binary_cross_entropy_with_logits _fused_rms_norm _cdist_forward
    _recurrent_steps _lu_order quantile.scalar linalg_pinv.atol_rtol_tensor cov masked_fill masked_fill_
"""
_BY_PARTS: Final = frozenset(_BY_PARTS_NAMES.split())


def by_row(entry: OpEntry, level: Level, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What follows from the op's row; NotImplemented where nothing does."""
    schema, d = entry.schema, entry.definition
    if schema is None or d is None or not args:
        return NotImplemented
    name = entry.name.removeprefix("aten::")
    if name in REFUSED:
        raise RuntimeError(
            f"vmap: {name} changes the shape or the memory of a tensor, and a sample has no memory of its "
            f"own. Use the op that makes a new tensor."
        )
    if name in _BY_PARTS and d.decomposition is not None:
        return d.decomposition(*args, **kwargs)
    if name in ONE_BY_ONE or kwargs.get("memory_format") not in (None, *_KEPT_FORMATS):
        return NotImplemented
    base = d.functional.tags if d.functional is not None else d.tags
    if "pointwise" in base or (d.functional is not None and d.functional.operands.broadcasts):
        return _pointwise(entry, level, args, kwargs)
    if _written(entry) and d.functional is not None and name not in _SAME_SHAPE:
        args[0].copy_(front(registry.entry(f"aten::{d.functional.name}"))(*args, **kwargs))
        return args[0]
    if name in _SAME_SHAPE:
        return _same_shape(entry, level, args, kwargs)
    others = [v for v in (*args[1:], *kwargs.values()) if level_of(v) == level.number]
    dims = [i for i, a in enumerate(schema.positional) if a.name in _DIMS]
    if name in _ALIGNED:
        return _aligned(entry, level, args, kwargs, dims)
    if (
        (dims or "dim" in kwargs)
        and type(args[0]) is Batched
        and not others
        and name not in _NOT_ALONG
    ):
        return _along(entry, level, args, kwargs, dims)
    return NotImplemented


_NOT_ALONG_NAMES: Final = """
    cat concat concatenate stack unique_dim index_add index_add_ index_copy index_copy_ index_reduce
    index_reduce_ index_fill.int_Tensor index_fill_.int_Tensor renorm renorm_ gradient.tensorarray
    tensor_split.tensor_indices_or_sections repeat_interleave.self_Tensor diagonal_scatter tile
    linalg_norm linalg_norm.ord_str linalg_tensorsolve norm_except_dim _weight_norm fft_fftn
    fft_ifftn rot90 roll unique_consecutive unique_dim_consecutive hash_tensor transpose_
    squeeze_.dim squeeze_.dims unsqueeze_ swapdims_ select_scatter slice_scatter cosine_similarity
    fft_fft2 fft_ifft2 fft_rfftn fft_rfft2 fft_irfftn fft_irfft2 fft_hfftn fft_hfft2 fft_ihfftn
    fft_ihfft2 fft_fftshift fft_ifftshift aminmax quantile quantile.scalar nanquantile
    nanquantile.scalar linalg_matrix_norm linalg_matrix_norm.str_ord nuclear_norm.dim _chunk_cat
    repeat_interleave.self_int diff
"""
_NOT_ALONG: Final = frozenset(_NOT_ALONG_NAMES.split())


# ---- element by element -------------------------------------------------------------------------


def raised(t: Any, level: Level, rank: int) -> Any:
    """What holds samples, with ones so that each has a number of dimensions; others as they are."""
    inner, bdim = held(t, level.number)
    if bdim is None:
        return inner
    inner = inner if bdim == 0 else fn.movedim(inner, bdim, 0)
    missing = rank + 1 - len(inner._shape)
    if missing > 0:
        inner = fn.reshape(inner, (level.size, *(1,) * missing, *inner._shape[1:]))
    return inner


def _pointwise(entry: OpEntry, level: Level, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    d, schema = entry.definition, entry.schema
    assert d is not None
    assert schema is not None
    tensors = [t for t in (*args, *kwargs.values()) if isinstance(t, Tensor)]
    rank = max(len(t._shape) for t in tensors)
    inplace = bool(schema.returns) and schema.returns[0].is_write
    if inplace and level_of(args[0]) != level.number:
        raise RuntimeError(
            f"vmap: {schema.name}(self, *extra_args) is not possible because there exists a Tensor `other` "
            f"in extra_args that has more elements than `self`. This happened due to `other` being "
            f"vmapped over but `self` not being vmapped over in a vmap. Use the op that is not in-place."
        )
    if len({t._dtype for t in tensors}) > 1 and d.operands.promotes and not inplace:
        start = d.operands.first_operand
        target = d.operands.compute_dtype(*args[start:], **kwargs)
        met = [fn_to(v, target) if isinstance(v, Tensor) else v for v in args[start:]]
        args = (*args[:start], *met)
    result = front(entry)(
        *(raised(v, level, rank) for v in args),
        **{k: raised(v, level, rank) for k, v in kwargs.items()},
    )
    return args[0] if inplace else wrapped(result, level)


def fn_to(t: Tensor, target: Any) -> Tensor:
    """A tensor of another dtype."""
    return t if t._dtype is target else t.to(target)


def _same_shape(entry: OpEntry, level: Level, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    inner, bdim = held(args[0], level.number)
    if bdim is None:
        return NotImplemented
    if bdim:
        inner = fn.movedim(inner, bdim, 0)
    result = front(entry)(inner, *args[1:], **kwargs)
    schema = entry.schema
    written = schema is not None and bool(schema.returns) and schema.returns[0].is_write
    return args[0] if written else wrapped(result, level)


# ---- along dimensions ---------------------------------------------------------------------------


def _shifted(value: Any, rank: int) -> Any:
    if isinstance(value, list | tuple):
        return [wrap_dim(v, rank) + 1 for v in value]
    return wrap_dim(value, rank) + 1


def _along(
    entry: OpEntry, level: Level, args: tuple[Any, ...], kwargs: dict[str, Any], dims: list[int]
) -> Any:
    """An op along dimensions of its first argument."""
    schema = entry.schema
    assert schema is not None
    logical = len(args[0]._shape)
    name = entry.name.removeprefix("aten::")
    adds = name in ("unsqueeze", "unsqueeze_copy")
    scalar = logical == 0 and not adds
    if scalar and schema.name in _PARTS:
        return NotImplemented
    inner = raised(args[0], level, int(scalar))
    rank = logical + adds or 1
    given = list(args)
    for i in dims:
        a = schema.positional[i]
        value = args[i] if i < len(args) else a.default
        if isinstance(value, int) and a.is_list:
            value = (value,)
        everything = value is None or (a.is_list and len(value) == 0)
        if everything and a.is_list:
            value = range(max(logical, 1))
        elif everything:
            if logical > 1:
                inner = fn.reshape(inner, (level.size, -1))
            if _keeps(schema, args, kwargs) and logical > 1:
                return NotImplemented
            value = 0
        if i >= len(given):
            return NotImplemented
        given[i] = _shifted(tuple(value) if a.is_list else value, rank)
    if "dim" in kwargs:
        kwargs = {**kwargs, "dim": _shifted(kwargs["dim"], rank)}
    result = front(entry)(inner, *given[1:], **kwargs)
    if scalar:
        result = _flat(result, level.size)
    if schema.returns and schema.returns[0].is_write:
        return args[0]
    return wrapped(result, level)


def _keeps(schema: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    for i, a in enumerate(schema.positional):
        if a.name == "keepdim":
            return bool(args[i]) if i < len(args) else False
    return bool(kwargs.get("keepdim"))


def _flat(result: Any, size: int) -> Any:
    if isinstance(result, Tensor):
        return fn.reshape(result, (size,))
    return filled(type(result), [_flat(r, size) for r in result])


def _aligned(
    entry: OpEntry, level: Level, args: tuple[Any, ...], kwargs: dict[str, Any], dims: list[int]
) -> Any:
    """An op along a dimension of several tensors of one rank."""
    if any(isinstance(v, Tensor) and not v._shape for v in args):
        return NotImplemented
    schema = entry.schema
    assert schema is not None
    written = bool(schema.returns) and schema.returns[0].is_write
    if written and level_of(args[0]) != level.number:
        return NotImplemented
    rank = len(args[0]._shape)
    given = [plain(v, level.number, level.size) if isinstance(v, Tensor) else v for v in args]
    for i in dims:
        if args[i] is None:
            return NotImplemented
        given[i] = _shifted(args[i], rank)
    result = front(entry)(*given, **kwargs)
    return args[0] if written else wrapped(result, level)
