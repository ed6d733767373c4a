"""Rules of layers' ops: convolutions, pooling, normalization, attention, losses."""

from __future__ import annotations

from typing import Any, Final

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.containers import filled
from .batched import Level, level_of, plain
from .own_rules import call
from .rules import RULES, raised, rule, wrapped

__all__: list[str] = []

# ---- what computes each entry by itself ---------------------------------------------------------


def _merged(name: str) -> None:
    """An op that computes each entry of its first dimension by itself: the samples join that."""

    def computed(level: Level, self: Any, *args: Any, **kwargs: Any) -> Any:
        others = (*args, *kwargs.values())
        if level_of(self) != level.number or any(level_of(v) == level.number for v in others):
            return NotImplemented
        inner = raised(self, level, 0)
        joined = fn.reshape(inner, (-1, *inner._shape[2:]))
        return _split(call(name)(joined, *args, **kwargs), level)

    RULES[name] = computed


def _split(result: Any, level: Level) -> Any:
    if isinstance(result, Tensor):
        shape = result._shape
        return wrapped(fn.reshape(result, (level.size, shape[0] // level.size, *shape[1:])), level)
    return filled(type(result), [_split(r, level) for r in result])


_MERGED_NAMES = """
    avg_pool1d avg_pool2d avg_pool3d max_pool1d_with_indices max_pool2d_with_indices
    max_pool3d_with_indices _adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_max_pool2d
    adaptive_max_pool3d pixel_shuffle pixel_unshuffle channel_shuffle reflection_pad1d
    reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d
    upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d
    upsample_trilinear3d upsample_bicubic2d _upsample_nearest_exact1d _upsample_nearest_exact2d
    _upsample_nearest_exact3d
"""
for _name in _MERGED_NAMES.split():
    _merged(_name)


def _by_images(name: str, rank: int) -> None:
    """An op of images and of batches of them, which must not be taken one for the other."""

    def computed(level: Level, self: Any, *args: Any, **kwargs: Any) -> Any:
        if any(level_of(v) == level.number for v in (*args, *kwargs.values())):
            return NotImplemented
        inner = raised(self, level, 0)
        if len(self._shape) == rank:
            return wrapped(call(name)(inner, *args, **kwargs), level)
        joined = fn.reshape(inner, (-1, *inner._shape[2:]))
        return _split(call(name)(joined, *args, **kwargs), level)

    RULES[name] = computed


_by_images("im2col", 3)
_by_images("col2im", 2)
_by_images("stft.center", 1)


@rule("constant_pad_nd")
def _padded(level: Level, self: Any, *args: Any, **kwargs: Any) -> Any:
    return wrapped(fn.constant_pad_nd(raised(self, level, 0), *args, **kwargs), level)


# ---- convolutions -------------------------------------------------------------------------------


@rule("convolution")
def _convolution(
    level: Level, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    """Samples join the images, or, where each has filters of its own, the groups."""
    options = stride, padding, dilation, transposed, output_padding
    filtered = level_of(weight) == level.number
    if level_of(bias) == level.number or (filtered and bias is not None):
        found = fn.convolution(input, weight, None, *options, groups)
        return found + fn.reshape(bias, (-1, *(1,) * (len(input._shape) - 2)))
    if not filtered:
        inner = raised(input, level, 0)
        joined = fn.reshape(inner, (-1, *inner._shape[2:]))
        return _split(fn.convolution(joined, weight, bias, *options, groups), level)
    inner = fn.movedim(plain(input, level.number, level.size), 0, 1)
    joined = fn.reshape(inner, (inner._shape[0], -1, *inner._shape[3:]))
    own = raised(weight, level, 0)
    filters = fn.reshape(own, (-1, *own._shape[2:]))
    found = fn.convolution(joined, filters, None, *options, groups * level.size)
    shape = found._shape
    parts = fn.reshape(found, (shape[0], level.size, shape[1] // level.size, *shape[2:]))
    return wrapped(fn.movedim(parts, 1, 0), level)


@rule("scaled_dot_product_attention")
def _attention(
    level: Level, query: Any, key: Any, value: Any, attn_mask: Any = None, *args: Any, **kwargs: Any
) -> Any:
    parts = [plain(t, level.number, level.size) for t in (query, key, value)]
    mask = raised(attn_mask, level, len(query._shape))
    return wrapped(call("scaled_dot_product_attention")(*parts, mask, *args, **kwargs), level)


# ---- normalization ------------------------------------------------------------------------------


@rule("native_layer_norm")
def _layer_norm(
    level: Level, input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> Any:
    inner = raised(input, level, 0)
    if level_of(input) != level.number:
        return NotImplemented
    both = [level_of(v) == level.number for v in (weight, bias)]
    if not any(both):
        found = call("native_layer_norm")(inner, normalized_shape, weight, bias, eps)
        return wrapped(found, level)
    out, mean, rstd = wrapped(
        call("native_layer_norm")(inner, normalized_shape, None, None, eps), level
    )
    out = out if weight is None else out * weight
    return (out if bias is None else out + bias), mean, rstd


_STATISTICS_OF_ALL: Final = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
    "updated in place, were not batched.\nIf you are using a module and do not need eval mode, please "
    "set `track_running_stats` to be False, and its running statistics to None."
)


def _row(v: Any, level: Level) -> Any:
    """Numbers of the channels of all samples."""
    return fn.reshape(plain(v, level.number, level.size), (-1,))


def _affine(result: Any, weight: Any, bias: Any) -> Any:
    """Scale and shift channels, which are the second dimension."""
    sizes = (-1, *(1,) * (len(result._shape) - 2))
    result = result if weight is None else result * fn.reshape(weight, sizes)
    return result if bias is None else result + fn.reshape(bias, sizes)


@rule("native_group_norm")
def _group_norm(
    level: Level, input: Any, weight: Any, bias: Any, N: int, C: int, rest: int, group: int,
    eps: float,
) -> Any:  # fmt: skip
    if level_of(input) != level.number:
        found = fn.native_group_norm(input, None, None, N, C, rest, group, eps)
        return _affine(found[0], weight, bias), *found[1:]
    inner = raised(input, level, 0)
    joined = fn.reshape(inner, (-1, *inner._shape[2:]))
    apart = any(level_of(v) == level.number for v in (weight, bias))
    both = (None, None) if apart else (weight, bias)
    found = fn.native_group_norm(joined, *both, level.size * N, C, rest, group, eps)
    out, mean, rstd = _split(tuple(found), level)
    return (_affine(out, weight, bias) if apart else out), mean, rstd


def _batch_norm(name: str) -> None:
    def computed(level: Level, input: Any, weight: Any, bias: Any, *given: Any) -> Any:
        """Samples join the channels."""
        statistics = [v for v in given if v is None or isinstance(v, Tensor)]
        options = given[len(statistics) :]
        own = [v for v in statistics if v is not None and level_of(v) == level.number]
        written = options[0] and any(v is not None for v in statistics)
        if written and level_of(input) == level.number and len(own) < 2:
            raise RuntimeError(_STATISTICS_OF_ALL)
        inner = fn.movedim(plain(input, level.number, level.size), 0, 1)
        joined = fn.reshape(inner, (inner._shape[0], -1, *inner._shape[3:]))
        flat = [None if v is None else _row(v, level) for v in statistics]
        out, *saved = call(name)(joined, None, None, *flat, *options)
        if written and own:  # rows may be copies
            for v, row in zip(own, flat, strict=True):
                v.copy_(wrapped(fn.reshape(row, (level.size, -1)), level))
        parts = fn.movedim(fn.reshape(out, inner._shape), 1, 0)
        rows = [fn.reshape(v, (level.size, -1)) for v in saved]
        return _affine(wrapped(parts, level), weight, bias), *wrapped(rows, level)

    RULES[name] = computed


for _name in ("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit.no_stats"):
    _batch_norm(_name)


# ---- losses -------------------------------------------------------------------------------------


@rule("binary_cross_entropy")
def _binary_cross_entropy(
    level: Level, self: Any, target: Any, weight: Any = None, reduction: int = 1
) -> Any:
    losses = call("binary_cross_entropy")(
        *(plain(t, level.number, level.size) for t in (self, target)), None, 0
    )
    result = wrapped(losses, level)
    result = result if weight is None else result * weight
    return result if not reduction else result.mean() if reduction == 1 else result.sum()


@rule("nll_loss_forward")
def _nll_loss(
    level: Level, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int
) -> Any:
    """Its parts, which batch: the loss, and the total weight."""
    if len(self._shape) > 2:
        return _nll_loss_of_images(self, target, weight, reduction, ignore_index)
    kept = target != ignore_index
    safe = fn.where(kept, target, fn.zeros_like(target))
    picked = -fn.gather(self, -1, fn.unsqueeze(safe, -1)).squeeze(-1)
    scale = kept.to(self._dtype)
    if weight is not None:
        scale = scale * fn.index(weight, [safe])
    losses, total = fn.where(kept, picked * scale, 0), scale.sum()
    if reduction == 0 and len(self._shape) == 2:
        return losses, fn.zeros_like(total)
    return (losses.sum() / total if reduction == 1 else losses.sum()), total


def _nll_loss_of_images(
    self: Any, target: Any, weight: Any, reduction: int, ignore_index: int
) -> Any:
    """The same of (N, C, ...): each place is one of the batch."""
    rows = fn.reshape(fn.movedim(self, 1, -1), (-1, self._shape[1]))
    losses, total = call("nll_loss_forward")(
        rows, fn.reshape(target, (-1,)), weight, reduction, ignore_index
    )
    return (fn.reshape(losses, target._shape) if reduction == 0 else losses), total
