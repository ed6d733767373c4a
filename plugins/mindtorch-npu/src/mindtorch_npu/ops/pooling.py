"""Pooling over one and two spatial dimensions."""

from __future__ import annotations

from typing import Any

from mindtorch_core.backend import Shape, Tensor, int32, numel, pool_sizes

from .matmul import precision
from .operands import cast, contiguous, empty, made, reshaped, takes, written
from .steps import STEPS, Call, Work, rule_of

__all__: list[str] = []


def _image_shape(shape: Shape, n: int) -> Shape:
    """A shape as one of a batch of images: (N, C, H, W)."""
    rows = shape[-n:] if n == 2 else (1, shape[-1])
    lead = shape[:-n]
    return (*(1,) * (2 - len(lead)), *lead, *rows)


def _image(t: Tensor, n: int, calls: list[Call]) -> Tensor:
    return reshaped(contiguous(t, calls), _image_shape(t.raw_shape, n))


def _spread(values: Any, n: int, one: int) -> list[int]:
    """Numbers for two dimensions: the first is ``one`` where there is a single one."""
    return [one, *values] if n == 1 else list(values)


def _served(operator: str, t: Tensor, n: int) -> bool:
    return bool(
        takes(operator, t.raw_dtype) and n + 1 <= len(t.raw_shape) <= n + 2 and numel(t.raw_shape)
    )


def _max_pool(n: int) -> None:
    name = f"max_pool{n}d"
    rule = rule_of(f"{name}_with_indices")
    forward, backward = "MaxPool2dWithIndices", "MaxPool2dWithIndicesBackward"

    def options(
        self: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
    ) -> tuple[Any, ...]:
        kernel, stride, padding, dilation, _ = pool_sizes(
            n, self, kernel, stride, padding, dilation, ceil_mode, name
        )
        ones = ((kernel, 1), (stride, 1), (padding, 0), (dilation, 1))
        return *(_spread(values, n, one) for values, one in ones), bool(ceil_mode)

    def run(
        self: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Work | None:  # fmt: skip
        given = kernel_size, stride, padding, dilation, ceil_mode
        specs = rule(self, *given)
        if not _served(forward, self, n):
            return None
        values, indices = (made(spec, self.raw_device) for spec in specs)
        calls: list[Call] = []
        shape = _image_shape(values.raw_shape, n)
        narrow = empty(indices.raw_shape, int32, self.raw_device)
        arguments = (
            _image(self, n, calls), *options(self, *given), reshaped(values, shape),
            reshaped(narrow, shape),
        )  # fmt: skip
        calls.append((forward, arguments))
        return (values, written(indices, narrow, calls)), calls

    def back(
        grad_output: Any, self: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        ceil_mode: bool, indices: Any,
    ) -> Work | None:  # fmt: skip
        given = kernel_size, stride, padding, dilation, ceil_mode
        same = (
            grad_output.raw_dtype is self.raw_dtype and grad_output.raw_shape == indices.raw_shape
        )
        if not _served(backward, self, n) or not same:
            return None
        result, calls = empty(self.raw_shape, self.raw_dtype, self.raw_device), list[Call]()
        at = _image(cast(indices, int32, calls), n, calls)
        pair = _image(grad_output, n, calls), _image(self, n, calls)
        target = reshaped(result, _image_shape(self.raw_shape, n))
        calls.append((backward, (*pair, at, *options(self, *given), target)))
        return result, calls

    STEPS[f"aten::{name}_with_indices"] = run
    STEPS[f"aten::{name}_with_indices_backward"] = back


def _average_pool(n: int) -> None:
    name = f"avg_pool{n}d"
    rule = rule_of(name)

    def options(
        self: Tensor, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, include: bool,
        divisor: int | None,
    ) -> tuple[Any, ...]:  # fmt: skip
        found = pool_sizes(n, self, kernel, stride, padding, 1, ceil_mode, name)[:3]
        sizes = (_spread(v, n, one) for v, one in zip(found, (1, 1, 0), strict=True))
        return *sizes, bool(ceil_mode), bool(include), divisor or 0, precision()

    def run(
        self: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> Work | None:  # fmt: skip
        given = kernel_size, stride, padding, ceil_mode, count_include_pad
        more = (divisor_override,) if n > 1 else ()
        spec = rule(self, *given, *more)
        if not _served("AvgPool2d", self, n):
            return None
        out, calls = made(spec, self.raw_device), list[Call]()
        target = reshaped(out, _image_shape(out.raw_shape, n))
        numbers = options(self, *given, divisor_override)
        calls.append(("AvgPool2d", (_image(self, n, calls), *numbers, target)))
        return out, calls

    def back(
        grad_output: Any, self: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
        count_include_pad: bool, divisor_override: int | None,
    ) -> Work | None:  # fmt: skip
        if not _served("AvgPool2dBackward", self, n) or not numel(grad_output.raw_shape):
            return None
        if grad_output.raw_dtype is not self.raw_dtype:
            return None
        numbers = options(
            self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
        result, calls = empty(self.raw_shape, self.raw_dtype, self.raw_device), list[Call]()
        pair = _image(grad_output, n, calls), _image(self, n, calls)
        target = reshaped(result, _image_shape(self.raw_shape, n))
        calls.append(("AvgPool2dBackward", (*pair, *numbers, target)))
        return result, calls

    STEPS[f"aten::{name}"] = run
    STEPS[f"aten::{name}_backward"] = back


for _n in (1, 2):
    _max_pool(_n)
    _average_pool(_n)
