"""Comparing gradients with finite differences.

A function of complex numbers is seen as one of their real and imaginary parts. With PyTorch's
convention, the gradient of a real L at z = x + iy is dL/dx + i dL/dy, and backward is given v for
the function L = Re(sum(conj(v) * output)): v = 1 gives the derivatives of an output's real part,
v = i those of its imaginary part.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from ..dispatch.asked_wrongly import guarded
from ..dispatch.keys import AUTOGRAD
from ..gradients.differentiation import grad
from ..gradients.grad_mode import no_grad
from ..gradients.handles import RemovableHandle
from ..gradients.node import Node
from ..tensors.tensor import Tensor
from ..values.dtypes import complex128, float64
from ..values.shapes import numel, show
from ..values.user_warnings import warn_user
from .differences import (
    GradcheckError,
    Mismatch,
    Options,
    differentiable,
    direction,
    dot,
    flat,
    part,
    tensors_among,
    within,
    written,
)
from .forward_checks import check_batches, check_tangents

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

Function = Callable[..., Any]


@guarded
def gradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare gradients of ``func`` at ``inputs`` with central differences.

    Args:
        func: takes the inputs, returns a tensor or a tuple of them.
        inputs: arguments; those that require grad are checked and should be float64 or complex128.
        eps: step of the differences.
        atol: absolute tolerance.
        rtol: relative tolerance.
        raise_exception: raise on a mismatch instead of returning False.
        nondet_tol: by how much two runs of the same backward may differ.
        check_undefined_grad: also check that missing gradients, of one output or of all, count as
            zero.
        check_grad_dtypes: also check that gradients have the dtypes of their inputs.
        check_batched_grad: accepted; batches of gradients are computed one by one.
        check_batched_forward_grad: also check that ``vmap`` computes several tangents at once.
        check_forward_ad: also check tangents (`mindtorch_core.autograd.forward_ad`).
        check_backward_ad: check gradients.
        fast_mode: compare along one random direction instead of element by element.
        masked: accepted; inputs are dense.

    Raises:
        GradcheckError: on a mismatch; the text gives both values.
        ValueError: if no input requires grad, or batches of tangents are to be checked alone.
        RuntimeError: if elements of a checked input share memory.

    Example:
        >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradcheck(torch.sin, (x,))
        True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise ValueError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )
    options = Options(
        eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, fast_mode
    )
    check = _Check(func, [inputs] if isinstance(inputs, Tensor) else list(inputs), options)
    try:
        if check_forward_ad and check.outputs:
            check_tangents(check)
        if check_backward_ad:
            check.run()
        if check_batched_forward_grad:
            check_batches(check)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_input(i: int, t: Tensor) -> None:
    if t._dtype is not float64 and t._dtype is not complex128:
        warn_user(
            f"Input #{i} requires gradient and is not a double precision floating point or complex. "
            f"This check will likely fail if all the inputs are not of double precision floating point "
            f"or complex. (It is {t._dtype}.)",
        )
    if any(step == 0 and n > 1 for step, n in zip(t._geometry()[0], t._shape, strict=True)):
        raise RuntimeError(
            f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
            f"non-overlapping to be able to compute the numerical gradients correctly. You should call "
            f".contiguous on the input before passing it to gradcheck."
        )


class _Check:
    """One check of one function."""

    def __init__(self, func: Function, args: list[Any], options: Options) -> None:
        self.func = func
        self.args = args
        self.options = options
        # A tensor that is given twice counts once, with both its places.
        self.checked = [
            i
            for i, a in enumerate(args)
            if isinstance(a, Tensor)
            and a._keys & AUTOGRAD
            and not any(a is other for other in args[:i])
        ]
        if not self.checked:
            raise ValueError(
                "gradcheck expects at least one input tensor to require gradient, but none of them have "
                "requires_grad=True."
            )
        for i in self.checked:
            _check_input(i, args[i])
        self.wanted: list[Tensor] = [args[i] for i in self.checked]
        result = func(*args)
        found = tensors_among(result)
        self.positions = [k for k, t in enumerate(found) if t._keys & AUTOGRAD]
        self.outputs = [found[k] for k in self.positions]
        # As in PyTorch whole numbers must not change either, where they are all there is.
        self.whole = options.fast_mode and not self.outputs
        self.shapes = [t._shape for t in tensors_among(result, self.whole)]

    def run(self) -> None:
        """Make all checks.

        Raises:
            GradcheckError: if one fails.
        """
        if not self.outputs:
            self._without_gradient()
            return
        if self.options.fast_mode:
            self._compare_in_one_direction()
        else:
            self._compare_all()
        self._check_repetition()
        self._check_zero_gradient()
        if self.options.check_undefined_grad:
            self._check_missing_gradients()

    # ---- finite differences --------------------------------------------------------------------

    def _values(self, positions: Sequence[int]) -> list[list[Any]]:
        """Elements of outputs, for the inputs as they are now."""
        found = tensors_among(self.func(*self.args), self.whole)
        if len(found) != len(self.shapes):
            raise GradcheckError(
                f"func returned {len(self.shapes)} tensors, and {len(found)} when an input had changed a "
                f"little"
            )
        for shape, t in zip(self.shapes, found, strict=True):
            if numel(shape) != t.numel():
                raise AssertionError(
                    f"Expected `func` to return outputs with the same shape when inputs are perturbed by "
                    f"{self.options.eps}, but got: shapes {show(shape)} and {show(t._shape)}."
                )
        return [flat(found[k]) for k in positions]

    def _differences(
        self, change: Callable[[float], Any], positions: Sequence[int]
    ) -> list[list[Any]]:
        """Derivatives of the outputs along a change of the inputs.

        Args:
            change: ``change(step)`` sets the inputs to where they are after a step.
            positions: of the outputs.
        """
        eps = self.options.eps
        change(eps)
        up = self._values(positions)
        change(-eps)
        down = self._values(positions)
        return [
            [(a - b) / (2 * eps) for a, b in zip(u, d, strict=True)]
            for u, d in zip(up, down, strict=True)
        ]

    def _columns(self, t: Tensor, positions: Sequence[int]) -> Iterator[tuple[int, bool, Any]]:
        """For each element of an input, and its imaginary part: derivatives of all outputs."""
        with written(t) as data:
            for e, index in enumerate(product(*map(range, t._shape))):
                for imaginary in (False, True) if t._dtype.is_complex else (False,):
                    before: Any = data[index].item()

                    unit = 1j if imaginary else 1

                    def change(
                        step: float, at: Any = index, before: Any = before, unit: Any = unit
                    ) -> None:
                        with no_grad():
                            data[at] = before + step * unit

                    yield e, imaginary, self._differences(change, positions)
                    change(0.0)

    def _without_gradient(self) -> None:
        """No output requires grad: then none may depend on the inputs."""
        for t in self.wanted:
            for _, _, columns in self._columns(t, range(len(self.shapes))):
                if any(value != 0 for column in columns for value in column):
                    raise GradcheckError("Numerical gradient for function expected to be zero")

    # ---- element by element --------------------------------------------------------------------

    def _rows(self, out: Tensor, unit: complex) -> list[list[list[Any]]]:
        """For each input, the gradient that each element of an output gives: ``[element][...]``."""
        seed: Any = out.detach().new_zeros((out.numel(),))
        rows: list[list[list[Any]]] = [[] for _ in self.wanted]
        for j in range(out.numel()):
            with no_grad():
                seed[j] = unit
            found = self._gradients([out], [seed.reshape(out._shape)])
            for of_input, t, g in zip(rows, self.wanted, found, strict=True):
                of_input.append([0.0] * t.numel() if g is None else flat(g))
            with no_grad():
                seed[j] = 0
        return rows

    def _gradients(self, outs: Sequence[Tensor], seeds: Sequence[Any]) -> Sequence[Any]:
        found: Sequence[Any] = grad(
            list(outs), self.wanted, list(seeds), retain_graph=True, allow_unused=True
        )
        for i, t, g in zip(self.checked, self.wanted, found, strict=True):
            if g is None:
                continue
            if g._shape != t._shape:
                raise GradcheckError(
                    f"Analytical gradient has incorrect size: {list(g._shape)} for input {i}, which is "
                    f"{list(t._shape)}"
                )
            if self.options.check_grad_dtypes and g._dtype is not t._dtype:
                raise GradcheckError(
                    f"Gradient has dtype mismatch: {g._dtype} for input {i}, which is {t._dtype}"
                )
        return found

    def _compare_all(self) -> None:
        """Compare every derivative of every output."""
        analytic = []
        for out in self.outputs:
            rows = self._rows(out, 1)
            analytic.append((rows, self._rows(out, 1j) if out._dtype.is_complex else rows))
        for number, (i, t) in enumerate(zip(self.checked, self.wanted, strict=True)):
            worst = [Mismatch() for _ in self.outputs]
            for e, imaginary, columns in self._columns(t, self.positions):
                for k, numeric in enumerate(columns):
                    real_rows, imaginary_rows = (rows[number] for rows in analytic[k])
                    for o, n in enumerate(numeric):
                        a: Any = part(real_rows[o][e], imaginary)
                        if self.outputs[k]._dtype.is_complex:
                            a = complex(a, part(imaginary_rows[o][e], imaginary))
                        worst[k].see(n, a, (e, o, imaginary), self.options)
            for k, mismatch in enumerate(worst):
                mismatch.refuse(self.positions[k], i)

    # ---- in one direction ----------------------------------------------------------------------

    def _compare_in_one_direction(self) -> None:
        """Compare derivatives along a random direction of each input, of a random combination of outputs.

        A wrong Jacobian agrees there with probability zero, but for the tolerance. One input moves at a
        time, as a function may jump where another one leaves its place (a label that is compared with 1).
        """
        draw = random.Random(0)
        along = [direction(t, draw) for t in self.wanted]
        seeds = [direction(out, draw) for out in self.outputs]
        found = self._gradients(self.outputs, seeds)
        o = self.options
        weight = sum(abs(x) for v in seeds for x in flat(v))
        for i, t, u, g in zip(self.checked, self.wanted, along, found, strict=True):
            moves = flat(u)
            analytic = 0.0 if g is None else dot(flat(g), moves)
            numeric = self._directional(t, u, seeds)
            size = weight * sum(map(abs, moves))
            if not abs(analytic - numeric) <= o.atol * size + o.rtol * abs(numeric):
                self._compare_all()  # it says where
                raise GradcheckError(
                    f"Jacobian mismatch along a random direction of input {i}: numerical {numeric}, "
                    f"analytical {analytic}. Element by element, no difference exceeds the tolerance."
                )

    def _directional(self, t: Tensor, along: Tensor, seeds: Sequence[Tensor]) -> float:
        """The derivative of the outputs' combination along a direction of an input, by differences."""
        start: Any
        with no_grad():
            start = t.detach().clone()

        def change(step: float) -> None:
            with no_grad():
                t.data.copy_(start + along * step if step else start)

        try:
            columns = self._differences(change, self.positions)
        finally:
            change(0.0)
        return float(sum(dot(flat(v), c) for v, c in zip(seeds, columns, strict=True)))

    # ---- how backward behaves ------------------------------------------------------------------

    def _check_repetition(self) -> None:
        """The same backward must give the same gradients."""
        draw = random.Random(1)
        seeds = [direction(out, draw) for out in self.outputs]
        first, second = (self._gradients(self.outputs, seeds) for _ in range(2))
        tolerance = self.options.nondet_tol
        for i, a, b in zip(self.checked, first, second, strict=True):
            if a is None and b is None:
                continue
            if a is None or b is None or not within(flat(a), flat(b), tolerance):
                raise GradcheckError(
                    f"Backward is not reentrant, i.e., running backward with same input and grad_output "
                    f"multiple times gives different values, although analytical gradient matches "
                    f"numerical gradient. The tolerance for nondeterminism was {tolerance}. It is input "
                    f"{i} whose gradients differ."
                )

    def _check_zero_gradient(self) -> None:
        """Gradients of zero must give gradients of zero."""
        seeds = [out.detach().new_zeros(out._shape) for out in self.outputs]
        for i, g in zip(self.checked, self._gradients(self.outputs, seeds), strict=True):
            if g is not None and any(x != 0 for x in flat(g)):
                raise GradcheckError(
                    f"backward not multiplied by grad_output: the gradient of input {i} is not zero "
                    f"though those of all outputs are"
                )

    def _check_missing_gradients(self) -> None:
        """With no gradient at all or one of the outputs, and zeros elsewhere, gradients must be zero."""
        every = range(len(self.outputs))
        for missing in [every, *([k] for k in every if len(every) > 1)]:
            seeds: list[Any] = [out.detach().new_zeros(out._shape) for out in self.outputs]
            hooks = [
                _taken_away(node, self.outputs[k].output_nr, seeds[k])
                for k in missing
                if (node := self.outputs[k].grad_fn) is not None
            ]
            try:
                found = self._gradients(self.outputs, seeds)
            except RuntimeError as error:
                raise GradcheckError(
                    f"Expected backward function to handle undefined output grads, but it failed "
                    f"without one for output {self.positions[missing[0]]}: {error}"
                ) from error
            finally:
                for hook in hooks:
                    hook.remove()
            if any(x != 0 for g in found if g is not None for x in flat(g)):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are "
                    "undefined or zero."
                )


def _taken_away(node: Node, at: int, seed: Tensor) -> RemovableHandle:
    """Let a node get no gradient of an output where that would be nothing but a walk's seed."""

    def hook(grads: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(None if i == at and g is seed else g for i, g in enumerate(grads))

    return node.register_prehook(hook)


@guarded
def gradgradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """As `gradcheck`, for the gradients of gradients: checks the backward pass of ``func``.

    Args:
        func: takes the inputs, returns a tensor or a tuple of them.
        inputs: arguments; those that require grad are checked.
        grad_outputs: gradients of the outputs; random ones if they are left out.
        eps: step of the differences.
        atol: absolute tolerance.
        rtol: relative tolerance.
        gen_non_contig_grad_outputs: make the random ones not contiguous.
        raise_exception: raise on a mismatch instead of returning False.
        nondet_tol: by how much two runs of the same backward may differ.
        check_undefined_grad: as for `gradcheck`.
        check_grad_dtypes: as for `gradcheck`.
        check_batched_grad: accepted, as for `gradcheck`.
        check_fwd_over_rev: check tangents of gradients.
        check_rev_over_rev: check gradients of gradients.
        fast_mode: compare along one random direction instead of element by element.
        masked: accepted; inputs are dense.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    args = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if grad_outputs is None:
        outs = differentiable(func(*args))
        seeds = _seeds(outs, gen_non_contig_grad_outputs)
    else:
        seeds = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    wanted = [i for i, a in enumerate(args) if isinstance(a, Tensor) and a._keys & AUTOGRAD]

    def first_gradients(*values: Any) -> tuple[Any, ...]:
        xs, gs = values[: len(args)], values[len(args) :]
        results = differentiable(func(*xs))
        if not results or not wanted:
            return ()
        found = grad(
            results, [xs[i] for i in wanted], list(gs), create_graph=True, allow_unused=True
        )
        return tuple(g for g in found if g is not None)

    return gradcheck(
        first_gradients,
        [*args, *seeds],
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _seeds(outs: Sequence[Tensor], with_gaps: bool) -> list[Tensor]:
    """Random gradients of outputs, which require grad."""
    draw = random.Random(2)
    found = []
    for out in outs:
        seed: Any = direction(out, draw) * max(1.0, out.numel() ** 0.5)
        if with_gaps and out.numel():
            wide: Any = seed.new_zeros((*seed._shape, 2))
            wide[..., 0] = seed
            seed = wide[..., 0]
        found.append(seed.detach().requires_grad_())
    return found
