"""Steps of optimizers: all arithmetic of a parameter's part while it is in the cache."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import FLOATING

from ..addresses import address
from ..arrays import NUMPY_OF, WIDER
from ..compiled import FEWEST, computed
from ..register import composition_of, register, rule_of
from ..rows import over_blocks

__all__: list[str] = []

# Elements of a part: those of a step's arrays and of a spare one fit a second-level cache.
_PART: Final = 1 << 16
# Parameters of fewer elements are computed together, in a copy: calls cost more than copies.
_SMALL: Final = 1 << 12


class Work(NamedTuple):
    """What a step does to arrays.

    Attributes:
        compute: ``compute(flags, numbers, *arrays)``, in place; it takes the numbers one after the other.
        flags: what decides which operations it does.
        numbers: what may be another one at each step.
    """

    compute: Callable[..., None]
    flags: tuple[bool, ...]
    numbers: tuple[float, ...]

    def __call__(self, *arrays: Any) -> None:
        """Do it with NumPy."""
        d = arrays[0].dtype.type
        self.compute(self.flags, iter([d(n) for n in self.numbers]), *arrays)

    def compiled(self, *arrays: Any) -> bool:
        """Whether a kernel did it; the numbers are arrays without dimensions there."""

        def trace(tracer: Any, *parts: Any) -> list[Any]:
            self.compute(self.flags, iter(parts[len(arrays) :]), *parts[: len(arrays)])
            return []

        d = arrays[0].dtype
        numbers = [np.array(n, d) for n in self.numbers]
        return computed((self.compute, self.flags), trace, (*arrays, *numbers), ())


def _in_lines(tensors: Sequence[Any]) -> list[Any] | None:
    """The arrays of a parameter, its gradient and its states as lines in memory.

    None where they do not lie alike and without gaps, or are not real floating-point numbers.
    """
    if tensors[0].raw_dtype.category != FLOATING:
        return None
    arrays = [t.raw_data for t in tensors]
    if not all(a.flags.c_contiguous for a in arrays):
        strides = arrays[0].strides
        if any(a.strides != strides for a in arrays):
            return None
        order = sorted(range(len(strides)), key=lambda i: -strides[i])
        arrays = [a.transpose(order) for a in arrays]
        if not all(a.flags.c_contiguous for a in arrays):
            return None
    return [a.ravel() for a in arrays]


def _compute(lines: Sequence[Any], work: Work, wide: Any, writes: Sequence[int]) -> None:
    """Call ``work(*arrays)`` with each part of some lines of one length.

    Args:
        lines: a parameter's, its gradient's and its states'.
        work: computes in place.
        wide: NumPy dtype to compute in, if another one than theirs.
        writes: positions of those that it changes.
    """
    if wide is None and lines[0].size >= FEWEST and work.compiled(*lines):
        return

    def part(where: slice) -> None:
        arrays = [line[where] for line in lines]
        if wide is None:
            work(*arrays)
            return
        widened = [a.astype(wide) for a in arrays]
        work(*widened)
        for i in writes:
            arrays[i][...] = widened[i]

    over_blocks(part, lines[0].size, 1, _PART)


def _run(lists: Sequence[Any], works: Sequence[Work], writes: Sequence[int]) -> list[int]:
    """Compute the step of every parameter; returns the positions of those that cannot be.

    Args:
        lists: parameters, gradients and states.
        works: what computes each parameter's step; small ones with the same are computed together.
        writes: which of the lists change.
    """
    left: list[int] = []
    small: dict[tuple[Any, ...], list[list[Any]]] = {}
    taken: list[tuple[int, int]] = []
    for i, tensors in enumerate(zip(*lists, strict=True)):
        lines = _in_lines(tensors)
        if lines is None:
            left.append(i)
            continue
        d = tensors[0].raw_dtype
        wide = NUMPY_OF[WIDER[d]] if d in WIDER else None
        if _overlaps(lines[0], taken):  # what was begun with that memory is done before
            _join(small, writes)
            small.clear()
        if lines[0].size < _SMALL:
            small.setdefault((works[i], wide, d), []).append(lines)
        else:
            _compute(lines, works[i], wide, writes)
    _join(small, writes)
    return left


def _overlaps(line: Any, taken: list[tuple[int, int]]) -> bool:
    """Whether memory of a parameter is one of those that were met, in order; adds it."""
    first = address(line)
    last = first + line.nbytes
    at = bisect(taken, (first, last))
    found = (at > 0 and taken[at - 1][1] > first) or (at < len(taken) and taken[at][0] < last)
    taken.insert(at, (first, last))
    return found


def _join(small: dict[tuple[Any, ...], list[list[Any]]], writes: Sequence[int]) -> None:
    """Compute the steps of small parameters, those with the same work together."""
    for (work, wide, _), members in small.items():
        if len(members) == 1:
            _compute(members[0], work, wide, writes)
            continue
        joined = [np.concatenate(each) for each in zip(*members, strict=True)]
        _compute(joined, work, wide, writes)
        first = 0
        for lines in members:
            last = first + lines[0].size
            for at in writes:
                lines[at][...] = joined[at][first:last]
            first = last


def _number(value: Any) -> Any:
    return value.raw_data.item() if hasattr(value, "raw_data") else value


def _skipped(found_inf: Any) -> bool:
    return found_inf is not None and _number(found_inf) == 1


def _adam(name: str, *, decoupled: bool) -> None:
    rule = rule_of(name)

    def step(self: Any, grads: Any, averages: Any, squares: Any, largest: Any, steps: Any,
             *, grad_scale: Any = None, found_inf: Any = None, **options: Any) -> None:  # fmt: skip
        rule(self, grads, averages, squares, largest, steps, **options)
        if _skipped(found_inf):
            return
        options["lr"], scale = _number(options["lr"]), _number(grad_scale)
        lists = [self, grads, averages, squares, *([largest] if options["amsgrad"] else ())]
        numbers = [_number(each) for each in steps]
        works = {t: _adam_work(t, decoupled, scale, **options) for t in set(numbers)}
        written = [at for at in range(len(lists)) if at != 1 or scale is not None]
        for i in _run(lists, [works[t] for t in numbers], written):
            composition_of(name)(
                *([each[i]] for each in lists), *([],) * (5 - len(lists)), [numbers[i]],
                grad_scale=grad_scale, **options,
            )  # fmt: skip

    register(name, step)


def _adam_work(
    t: float, decoupled: bool, scale: Any, *, lr: float, beta1: float, beta2: float,
    weight_decay: float, eps: float, amsgrad: bool, maximize: bool,
) -> Work:  # fmt: skip
    """A step of Adam on arrays. Corrections for the first steps are taken out of the division."""
    decay = weight_decay * (-1 if maximize else 1)
    numbers = [] if scale is None else [scale]
    if weight_decay:
        numbers.append(1 - lr * weight_decay if decoupled else decay)
    numbers += 1 - beta1, 1 - beta2, beta2, math.sqrt(1 - beta2**t), eps, lr / (1 - beta1**t)
    flags = scale is not None, bool(weight_decay), decoupled, maximize, amsgrad
    return Work(_adam_step, flags, tuple(numbers))


def _adam_step(
    flags: Any, numbers: Any, p: Any, g: Any, average: Any, square: Any, largest: Any = None
) -> None:
    scaled, decays, decoupled, maximize, amsgrad = flags
    if scaled:
        np.divide(g, next(numbers), g)
    if decays and decoupled:
        np.multiply(p, next(numbers), p)
    elif decays:
        g = g + p * next(numbers)
    spare = np.subtract(np.negative(g) if maximize else g, average)
    np.multiply(spare, next(numbers), spare)
    np.add(average, spare, average)
    np.multiply(g, g, spare)
    np.multiply(spare, next(numbers), spare)
    np.multiply(square, next(numbers), square)
    np.add(square, spare, square)
    if amsgrad:
        np.maximum(largest, square, out=largest)
    np.sqrt(largest if amsgrad else square, spare)
    np.divide(spare, next(numbers), spare)
    np.add(spare, next(numbers), spare)
    np.divide(average, spare, spare)
    np.multiply(spare, next(numbers), spare)
    np.subtract(p, spare, p)


def _sgd(name: str) -> None:
    rule = rule_of(name)

    def step(self: Any, grads: Any, buffers: Any, *, grad_scale: Any = None, found_inf: Any = None,
             **options: Any) -> None:  # fmt: skip
        rule(self, grads, buffers, **options)
        if _skipped(found_inf):
            return
        options["lr"] = _number(options["lr"])
        lists = [self, grads, *([buffers] if options["momentum"] else ())]
        scale = _number(grad_scale)
        written = [at for at in range(len(lists)) if at != 1 or scale is not None]
        for i in _run(lists, [_sgd_work(scale, **options)] * len(self), written):
            rest = [[each[i]] for each in lists] + [[]] * (3 - len(lists))
            composition_of(name)(*rest, grad_scale=grad_scale, **options)

    register(name, step)


def _sgd_work(
    scale: Any, *, weight_decay: float, momentum: float, lr: float, dampening: float,
    nesterov: bool, maximize: bool, is_first_step: bool,
) -> Work:  # fmt: skip
    sign = -1 if maximize else 1
    numbers = [] if scale is None else [scale]
    if weight_decay:
        numbers.append(sign * weight_decay)
    if momentum:
        numbers += [sign] if is_first_step else [momentum, sign * (1 - dampening)]
        if nesterov:
            numbers.append(momentum)
    numbers.append(lr if momentum else sign * lr)
    flags = scale is not None, bool(weight_decay), bool(momentum), is_first_step, nesterov, maximize
    return Work(_sgd_step, flags, tuple(numbers))


def _sgd_step(flags: Any, numbers: Any, p: Any, g: Any, buffer: Any = None) -> None:
    scaled, decays, remembers, is_first_step, nesterov, maximize = flags
    if scaled:
        np.divide(g, next(numbers), g)
    if decays:
        g = g + p * next(numbers)
    if remembers:
        if is_first_step:
            np.multiply(g, next(numbers), buffer)
        else:
            np.multiply(buffer, next(numbers), buffer)
            np.add(buffer, np.multiply(g, next(numbers)), buffer)
        if nesterov:
            g = np.add(np.multiply(buffer, next(numbers)), -g if maximize else g)
        else:
            g = buffer
    np.subtract(p, np.multiply(g, next(numbers)), p)


def _adagrad(name: str) -> None:
    rule = rule_of(name)

    def step(self: Any, grads: Any, sums: Any, steps: Any, *, lr: Any, lr_decay: float,
             grad_scale: Any = None, found_inf: Any = None, **options: Any) -> None:  # fmt: skip
        rule(self, grads, sums, steps)
        if _skipped(found_inf):
            return
        scale = _number(grad_scale)
        numbers = [_number(each) for each in steps]
        rates = {t: _number(lr) / (1 + (t - 1) * lr_decay) for t in numbers}
        works = {t: _adagrad_work(scale, rate, **options) for t, rate in rates.items()}
        written = (0, 2) if scale is None else (0, 1, 2)
        for i in _run([self, grads, sums], [works[t] for t in numbers], written):
            composition_of(name)(
                [self[i]], [grads[i]], [sums[i]], [numbers[i]], lr=lr, lr_decay=lr_decay,
                grad_scale=grad_scale, **options,
            )  # fmt: skip

    register(name, step)


def _adagrad_work(
    scale: Any, rate: float, *, weight_decay: float, eps: float, maximize: bool
) -> Work:
    numbers = [] if scale is None else [scale]
    if weight_decay:
        numbers.append(weight_decay)
    flags = scale is not None, bool(weight_decay), maximize
    return Work(_adagrad_step, flags, (*numbers, eps, rate))


def _adagrad_step(flags: Any, numbers: Any, p: Any, g: Any, total: Any) -> None:
    scaled, decays, maximize = flags
    if scaled:
        np.divide(g, next(numbers), g)
    if maximize:
        g = -g
    if decays:
        g = g + p * next(numbers)
    spare = np.multiply(g, g)
    np.add(total, spare, total)
    np.sqrt(total, spare)
    np.add(spare, next(numbers), spare)
    np.divide(g, spare, spare)
    np.multiply(spare, next(numbers), spare)
    np.subtract(p, spare, p)


for _overload in ("", ".tensor_lr"):
    _adam(f"_fused_adam_{_overload}", decoupled=False)
    _adam(f"_fused_adamw_{_overload}", decoupled=True)
    _sgd(f"_fused_sgd_{_overload}")
    _adagrad(f"_fused_adagrad_{_overload}")
