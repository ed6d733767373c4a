"""Fourier transforms by SciPy's pocketfft, in the precision of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import get_num_threads

from ..arrays import wrap
from ..register import kernel, rule_of

# SciPy's names of the modes 0 (none), 1 (square root) and 2 (all), which it counts from the side
# that is not scaled.
_FORWARD: Final = ("backward", "ortho", "forward")
_INVERSE: Final = ("forward", "ortho", "backward")


def workers(a: Any) -> int:
    """Threads for the lines of an array: one where starting others would take longer."""
    return get_num_threads() if a.size >= 1 << 15 else 1


@kernel("_fft_c2c")
def c2c(self: Any, dim: Sequence[int], normalization: int, forward: bool) -> Any:
    """Complex to complex."""
    from scipy import fft

    spec = rule_of("_fft_c2c")(self, dim, normalization, forward)
    run, modes = (fft.fftn, _FORWARD) if forward else (fft.ifftn, _INVERSE)
    if not self.raw_data.size or not len(dim):
        return wrap(self.raw_data.copy(), spec.dtype)
    return wrap(
        run(
            self.raw_data,
            axes=tuple(dim),
            norm=modes[normalization],
            workers=workers(self.raw_data),
        ),
        spec.dtype,
    )


@kernel("_fft_r2c")
def r2c(self: Any, dim: Sequence[int], normalization: int, onesided: bool) -> Any:
    """Real to complex."""
    from scipy import fft

    spec = rule_of("_fft_r2c")(self, dim, normalization, onesided)
    if not self.raw_data.size:
        return wrap(np.empty(spec.shape, np.result_type(self.raw_data, np.complex64)), spec.dtype)
    run = fft.rfftn if onesided else fft.fftn
    return wrap(
        run(
            self.raw_data,
            axes=tuple(dim),
            norm=_FORWARD[normalization],
            workers=workers(self.raw_data),
        ),
        spec.dtype,
    )


@kernel("_fft_c2r")
def c2r(self: Any, dim: Sequence[int], normalization: int, last_dim_size: int) -> Any:
    """Complex to real."""
    from scipy import fft

    spec = rule_of("_fft_c2r")(self, dim, normalization, last_dim_size)
    a = self.raw_data
    if not a.size:
        return wrap(np.empty(spec.shape, a.real.dtype), spec.dtype)
    sizes = [a.shape[d] for d in dim[:-1]] + [last_dim_size]
    return wrap(
        fft.irfftn(a, s=sizes, axes=tuple(dim), norm=_INVERSE[normalization], workers=workers(a)),
        spec.dtype,
    )
