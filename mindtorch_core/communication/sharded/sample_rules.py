"""The axes of ops that compute samples, channels, matrices or rows each for itself, and of losses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from .axes import Axes
from .axis_rules import SUM, aligned, reduction, without
from .channel_rules import CHANNELS
from .placements import Partial, Placement, Replicate

__all__ = ["SAMPLES"]

Given: TypeAlias = dict[str, Any]
_Rule: TypeAlias = Callable[[Given], Axes]


def _tensors(g: Given) -> list[Any]:
    return [t for t in g.values() if hasattr(t, "placements")]


def _lead(t: Any, whole: int, results: Sequence[int]) -> tuple[list[Any], list[list[Any]]]:
    """Axes of a tensor whose last dimensions are whole, and of results with so many such dimensions.

    Channels that not every rank would have some of stay whole, as few ops take none.
    """
    pieces = t.device_mesh.size()
    names = [None if d and t.shape[d] % pieces else d for d in range(t.ndim - whole)]
    return [*names, *[None] * whole], [[*names, *[None] * n] for n in results]


# ---- the last dimensions whole -------------------------------------------------------------------------


def _each(whole: int, *results: int, linear: bool = False, shape: int | None = None) -> _Rule:
    """Ops on the last dimensions, which all operands have.

    Args:
        whole: how many they are.
        results: how many last dimensions each result has.
        linear: whether a partial operand gives a partial result.
        shape: position of the argument that says the shape of the result.
    """

    def rule(g: Given) -> Axes:
        tensors = _tensors(g)
        names, found = _lead(tensors[0], whole, results or (whole,))
        told = None if shape is None else (tuple(g["input_size"]), shape)
        return Axes([names] * len(tensors), found, linear=linear, shape=told)

    return rule


def _with_vectors(g: Given) -> Axes:
    """Singular values and vectors; without vectors these have no dimensions that could be cut."""
    names, found = _lead(g["A"], 2, (2, 1, 2) if g.get("compute_uv", True) else (0, 1, 0))
    return Axes([names], found if g.get("compute_uv", True) else [[None], found[1], [None]])


def _solved(a: str, *more: int) -> _Rule:
    """Solutions for two stacks of matrices, and results with so many last dimensions."""

    def rule(g: Given) -> Axes:
        matrices, b = g[a], g["B"]
        if matrices.shape[:-2] != b.shape[:-2] or matrices.ndim != b.ndim:
            return Axes([[None] * matrices.ndim, [None] * b.ndim], [[]] * (1 + len(more)))
        names, found = _lead(matrices, 2, (2, *more))
        return Axes([names, names], found)

    return rule


def _group_norm(g: Given) -> Axes:
    names = ["n", *[None] * (g["input"].ndim - 1)]
    weights = [[None]] * sum(g.get(each) is not None for each in ("weight", "bias"))
    return Axes([names, *weights], [names, ["n", None], ["n", None]], sizes={3: "n"})


def _group_norm_back(g: Given) -> Axes:
    names, statistics = ["n", *[None] * (g["input"].ndim - 1)], ["n", None]
    weights = [[None]] * (g.get("weight") is not None)
    operands: list[list[Any]] = [names, names, statistics, statistics, *weights]
    return Axes(operands, [names, [None], [None]], {"n": SUM}, sizes={5: "n"})


# ---- along some dimensions -----------------------------------------------------------------------------


def _over(*dims: str, results: int = 1, linear: bool = False) -> _Rule:
    """Ops that need some dimensions whole, by the names of arguments, and keep the others."""

    def rule(g: Given) -> Axes:
        t = _tensors(g)[0]
        named = [g.get(each, -1) for each in dims]
        whole = [d for each in named for d in ([each] if isinstance(each, int) else each)]
        names = without(t, whole)
        return Axes([names] * len(_tensors(g)), [names] * results, linear=linear)

    return rule


def _kept(results: int, default: Any = None) -> _Rule:
    """Reductions that need the dimensions whole along which they reduce."""

    def rule(g: Given) -> Axes:
        along = reduction({"dim": default} | g, SUM)
        names = [axis if axis in along.results[0] else None for axis in along.operands[0]]
        count = 1 if g.get("dim", default) is None else results
        return Axes([names], [*along.results] * count)

    return rule


def _counted(g: Given) -> Axes:
    along = reduction(g, SUM)
    return Axes(along.operands, along.results, along.reduced)


def _rolled(g: Given) -> Axes:
    dims = g.get("dims") or range(g["self"].ndim)
    names = without(g["self"], [dims] if isinstance(dims, int) else dims)
    return Axes([names], [names], linear=True)


def _repeated(g: Given) -> Axes:
    t, times = g["self"], list(g["repeats"])
    ahead = len(times) - t.ndim
    names = [d if times[ahead + d] == 1 else None for d in range(t.ndim)]
    return Axes([names], [[*[None] * ahead, *names]], linear=True)


def _padded(g: Given) -> Axes:
    t, pad = g["self"], list(g["pad"])
    names = without(t, [t.ndim - 1 - i // 2 for i, n in enumerate(pad) if n])
    return Axes([names], [names], linear=not g.get("value", 0))


def _diagonal(g: Given) -> Axes:
    names = without(g["self"], [g.get("dim1", 0), g.get("dim2", 1)])
    return Axes([names], [[*(axis for axis in names if axis is not None), None]], linear=True)


def _windows(g: Given) -> Axes:
    names = without(g["self"], [g["dimension"]])
    return Axes([names], [[*names, None]])


def _paired(g: Given) -> Axes:
    names = list(range(g["self"].ndim))
    return Axes([names], [[*names, None]], linear=True)


def _aligned(g: Given) -> Axes:
    names = list(range(g["self"].ndim))
    return Axes([names], [names], linear=True)


def _unpaired(g: Given) -> Axes:
    names = list(range(g["self"].ndim - 1))
    return Axes([[*names, None]], [names], linear=True)


def _spread(g: Given) -> Axes:
    names = list(range(g["self"].ndim))
    return Axes([names], [[*names, None]])


def _sorted_into(g: Given) -> Axes:
    names = list(range(getattr(g["self"], "ndim", 0)))
    return Axes([names] * hasattr(g["self"], "placements") + [[None]], [names])


# ---- by positions --------------------------------------------------------------------------------------


def _chosen(g: Given) -> Axes:
    t, index = g["self"], g["index"]
    names = without(t, [g["dim"]])
    result = list(names)
    if result and index.ndim:
        result[g["dim"] % t.ndim] = "chosen"
    return Axes([names, ["chosen"] * index.ndim], [result])


def _added(g: Given) -> Axes:
    names = without(g["self"], [g["dim"]])
    return Axes([names, [None] * g["index"].ndim, names[: g["source"].ndim]], [names])


def _at(t: Any, indices: Sequence[Any]) -> tuple[list[Any], list[list[Any]], list[Any]]:
    """Axes of a tensor, of its indices, and of the elements there."""
    given = [d for d, index in enumerate(indices) if index is not None]
    tensors = [indices[d] for d in given]
    held = [[None] * i.ndim for i in tensors if hasattr(i, "placements")]
    if not all(i.dtype.is_signed for i in tensors):  # masks choose several dimensions' elements
        return [None] * t.ndim, held, []
    names = without(t, given)
    among = [None] * max(i.ndim for i in tensors)
    ahead = given[0] if given == list(range(given[0], given[-1] + 1)) else 0
    rest = [axis for d, axis in enumerate(names) if d not in given]
    return names, held, [*rest[:ahead], *among, *rest[ahead:]]


def _indexed(g: Given) -> Axes:
    names, held, result = _at(g["self"], g["indices"])
    return Axes([names, *held], [result])


def _put(g: Given) -> Axes:
    names, held, result = _at(g["self"], g["indices"])
    values = g["values"]
    sizes = dict(enumerate(g["self"].shape))
    ends = result[len(result) - values.ndim :] if len(result) >= values.ndim else []
    given = [
        a if a is not None and n == sizes[a] else None
        for a, n in zip(ends, values.shape, strict=False)
    ]
    operands = [names, *held]
    if hasattr(values, "placements"):
        operands.append(given or [None] * values.ndim)
    return Axes(operands, [names])


# ---- convolutions --------------------------------------------------------------------------------------


def _planes(g: Given) -> tuple[list[Any], list[Any], list[Any]]:
    """Axes of what is convolved, of the weight, and of the result: samples and channels.

    Channels that not every rank would have some of stay whole.
    """
    t, weight = g["input"], g["weight"]
    spread = [None] * (weight.ndim - 2)
    sample = ["n"] if t.ndim == weight.ndim else []
    pieces = t.device_mesh.size()
    ends = ("c", "o") if g["transposed"] else ("o", "c")
    if g["groups"] != 1 or any(n % pieces for n in weight.shape[:2]):
        return [*sample, None, *spread], [None, None, *spread], [*sample, None, *spread]
    return [*sample, "c", *spread], [*ends, *spread], [*sample, "o", *spread]


def _convolved(g: Given) -> Axes:
    t, weight, result = _planes(g)
    bias = [[name for name in weight if name == "o"] or [None]] if g.get("bias") is not None else []
    return Axes([t, weight, *bias], [result], {"c": SUM}, added=(2,))


def _convolved_weight(g: Given) -> Axes:
    """A weight's gradient, of what was convolved and the result's gradient."""
    t, grad = g["input"], g["grad"]
    spread = [None] * (grad.ndim - 2)
    pieces = t.device_mesh.size()
    cut = g["groups"] == 1 and not any(each.shape[1] % pieces for each in (t, grad))
    c, o = ("c", "o") if cut else (None, None)
    return Axes([["n", c, *spread], ["n", o, *spread]], [[o, c, *spread]], {"n": SUM})


def _convolved_back(g: Given) -> Axes:
    t, weight, result = _planes(g)
    bias = [name for name in weight if name == "o"] or [None]
    reduced: dict[Any, Placement] = {"n": SUM, "o": SUM, "c": Replicate()}
    return Axes([result, t, weight], [t, weight, bias], reduced)


# ---- losses --------------------------------------------------------------------------------------------


def _loss(g: Given) -> Axes:
    """Losses of elements: each, their mean (reduction 1, the default) or their sum (2)."""
    operands, names = aligned([t.shape for t in _tensors(g)])
    how = g.get("reduction", 1)
    if not how:
        return Axes(operands, [names])
    kind = Partial("avg") if how == 1 else SUM
    return Axes(operands, [[]], dict.fromkeys(names, kind), even=how == 1)


_RESAMPLED: Final = {
    f"{name}{d}d": d
    for name, counts in {
        "upsample_nearest": (1, 2, 3),
        "_upsample_nearest_exact": (1, 2, 3),
        "upsample_linear": (1,),
        "upsample_bilinear": (2,),
        "upsample_bicubic": (2,),
        "upsample_trilinear": (3,),
    }.items()
    for d in counts
}

# By the name of an op: its axes, from its arguments by their names.
SAMPLES: Final[dict[str, _Rule]] = {
    "convolution": _convolved,
    "_convolution_weight": _convolved_weight,
    "convolution_backward": _convolved_back,
    **{f"max_pool{d}d_with_indices": _each(d, d, d) for d in (2, 3)},
    **{f"max_pool{d}d_with_indices_backward": _each(d) for d in (2, 3)},
    **{f"avg_pool{d}d": _each(d, linear=True) for d in (1, 2, 3)},
    **{f"avg_pool{d}d_backward": _each(d) for d in (2, 3)},
    **{f"_adaptive_avg_pool{d}d": _each(d, linear=True) for d in (2, 3)},
    **{f"_adaptive_avg_pool{d}d_backward": _each(d) for d in (2, 3)},
    **{f"adaptive_max_pool{d}d": _each(d, d, d) for d in (2, 3)},
    **{name: _each(d, linear=True) for name, d in _RESAMPLED.items()},
    **{f"{name}_backward": _each(d, linear=True, shape=2) for name, d in _RESAMPLED.items()},
    **CHANNELS,
    "native_group_norm": _group_norm,
    "native_group_norm_backward": _group_norm_back,
    "_linalg_det": _each(2, 0, 2, 1),
    "_linalg_slogdet": _each(2, 0, 0, 2, 1),
    "linalg_inv_ex": _each(2, 2, 0),
    "linalg_cholesky_ex": _each(2, 2, 0),
    "linalg_lu_factor_ex": _each(2, 2, 1, 0),
    "linalg_qr": _each(2, 2, 2),
    "_linalg_eigh": _each(2, 1, 2),
    "_linalg_svd": _with_vectors,
    "_linalg_solve_ex": _solved("A", 2, 1, 0),
    "linalg_solve_ex": _solved("A", 0),
    "linalg_solve_triangular": _solved("self"),
    "_lu_order": _each(1),
    "diagonal": _diagonal,
    "cumprod": _over("dim"),
    "logcumsumexp": _over("dim"),
    "cummax": _over("dim", results=2),
    "cummin": _over("dim", results=2),
    "glu": _over("dim"),
    "glu_backward": _over("dim"),
    **{f"_fft_{kind}": _over("dim", linear=True) for kind in ("r2c", "c2c", "c2r")},
    "var": _kept(1),
    "std": _kept(1),
    "median": _kept(2),
    "nanmedian": _kept(2),
    "mode": _kept(2, -1),
    "kthvalue": _kept(2, -1),
    "count_nonzero": _counted,
    "roll": _rolled,
    "repeat": _repeated,
    "constant_pad_nd": _padded,
    "unfold": _windows,
    "_real": _aligned,
    "_imag": _aligned,
    "view_as_real": _paired,
    "view_as_complex": _unpaired,
    "_one_hot_of": _spread,
    "bucketize": _sorted_into,
    "index_select": _chosen,
    "index_add": _added,
    "index": _indexed,
    "index_put": _put,
    **dict.fromkeys(
        (
            "mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
            "binary_cross_entropy_with_logits",
        ),
        _loss,
    ),
}  # fmt: skip
