"""Tensors as text, in PyTorch's layout."""

from __future__ import annotations

import math
from typing import Any, Final

from .dispatch.keys import DispatchKey
from .dtypes import BOOL, COMPLEX, INTEGER, bool_, default_complex, get_default_dtype, int64, unpack
from .shapes import Shape
from .tensor import Tensor

__all__ = ["format_tensor", "set_printoptions"]

OPTIONS: Final[dict[str, Any]] = {
    "precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None,
}  # fmt: skip


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed; None leaves a setting alone.

    Args:
        precision: digits after the point (4).
        threshold: element count above which only the edges are shown (1000).
        edgeitems: elements shown at each edge (3).
        linewidth: characters per line (80).
        sci_mode: scientific notation always, never, or where numbers need it (None).
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    OPTIONS.update({k: v for k, v in given.items() if v is not None})
    OPTIONS["sci_mode"] = sci_mode


def format_tensor(t: Tensor) -> str:
    """The ``repr`` of a tensor: elements, then what cannot be seen from them."""
    prefix = "tensor("
    suffixes = []
    if t._device.type != "cpu":
        suffixes.append(f"device='{t._device}'")
    if t._keys & DispatchKey.Meta:
        body = "..."
        suffixes.append(f"size={tuple(t._shape)}")
    elif t.numel() == 0:
        body = "[]" if len(t._shape) == 1 else ""
        if len(t._shape) != 1:
            suffixes.insert(0, f"size={tuple(t._shape)}")
        body = "[]"
    else:
        body = _body(t, len(prefix))
    implied = (get_default_dtype(), default_complex(), int64, bool_)
    if t._dtype not in implied or (t.numel() == 0 and t._dtype is not get_default_dtype()) or (
        t._keys & DispatchKey.Meta and t._dtype is not get_default_dtype()
    ):
        suffixes.append(f"dtype={t._dtype}")
    if t.grad_fn is not None:
        suffixes.append(f"grad_fn=<{t.grad_fn.name()}>")
    elif t.requires_grad:
        suffixes.append("requires_grad=True")
    out = prefix + body
    width = len(out) - out.rfind("\n") - 1
    for suffix in suffixes:
        if width + len(suffix) + 3 > OPTIONS["linewidth"]:
            out += ",\n" + " " * len(prefix) + suffix
            width = len(prefix) + len(suffix)
        else:
            out += ", " + suffix
            width += len(suffix) + 2
    return out + ")"


def _body(t: Tensor, indent: int) -> str:
    edge = OPTIONS["edgeitems"]
    summarise = t.numel() > OPTIONS["threshold"]
    shown = _edges(t, edge) if summarise else t
    values = unpack(shown._host(), shown._dtype)
    write = _formatter(values, shown._dtype)
    texts = [write(v) for v in values]
    width = max(map(len, texts))
    padded = [x.rjust(width) for x in texts] if t._shape else texts
    marks = [n > 2 * edge and summarise for n in t._shape]
    return _nest(padded, shown._shape, marks, indent, edge)


def _edges(t: Tensor, edge: int) -> Tensor:
    """Only the first and last elements of each long dimension."""
    from .ops.define import function

    for d, n in enumerate(t._shape):
        if n > 2 * edge:
            t = function("cat")([t.narrow(d, 0, edge), t.narrow(d, n - edge, edge)], d)
    return t.detach()  # type: ignore[no-any-return]


def _formatter(values: list[Any], d: Any) -> Any:
    if d.category == BOOL or d.category == INTEGER:
        return str
    if d.category == COMPLEX:
        real = _formatter([v.real for v in values], d.to_real())
        imag = _formatter([v.imag for v in values], d.to_real())
        return lambda v: real(v.real) + ("+" if not imag(v.imag).startswith("-") else "") + imag(v.imag) + "j"
    precision = OPTIONS["precision"]
    finite = [abs(v) for v in values if math.isfinite(v) and v != 0]
    whole = all(v == math.ceil(v) for v in finite) if finite else True
    top, low = (max(finite), min(finite)) if finite else (0.0, 1.0)
    if OPTIONS["sci_mode"] is not None:
        scientific = bool(OPTIONS["sci_mode"]) and bool(finite)
    elif whole:
        scientific = bool(finite) and (top / low > 1000 or top > 1e8)
    else:
        scientific = top / low > 1000 or top > 1e8 or low < 1e-4
    if whole and not scientific:  # whole numbers print with a bare point
        return lambda v: f"{v:.0f}." if math.isfinite(v) else str(v)
    if scientific:
        return lambda v: f"{v:.{precision}e}"
    return lambda v: f"{v:.{precision}f}"


def _nest(texts: list[str], shape: Shape, marks: list[bool], indent: int, edge: int) -> str:
    if not shape:
        return texts[0]
    if len(shape) == 1:
        pieces = list(texts)
        if marks[0]:
            pieces.insert(edge, " ...")
        per_line = max(1, (OPTIONS["linewidth"] - indent) // (len(texts[0]) + 2))
        lines = [pieces[i : i + per_line] for i in range(0, len(pieces), per_line)]
        joined = (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines)
        return f"[{joined}]"
    step = len(texts) // shape[0]
    parts = [
        _nest(texts[i * step : (i + 1) * step], shape[1:], marks[1:], indent + 1, edge)
        for i in range(shape[0])
    ]
    if marks[0]:
        parts.insert(edge, "...")
    gap = "," + "\n" * (len(shape) - 1) + " " * (indent + 1)
    return "[" + gap.join(parts) + "]"
