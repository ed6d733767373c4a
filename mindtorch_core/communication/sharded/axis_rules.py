"""The axes of ops: the table of rules for tensors of which each process holds a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, TypeAlias

from .axes import Axes
from .placements import Partial, Placement

__all__ = ["AXES", "SUM", "aligned", "joined", "reduction", "without"]

Given: TypeAlias = dict[str, Any]
_Rule: TypeAlias = Callable[[Given], Axes]
SUM: Final = Partial("sum")


def _lead(n: int) -> tuple[int, ...]:
    return tuple(range(n))


def without(t: Any, dims: Sequence[int]) -> list[Any]:
    """The axes of a tensor, of which some dimensions are whole.

    Args:
        t: the tensor.
        dims: those dimensions.
    """
    whole = {d % t.ndim for d in dims} if t.ndim else set()
    return [None if d in whole else d for d in range(t.ndim)]


def _dims(value: Any) -> list[int]:
    return [value] if isinstance(value, int) else list(value)


# ---- element by element, with operands that are expanded -----------------------------------------------


def aligned(shapes: Sequence[Sequence[int]]) -> tuple[list[list[Any]], list[Any]]:
    """Axes of operands of an op on each element, and of its result, counted from the last dimension."""
    rank = max(map(len, shapes))
    whole = [
        max((s[-d] for s in shapes if len(s) >= d and s[-d] != 1), default=1)
        if all(s[-d] for s in shapes if len(s) >= d)
        else 0
        for d in range(rank, 0, -1)
    ]

    def names(shape: Sequence[int]) -> list[Any]:
        ahead = rank - len(shape)
        return [ahead + i if n == whole[ahead + i] else None for i, n in enumerate(shape)]

    return [names(s) for s in shapes], list(range(rank))


# ---- matrix products -----------------------------------------------------------------------------------


def _linear(g: Given) -> Axes:
    lead = _lead(g["input"].ndim - 1)
    operands = [(*lead, "k"), ("n", "k")] + ([("n",)] if g.get("bias") is not None else [])
    return Axes(operands, [(*lead, "n")], {"k": SUM}, added=(2,))


def _product(a: Any, b: Any) -> tuple[list[list[Any]], list[Any]]:
    """Axes of two factors and of their product."""
    if a.ndim == 1 or b.ndim == 1:
        first = ["k"] if a.ndim == 1 else [*_lead(a.ndim - 2), "m", "k"]
        second = ["k"] if b.ndim == 1 else [*_lead(b.ndim - 2), "k", "n"]
        return [first, second], [name for name in (*first, *second) if name != "k"]
    (first, second), lead = aligned([a.shape[:-2], b.shape[:-2]])
    return [[*first, "m", "k"], [*second, "k", "n"]], [*lead, "m", "n"]


def _matmul(first: str, second: str, added: str = "") -> _Rule:
    def rule(g: Given) -> Axes:
        operands, result = _product(g[first], g[second])
        if not added:
            return Axes(operands, [result], {"k": SUM})
        t = g[added]
        whole = [*g[first].shape[:-1], g[second].shape[-1]]
        names = [
            axis if n == size else None
            for n, axis, size in zip(
                t.shape, result[len(result) - t.ndim :], whole[len(whole) - t.ndim :], strict=True
            )
        ]
        return Axes([names, *operands], [result], {"k": SUM}, added=(0,))

    return rule


def _embedding_back(g: Given) -> Axes:
    lead = _lead(g["indices"].ndim)
    reduced: dict[Any, Placement] = {}
    if not g.get("scale_grad_by_freq"):
        reduced = dict.fromkeys(lead, SUM)
    return Axes([(*lead, "d"), lead], [(None, "d")], reduced)


# ---- along some dimensions -----------------------------------------------------------------------------


def _along(*operands: str, results: int = 1) -> _Rule:
    """Ops that need the whole of a dimension."""

    def rule(g: Given) -> Axes:
        names = without(g[operands[0]], [g.get("dim", -1)])
        return Axes([names] * len(operands), [names] * results)

    return rule


def _looked_up(g: Given) -> Axes:
    """What an index has along the dimension that is looked up may be cut; what is looked up may not."""
    names = _positions(g)
    result = list(names)
    if result:
        result[g["dim"] % len(result)] = "looked up"
    return Axes([names, result], [result])


def _written(g: Given) -> Axes:
    names = _positions(g)
    given = [names for name in ("index", "src") if hasattr(g.get(name), "placements")]
    return Axes([names, *given], [names])


def _positions(g: Given) -> list[Any]:
    """Axes of a tensor and an index whose elements stand for themselves but along one dimension."""
    t, index = g["self"], g["index"]
    pairs = zip(without(t, [g["dim"]]), t.shape, index.shape, strict=False)
    return [axis if n == m else None for axis, n, m in pairs]


def _found(g: Given) -> Axes:
    """Where the largest or smallest element along a dimension is; of all elements every rank finds it."""
    t, dim = g["self"], g.get("dim")
    if dim is None:
        return Axes([[None] * t.ndim], [[None] * t.ndim if g.get("keepdim") else []])
    names = without(t, [dim])
    over = dim % max(t.ndim, 1)
    return Axes([names], [[a for d, a in enumerate(names) if g.get("keepdim") or d != over]])


def _triangle(g: Given) -> Axes:
    names = [*_lead(g["self"].ndim - 2), None, None]
    return Axes([names], [names])


def _flipped(g: Given) -> Axes:
    names = without(g["self"], g["dims"])
    return Axes([names], [names], linear=True)


def _normalized(g: Given) -> tuple[list[Any], list[Any], list[list[Any]]]:
    """Axes of what is normalized, of what it is multiplied by, and of such as there are."""
    n = len(g["normalized_shape"])
    names = [*_lead(g["input"].ndim - n), *[None] * n]
    weights = [[None] * n for each in ("weight", "bias") if g.get(each) is not None]
    return names, [None] * n, weights


def _norm(results: int) -> _Rule:
    def rule(g: Given) -> Axes:
        names, _, weights = _normalized(g)
        return Axes([names, *weights], [names] * results)

    return rule


def _norm_back(statistics: int, weights: int) -> _Rule:
    def rule(g: Given) -> Axes:
        names, flat, given = _normalized(g)
        reduced = {axis: SUM for axis in names if axis is not None}
        return Axes([*[names] * (2 + statistics), *given], [names, *[flat] * weights], reduced)

    return rule


def _together(g: Given) -> Axes:
    """Ops whose operands every rank has to have whole: there is nothing to name in up to two results."""
    tensors = [t for t in g.values() if hasattr(t, "placements")]
    return Axes([(None,) * t.ndim for t in tensors], [(), ()])


def reduction(g: Given, placement: Placement) -> Axes:
    """The axes of a reduction along dimensions.

    Args:
        g: the op's arguments.
        placement: how results lie of which each rank has reduced a part.
    """
    t = g["self"]
    dim = g.get("dim")
    over = {d % t.ndim for d in (_dims(dim) if dim not in (None, [], ()) else range(t.ndim))}
    kept = [None if d in over else d for d in range(t.ndim) if g.get("keepdim") or d not in over]
    reduced = dict.fromkeys(over, placement)
    sums = placement == SUM
    return Axes([_lead(t.ndim)], [kept], reduced, linear=sums, even=not sums)


# ---- views ---------------------------------------------------------------------------------------------


def _transposed(g: Given) -> Axes:
    names = list(_lead(g["self"].ndim))
    a, b = (g.get("dim0", 0), g.get("dim1", -1)) if names else (0, 0)
    if names:
        names[a], names[b] = names[b], names[a]
    return Axes([_lead(len(names))], [names], linear=True)


def _permuted(g: Given) -> Axes:
    return Axes([_lead(g["self"].ndim)], [[d % g["self"].ndim for d in g["dims"]]], linear=True)


def _unsqueezed(g: Given) -> Axes:
    names: list[Any] = list(_lead(g["self"].ndim))
    names.insert(g["dim"] % (len(names) + 1), None)
    return Axes([_lead(len(names) - 1)], [names], linear=True)


def _squeezed(g: Given) -> Axes:
    t = g["self"]
    dims = range(t.ndim) if g.get("dim") is None else [d % t.ndim for d in _dims(g["dim"])]
    gone = {d for d in dims if t.shape[d] == 1}
    return Axes([without(t, [*gone])], [[d for d in range(t.ndim) if d not in gone]], linear=True)


def _expanded(g: Given) -> Axes:
    t, size = g["self"], list(g["size"])
    ahead = len(size) - t.ndim
    whole = tuple(t.shape[i - ahead] if n == -1 else n for i, n in enumerate(size))
    names = [d if n == whole[ahead + d] else None for d, n in enumerate(t.shape)]
    return Axes([names], [[*[None] * ahead, *names]], linear=True, shape=(whole, 1))


def _viewed(g: Given) -> Axes:
    """A view of other sizes: an axis is the first dimension of a run that has as many elements in both."""
    t = g["self"]
    if "dtype" in g:
        return Axes([without(t, [-1])], [without(t, [-1])])
    size = list(g["size"] if "size" in g else g["shape"])
    known = prod(n for n in size if n != -1)
    whole = [(t.numel() // known if known else 0) if n == -1 else n for n in size]
    before: list[Any] = [None] * t.ndim
    after: list[Any] = [None] * len(whole)
    i = j = 0
    while i < t.ndim and j < len(whole) and t.numel():
        a, b, first, second = t.shape[i], whole[j], i, j
        if a != b and 1 in (a, b):
            i, j = i + (a == 1), j + (b == 1)
            continue
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                a, i = a * t.shape[i], i + 1
            else:
                b, j = b * whole[j], j + 1
        pieces = t.device_mesh.size()
        if t.shape[first] == whole[second] or not (
            t.shape[first] % pieces or whole[second] % pieces
        ):
            before[first] = after[second] = first
    return Axes([before], [after], linear=True, shape=(tuple(whole), 1))


def _parted(g: Given) -> Axes:
    names = without(g["self"], [g.get("dim", 0)])
    return Axes([names], [names], linear=True)


def _selected(g: Given) -> Axes:
    names = without(g["self"], [g.get("dim", 0)])
    return Axes([names], [[axis for axis in names if axis is not None]], linear=True)


def joined(g: Given, name: str) -> Axes:
    """The axes of tensors of the same shape that are put one behind another.

    Args:
        g: the op's arguments.
        name: ``cat`` or ``stack``, whose results have a dimension more.
    """
    tensors, dim = list(g["tensors"]), g.get("dim", 0)
    names = without(tensors[0], [dim] if name == "cat" else [])
    result = list(names)
    if name == "stack":
        result.insert(dim % (len(names) + 1), None)
    return Axes([names] * len(tensors), [result])


# ---- attention -----------------------------------------------------------------------------------------


def _attention(g: Given) -> Axes:
    heads = (
        ("b", "h", None, None) if g["query"].shape[1] == g["key"].shape[1] else ("b", *[None] * 3)
    )
    operands: list[Any] = [heads] * 3
    mask = g.get("attn_mask")
    if mask is not None:
        names = (*heads[:2], None, None)[4 - mask.ndim :]
        operands.append([a if n != 1 else None for a, n in zip(names, mask.shape, strict=True)])
    return Axes(operands, [heads, heads[:3]])


def _attention_back(g: Given) -> Axes:
    heads: tuple[Any, ...] = ("b", "h", None, None)
    if g.get("attn_mask") is not None or g["query"].shape[1] != g["key"].shape[1]:
        heads = (None,) * 4
    operands: list[Any] = [heads] * 5 + [heads[:3]]
    if g.get("attn_mask") is not None:
        operands.append((None,) * g["attn_mask"].ndim)
    return Axes(operands, [heads] * 3)


# By the name of an op: its axes, from its arguments by their names.
AXES: Final[dict[str, _Rule]] = {
    "linear": _linear,
    "matmul": _matmul("self", "other"),
    "mm": _matmul("self", "mat2"),
    "bmm": _matmul("self", "mat2"),
    "mv": _matmul("self", "vec"),
    "dot": _matmul("self", "tensor"),
    "addmm": _matmul("mat1", "mat2", "self"),
    "baddbmm": _matmul("batch1", "batch2", "self"),
    "embedding_dense_backward": _embedding_back,
    **dict.fromkeys(("softmax", "_softmax", "log_softmax", "_log_softmax"), _along("self")),
    "_softmax_backward_data": _along("grad_output", "output"),
    "_log_softmax_backward_data": _along("grad_output", "output"),
    "sort": _along("self", results=2),
    "topk": _along("self", results=2),
    "cumsum": _along("self"),
    "gather": _looked_up,
    "scatter": _written,
    "scatter_add": _written,
    "argmax": _found,
    "argmin": _found,
    "tril": _triangle,
    "triu": _triangle,
    "flip": _flipped,
    "nll_loss_forward": _together,
    "nll_loss_backward": _together,
    "native_layer_norm": _norm(3),
    "native_layer_norm_backward": _norm_back(2, 2),
    "_fused_rms_norm": _norm(2),
    "_fused_rms_norm_backward": _norm_back(1, 1),
    "transpose": _transposed,
    "t": _transposed,
    "permute": _permuted,
    "unsqueeze": _unsqueezed,
    "squeeze": _squeezed,
    "expand": _expanded,
    "view": _viewed,
    "reshape": _viewed,
    "_unsafe_view": _viewed,
    "split": _parted,
    "chunk": _parted,
    "slice": _parted,
    "select": _selected,
    "unbind": _selected,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_back,
}
