"""Resizing of one to three spatial dimensions, and its gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...opdefs.formats import in_format
from ...tensors.tensor import Tensor
from ...values.dtypes import float64, int64, uint8
from ...values.shapes import Shape, show
from ..elementwise.composed import widened
from .resampling import gathered, spread_back, taps


def _spec(n: int, self: Tensor, output_size: Sequence[int]) -> TensorSpec:
    if len(output_size) != n:
        raise RuntimeError(
            f"It is expected output_size equals to {n}, but got size {len(output_size)}"
        )
    shape = self._shape
    if len(shape) != n + 2:
        raise RuntimeError(
            f"It is expected input_size equals to {n + 2}, but got size {len(shape)}"
        )
    if any(s <= 0 for s in (*shape[2:], *output_size)):
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {show(shape[2:])} and "
            f"output {show(tuple(output_size))}"
        )
    if shape[1] == 0:
        raise RuntimeError(
            f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {show(shape)}"
        )
    return TensorSpec((*shape[:2], *output_size), self._dtype)


def _resized(
    mode: str, self: Tensor, size: Sequence[int], align: bool, scales: Sequence[float | None]
) -> Any:
    """Resize dimension by dimension, the last first."""
    d = self._dtype
    exact = mode.startswith("nearest")
    x: Any = self if exact else widened(self)
    rounds = not exact and d is uint8
    n = len(size)
    for i in reversed(range(n)):
        dim = 2 + i
        unscaled = scales[i] in (None, 1) and not mode.endswith("-aa")
        if self._shape[dim] == size[i] and (unscaled or rounds):
            continue  # every element is its own
        if rounds:
            precise = x.new_zeros((), dtype=float64)
            chosen = taps(mode, self._shape[dim], size[i], align, scales[i], precise)
            x = _fixed_point(x, dim, chosen)
        else:
            x = gathered(x, dim, taps(mode, self._shape[dim], size[i], align, scales[i], x))
    if x is self:
        return self.clone()
    return x.to(d)


def _fixed_point(x: Any, dim: int, chosen: Any) -> Any:
    """Bytes resized along one dimension and rounded, with weights of 16 bits, as PyTorch does."""
    chosen = _merged(chosen)
    largest, digits = max(weight.max().item() for _, weight in chosen), 0
    while digits < 22 and int(0.5 + largest * (1 << (digits + 1))) < 1 << 15:
        digits += 1
    unit = 1 << digits
    whole = [(at, (weight * unit + weight.sign() * 0.5).trunc().to(int64)) for at, weight in chosen]
    total = gathered(x.to(int64), dim, whole) + unit // 2
    return total.div(unit, rounding_mode="floor").clamp(0, 255)


def _merged(chosen: Any) -> Any:
    """Taps with the weights of those beyond the border given to the element there."""
    places, weights = [at for at, _ in chosen], [weight for _, weight in chosen]
    for i in reversed(range(1, len(places))):
        same = places[i] == places[i - 1]
        weights[i - 1] = weights[i - 1] + fn.where(same, weights[i], 0.0)
        weights[i] = fn.where(same, 0.0, weights[i])
    return [*zip(places, weights, strict=True)]


def _resized_back(
    mode: str, g: Tensor, input_size: Shape, align: bool, scales: Sequence[float | None]
) -> Any:
    x: Any = widened(g)
    for i in range(len(input_size) - 2):
        dim = 2 + i
        chosen = taps(mode, input_size[dim], g._shape[dim], align, scales[i], x)
        x = spread_back(x, dim, input_size[dim], chosen)
    return x.to(g._dtype)


def _scaled(sizes: Shape, output_size: Any, factors: Any) -> Sequence[int]:
    """The output size, given or from factors."""
    if (output_size is None) == (factors is None):
        raise RuntimeError("Must specify exactly one of output_size and scale_factors")
    if output_size is not None:
        return output_size  # type: ignore[no-any-return]
    if len(factors) != len(sizes):
        raise RuntimeError(f"scale_factors must have {len(sizes)} numbers, got {len(factors)}")
    return [int(s * f) for s, f in zip(sizes, factors, strict=True)]


# Whose gradients are row-major, whatever they are given.
_ROWS: Final = (("cubic", 2), ("nearest", 3), ("nearest-exact", 3))


def _back_rule(grad_output: Tensor, _: Any, input_size: Any, *__: Any, **___: Any) -> TensorSpec:
    return TensorSpec(tuple(input_size), grad_output._dtype)


def _by_factors(name: str, n: int) -> Callable[..., Any]:
    def vec(input: Tensor, output_size: Any, *options: Any) -> Any:
        factors = options[-1]
        size = _scaled(input._shape[2:], output_size, factors)
        scales = factors if factors is not None else [None] * n
        return getattr(fn, name)(input, size, *options[:-1], *scales)

    return vec


def _define(name: str, mode: str, n: int, *, aligns: bool) -> None:
    """Define one way of resizing ``n`` dimensions."""
    RESIZING[name] = mode, n, aligns
    letters = [""] if n == 1 else [f"_{c}" for c in "dhw"[-n:]]
    align = ", bool align_corners" if aligns else ""
    extra = "".join(f", float? scales{c}=None" for c in letters)

    def split(options: Sequence[Any]) -> tuple[bool, list[float | None]]:
        given = [*options]
        corners = given.pop(0) if aligns else False
        return corners, given + [None] * (n - len(given))

    def forward(self: Tensor, output_size: Sequence[int], *options: Any, **named: Any) -> Any:
        _spec(n, self, output_size)
        options = (*options, *named.values())
        return _resized(mode, self, output_size, *split(options))

    def back(
        grad_output: Tensor, output_size: Any, input_size: Any, *options: Any, **named: Any
    ) -> Any:
        if grad_output._shape != (*input_size[:2], *output_size):
            raise RuntimeError(
                f"Expected grad_output to have the shape {show((*input_size[:2], *output_size))}, but "
                f"got {show(grad_output._shape)}"
            )
        corners, scales = split((*options, *named.values()))
        return _resized_back(mode, grad_output, tuple(input_size), corners, scales)

    forth, back_again = _formulas(name, n, aligns=aligns)
    back_rule = _back_rule
    if (mode, n) not in _ROWS:
        back, back_rule = in_format(back), in_format(_back_rule)
    op(
        f"{name}(Tensor self, SymInt[{n}] output_size{align}{extra}) -> Tensor",
        doc=f"A tensor (N, C, ...) resized in {n} dimensions: {mode}.",
        rule=in_format(lambda self, output_size, *_, **__: _spec(n, self, output_size)),
        grad={"self": forth},
        decomposition=in_format(forward),
        out=True,
        namespaces=("torch",),
    )
    op(
        f"{name}_backward(Tensor grad_output, SymInt[{n}] output_size, SymInt[{n + 2}] input_size"
        f"{align}{extra}) -> Tensor",
        doc=f"Gradient of `{name}`.",
        rule=back_rule,
        grad={"grad_output": back_again},
        decomposition=back,
        namespaces=("torch",),
    )
    op(
        f"{name}.vec(Tensor input, SymInt[]? output_size{align}, float[]? scale_factors) -> Tensor",
        doc=f"`{name}` to a size or by factors.",
        decomposition=_by_factors(name, n),
        namespaces=("torch",),
    )


def _formulas(name: str, n: int, *, aligns: bool) -> tuple[Any, Any]:
    """Gradients of an op and of its backward op; their parameters name what they need."""

    def to_input(g: Any, shape: Any, size: Any, *rest: Any) -> Any:
        return getattr(fn, f"{name}_backward")(g, size, shape, *rest)

    def to_grad(g: Any, size: Any, *rest: Any) -> Any:
        return getattr(fn, name)(g, size, *rest)

    made: tuple[Any, Any] = (_ALIGNED if aligns else _PLAIN)[n](to_input, to_grad)
    return made


# By number of dimensions, and whether corners may be aligned.
_PLAIN: Any = {
    1: lambda to, back: (
        lambda g, self_shape, output_size, scales: to(g, self_shape, output_size, scales),
        lambda g, output_size, scales: back(g, output_size, scales),
    ),
    2: lambda to, back: (
        lambda g, self_shape, output_size, scales_h, scales_w: to(
            g, self_shape, output_size, scales_h, scales_w
        ),
        lambda g, output_size, scales_h, scales_w: back(g, output_size, scales_h, scales_w),
    ),
    3: lambda to, back: (
        lambda g, self_shape, output_size, scales_d, scales_h, scales_w: to(
            g, self_shape, output_size, scales_d, scales_h, scales_w
        ),
        lambda g, output_size, scales_d, scales_h, scales_w: back(
            g, output_size, scales_d, scales_h, scales_w
        ),
    ),
}
_ALIGNED: Any = {
    1: lambda to, back: (
        lambda g, self_shape, output_size, align_corners, scales: to(
            g, self_shape, output_size, align_corners, scales
        ),
        lambda g, output_size, align_corners, scales: back(g, output_size, align_corners, scales),
    ),
    2: lambda to, back: (
        lambda g, self_shape, output_size, align_corners, scales_h, scales_w: to(
            g, self_shape, output_size, align_corners, scales_h, scales_w
        ),
        lambda g, output_size, align_corners, scales_h, scales_w: back(
            g, output_size, align_corners, scales_h, scales_w
        ),
    ),
    3: lambda to, back: (
        lambda g, self_shape, output_size, align_corners, scales_d, scales_h, scales_w: to(
            g, self_shape, output_size, align_corners, scales_d, scales_h, scales_w
        ),
        lambda g, output_size, align_corners, scales_d, scales_h, scales_w: back(
            g, output_size, align_corners, scales_d, scales_h, scales_w
        ),
    ),
}

# Each op's way of resizing, number of dimensions, and whether corners may be aligned.
RESIZING: Final[dict[str, tuple[str, int, bool]]] = {}

for _n in (1, 2, 3):
    _define(f"upsample_nearest{_n}d", "nearest", _n, aligns=False)
    _define(f"_upsample_nearest_exact{_n}d", "nearest-exact", _n, aligns=False)
for _name, _mode, _n in (
    ("upsample_linear1d", "linear", 1),
    ("upsample_bilinear2d", "linear", 2),
    ("upsample_trilinear3d", "linear", 3),
    ("upsample_bicubic2d", "cubic", 2),
    ("_upsample_bilinear2d_aa", "linear-aa", 2),
    ("_upsample_bicubic2d_aa", "cubic-aa", 2),
    ("_upsample_lanczos2d_aa", "lanczos-aa", 2),
):
    _define(_name, _mode, _n, aligns=True)
