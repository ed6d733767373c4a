"""``conv1d`` to ``conv3d`` and their transposes, for batches and single inputs."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.shapes import show
from ...values.user_warnings import warn_user_once
from .windows import spread


def _convolve(
    name: str, n: int, input: Tensor, weight: Tensor, bias: Tensor | None, options: Any
) -> Tensor:
    """Call `convolution` on a batch, or on one input without the batch's dimension."""
    if len(input._shape) not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of "
            f"size: {show(input._shape)}"
        )
    if len(weight._shape) != n + 2:
        raise RuntimeError(
            f"Expected {n + 2}-dimensional weight for {name}, but got weight of size "
            f"{show(weight._shape)}"
        )
    if len(input._shape) == n + 2:
        return fn.convolution(input, weight, bias, *options)
    return fn.convolution(input.unsqueeze(0), weight, bias, *options).squeeze(0)


def _plain(name: str, n: int) -> Any:
    def conv(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        options = (
            spread(stride, n, "stride"), spread(padding, n, "padding"),
            spread(dilation, n, "dilation"), False, (0,) * n, groups,
        )  # fmt: skip
        return _convolve(name, n, input, weight, bias, options)

    return conv


def _with_mode(name: str, n: int) -> Any:
    def conv(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
        padding: str = "valid", dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        steps, gaps = spread(stride, n, "stride"), spread(dilation, n, "dilation")
        if padding not in ("valid", "same"):
            raise RuntimeError(
                f"Invalid padding string: {padding!r}. Must be one of 'valid' and 'same'"
            )
        pads = (0,) * n
        if padding == "same":
            if any(s != 1 for s in steps):
                raise RuntimeError("padding='same' is not supported for strided convolutions")
            if len(weight._shape) == n + 2:
                total = [d * (k - 1) for d, k in zip(gaps, weight._shape[2:], strict=True)]
                pads = tuple(t // 2 for t in total)
                extra = [p for t in reversed(total) for p in (0, t % 2)]
                if any(extra):  # an even window has one element more behind than before
                    warn_user_once(
                        "Using padding='same' with even kernel lengths and odd dilation may require a "
                        "zero-padded copy of the input be created"
                    )
                    input = fn.constant_pad_nd(input, extra)
        return _convolve(name, n, input, weight, bias, (steps, pads, gaps, False, (0,) * n, groups))

    return conv


def _backwards(name: str, n: int) -> Any:
    def conv(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
        padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
    ) -> Tensor:  # fmt: skip
        options = (
            spread(stride, n, "stride"), spread(padding, n, "padding"),
            spread(dilation, n, "dilation"), True, spread(output_padding, n, "output_padding"),
            groups,
        )  # fmt: skip
        return _convolve(name, n, input, weight, bias, options)

    return conv


_HEAD = "Tensor input, Tensor weight, Tensor? bias=None"
for _n in (1, 2, 3):
    _name = f"conv{_n}d"
    _places = ("torch", "nn")
    _what = f"over {_n} spatial dimension{'s' if _n > 1 else ''}: (N, C, ...) or (C, ...)"
    op(
        f"{_name}({_HEAD}, SymInt[{_n}] stride=1, SymInt[{_n}] padding=0, SymInt[{_n}] dilation=1, "
        f"SymInt groups=1) -> Tensor",
        doc=f"Cross-correlation with filters (O, C / groups, ...) {_what}.",
        decomposition=_plain(_name, _n),
        namespaces=_places,
    )
    op(
        f"{_name}.padding({_HEAD}, SymInt[{_n}] stride=1, str padding='valid', SymInt[{_n}] "
        f"dilation=1, SymInt groups=1) -> Tensor",
        doc=f"`{_name}` without padding ('valid'), or padded to the input's size ('same').",
        decomposition=_with_mode(_name, _n),
        namespaces=_places,
    )
    _name = f"conv_transpose{_n}d"
    op(
        f"{_name}{'.input' if _n > 1 else ''}({_HEAD}, SymInt[{_n}] stride=1, SymInt[{_n}] "
        f"padding=0, SymInt[{_n}] output_padding=0, SymInt groups=1, SymInt[{_n}] dilation=1) "
        f"-> Tensor",
        doc=f"Transpose of `conv{_n}d` with filters (C, O / groups, ...) {_what}.",
        decomposition=_backwards(_name, _n),
        namespaces=_places,
    )


def _convolution_mode(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: str, dilation: Any,
    groups: int,
) -> Tensor:  # fmt: skip
    n = len(weight._shape) - 2
    conv = _with_mode("convolution", n)
    return conv(input, weight, bias, stride, padding, dilation, groups)  # type: ignore[no-any-return]


op(
    "_convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str padding, "
    "SymInt[] dilation, SymInt groups) -> Tensor",
    doc="`convolution` padded as a word says: 'valid' or 'same'.",
    decomposition=_convolution_mode,
    namespaces=("torch",),
)


def _conv_tbc(self: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    for name, t, rank in (("input", self, 3), ("weight", weight, 3), ("bias", bias, 1)):
        if len(t._shape) != rank:
            raise RuntimeError(f"{name} must have {rank} dimensions, got {len(t._shape)}")
    made = fn.conv1d(self.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad)
    return made.permute(2, 0, 1)


op(
    "conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
    doc="Cross-correlation along time of (time, batch, C) with filters (window, C, O).",
    decomposition=_conv_tbc,
    namespaces=("torch", "nn"),
)
