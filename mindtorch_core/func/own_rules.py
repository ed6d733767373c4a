"""Rules of ops that batch in a way of their own: sizes, joining, products, indices, layers."""

from __future__ import annotations

from typing import Any

from ..dispatch.functions import fn, fn_nn
from ..dispatch.registry import registry
from ..opdefs.packets import front
from ..tensors.tensor import Tensor
from ..values.dtypes import bool_, uint8
from ..values.shapes import wrap_dim
from .batched import Level, batched, held, level_of, plain
from .rules import RULES, raised, rule, wrapped

__all__: list[str] = []


def _call(name: str) -> Any:
    return front(registry.entry(f"aten::{name}"))


# ---- sizes --------------------------------------------------------------------------------------


def _sizes(name: str) -> None:
    def resized(level: Level, self: Any, size: Any, **kwargs: Any) -> Any:
        return wrapped(_call(name)(raised(self, level, 0), (level.size, *size), **kwargs), level)

    RULES[name] = resized


for _name in ("view", "reshape", "view_copy", "new_empty", "new_zeros", "new_ones"):
    _sizes(_name)


@rule("new_full")
def _new_full(level: Level, self: Any, size: Any, fill_value: Any, **kwargs: Any) -> Any:
    if isinstance(fill_value, Tensor):
        return NotImplemented
    inner = raised(self, level, 0)
    return wrapped(inner.new_full((level.size, *size), fill_value, **kwargs), level)


@rule("expand", "broadcast_to", "expand_copy")
def _expand(level: Level, self: Any, size: Any, *, implicit: bool = False) -> Any:
    inner = raised(self, level, len(size))
    return wrapped(inner.expand((level.size, *size)), level)


@rule("repeat")
def _repeat(level: Level, self: Any, repeats: Any) -> Any:
    inner = raised(self, level, len(repeats))
    return wrapped(inner.repeat((1, *repeats)), level)


@rule("squeeze")
def _squeeze(level: Level, self: Any) -> Any:
    inner = raised(self, level, 0)
    return wrapped(fn.reshape(inner, (level.size, *(n for n in self._shape if n != 1))), level)


@rule("t")
def _t(level: Level, self: Any) -> Any:
    return fn.transpose(self, 0, 1) if len(self._shape) > 1 else self


@rule("flatten")
def _flatten(level: Level, self: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    if not self._shape:
        return fn.reshape(self, (1,))
    rank = len(self._shape)
    first, last = start_dim % rank, end_dim % rank
    return fn.reshape(self, (*self._shape[:first], -1, *self._shape[last + 1 :]))


@rule("permute", "permute_copy")
def _permute(level: Level, self: Any, dims: Any) -> Any:
    rank = len(self._shape)
    order = [wrap_dim(d, rank) + 1 for d in dims]
    return wrapped(fn.permute(raised(self, level, 0), (0, *order)), level)


@rule("roll")
def _roll(level: Level, self: Any, shifts: Any, dims: Any = ()) -> Any:
    shifts = [shifts] if isinstance(shifts, int) else shifts
    dims = [dims] if isinstance(dims, int) else dims
    if not dims:
        return fn.reshape(fn.roll(fn.reshape(self, (-1,)), shifts, 0), self._shape)
    along = [wrap_dim(d, len(self._shape)) + 1 for d in dims]
    return wrapped(fn.roll(raised(self, level, 0), shifts, along), level)


@rule("movedim.intlist", "movedim", "moveaxis", "moveaxis.intlist")
def _movedim(level: Level, self: Any, source: Any, destination: Any) -> Any:
    rank = len(self._shape)
    source = [source] if isinstance(source, int) else source
    destination = [destination] if isinstance(destination, int) else destination
    moved = dict(zip((d % rank for d in destination), (s % rank for s in source), strict=True))
    rest = iter([i for i in range(rank) if i not in moved.values()])
    return fn.permute(self, tuple(moved[i] if i in moved else next(rest) for i in range(rank)))


# ---- joining ------------------------------------------------------------------------------------


@rule("cat", "concat", "concatenate")
def _cat(level: Level, tensors: Any, dim: int = 0) -> Any:
    rank = max(len(t._shape) for t in tensors)
    inner = [plain(t, level.number, level.size) for t in tensors]
    return wrapped(fn.cat(inner, dim % rank + 1), level)


@rule("stack")
def _stack(level: Level, tensors: Any, dim: int = 0) -> Any:
    inner = [plain(t, level.number, level.size) for t in tensors]
    return wrapped(fn.stack(inner, dim % (len(tensors[0]._shape) + 1) + 1), level)


# ---- copies into tensors ------------------------------------------------------------------------


@rule("copy_")
def _copy_(level: Level, self: Any, src: Any, non_blocking: bool = False) -> Any:
    if level_of(self) != level.number:
        raise RuntimeError(
            "vmap: copy_(self, *extra_args) is not possible because there exists a Tensor `other` in "
            "extra_args that has more elements than `self`: what is written is batched, and where it "
            "is written is not. Make the tensor from one that is batched, as with x.new_zeros."
        )
    rank = len(self._shape)
    raised(self, level, rank).copy_(raised(src, level, rank))
    return self


# ---- products -----------------------------------------------------------------------------------


@rule("matmul", "mm", "bmm", "mv", "dot", "linalg_matmul")
def _matmul(level: Level, self: Any, other: Any) -> Any:
    vector, column = len(self._shape) == 1, len(other._shape) == 1
    left = fn.unsqueeze(self, 0) if vector else self
    right = fn.unsqueeze(other, 1) if column else other
    rank = max(len(left._shape), len(right._shape))
    a, b = raised(left, level, rank), raised(right, level, rank)
    result = fn.matmul(a, b)
    if column:
        result = result.squeeze(-1)
    if vector:
        result = result.squeeze(-1 if column else -2)
    return wrapped(result, level)


@rule("addmm", "addmv", "baddbmm")
def _addmm(level: Level, self: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    product = fn.matmul(a, b)
    return fn.add(self if beta == 1 else self * beta, product if alpha == 1 else product * alpha)


@rule("linear")
def _linear(level: Level, input: Any, weight: Any, bias: Any = None) -> Any:
    if level_of(weight) == level.number or level_of(bias) == level.number:
        product = fn.matmul(
            input, fn.transpose(weight, -2, -1) if len(weight._shape) > 1 else weight
        )
        return product if bias is None else product + bias
    return wrapped(fn_nn.linear(raised(input, level, 1), weight, bias), level)


@rule("outer", "ger")
def _outer(level: Level, self: Any, vec2: Any) -> Any:
    return fn.unsqueeze(self, 1) * fn.unsqueeze(vec2, 0)


@rule("trace")
def _trace(level: Level, self: Any) -> Any:
    return fn.diagonal(self, 0, 0, 1).sum(0)


# ---- reductions of everything -------------------------------------------------------------------


def _everything(name: str, along: str) -> None:
    def reduced(level: Level, self: Any) -> Any:
        return getattr(fn, along)(fn.reshape(self, (-1,)), 0)

    RULES[name] = reduced


_everything("max", "amax")
_everything("min", "amin")


# ---- indices ------------------------------------------------------------------------------------


@rule("index")
def _index(level: Level, self: Any, indices: Any) -> Any:
    if any(i is not None and i._dtype in (bool_, uint8) for i in indices):
        return NotImplemented
    inner, bdim = held(self, level.number)
    chosen = [i for i in indices if i is not None]
    rank = max(len(i._shape) for i in chosen)
    many = any(level_of(i) == level.number for i in chosen)
    places = [n for n, i in enumerate(indices) if i is not None]
    together = places[-1] - places[0] + 1 == len(places)
    if not many:
        inner = inner if bdim == 0 else fn.movedim(inner, bdim, 0)
        result = fn.index(inner, [None, *indices])
        return batched(result, 0 if together else rank, level.number)
    found = [None if i is None else raised(i, level, rank) for i in indices]
    if bdim is None:
        return batched(fn.index(inner, found), places[0] if together else 0, level.number)
    inner = inner if bdim == 0 else fn.movedim(inner, bdim, 0)
    samples = fn.arange(level.size, device=self._device)
    samples = fn.reshape(samples, (level.size, *(1,) * rank))
    result = fn.index(inner, [samples, *found])
    before = places[0] if together else 0
    if before:  # the dimensions of the indices came first, as the samples' is one of them
        order = [0, *range(rank + 1, rank + 1 + before), *range(1, rank + 1)]
        order += range(rank + 1 + before, len(result._shape))
        result = fn.permute(result, tuple(order))
    return wrapped(result, level)


@rule("index_select")
def _index_select(level: Level, self: Any, dim: int, index: Any) -> Any:
    if not self._shape:
        return NotImplemented
    at = dim % len(self._shape)
    if not index._shape:
        index = fn.reshape(index, (1,))
    return fn.index(self, [*(None,) * at, index])


@rule("embedding")
def _embedding(
    level: Level, weight: Any, indices: Any, padding_idx: int = -1, *options: Any
) -> Any:
    if level_of(weight) == level.number:
        return fn.index(weight, [indices])
    return wrapped(
        _call("embedding")(weight, raised(indices, level, 0), padding_idx, *options), level
    )


# ---- layers -------------------------------------------------------------------------------------


def _merged(name: str) -> None:
    """An op that computes each entry of its first dimension by itself: the samples join that."""

    def computed(level: Level, self: Any, *args: Any, **kwargs: Any) -> Any:
        others = (*args, *kwargs.values())
        if level_of(self) != level.number or any(level_of(v) == level.number for v in others):
            return NotImplemented
        inner = raised(self, level, 0)
        joined = fn.reshape(inner, (-1, *inner._shape[2:]))
        return _split(_call(name)(joined, *args, **kwargs), level)

    RULES[name] = computed


def _split(result: Any, level: Level) -> Any:
    if isinstance(result, Tensor):
        shape = result._shape
        return wrapped(fn.reshape(result, (level.size, shape[0] // level.size, *shape[1:])), level)
    return type(result)([_split(r, level) for r in result])


for _name in (
    "convolution", "max_pool2d_with_indices", "max_pool3d_with_indices", "avg_pool2d", "avg_pool3d",
    "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "pixel_shuffle", "upsample_nearest2d",
    "upsample_bilinear2d",
):  # fmt: skip
    _merged(_name)


@rule("scaled_dot_product_attention")
def _attention(
    level: Level, query: Any, key: Any, value: Any, attn_mask: Any = None, *args: Any, **kwargs: Any
) -> Any:
    parts = [plain(t, level.number, level.size) for t in (query, key, value)]
    mask = raised(attn_mask, level, len(query._shape))
    return wrapped(_call("scaled_dot_product_attention")(*parts, mask, *args, **kwargs), level)


@rule("native_layer_norm")
def _layer_norm(
    level: Level, input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> Any:
    inner = raised(input, level, 0)
    if level_of(input) != level.number:
        return NotImplemented
    both = [level_of(v) == level.number for v in (weight, bias)]
    if not any(both):
        found = _call("native_layer_norm")(inner, normalized_shape, weight, bias, eps)
        return wrapped(found, level)
    out, mean, rstd = wrapped(
        _call("native_layer_norm")(inner, normalized_shape, None, None, eps), level
    )
    out = out if weight is None else out * weight
    return (out if bias is None else out + bias), mean, rstd


@rule("nll_loss_forward")
def _nll_loss(
    level: Level, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int
) -> Any:
    """Its parts, which batch: the loss, and the total weight."""
    if len(self._shape) not in (1, 2):
        return NotImplemented
    kept = target != ignore_index
    safe = fn.where(kept, target, fn.zeros_like(target))
    picked = -fn.gather(self, -1, fn.unsqueeze(safe, -1)).squeeze(-1)
    scale = kept.to(self._dtype)
    if weight is not None:
        scale = scale * fn.index(weight, [safe])
    losses, total = picked * scale, scale.sum()
    if reduction == 0 and len(self._shape) == 2:
        return losses, fn.zeros_like(total)
    return (losses.sum() / total if reduction == 1 else losses.sum()), total
