"""Sample calls of the ops that round as integers would. Steps jump: their elements are given."""

from __future__ import annotations

from typing import Final

from ..family_samples import ints
from ..family_samples import sample as s
from ..recipes import Sample
from ..recipes import tensor as t

__all__ = ["FAKE_QUANTIZATION"]

_CUT: Final = t(2, 4, values=(-3.0, -1.1, -0.6, -0.1, 0.2, 0.9, 1.3, 2.9))

FAKE_QUANTIZATION: Final[dict[str, tuple[Sample, ...]]] = {
    "fake_quantize_per_tensor_affine": (
        s("cut", _CUT, 0.25, 1, -4, 7),
        s("byte", t(3, values=(0.1, 0.3, 0.9)), 0.5, 0, 0, 255),
        s("float64", t(2, dtype="float64", values=(0.1, 5.3)), 0.1, 3, 0, 7),
    ),
    "fake_quantize_per_tensor_affine.tensor_qparams": (
        s("cut", _CUT, t(1, values=(0.25,)), ints(1), -4, 7),
    ),
    "fake_quantize_per_channel_affine": (
        s(
            "columns",
            _CUT,
            t(4, values=(0.25, 0.5, 1.0, 0.125)),
            t(4, values=(0.0, 1.5, 2.0, -1.0)),
            1,
            -4,
            7,
        ),
        s("rows", _CUT, t(2, values=(0.25, 0.5)), t(2, dtype="int32", values=(0, 1)), 0, -4, 7),
    ),
}
