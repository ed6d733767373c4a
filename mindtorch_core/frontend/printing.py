"""Tensors as text, in PyTorch's layout."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

from ..dispatch.functions import fn
from ..dispatch.keys import DispatchKey
from ..gradients.duals import tangent_of, unseen
from ..tensors.attached import attach
from ..tensors.tensor import Tensor
from ..values.devices import is_retired
from ..values.dtypes import (
    COMPLEX,
    FLOATING,
    bool_,
    default_complex,
    get_default_dtype,
    int64,
    unpack,
)
from ..values.interrupts import contextmanager
from ..values.shapes import Shape

__all__ = ["format_tensor", "get_printoptions", "printoptions", "set_printoptions"]

DEFAULTS: Final[dict[str, Any]] = {
    "precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None,
}  # fmt: skip
OPTIONS: Final[dict[str, Any]] = dict(DEFAULTS)
PROFILES: Final[dict[str, dict[str, Any]]] = {
    "default": DEFAULTS,
    "short": {**DEFAULTS, "precision": 2, "edgeitems": 2},
    "full": {**DEFAULTS, "threshold": math.inf},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: float | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed; None leaves a setting alone.

    Args:
        precision: digits after the point (4).
        threshold: element count above which only the edges are shown (1000).
        edgeitems: elements shown at each edge (3).
        linewidth: characters per line (80); ``math.inf`` never breaks a line.
        profile: start from the settings ``default``, ``short`` or ``full`` (which shows all elements).
        sci_mode: scientific notation always, never, or where numbers need it (None).

    Raises:
        ValueError: for another profile.

    Example:
        >>> torch.set_printoptions(precision=2)
        >>> torch.tensor([1.0 / 3])
        tensor([0.33])
        >>> torch.set_printoptions(profile="default")
    """
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(f"profile must be one of {', '.join(PROFILES)}, got {profile!r}")
        OPTIONS.update(PROFILES[profile])
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    OPTIONS.update({k: v for k, v in given.items() if v is not None})
    OPTIONS["sci_mode"] = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The settings of `set_printoptions`, by name."""
    return dict(OPTIONS)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Change how tensors are printed within a block; arguments as in `set_printoptions`."""
    kept = get_printoptions()
    try:
        set_printoptions(**options)
        yield
    finally:
        OPTIONS.update(kept)


def format_tensor(t: Tensor, contents: str | None = None) -> str:
    """The ``repr`` of a tensor: elements, or what a class shows instead, then what they do not tell."""
    plain = type(t) is Tensor or "_shown_as_tensor" in vars(type(t))
    prefix = "tensor(" if plain else f"{type(t).__name__}("
    suffixes = []
    if t._device.type != "cpu":
        suffixes.append(f"device='{t._device}'")
    if t._keys & DispatchKey.Meta:
        body = "..."
        suffixes.append(f"size={tuple(t._shape)}")
    elif t.numel() == 0:
        if len(t._shape) != 1:
            suffixes.insert(0, f"size={tuple(t._shape)}")
        body = "[]"
    else:
        if not OPTIONS["edgeitems"]:  # the elements do not tell the shape
            suffixes.append(f"size={tuple(t._shape)}")
        body = unseen(_body, t, len(prefix)) if contents is None else contents
    implied = (get_default_dtype(), default_complex(), int64, bool_)
    if (
        t._dtype not in implied
        or (t.numel() == 0 and t._dtype is not get_default_dtype())
        or (t._keys & DispatchKey.Meta and t._dtype is not get_default_dtype())
    ):
        suffixes.append(f"dtype={t._dtype}")
    if t.grad_fn is not None:
        suffixes.append(f"grad_fn=<{t.grad_fn.name()}>")
    elif t.requires_grad:
        suffixes.append("requires_grad=True")
    tangent = tangent_of(t)
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    text = filled(prefix + (body if contents is None else contents), suffixes, len(prefix)) + ")"
    named = not plain and (getattr(t, "_is_param", False) or hasattr(t, "_shown_as_tensor"))
    return f"Parameter({text})" if named else text


def filled(text: str, suffixes: list[str], indent: int, new_line: bool = False) -> str:
    """A text and what follows it, in lines that are filled; the first may begin one."""
    width = OPTIONS["linewidth"] if new_line else len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if width + len(suffix) + 2 > OPTIONS["linewidth"]:
            text += ",\n" + " " * indent + suffix
            width = indent + len(suffix)
        else:
            text += ", " + suffix
            width += len(suffix) + 2
    return text


def _body(t: Tensor, indent: int) -> str:
    edge = OPTIONS["edgeitems"]
    summarise = t.numel() > OPTIONS["threshold"]
    if summarise and not edge and t._shape:
        return "[...]"
    shown = _edges(t, edge) if summarise else t
    texts, width = _texts(unpack(shown._host(), shown._dtype), shown._dtype)
    marks = [n > 2 * edge and summarise for n in t._shape]
    return _nest(texts, width, shown._shape, marks, indent, edge)


# As `torch._tensor_str` names them.

_tensor_str = _body


def _str_intern(inp: Tensor, *, tensor_contents: str | None = None) -> str:
    return format_tensor(inp, tensor_contents)


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    return filled(tensor_str, suffixes, indent, force_newline) + ")"


class _Options:
    """`OPTIONS` as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return OPTIONS[name]
        except KeyError:
            raise AttributeError(f"there is no option {name!r} of printing", name=name) from None


PRINT_OPTS: Final = _Options()


def _edges(t: Tensor, edge: int) -> Tensor:
    """Only the first and last elements of each long dimension."""
    for d, n in enumerate(t._shape):
        if n > 2 * edge:
            t = fn.cat([t.narrow(d, 0, edge), t.narrow(d, n - edge, edge)], d)
    return t.detach()


def _texts(values: list[Any], d: Any) -> tuple[list[str], int]:
    """The elements as text, padded to one width, and that width."""
    if d.category < FLOATING:
        texts = [str(v) for v in values]
        width = max(map(len, texts))
        return [x.rjust(width) for x in texts], width
    if d.category == COMPLEX:
        real, first = _texts([v.real for v in values], d.to_real())
        imaginary, second = _texts([v.imag for v in values], d.to_real())
        parts = zip(real, map(str.lstrip, imaginary), strict=True)
        joined = [f"{a}{'' if b.startswith('-') else '+'}{b}j" for a, b in parts]
        return joined, first + second + 1
    counted = [v for v in values if v != 0 and math.isfinite(v)]
    write = _float_writer(counted)
    # Zeros, infinities and NaN are padded to the others' width but do not widen it.
    width = max([1, *(len(write(v)) for v in counted)])
    return [write(v).rjust(width) for v in values], width


def _float_writer(values: list[float]) -> Callable[[float], str]:
    """How floats are written: chosen for all together, from those that are finite and not 0."""
    precision = OPTIONS["precision"]
    sizes = [abs(v) for v in values]
    whole = all(v == math.ceil(v) for v in sizes)
    top, low = (max(sizes), min(sizes)) if sizes else (0.0, 1.0)
    if OPTIONS["sci_mode"] is not None:
        scientific = bool(OPTIONS["sci_mode"])
    else:
        scientific = top / low > 1000 or top > 1e8 or (low < 1e-4 and not whole)
    if scientific and sizes:
        return lambda v: f"{v:.{precision}e}"
    if whole:  # whole numbers print with a bare point
        return lambda v: f"{v:.0f}." if math.isfinite(v) else str(v)
    return lambda v: f"{v:.{precision}f}"


class _Formatter:
    """How elements are written so that a tensor's have one width, as `torch._tensor_str` names it.

    Args:
        tensor: whose elements choose the form, and the width.
    """

    def __init__(self, tensor: Tensor) -> None:
        shown = tensor.detach()
        values = unpack(shown._host(), shown._dtype)
        self._write: Callable[[Any], str] = str
        self._width = max([1, *(len(str(v)) for v in values)])
        if shown._dtype.category >= FLOATING:
            counted = [
                abs(v) if isinstance(v, complex) else v for v in values if 0 < abs(v) < math.inf
            ]
            self._write = _float_writer(counted)
            self._width = max([1, *(len(self._write(v)) for v in counted)])

    def width(self) -> int:
        """The width of the widest element."""
        return self._width

    def format(self, value: Any) -> str:
        """A value as an element of the tensor is written."""
        return self._write(value).rjust(self._width)


def _nest(
    texts: list[str], width: int, shape: Shape, marks: list[bool], indent: int, edge: int
) -> str:
    if not shape:
        return texts[0]
    if len(shape) == 1:
        pieces = list(texts)
        if marks[0]:
            pieces.insert(edge, " ...")
        room = OPTIONS["linewidth"] - indent
        per_line = len(pieces) if room == math.inf else max(1, int(room // (width + 2)))
        lines = [pieces[i : i + per_line] for i in range(0, len(pieces), per_line)]
        joined = (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines)
        return f"[{joined}]"
    step = len(texts) // shape[0]
    parts = [
        _nest(texts[i * step : (i + 1) * step], width, shape[1:], marks[1:], indent + 1, edge)
        for i in range(shape[0])
    ]
    if marks[0]:
        parts.insert(edge, "...")
    gap = "," + "\n" * (len(shape) - 1) + " " * (indent + 1)
    return "[" + gap.join(parts) + "]"


def _text(self: Tensor, *, tensor_contents: str | None = None) -> str:
    if is_retired(self._device):
        return f"<tensor on {self._device}, whose backend was unloaded>"
    return format_tensor(self._settled(), tensor_contents)


def __repr__(self: Tensor, *args: Any, **kwargs: Any) -> str:
    """The text of a tensor, with ``tensor_contents`` for its elements if given; launches recorded work."""
    return _text(self, *args, **kwargs)  # `Any`, so that type checkers let classes take none


def _repr_html_(self: Tensor) -> str:
    """What notebooks show: shape, dtype and device above the text; launches recorded work."""
    from ..values.markup import box, escaped, preformatted
    from ..values.shapes import show

    grad = ", requires grad" if self.requires_grad else ""
    head = f"{type(self).__name__} {show(self._shape)}, {self._dtype}, {self._device}{grad}"
    return box(f"<small>{escaped(head)}</small>", preformatted(repr(self)))


attach(__name__, {"__repr__": __repr__, "_repr_html_": _repr_html_})
