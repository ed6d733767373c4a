"""What is checked of an op, each as a function that raises where ours differs from PyTorch.

Every check runs PyTorch's own samples through both libraries.
"""

import contextlib
import itertools
import os
import re
import warnings

import torch as oracle
from compare import same
from convert import DTYPES, Converter, Unsupported, tensors_in
from counterparts import Missing, counterpart, function_of
from pytorch_samples import making_samples, seed
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import SampleInput
from traits import FACTORS, ON_HOST, PREPARED, RANDOM, WITHOUT_CHANCE

import mindtorch_core as torch

OPS = {op.formatted_name: op for op in op_db}
FLOAT, DOUBLE, COMPLEX = oracle.float32, oracle.float64, oracle.complex128


# What is said of a function that is not there, when a Python function of PyTorch's tests asks for it.
_ABSENT = re.compile(
    r"(module 'mindtorch_core.*'|'Tensor' object|type object 'Tensor') has no attribute"
)


# Whether every float32 sample is run, and many others; otherwise a few of each op.
EVERYTHING = os.environ.get("MINDTORCH_OPINFO") == "all"


def limit(most):
    """How many samples a check runs: ``most`` (None for all of them), or a part of that."""
    if EVERYTHING:
        return most
    return 30 if most is None else -(-most // 3)


class NoSample(Exception):
    """PyTorch has no sample that this check can use."""


def dtypes_of(op):
    """PyTorch's dtypes that an op takes on the CPU and that exist here, float32 first."""
    found = [d for d in DTYPES if d in op.dtypes]
    return sorted(found, key=lambda d: d is not FLOAT)


def samples(op, dtype, *, most=None, grad=False):
    """Samples of an op: all of them, or the first few and some of the rest, evenly spaced."""
    seed(0)
    plain = WITHOUT_CHANCE.get(op.name, lambda sample: sample)
    with making_samples():
        found = [plain(s) for s in op.sample_inputs("cpu", dtype, requires_grad=grad)]
    if grad:
        found = [sample.transform(_own_leaf) for sample in found]
    if op.name in ON_HOST:
        for t in tensors_in([sample.args for sample in found], oracle.Tensor):
            t.on_host = True
    if most is not None and len(found) > most:
        step = len(found) / most
        found = [found[int(i * step)] for i in range(most)]
    return found


def _own_leaf(value):
    """A leaf that is a view of another one gets no gradients in PyTorch: a leaf of its own."""
    if not isinstance(value, oracle.Tensor) or not value.requires_grad:
        return value
    return value.detach().requires_grad_() if value.is_leaf and value._is_view() else value


@contextlib.contextmanager
def quiet():
    """Warnings are not compared; the random state of both libraries is fixed."""
    seed(0)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def described(sample):
    """A sample for messages: shapes instead of values."""

    def show(v):
        if isinstance(v, oracle.Tensor):
            return f"{str(v.dtype).removeprefix('torch.')}{list(v.shape)}"
        if isinstance(v, list | tuple):
            return "(" + ", ".join(map(show, v)) + ")"
        return repr(v)

    parts = [show(sample.input), *map(show, sample.args)]
    parts += [f"{k}={show(v)}" for k, v in sample.kwargs.items()]
    return ", ".join(parts)[:300]


def each_sample(op, dtype, check, *, most=None, grad=False):
    """Run a check on an op's samples, as `each_of` does."""
    each_of(samples(op, dtype, most=most, grad=grad), check)


def each_of(found, check):
    """Run a check on samples; its failure names the sample.

    Raises:
        NoSample: if no sample could be used.
    """
    used, unsupported = 0, None
    for sample in found:
        try:
            with quiet():
                used += bool(check(sample))
        except Unsupported as error:
            unsupported = error
        except Exception as error:
            if isinstance(error, AttributeError) and _ABSENT.search(str(error)):
                raise Missing(str(error)) from error
            error.add_note(f"sample: {described(sample)}")
            raise
    if not used:
        raise NoSample(str(unsupported) if unsupported else "no sample")


def called(fn, sample, convert=lambda v: v):
    """Call a function with a sample's arguments."""
    args = convert([sample.input, *sample.args])
    return fn(*args, **convert(sample.kwargs))


LOW = (oracle.float16, oracle.bfloat16)


def _factor(op, dtype):
    """By how much tolerances are wider for an op, or for it in one dtype."""
    return FACTORS.get(f"{op.formatted_name}-{_name(dtype)}", FACTORS.get(op.formatted_name, 1))


def forward(op, dtype, device="cpu", most=None):
    """Values, dtypes and shapes, and the memory and strides of views."""
    fn = function_of(op)
    factor = _factor(op, dtype)
    process = PREPARED.get(op.formatted_name, lambda result, sample: result)

    def check(sample):
        convert = Converter(device)
        args, kwargs = convert([sample.input, *sample.args]), convert(sample.kwargs)
        expected = called(op.op, sample)
        for t in tensors_in(expected, oracle.Tensor):
            if t.dtype not in DTYPES:
                raise Unsupported(f"a result of {t.dtype}")
        actual = fn(*args, **kwargs)
        for theirs, ours in zip(
            tensors_in(expected, oracle.Tensor), tensors_in(actual, torch.Tensor), strict=False
        ):
            _same_memory(theirs, ours, sample, args)
        options = {"factor": factor, "values": op.name not in RANDOM}
        try:
            same(process(actual, torch), process(expected, oracle), **options)
        except AssertionError:
            # PyTorch's kernels of 16 bits are not the same on every processor, and some round
            # between two steps: what it computes in float64 is the second judge.
            if dtype not in LOW:
                raise
            exact = _in_double(op, sample, expected)
            same(process(actual, torch), process(exact, oracle), **options)
        return True

    each_sample(op, dtype, check, most=most)


def _in_double(op, sample, like):
    """PyTorch's results of a sample in float64, in the dtypes that it gave without."""

    def wide(value):
        return value.double() if isinstance(value, oracle.Tensor) and value.dtype in LOW else value

    sample = sample.transform(wide)
    found = tensors_in(called(op.op, sample), oracle.Tensor)
    exact = [a.to(b.dtype) for a, b in zip(found, tensors_in(like, oracle.Tensor), strict=True)]
    return exact[0] if isinstance(like, oracle.Tensor) else exact


def _same_memory(theirs, ours, sample, args):
    """A view of an input is one here too, with the same strides; what is none is none here."""
    inputs = tensors_in([sample.input, *sample.args], oracle.Tensor)
    mine = tensors_in(args, torch.Tensor)
    for i, t in enumerate(inputs):
        if not t.numel() or theirs.layout is not oracle.strided:
            continue
        shared = t.untyped_storage().data_ptr() == theirs.untyped_storage().data_ptr()
        if shared:
            assert theirs.dtype is not t.dtype or ours.stride() == theirs.stride(), (
                f"strides {ours.stride()} of the view, not {theirs.stride()}"
            )
            assert _address(mine[i]) == _address(ours), "no view of the input, as PyTorch's is"
        elif theirs.numel():
            assert _address(mine[i]) != _address(ours), "memory of the input, which PyTorch copies"


def _address(t):
    return t.untyped_storage().data_ptr()


def _leaves(value, kind):
    return [t for t in tensors_in(value, kind) if t.requires_grad]


def _differentiable(value, kind):
    return [t for t in tensors_in(value, kind) if t.requires_grad]


def gradients(op, dtype=DOUBLE, device="cpu", most=None, second=False):
    """Gradients of every input for random gradients of the results; of those again if ``second``."""
    if not op.supports_autograd or dtype not in op.supported_backward_dtypes("cpu"):
        raise NoSample("no gradient in PyTorch")
    fn = function_of(op)
    factor = _factor(op, dtype) * (10 if second else 1)
    values = op.name not in RANDOM

    def check(sample):
        convert = Converter(device)
        args = convert([sample.input, *sample.args, sample.kwargs])
        theirs = [sample.input, *sample.args, sample.kwargs]
        process = sample.output_process_fn_grad
        outs = process(op.gradcheck_wrapper(op.op, *theirs[:-1], **theirs[-1]))
        leaves, mine = _leaves(theirs, oracle.Tensor), _leaves(args, torch.Tensor)
        outs = _differentiable(outs, oracle.Tensor)
        if not outs or not leaves:
            return False
        wrapped = counterpart(op.gradcheck_wrapper)  # such as a matrix that is made symmetric
        found = counterpart(process)(wrapped(fn, *args[:-1], **args[-1]))
        found = _differentiable(found, torch.Tensor)
        assert len(found) == len(outs), (
            f"{len(found)} results require grad, not {len(outs)} as in PyTorch"
        )
        seeds = [oracle.randn(t.shape, dtype=t.dtype) for t in outs]
        given = [Converter(device)(s) for s in seeds]
        expected = _grads(oracle, outs, leaves, seeds, second)
        actual = _grads(torch, found, mine, given, second)
        same(actual, expected, factor=factor, values=values, what="gradient")
        if second and any(g.requires_grad for g in expected):
            seeds = [oracle.randn(g.shape, dtype=g.dtype) for g in expected]
            given = [Converter(device)(s) for s in seeds]
            try:
                expected = _grads(oracle, expected, leaves, seeds, False)
            except RuntimeError as error:
                # PyTorch cannot differentiate this kernel twice, or not without a weight.
                if not re.search("is not implemented|undefined Tensor in C", str(error)):
                    raise
                return False
            actual = _grads(torch, actual, mine, given, False)
            same(actual, expected, factor=factor * 10, values=values, what="second gradient")
        return True

    each_sample(op, dtype, check, most=most, grad=True)


def _grads(library, outs, leaves, seeds, graph):
    """Gradients of the leaves for gradients of results; zeros where a result depends on none."""
    tracked = [i for i, t in enumerate(outs) if t.requires_grad]
    if not tracked:
        return [library.zeros_like(x) for x in leaves]
    found = library.autograd.grad(
        [outs[i] for i in tracked],
        leaves,
        [seeds[i] for i in tracked],
        create_graph=graph,
        allow_unused=True,
        retain_graph=True,
    )
    return [library.zeros_like(x) if g is None else g for g, x in zip(found, leaves, strict=True)]


def inplace(op, dtype=FLOAT, device="cpu", most=8):
    """The in-place method: the same values, in the tensor itself, or an error where PyTorch has one."""
    theirs = op.inplace_variant
    if theirs is None:
        raise NoSample("no in-place variant")
    mine = counterpart(theirs)
    factor = _factor(op, dtype)

    def check(sample):
        if sample.broadcasts_input or not isinstance(sample.input, oracle.Tensor):
            return False
        convert = Converter(device)
        args, kwargs = convert([sample.input, *sample.args]), convert(sample.kwargs)
        target = args[0].clone()
        try:
            expected = theirs(sample.input.clone(), *sample.args, **sample.kwargs)
        except RuntimeError:
            try:
                mine(target, *args[1:], **kwargs)
            except (RuntimeError, TypeError):
                return True
            raise AssertionError("no error where PyTorch has one") from None
        actual = mine(target, *args[1:], **kwargs)
        assert actual is target, "the result is not the tensor itself"
        same(actual, expected, factor=factor, values=op.name not in RANDOM)
        return True

    each_sample(op, dtype, check, most=most)


def out(op, dtype=FLOAT, device="cpu", most=6):
    """``out=``: written and returned, also resized from an empty tensor."""
    if not op.supports_out:
        raise NoSample("no out=")
    fn = function_of(op)
    factor = _factor(op, dtype)
    process = PREPARED.get(op.formatted_name, lambda result, sample: result)

    def check(sample):
        convert = Converter(device)
        args, kwargs = convert([sample.input, *sample.args]), convert(sample.kwargs)
        expected = called(op.op, sample)
        results = tensors_in(expected, oracle.Tensor)
        if not results:
            return False
        for sizes in ([tuple(r.shape) for r in results], [(0,)] * len(results)):
            outs = [
                torch.empty(s, dtype=DTYPES[r.dtype], device=device)
                for s, r in zip(sizes, results, strict=True)
            ]
            given = outs[0] if isinstance(expected, oracle.Tensor) else tuple(outs)
            actual = fn(*args, **kwargs, out=given)
            returned = tensors_in(actual, torch.Tensor)
            assert all(a is b for a, b in zip(returned, outs, strict=True)), "not the given tensors"
            same(
                process(actual, torch),
                process(expected, oracle),
                factor=factor,
                values=op.name not in RANDOM,
            )
        return True

    each_sample(op, dtype, check, most=most)


def method(op, dtype=FLOAT, device="cpu", most=4):
    """The method of `Tensor`."""
    theirs = op.method_variant
    if theirs is None:
        raise NoSample("no method")
    mine = counterpart(theirs)
    factor = _factor(op, dtype)
    process = PREPARED.get(op.formatted_name, lambda result, sample: result)

    def check(sample):
        convert = Converter(device)
        actual = called(mine, sample, convert)
        expected = process(called(theirs, sample), oracle)
        same(process(actual, torch), expected, factor=factor, values=op.name not in RANDOM)
        return True

    each_sample(op, dtype, check, most=most)


def errors(op, dtype=FLOAT, device="cpu", most=None):
    """Wrong arguments raise what PyTorch raises."""
    if op.error_inputs_func is None:
        raise NoSample("no error inputs")
    fn = function_of(op)
    used = 0
    with quiet():
        for error in itertools.islice(op.error_inputs("cpu"), most):
            sample: SampleInput = error.sample_input
            try:
                convert = Converter(device)
                args = convert([sample.input, *sample.args])
                kwargs = convert(sample.kwargs)
            except (Unsupported, TypeError, ValueError, RuntimeError):
                continue  # more than 64 dimensions, or what an earlier error left without memory
            wanted = error.error_type
            try:
                op.op(sample.input, *sample.args, **sample.kwargs)
            except wanted:
                used += 1
            else:  # some of PyTorch's lists are wrong
                continue
            try:
                fn(*args, **kwargs)
            except wanted:
                continue
            except Exception as other:
                raise AssertionError(
                    f"{type(other).__name__} ({other}), not {wanted.__name__} "
                    f"({error.error_regex}); sample: {described(sample)}"
                ) from other
            raise AssertionError(
                f"no {wanted.__name__} ({error.error_regex}); sample: {described(sample)}"
            )
    if not used:
        raise NoSample("no error input that can be made here")


def cases(op):
    """All checks of an op as (name, function without arguments but a device and a limit)."""
    for dtype in dtypes_of(op):
        most = limit(None if dtype is FLOAT else 20)
        yield f"forward-{_name(dtype)}", _bound(forward, op, dtype, most=most)
    for dtype in (DOUBLE, COMPLEX):
        if op.supports_autograd and dtype in op.supported_backward_dtypes("cpu"):
            yield f"grad-{_name(dtype)}", _bound(gradients, op, dtype, most=limit(20))
            if op.supports_gradgrad:
                yield (
                    f"gradgrad-{_name(dtype)}",
                    _bound(gradients, op, dtype, second=True, most=limit(10)),
                )
    first = next(itertools.chain(dtypes_of(op), [FLOAT]))
    for name, check in (("inplace", inplace), ("out", out), ("method", method), ("errors", errors)):
        yield name, _bound(check, op, first)


def _name(dtype):
    return str(dtype).removeprefix("torch.")


def _bound(check, op, dtype, **more):
    def run(**options):
        check(op, dtype, **(more | options))

    return run
