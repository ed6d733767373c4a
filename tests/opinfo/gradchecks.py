"""Gradients of every op with PyTorch's samples, against finite differences.

PyTorch serves for its samples alone: no gradient is compared with PyTorch's, so what both libraries
get wrong is seen here.
"""

import functools
import itertools
from collections import Counter

import torch as oracle
from checks import COMPLEX, DOUBLE, OPS, each_of, samples
from convert import Converter, tensors_in
from counterparts import counterpart, function_of

import mindtorch_core as torch

# Samples beyond this many elements take long; they are used where there are no others.
ELEMENTS = 500
SAMPLES = 2


def gradcheck(op, dtype, device="cpu", *, second=False, inplace=False):
    """`torch.autograd.gradcheck` of an op's function, or of its in-place method.

    Args:
        op: an OpInfo.
        dtype: PyTorch's dtype of the samples.
        device: where the op runs.
        second: check the gradients' gradients instead.
        inplace: check the in-place method, on a copy of the input.
    """
    fn = _on_a_copy(counterpart(op.inplace_variant)) if inplace else function_of(op)
    check = torch.autograd.gradgradcheck if second else torch.autograd.gradcheck
    options = {
        "nondet_tol": op.gradcheck_nondet_tol,
        "check_grad_dtypes": True,
        # PyTorch compares element by element where one direction is too coarse.
        "fast_mode": op.gradcheck_fast_mode is not False,
    }
    if second:
        options["gen_non_contig_grad_outputs"] = True
    wrapped = counterpart(op.gradcheck_wrapper)  # such as a matrix that is made symmetric
    left = SAMPLES

    def run(sample):
        nonlocal left
        if not left or (inplace and sample.broadcasts_input):
            return False
        leaves, call = _function_of_leaves(fn, wrapped, sample, Converter(device))
        if not leaves or not _depends(call(*leaves)):
            return False
        left -= 1
        assert check(call, leaves, **options), "gradcheck returned False"
        return True

    each_of(_candidates(op.formatted_name, dtype), run)


@functools.lru_cache(maxsize=1)  # the checks of one op follow each other
def _candidates(name, dtype):
    """Samples that have elements to move, the small ones first: one of the first, one amid the rest."""
    found = [s for s in samples(OPS[name], dtype, grad=True) if _size(s)]
    small = [s for s in found if _size(s) <= ELEMENTS]
    middle = len(small) // 2
    return [*small[:1], *small[middle:], *small[1:middle]] or sorted(found, key=_size)


def _size(sample):
    """How many elements differences move."""
    given = tensors_in([sample.input, *sample.args, sample.kwargs], oracle.Tensor)
    return sum(t.numel() for t in given if t.requires_grad)


def _depends(outs):
    return any(t.requires_grad for t in tensors_in(outs, torch.Tensor))


def _on_a_copy(method):
    """An in-place method as a function, which leaves its input as it is."""
    return lambda self, *args, **kwargs: method(self.clone(), *args, **kwargs)


def _function_of_leaves(fn, wrapped, sample, convert):
    """A sample's tensors that require grad, each once, and the call as a function of these.

    Those of lower precision, which a step vanishes in, stay as they are. None shares its memory: a
    difference may not move two of them, or two elements.
    """
    given = convert([sample.input, list(sample.args), sample.kwargs])
    tensors = {id(t): t for t in tensors_in(given, torch.Tensor)}
    found = {
        key: t
        for key, t in tensors.items()
        if t.requires_grad and t.dtype in (torch.float64, torch.complex128)
    }
    memory = Counter(_address(t) for t in tensors.values())
    leaves = [_leaf(t, alone=memory[_address(t)] == 1) for t in found.values()]
    process = counterpart(sample.output_process_fn_grad)

    def call(*values):
        torch.manual_seed(0)  # a random op is a function of its arguments for one seed
        first, args, kwargs = _with(given, dict(zip(found, values, strict=True)))
        result = process(wrapped(fn, first, *args, **kwargs))
        return tuple(result) if isinstance(result, list) else result

    return leaves, call


def _address(t):
    return t.untyped_storage().data_ptr()


def _leaf(t, *, alone):
    """The tensor detached, in memory of its own if others, or several elements, share its memory."""
    repeats = any(step == 0 and n > 1 for step, n in zip(t.stride(), t.shape, strict=True))
    mine = t.detach() if alone and not repeats else t.detach().clone()
    return mine.requires_grad_()


def _with(value, replaced):
    """A nested value with other tensors in the place of some."""
    if isinstance(value, torch.Tensor):
        return replaced.get(id(value), value)
    if isinstance(value, dict):
        return {k: _with(v, replaced) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_with(v, replaced) for v in value)
    return value


def gradcheck_cases(op):
    """The checks of an op as (name, function without arguments but a device)."""
    for dtype in (DOUBLE, COMPLEX):
        if not op.supports_autograd or dtype not in op.supported_backward_dtypes("cpu"):
            continue
        for inplace, second in itertools.product((False, True), repeat=2):
            if second and not op.supports_gradgrad:
                continue
            if inplace and (op.inplace_variant is None or not op.supports_inplace_autograd):
                continue
            name = "gradgradcheck" if second else "gradcheck"
            name += "-inplace" if inplace else ""
            yield (
                f"{name}-{str(dtype).removeprefix('torch.')}",
                _bound(op, dtype, second=second, inplace=inplace),
            )


def _bound(op, dtype, **more):
    return lambda device="cpu": gradcheck(op, dtype, device, **more)
