"""Tangents of every op with PyTorch's samples, beside PyTorch's."""

import re

import torch as oracle
from checks import COMPLEX, DOUBLE, NoSample, each_sample, limit
from compare import same
from convert import Converter, tensors_in
from counterparts import counterpart, function_of
from traits import FACTORS, RANDOM

import mindtorch_core as torch

# Where PyTorch's tangents, or those of its parts, are not to be had.
_NOT_THEIRS = "forward AD|not implemented|derivative for|ZeroTensor|FakeTensor"


def tangents(op, dtype=DOUBLE, *, inplace=False, most=None):
    """Values and tangents of results, where all that requires grad in PyTorch's samples moves.

    Args:
        op: an OpInfo.
        dtype: PyTorch's dtype of the samples.
        inplace: of the in-place method, on a copy of the input.
        most: how many samples are taken.
    """
    if not op.supports_forward_ad or dtype not in op.supported_backward_dtypes("cpu"):
        raise NoSample("no forward mode in PyTorch")
    if inplace and (op.inplace_variant is None or not op.supports_inplace_autograd):
        raise NoSample("no in-place variant with a gradient")
    factor = FACTORS.get(op.formatted_name, 1) * 10
    theirs = op.inplace_variant if inplace else op.op
    mine = counterpart(theirs) if inplace else function_of(op)

    def check(sample):
        if inplace and (sample.broadcasts_input or not isinstance(sample.input, oracle.Tensor)):
            return False
        given = [sample.input, list(sample.args), sample.kwargs]
        leaves = {id(t): t for t in tensors_in(given, oracle.Tensor) if t.requires_grad}
        if not leaves:
            return False
        along = {n: oracle.randn(t.shape, dtype=t.dtype) for n, t in leaves.items()}
        convert = Converter()
        ours = convert(given)
        moves = {id(convert.tensor(t)): Converter()(along[n]) for n, t in leaves.items()}
        process = sample.output_process_fn_grad
        try:
            expected = _moved(oracle, op.gradcheck_wrapper, theirs, given, along, process, inplace)
        except (RuntimeError, NotImplementedError) as error:
            if not (inplace or re.search(_NOT_THEIRS, str(error))):
                raise
            return False
        wrapped = counterpart(op.gradcheck_wrapper)
        actual = _moved(torch, wrapped, mine, ours, moves, counterpart(process), inplace)
        same(actual, expected, factor=factor, values=op.name not in RANDOM, what="tangent")
        return True

    each_sample(op, dtype, check, most=most, grad=True)


def _moved(library, wrapped, fn, given, along, process, inplace):
    """What a call gives in a library, and the tangents: zeros where there are none."""
    forward = library.autograd.forward_ad

    def dual(value):
        if isinstance(value, library.Tensor):
            plain = value.detach()
            moving = id(value) in along
            return forward.make_dual(plain, along[id(value)].clone()) if moving else plain
        if isinstance(value, dict):
            return {k: dual(v) for k, v in value.items()}
        return type(value)(map(dual, value)) if type(value) in (list, tuple) else value

    with forward.dual_level():
        first, args, kwargs = dual(given)
        first = first.clone() if inplace else first
        outs = tensors_in(process(wrapped(fn, first, *args, **kwargs)), library.Tensor)
        found = []
        for primal, tangent in map(forward.unpack_dual, outs):
            if not (primal.is_floating_point() or primal.is_complex()):
                continue
            found += [primal, library.zeros_like(primal) if tangent is None else tangent.clone()]
    return found


def tangent_cases(op):
    """The checks of an op as (name, function)."""
    for dtype in (DOUBLE, COMPLEX):
        if op.supports_forward_ad and dtype in op.supported_backward_dtypes("cpu"):
            name = str(dtype).removeprefix("torch.")
            for inplace in (False, True):
                if inplace and (op.inplace_variant is None or not op.supports_inplace_autograd):
                    continue
                yield f"tangent{'-inplace' * inplace}-{name}", _bound(op, dtype, inplace)


def _bound(op, dtype, inplace):
    return lambda device="cpu": tangents(op, dtype, inplace=inplace, most=limit(9))
