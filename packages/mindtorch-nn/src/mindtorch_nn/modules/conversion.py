"""Conversions of a module's parameters and buffers: devices, dtypes, any function."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import refusing, warn_user

from ..parameter import Parameter, swaps
from .base import ModuleBase, Undo, ends, undoing

__all__ = ["Conversion"]

Convert = Callable[[Any], Any]


def _set_data(t: Any, values: Any) -> None:
    t.data = values


def _set_grad(t: Any, grad: Any) -> None:
    t.grad = grad


class Conversion(ModuleBase):
    """The part of `Module` that converts it in place."""

    @refusing
    @ends
    def _apply(self, fn: Convert, recurse: bool = True) -> Self:
        """Give every parameter, its gradient and every buffer what ``fn`` makes of it.

        If it fails everything is as it was.
        """
        with undoing() as undo:
            if recurse:
                for module in dict.fromkeys(m for m in self._modules.values() if m is not None):
                    module._apply(fn)
            for name, param in list(self._parameters.items()):
                if param is None:
                    continue
                with torch.no_grad():
                    made = fn(param)
                    old_grad = param.grad
                    grad = None if old_grad is None else fn(old_grad)
                if made is not param:
                    param = self._converted(name, param, made, undo)
                if old_grad is not None and grad is not None:
                    param.grad = grad.requires_grad_(old_grad.requires_grad)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    undo.steps.append(partial(self._buffers.__setitem__, name, buffer))
                    self._buffers[name] = fn(buffer)
        return self

    def _converted(self, name: str, param: Any, made: Any, undo: Undo) -> Any:
        """The parameter with what was made of it, as ``torch.__future__`` says."""
        undo.steps.append(partial(_set_grad, param, param.grad))
        if torch.__future__.get_overwrite_module_params_on_conversion():
            undo.steps.append(partial(self._parameters.__setitem__, name, param))
            self._parameters[name] = param = Parameter(made, param.requires_grad)
        elif swaps(made):
            param.grad = None
            new = Parameter(made, param.requires_grad)
            undo.steps.append(partial(torch.utils.swap_tensors, param, new))
            torch.utils.swap_tensors(param, new)
        else:
            undo.steps.append(partial(_set_data, param, param.data))
            param.grad = None
            param.data = made
        return param

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move and convert parameters and buffers in place: ``to(device, dtype)``, ``to(tensor)``.

        Args:
            *args: a device, a floating point or complex dtype, both, or a tensor that has both; and
                ``non_blocking``. Integral parameters and buffers keep their dtype.
            **kwargs: the same by name, and ``memory_format`` for those of 4 and 5 dimensions.

        Raises:
            TypeError: for another dtype.
            NotImplementedError: for a module on ``meta``, which has no values; see `to_empty`.

        Example:
            >>> torch.nn.Linear(2, 1).to(torch.float64).weight.dtype
            torch.float64
        """
        device, dtype, non_blocking, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                    f"dtype={dtype}"
                )
            if dtype.is_complex:
                warn_user(
                    "Complex modules are a new feature under active development whose design may change, "
                    "and some modules might not work as expected when using complex tensors as "
                    "parameters or buffers.",
                )

        def convert(t: Any) -> Any:
            options: dict[str, Any] = {"non_blocking": non_blocking}
            if memory_format is not None and t.dim() in (4, 5):
                options["memory_format"] = memory_format
            wanted = dtype if t.is_floating_point() or t.is_complex() else None
            if device is None and wanted is None and "memory_format" not in options:
                return t
            if t.is_meta and device is not None and torch.device(device).type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() "
                    "instead of torch.nn.Module.to() when moving module from meta to a different device."
                )
            return t.to(
                device=t.device if device is None else device,
                dtype=t.dtype if wanted is None else wanted,
                **options,
            )

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Give parameters and buffers memory on a device; values are whatever was there."""
        return self._apply(lambda t: torch.empty_like(t, device=device), recurse=recurse)

    def cpu(self) -> Self:
        """Move to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Move to a GPU, by default the current one."""
        return self._apply(lambda t: t.cuda(device))

    def npu(self, device: Any = None) -> Self:
        """Move to an NPU, by default the current one."""
        return self._apply(lambda t: t.npu(device))

    def xpu(self, device: Any = None) -> Self:
        """Move to an XPU, by default the current one."""
        return self._apply(lambda t: t.xpu(device))

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Convert floating point parameters and buffers to float32."""
        return self._floating(torch.float32)

    def double(self) -> Self:
        """Convert floating point parameters and buffers to float64."""
        return self._floating(torch.float64)

    def half(self) -> Self:
        """Convert floating point parameters and buffers to float16."""
        return self._floating(torch.float16)

    def bfloat16(self) -> Self:
        """Convert floating point parameters and buffers to bfloat16."""
        return self._floating(torch.bfloat16)

    def _floating(self, dtype: torch.dtype) -> Self:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def share_memory(self) -> Self:
        """Move parameters and buffers into memory that processes share.

        Raises:
            RuntimeError: for tensors on devices other than the CPU.
        """
        return self._apply(lambda t: t.share_memory_())


def _parse_to(
    *args: Any, **kwargs: Any
) -> tuple[Any, torch.dtype | None, builtins.bool, torch.memory_format | None]:
    """Device, dtype, non_blocking and memory format, from what ``to`` takes.

    Raises:
        TypeError: for anything else.
        RuntimeError: if it is said whether to copy: modules never do.
    """
    given = [
        *(type(a).__name__ for a in args),
        *(f"{k}={type(v).__name__}" for k, v in kwargs.items()),
    ]
    device = kwargs.pop("device", None)
    dtype = kwargs.pop("dtype", None)
    other = kwargs.pop("tensor", None)
    non_blocking = kwargs.pop("non_blocking", False)
    memory_format = kwargs.pop("memory_format", None)
    copies = kwargs.pop("copy", None)
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        other = rest.pop(0)
    elif rest and isinstance(rest[0], torch.dtype):
        dtype = rest.pop(0)
    elif rest and not isinstance(rest[0], bool):
        device = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], torch.dtype)):
            dtype = rest.pop(0)
    if rest and isinstance(rest[0], bool):
        non_blocking = rest.pop(0)
    if rest and isinstance(rest[0], bool):
        copies = rest.pop(0)
    kinds = (
        (device, str | int | torch.device), (dtype, torch.dtype), (other, Tensor),
        (memory_format, torch.memory_format),
    )  # fmt: skip
    bad = any(not isinstance(value, kind | None) for value, kind in kinds)
    twice = other is not None and not device is dtype is None
    if rest or kwargs or bad or twice:
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({', '.join(given)}), but expected "
            f"(device=None, dtype=None, non_blocking=False) with a torch.dtype such as torch.float32, or "
            f"(tensor, non_blocking=False)"
        )
    if copies is not None:
        raise RuntimeError(".to() does not accept copy argument")
    if other is not None:
        device, dtype = other.device, other.dtype
    return (None if device is None else torch.device(device)), dtype, non_blocking, memory_format
