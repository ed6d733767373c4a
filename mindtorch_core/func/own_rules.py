"""Rules of ops that batch in a way of their own: sizes, joining, products, indices, matrices."""

from __future__ import annotations

from typing import Any

from ..dispatch.functions import fn, fn_nn
from ..dispatch.registry import registry
from ..opdefs.packets import front
from ..values.dtypes import bool_, uint8
from ..values.shapes import broadcast_or_none, storage_extent, wrap_dim
from .batched import Batched, Level, batched, held, level_of, plain
from .rules import RULES, raised, rule, wrapped

__all__ = ["call"]


def call(name: str) -> Any:
    """The function that calls an op."""
    return front(registry.entry(f"aten::{name}"))


# ---- sizes --------------------------------------------------------------------------------------


def _sizes(name: str) -> None:
    def resized(level: Level, self: Any, size: Any, **kwargs: Any) -> Any:
        return wrapped(call(name)(raised(self, level, 0), (level.size, *size), **kwargs), level)

    RULES[name] = resized


for _name in ("view", "reshape", "view_copy", "new_empty", "new_zeros", "new_ones"):
    _sizes(_name)


@rule("new_full")
def _new_full(level: Level, self: Any, size: Any, fill_value: Any, **kwargs: Any) -> Any:
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
    rank = len(self._shape)
    return NotImplemented if rank > 2 else fn.transpose(self, 0, 1) if rank == 2 else self


@rule("flatten")
def _flatten(level: Level, self: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    rank = len(self._shape)
    first, last = wrap_dim(start_dim, rank), wrap_dim(end_dim, rank)
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


@rule("unfold", "unfold_copy")
def _unfold(level: Level, self: Any, dimension: int, size: int, step: int) -> Any:
    if not self._shape:
        return NotImplemented
    at = wrap_dim(dimension, len(self._shape)) + 1
    return wrapped(raised(self, level, 0).unfold(at, size, step), level)


@rule("as_strided")
def _as_strided(
    level: Level, self: Any, size: Any, stride: Any, storage_offset: int | None = None
) -> Any:
    if type(self) is not Batched or self._level != level.number:
        return NotImplemented
    inner = self._inner
    whole = (level.size, *size), (inner.stride(self._bdim), *stride), storage_offset
    return batched(fn.as_strided(inner, *whole), 0, level.number)


@rule("new_empty_strided")
def _new_empty_strided(level: Level, self: Any, size: Any, stride: Any, **kwargs: Any) -> Any:
    each = storage_extent(tuple(size), tuple(stride), 0)
    whole = self._inner.new_empty_strided((level.size, *size), (each, *stride), **kwargs)
    return batched(whole, 0, level.number)


@rule("movedim.intlist", "movedim", "moveaxis", "moveaxis.intlist")
def _movedim(level: Level, self: Any, source: Any, destination: Any) -> Any:
    rank = len(self._shape)
    source = [source] if isinstance(source, int) else source
    destination = [destination] if isinstance(destination, int) else destination
    to, of = ([wrap_dim(d, rank) for d in dims] for dims in (destination, source))
    if not len(set(to)) == len(to) == len(of) == len(set(of)):
        return NotImplemented
    if not rank:
        return self.view(())
    moved = dict(zip(to, of, strict=True))
    rest = iter([i for i in range(rank) if i not in moved.values()])
    return fn.permute(self, tuple(moved[i] if i in moved else next(rest) for i in range(rank)))


# ---- joining ------------------------------------------------------------------------------------


@rule("cat", "concat", "concatenate")
def _cat(level: Level, tensors: Any, dim: int = 0) -> Any:
    if not all(t._shape for t in tensors):
        return NotImplemented
    rank = max(len(t._shape) for t in tensors)
    inner = [plain(t, level.number, level.size) for t in tensors]
    return wrapped(fn.cat(inner, wrap_dim(dim, rank) + 1), level)


@rule("stack")
def _stack(level: Level, tensors: Any, dim: int = 0) -> Any:
    inner = [plain(t, level.number, level.size) for t in tensors]
    return wrapped(fn.stack(inner, wrap_dim(dim, len(tensors[0]._shape) + 1) + 1), level)


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


def _scattered(name: str) -> None:
    def computed(level: Level, self: Any, src: Any, dim: int = 0, *where: Any) -> Any:
        parts = [plain(t, level.number, level.size) for t in (self, src)]
        at = wrap_dim(dim, len(self._shape)) + 1
        return wrapped(call(name)(*parts, at, *where), level)

    RULES[name] = computed


_scattered("select_scatter")
_scattered("slice_scatter")


# ---- products -----------------------------------------------------------------------------------


@rule("matmul", "linalg_matmul")
def _matmul(level: Level, self: Any, other: Any) -> Any:
    if not self._shape or not other._shape:
        return NotImplemented
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


def _product(name: str, ranks: tuple[int, int], adding: str = "") -> None:
    """A product of tensors of certain ranks, and the op that adds it to another. Others fail one by one."""

    def fits(a: Any, b: Any) -> bool:
        return (len(a._shape), len(b._shape)) == ranks and (
            ranks[0] < 3 or a._shape[0] == b._shape[0]
        )

    def computed(level: Level, self: Any, other: Any) -> Any:
        return _matmul(level, self, other) if fits(self, other) else NotImplemented

    def added(level: Level, self: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        product = fn.matmul(a, b) if fits(a, b) else None
        if product is None or broadcast_or_none(self._shape, product._shape) != product._shape:
            return NotImplemented
        scaled = product if alpha == 1 else product * alpha
        return fn.add(self if beta == 1 else self * beta, scaled)

    RULES[name] = computed
    if adding:
        RULES[adding] = added


_product("mm", (2, 2), "addmm")
_product("bmm", (3, 3), "baddbmm")
_product("mv", (2, 1), "addmv")
_product("dot", (1, 1))


@rule("linear")
def _linear(level: Level, input: Any, weight: Any, bias: Any = None) -> Any:
    if len(weight._shape) not in (1, 2):
        return NotImplemented
    if level_of(weight) == level.number or level_of(bias) == level.number:
        product = fn.matmul(
            input, fn.transpose(weight, -2, -1) if len(weight._shape) > 1 else weight
        )
        return product if bias is None else product + bias
    return wrapped(fn_nn.linear(raised(input, level, 1), weight, bias), level)


@rule("outer", "ger")
def _outer(level: Level, self: Any, vec2: Any) -> Any:
    if len(self._shape) != 1 or len(vec2._shape) != 1:
        return NotImplemented
    return fn.unsqueeze(self, 1) * fn.unsqueeze(vec2, 0)


@rule("linalg_cross")
def _cross(level: Level, self: Any, other: Any, *, dim: int = -1) -> Any:
    rank = len(self._shape)
    at = wrap_dim(dim, rank) + 1
    if rank != len(other._shape):
        return NotImplemented
    both = (plain(t, level.number, level.size) for t in (self, other))
    return wrapped(call("linalg_cross")(*both, dim=at - rank - 1), level)


@rule("diag")
def _diag(level: Level, self: Any, diagonal: int = 0) -> Any:
    rank = len(self._shape)
    if rank not in (1, 2):
        return NotImplemented
    return (fn.diag_embed if rank == 1 else fn.diagonal)(self, diagonal, 0, 1)


@rule("diag_embed")
def _diag_embed(level: Level, self: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    rank = len(self._shape) + 1
    at = wrap_dim(dim1, rank) + 1, wrap_dim(dim2, rank) + 1
    return wrapped(fn.diag_embed(raised(self, level, 0), offset, *at), level)


@rule("trace")
def _trace(level: Level, self: Any) -> Any:
    return fn.diagonal(self, 0, 0, 1).sum(0) if len(self._shape) == 2 else NotImplemented


# ---- reductions of everything -------------------------------------------------------------------


def _everything(name: str, along: str) -> None:
    def reduced(level: Level, self: Any) -> Any:
        return getattr(fn, along)(fn.reshape(self, (-1,)), 0)

    RULES[name] = reduced


_everything("max", "amax")
_everything("min", "amin")


@rule("median")
def _median(level: Level, self: Any) -> Any:
    return fn.median(fn.reshape(self, (-1,)), 0)[0]


@rule("nanmedian")
def _nanmedian(level: Level, self: Any) -> Any:
    return fn.nanmedian(fn.reshape(self, (-1,)), 0)[0]


# ---- indices ------------------------------------------------------------------------------------


def _is_mask(index: Any) -> bool:
    return index is not None and index._dtype in (bool_, uint8)


@rule("index")
def _index(level: Level, self: Any, indices: Any) -> Any:
    masks = list(filter(_is_mask, indices))
    if any(level_of(i) == level.number for i in masks):
        return NotImplemented
    if masks:  # one for all samples: its positions are known
        parts = [i.nonzero().unbind(1) if _is_mask(i) else (i,) for i in indices]
        return fn.index(self, [i for part in parts for i in part])
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
    if not self._shape or len(index._shape) > 1:
        return NotImplemented
    at = wrap_dim(dim, len(self._shape))
    if not index._shape:
        index = fn.reshape(index, (1,))
    return fn.index(self, [*(None,) * at, index])


@rule("embedding")
def _embedding(
    level: Level, weight: Any, indices: Any, padding_idx: int = -1, *options: Any
) -> Any:
    if len(weight._shape) != 2:
        return NotImplemented
    if level_of(weight) == level.number:
        return fn.index(weight, [indices])
    return wrapped(
        call("embedding")(weight, raised(indices, level, 0), padding_idx, *options), level
    )


@rule("take")
def _take(level: Level, self: Any, index: Any) -> Any:
    return fn.index(fn.reshape(self, (-1,)), [index])


@rule("index_add")
def _index_add(
    level: Level, self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1
) -> Any:
    """With the positions of all samples the same; others are called one by one."""
    if not self._shape or not source._shape or level_of(index) == level.number:
        return NotImplemented
    parts = [plain(t, level.number, level.size) for t in (self, source)]
    at = wrap_dim(dim, len(self._shape)) + 1
    return wrapped(fn.index_add(parts[0], at, index, parts[1], alpha=alpha), level)


@rule("_index_put_positions")
def _index_put(level: Level, self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    chosen = [i for i in indices if i is not None]
    rank = max(len(i._shape) for i in chosen)
    places = [n for n, i in enumerate(indices) if i is not None]
    if places[-1] - places[0] + 1 != len(places):
        return NotImplemented
    inner = plain(self, level.number, level.size)
    samples = fn.reshape(fn.arange(level.size, device=self._device), (level.size, *(1,) * rank))
    found = [None if i is None else raised(i, level, rank) for i in indices]
    before, whole = places[0], len(self._shape) - len(places) + rank
    if before:  # the samples' positions take the indices' dimensions to the front
        values = raised(
            batched(plain(values, level.number, level.size), 0, level.number), level, whole
        )
        values = fn.movedim(
            values, tuple(range(1, 1 + before)), tuple(range(1 + rank, 1 + rank + before))
        )
    else:
        values = raised(values, level, whole)
    return wrapped(fn._index_put_positions(inner, [samples, *found], values, accumulate), level)


@rule("searchsorted.Tensor")
def _searched(level: Level, rows: Any, self: Any, *, sorter: Any = None, **options: Any) -> Any:
    if len(rows._shape) != 1:
        parts = [
            None if t is None else plain(t, level.number, level.size) for t in (rows, self, sorter)
        ]
    elif level_of(rows) == level.number or level_of(sorter) == level.number:
        lines = fn.reshape(self, (-1,))
        parts = [
            None if t is None else plain(t, level.number, level.size) for t in (rows, lines, sorter)
        ]
    else:
        parts = [rows, raised(self, level, 0), sorter]
    found = call("searchsorted.Tensor")(parts[0], parts[1], sorter=parts[2], **options)
    return wrapped(fn.reshape(found, (level.size, *self._shape)), level)


@rule("bucketize.Tensor")
def _bucketized(level: Level, self: Any, boundaries: Any, **options: Any) -> Any:
    return call("searchsorted.Tensor")(boundaries, self, **options)


# ---- matrices -----------------------------------------------------------------------------------


@rule("linalg_solve_ex")
def _solve(level: Level, A: Any, B: Any, **options: Any) -> Any:
    column = len(B._shape) == 1 or B._shape == A._shape[:-1]  # as PyTorch tells them apart
    right = fn.unsqueeze(B, -1) if column else B
    rank = max(len(A._shape), len(right._shape))
    found, info = call("linalg_solve_ex")(
        raised(A, level, rank), raised(right, level, rank), **options
    )
    return wrapped((found.squeeze(-1) if column else found, info), level)


@rule("linalg_solve_triangular")
def _solve_triangular(level: Level, self: Any, B: Any, **options: Any) -> Any:
    rank = max(len(self._shape), len(B._shape))
    both = raised(self, level, rank), raised(B, level, rank)
    return wrapped(call("linalg_solve_triangular")(*both, **options), level)
