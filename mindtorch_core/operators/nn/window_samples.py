"""Sample calls of ops on spatial dimensions: convolution, pooling, padding, folding and resizing."""

from __future__ import annotations

import math
from typing import Any, Final

from ..family_samples import sample as s
from ..recipes import Sample
from ..recipes import tensor as t

__all__ = ["WINDOW_CALLS"]


# Shapes (N, C, ...) with one to three spatial dimensions.
_INPUT: Final = {1: (2, 3, 5), 2: (1, 2, 5, 4), 3: (1, 2, 3, 4, 3)}
# What windows of 2 with a step of 2 leave of them.
_HALF: Final = {1: (2, 3, 2), 2: (1, 2, 2, 2), 3: (1, 2, 1, 2, 1)}
_DIMENSIONS: Final = (1, 2, 3)

_CONVOLUTION: Final[dict[str, tuple[Sample, ...]]] = {
    "convolution": (
        s("plane", t(1, 2, 4, 5), t(3, 2, 2, 3), t(3), (1, 1), (0, 1), (1, 1), False, (0, 0), 1),
        s("groups", t(2, 4, 5), t(4, 2, 3), None, (2,), (1,), (1,), False, (0,), 2),
        s("double", *(t(1, 2, 5, dtype="float64"),) * 2, None, (1,), (0,), (1,), False, (0,), 1),
        s("transposed", t(2, 2, 3), t(2, 3, 2), t(3), (2,), (0,), (1,), True, (1,), 1),
        s("no_batch", t(0, 2, 5), t(3, 2, 3), t(3), (1,), (0,), (1,), False, (0,), 1),
    ),
    "_convolution": (
        s(
            "plane", t(1, 2, 4, 5), t(3, 2, 2, 3), t(3), (1, 1), (0, 1), (1, 1), False, (0, 0), 1, False,
            False, True, True,
        ),
    ),
    "_convolution_mode": (
        s("same", t(1, 2, 6), t(3, 2, 3), t(3), (1,), "same", (1,), 1),
        s("valid", t(1, 2, 6), t(3, 2, 3), None, (2,), "valid", (1,), 1),
    ),
    "_convolution_weight": (
        s("plane", t(1, 2, 4, 5), t(1, 3, 3, 3), (2, 3), (1, 1), (0, 0), (1, 1), 1),
        s("groups", t(2, 4, 5), t(2, 4, 3), (3,), (2,), (1,), (1,), 2),
    ),
    "convolution_backward": (
        s(
            "plane", t(1, 3, 3, 3), t(1, 2, 4, 5), t(3, 2, 2, 3), (3,), (1, 1), (0, 0), (1, 1),
            False, (0, 0), 1, (True, True, True),
        ),
    ),
    "conv_tbc": (s("padded", t(4, 2, 3), t(2, 3, 2), t(2), 1),),
}  # fmt: skip


def _convolutions(n: int) -> dict[str, tuple[Sample, ...]]:
    """Samples of the ops for n spatial dimensions."""
    channels = _INPUT[n][1]
    x, weight, turned = t(*_INPUT[n]), t(2, channels, *(2,) * n), t(channels, 2, *(2,) * n)
    return {
        f"conv{n}d": (s("bias", x, weight, t(2)), s("steps", x, weight, None, 2, 1, 2)),
        f"conv{n}d.padding": (s("same", x, weight, t(2), 1, "same"),),
        f"conv_transpose{n}d{'' if n == 1 else '.input'}": (
            s("bias", x, turned, t(2)),
            s("steps", x, turned, None, 2, 1, 1),
        ),
    }


def _pools(n: int) -> dict[str, tuple[Sample, ...]]:
    """Samples of the ops for n spatial dimensions."""
    x, half, two, one = t(*_INPUT[n]), t(*_HALF[n]), (2,) * n, (1,) * n
    single = t(*_INPUT[n][1:], dtype="float64")
    where = t(*_HALF[n], dtype="int64", low=0, high=math.prod(_INPUT[n][2:]) - 1)
    steps = s("steps", x, 2)
    rest = s("single", single, 2, ceil_mode=True)
    maxima = (steps, s("padded", x, two, one, one), s("dilated", x, 2, 1, 0, 2), rest)
    adaptive = (s("two", x, two), s("single", single, (3,) * n))
    return {
        **dict.fromkeys((f"max_pool{n}d", f"max_pool{n}d_with_indices"), maxima),
        f"max_pool{n}d_with_indices_backward": (
            s("steps", half, x, two, two, (0,) * n, one, False, where),
        ),
        f"avg_pool{n}d": (steps, s("padded", x, two, one, one, False, False), rest),
        f"avg_pool{n}d_backward": (s("steps", half, x, two, two, 0, False, True, None),),
        f"adaptive_avg_pool{n}d": adaptive,
        f"adaptive_max_pool{n}d": adaptive,
    }


def _plane_pools(n: int) -> dict[str, tuple[Sample, ...]]:
    """Samples of the ops that exist for two and three spatial dimensions only."""
    x, two = t(*_INPUT[n]), (2,) * n
    drawn = t(*_INPUT[n][:2], n, low=0.0, high=0.875)
    return {
        f"_adaptive_avg_pool{n}d": (s("two", x, two),),
        f"_adaptive_avg_pool{n}d_backward": (s("half", t(*_HALF[n]), x),),
        f"fractional_max_pool{n}d": (s("two", x, two, two, drawn),),
    }


_POOLING: Final[dict[str, tuple[Sample, ...]]] = {
    "max_unpool2d": (
        s("batch", t(1, 2, 2, 2), t(1, 2, 2, 2, dtype="int64", values=(0, 5, 10, 15) * 2), (4, 4)),
    ),
    "max_unpool3d": (
        s(
            "batch", t(1, 1, 1, 2, 2), t(1, 1, 1, 2, 2, dtype="int64", values=(0, 5, 10, 31)),
            (2, 4, 4), (2, 2, 2), (0, 0, 0),
        ),
    ),
}  # fmt: skip


_PADS: Final = {1: (1, 2), 2: (1, 2, 0, 1), 3: (1, 0, 2, 1, 0, 1)}
_CROPS: Final = {1: (-1, 2), 2: (-1, 2, 0, -1), 3: (1, 0, -1, 1, -1, 1)}


def _padded(n: int) -> tuple[int, ...]:
    """The shape that the pads make of the input with n spatial dimensions."""
    added = [sum(_PADS[n][i : i + 2]) for i in range(2 * n - 2, -1, -2)]
    return (*_INPUT[n][:2], *(a + b for a, b in zip(_INPUT[n][2:], added, strict=True)))


def _pads(kind: str, n: int) -> dict[str, tuple[Sample, ...]]:
    """Samples of one kind of padding of n spatial dimensions."""
    x = t(*_INPUT[n])
    return {
        f"{kind}_pad{n}d": (
            s("batch", x, _PADS[n]),
            s("single", t(*_INPUT[n][1:]), _PADS[n]),
            s("cropped", x, _CROPS[n]),
        ),
        f"{kind}_pad{n}d_backward": (s("batch", t(*_padded(n)), x, _PADS[n]),),
    }


_FOLDING: Final[dict[str, tuple[Sample, ...]]] = {
    "im2col": (
        s("batch", t(1, 2, 4, 5), (2, 3), (1, 1), (0, 1), (1, 2)),
        s("single", t(2, 4, 5), (2, 2), (2, 1), (0, 0), (1, 1)),
    ),
    "col2im": (s("batch", t(1, 8, 9), (4, 4), (2, 2), (1, 1), (0, 0), (1, 1)),),
    "pixel_shuffle": (s("batch", t(1, 4, 2, 3), 2), s("single", t(9, 1, 2), 3)),
    "pixel_unshuffle": (s("batch", t(1, 1, 4, 6), 2), s("single", t(2, 3, 3), 3)),
    **dict.fromkeys(
        ("channel_shuffle", "native_channel_shuffle"),
        (s("plane", t(1, 4, 2, 2), 2), s("line", t(2, 6, 3), 3)),
    ),
}

_SMOOTH: Final = ("bilinear", "bicubic", "lanczos")
_LARGE: Final = {1: (7,), 2: (7, 6), 3: (4, 6, 5)}
_SMALL: Final = {1: (3,), 2: (3, 2), 3: (2, 3, 2)}


def _resized(name: str, n: int, *more: Any) -> dict[str, tuple[Sample, ...]]:
    """Samples of one way of resizing, of its gradient, and of the form with factors."""
    x = t(*_INPUT[n])
    back = t(*_INPUT[n][:2], *_LARGE[n])
    return {
        name: (s("larger", x, _LARGE[n], *more), s("smaller", x, _SMALL[n], *more)),
        f"{name}_backward": (s("larger", back, _LARGE[n], _INPUT[n], *more),),
        f"{name}.vec": (
            s("size", x, _SMALL[n], *more, None),
            s("factors", x, None, *more, (1.5,) * n),
        ),
    }


def _all() -> dict[str, tuple[Sample, ...]]:
    rows = {**_CONVOLUTION, **_POOLING, **_FOLDING, **_plane_pools(2), **_plane_pools(3)}
    for n, linear in zip(_DIMENSIONS, ("linear1d", "bilinear2d", "trilinear3d"), strict=True):
        rows |= _convolutions(n) | _pools(n) | _pads("reflection", n) | _pads("replication", n)
        rows |= _resized(f"upsample_nearest{n}d", n) | _resized(f"_upsample_nearest_exact{n}d", n)
        rows |= _resized(f"upsample_{linear}", n, n == 2)
    for name in ("upsample_bicubic2d", *(f"_upsample_{kind}2d_aa" for kind in _SMOOTH)):
        rows |= _resized(name, 2, False)
    return rows


WINDOW_CALLS: Final = _all()
