"""The axes of batch normalization, which computes each channel for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .axes import Axes
from .placements import Replicate

__all__ = ["CHANNELS"]


def _of_channels(t: Any) -> list[Any]:
    """A tensor with a value for each channel; of one that has none nothing can be cut."""
    return ["c"] if t.numel() else [None]


def _input(g: dict[str, Any]) -> list[Any]:
    # A part without any channel is more than the kernels take.
    whole = g["input"].shape[1] % g["input"].device_mesh.size()
    return [None, None if whole else "c", *[None] * (g["input"].ndim - 2)]


def _batch_norm(g: dict[str, Any]) -> Axes:
    names = _input(g)
    tensors = [(k, t) for k, t in g.items() if hasattr(t, "placements")]
    operands = [names if k == "input" else _of_channels(t) for k, t in tensors]
    trains = bool(g["training"])
    written = [i for i, (k, _) in enumerate(tensors) if k.startswith("running") and trains]
    statistics: list[Any] = ["c"] if trains else [None]
    reduced = {} if trains else {"c": Replicate()}
    return Axes(operands, [names, statistics, statistics], reduced, written=written)


def _batch_norm_back(g: dict[str, Any]) -> Axes:
    names = _input(g)
    wide = ("grad_out", "input")
    operands = [
        names if k in wide else _of_channels(t) for k, t in g.items() if hasattr(t, "placements")
    ]
    return Axes(operands, [names, ["c"], ["c"]])


CHANNELS: Final[dict[str, Callable[[dict[str, Any]], Axes]]] = {
    "native_batch_norm": _batch_norm,
    "native_batch_norm_backward": _batch_norm_back,
}
