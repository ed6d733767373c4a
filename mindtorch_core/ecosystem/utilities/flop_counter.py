"""``torch.utils.flop_counter``: how many multiplications and additions the ops of a block do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any, Final, Self
from warnings import warn

from ...frontend.dispatch_modes import DispatchMode
from ...opdefs.torch_ops import OpOverloadPacket, ops
from ...tensors.tensor import Tensor
from ...utils._pytree import tree_leaves, tree_map
from .module_tracker import ModuleTracker

__all__ = [
    "FlopCounterMode",
    "flop_registry",
    "get_shape",
    "register_flop_formula",
    "shape_wrapper",
]


def _mm(a: Tensor, b: Tensor, *rest: Any, **options: Any) -> int:
    return 2 * prod(a.shape) * b.shape[-1]


def _addmm(bias: Tensor, a: Tensor, b: Tensor, *rest: Any, **options: Any) -> int:
    return _mm(a, b)


def _conv(x: Sequence[int], weight: Sequence[int], out: Sequence[int], transposed: bool) -> int:
    """Each element of the input (transposed) or of the result meets a filter."""
    spread = x if transposed else out
    return 2 * x[0] * prod(spread[2:]) * prod(weight)


def _convolution(
    x: Any, w: Any, b: Any, s: Any, p: Any, d: Any, transposed: bool, *rest: Any, out_val: Tensor
) -> int:
    return _conv(x.shape, w.shape, out_val.shape, transposed)


def _convolution_backward(
    grad: Any, x: Any, w: Any, b: Any, s: Any, p: Any, d: Any, transposed: bool, op: Any, groups: int,
    mask: Sequence[bool], *, out_val: Any,
) -> int:  # fmt: skip
    return (bool(mask[0]) + bool(mask[1])) * _conv(x.shape, w.shape, grad.shape, transposed)


def _linear(x: Tensor, weight: Tensor, *rest: Any, **options: Any) -> int:
    return 2 * prod(x.shape) * weight.shape[0]


def _matmul(a: Tensor, b: Tensor, *, out_val: Tensor) -> int:
    return 2 * prod(out_val.shape) * a.shape[-1]


def _convolution_weight(x: Tensor, grad: Tensor, *rest: Any, out_val: Tensor) -> int:
    """A convolution's gradient for its filters, of which each element meets all of the other gradient."""
    return 2 * grad.shape[0] * prod(grad.shape[2:]) * prod(out_val.shape)


def _attention(q: Tensor, k: Tensor, v: Tensor, *rest: Any, **options: Any) -> int:
    batch = prod(q.shape[:-2])
    return 2 * batch * q.shape[-2] * k.shape[-2] * (q.shape[-1] + v.shape[-1])


# Flops of an op, of its arguments and `out_val`, its result.
flop_registry: Final[dict[Any, Callable[..., int]]] = {
    ops.aten.mm: _mm,
    ops.aten.bmm: _mm,
    ops.aten.addmm: _addmm,
    ops.aten.baddbmm: _addmm,
    ops.aten.linear: _linear,
    ops.aten.matmul: _matmul,
    ops.aten.scaled_dot_product_attention: _attention,
    ops.aten.convolution: _convolution,
    ops.aten.convolution_backward: _convolution_backward,
    ops.aten._convolution_weight: _convolution_weight,
}


def shape_wrapper(f: Callable[..., int]) -> Callable[..., int]:
    """A formula of shapes as one of tensors: it is called with ``out_shape`` in the place of ``out_val``."""

    @wraps(f)
    def formula(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        args, kwargs, out_shape = tree_map(get_shape, (args, kwargs, out_val))
        return f(*args, out_shape=out_shape, **kwargs)

    return formula


def get_shape(i: Any) -> Any:
    """A tensor's shape; other values as they are."""
    return i.shape if isinstance(i, Tensor) else i


def register_flop_formula(
    targets: Any, get_raw: bool = False
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Say how many flops an op does, such as one of `torch.library`; a decorator of the formula.

    Args:
        targets: the op, such as ``torch.ops.mylib.foo``, or several.
        get_raw: whether the formula takes the op's arguments and ``out_val``, its result, as they are. It
            takes their shapes and ``out_shape`` otherwise.

    Raises:
        ValueError: if a target is no op.
        RuntimeError: if one has a formula already.
    """

    def register(formula: Callable[..., int]) -> Callable[..., int]:
        if not get_raw:
            formula = shape_wrapper(formula)
        chosen = tree_leaves(targets)
        for target in chosen:
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(
                    "register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. "
                    f"torch.ops.mylib.foo), got {target} which is of type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
        flop_registry.update(dict.fromkeys(chosen, formula))
        return formula

    return register


class FlopCounterMode(DispatchMode):
    """Counts what products of matrices, convolutions and attention do in a block.

    They are counted for the block, and for each module that is called in it, backward included; modules
    are named as `ModuleTracker` names them.

    Args:
        mods: not needed: all modules are counted.
        depth: how many levels of modules the table shows.
        display: print the table at the block's end.
        custom_mapping: flops of other ops, for this counter: formulas by ``torch.ops.mylib.foo``, as
            `register_flop_formula` takes them. One whose ``_get_raw`` is true takes no shapes but the
            arguments themselves.
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
        if mods is not None:
            warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.flop_registry = flop_registry | {
            op: formula if getattr(formula, "_get_raw", False) else shape_wrapper(formula)
            for op, formula in (custom_mapping or {}).items()
        }

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run the op, and add what it does."""
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        op = func.overloadpacket
        if op in self.flop_registry:
            flops = self.flop_registry[op](*args, **kwargs, out_val=out)
            for module in self._modules.parents:
                self.flop_counts[module][op] += flops
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
