"""``torch.utils.flop_counter``: how many multiplications and additions the ops of a block do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, Self

from ...frontend.dispatch_modes import DispatchMode
from ...tensors.tensor import Tensor
from .module_tracker import ModuleTracker

__all__ = ["FlopCounterMode"]


def _mm(a: Tensor, b: Tensor, *rest: Any, **options: Any) -> int:
    return 2 * prod(a.shape) * b.shape[-1]


def _addmm(bias: Tensor, a: Tensor, b: Tensor, *rest: Any, **options: Any) -> int:
    return _mm(a, b)


def _conv(x: Sequence[int], weight: Sequence[int], out: Sequence[int], transposed: bool) -> int:
    """Each element of the input (transposed) or of the result meets a filter."""
    spread = x if transposed else out
    return 2 * x[0] * prod(spread[2:]) * prod(weight)


def _convolution(
    x: Any, w: Any, b: Any, s: Any, p: Any, d: Any, transposed: bool, *rest: Any, out: Tensor
) -> int:
    return _conv(x.shape, w.shape, out.shape, transposed)


def _convolution_backward(
    grad: Any, x: Any, w: Any, b: Any, s: Any, p: Any, d: Any, transposed: bool, op: Any, groups: int,
    mask: Sequence[bool], *, out: Any,
) -> int:  # fmt: skip
    return (bool(mask[0]) + bool(mask[1])) * _conv(x.shape, w.shape, grad.shape, transposed)


def _linear(x: Tensor, weight: Tensor, *rest: Any, **options: Any) -> int:
    return 2 * prod(x.shape) * weight.shape[0]


def _matmul(a: Tensor, b: Tensor, *, out: Tensor) -> int:
    return 2 * prod(out.shape) * a.shape[-1]


def _convolution_weight(x: Tensor, grad: Tensor, *rest: Any, out: Tensor) -> int:
    """A convolution's gradient for its filters, of which each element meets all of the other gradient."""
    return 2 * grad.shape[0] * prod(grad.shape[2:]) * prod(out.shape)


def _attention(q: Tensor, k: Tensor, v: Tensor, *rest: Any, **options: Any) -> int:
    batch = prod(q.shape[:-2])
    return 2 * batch * q.shape[-2] * k.shape[-2] * (q.shape[-1] + v.shape[-1])


# Flops of an op, by its name; those that take `out` are told the result.
_FORMULAS: Final[dict[str, Callable[..., int]]] = {
    "aten::mm": _mm,
    "aten::bmm": _mm,
    "aten::addmm": _addmm,
    "aten::baddbmm": _addmm,
    "aten::linear": _linear,
    "aten::scaled_dot_product_attention": _attention,
}
_OF_RESULTS: Final[dict[str, Callable[..., int]]] = {
    "aten::matmul": _matmul,
    "aten::_convolution_weight": _convolution_weight,
    "aten::convolution": _convolution,
    "aten::convolution_backward": _convolution_backward,
}


class FlopCounterMode(DispatchMode):
    """Counts what products of matrices, convolutions and attention do in a block.

    They are counted for the block, and for each module that is called in it, backward included; modules
    are named as `ModuleTracker` names them.

    Args:
        mods: ignored: all modules are counted.
        depth: how many levels of modules the table shows.
        display: print the table at the block's end.
        custom_mapping: flops of other ops: functions of the op's arguments and ``out_val``, its result.
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: dict[Any, Callable[..., int]] | None = None,
    ) -> None:
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.display, self.depth = display, depth
        self._modules = ModuleTracker()
        self._custom = {_name_of(op): count for op, count in (custom_mapping or {}).items()}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run the op, and add what it does."""
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        name = func.name().partition(".")[0]
        if name in self._custom:
            flops = self._custom[name](*args, **kwargs, out_val=out)
        elif name in _OF_RESULTS:
            flops = _OF_RESULTS[name](*args, **kwargs, out=out)
        elif name in _FORMULAS:
            flops = _FORMULAS[name](*args, **kwargs)
        else:
            return out
        for module in self._modules.parents:
            self.flop_counts[module][func.overloadpacket] += flops
        return out

    def __enter__(self) -> Self:
        self.flop_counts.clear()
        self._modules.__enter__()
        return super().__enter__()

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        self._modules.__exit__(*exc_info)
        if self.display:
            print(self.get_table())

    def get_total_flops(self) -> int:
        """Flops of all ops."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Flops by op, by the modules' names, and of all below ``Global``."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Flops and their share, by module and op, as text."""
        total, levels = self.get_total_flops(), self.depth if depth is None else depth
        shown = ["Global", *sorted(name for name in self.flop_counts if name != "Global")]
        rows = [
            row
            for name in shown
            if name.count(".") < levels
            for counts in (self.flop_counts[name],)
            for row in (
                ("  " * name.count(".") + name, sum(counts.values())),
                *(("  " * name.count(".") + f" - {op}", n) for op, n in counts.items()),
            )
        ]
        width = max(len(name) for name, _ in rows)
        lines = [f"{'Module':{width}}  {'FLOP':>15}  {'% Total':>7}"]
        lines += [f"{name:{width}}  {n:15,}  {n / (total or 1):7.2%}" for name, n in rows]
        return "\n".join(lines)


def _name_of(op: Any) -> str:
    return str(getattr(op, "_qualified_op_name", op))
