"""What is checked of a module of PyTorch's ModuleInfo database, on its own samples.

Each check builds both modules from the same arguments and copies PyTorch's weights into ours.
"""

import contextlib
import os
import warnings

import torch as oracle
from compare import same
from convert import DTYPES, Converter
from pytorch_samples import making_samples, seed
from torch.testing._internal import common_modules

import mindtorch_core as torch
from mindtorch_core import plugins

MODULES = {info.formatted_name: info for info in common_modules.module_db}
# Whether all samples are run; otherwise a few of each module.
EVERYTHING = os.environ.get("MINDTORCH_MODULEINFO") == "all"
FEW = 8
PASSED, FAILED, NONE = "pass", "fail", "none"


class Inputs:
    """A sample converted to ours on a device."""

    def __init__(self, device="cpu"):
        self.convert = Converter(device)

    def __call__(self, value):
        if isinstance(value, oracle.nn.Module):
            return self.module(value)
        name = getattr(value, "__name__", "")
        if callable(value) and getattr(oracle.nn.functional, name, None) is value:
            return getattr(torch.nn.functional, name)
        if isinstance(value, list | tuple) and type(value) in (list, tuple):
            return type(value)(self(v) for v in value)
        if isinstance(value, dict):
            return {k: self(v) for k, v in value.items()}
        return self.convert(value)

    def module(self, theirs):
        """A module that stands among the arguments, such as the layer of an encoder."""
        kind = getattr(torch.nn.modules, type(theirs).__name__, None)
        kind = kind or getattr(torch.nn.modules.linear, type(theirs).__name__)
        ours = kind.__new__(kind)
        ours.__setstate__({k: v for k, v in theirs.__dict__.items() if not isinstance(v, dict)})
        for name, child in theirs._modules.items():
            ours._modules[name] = None if child is None else self(child)
        for name, value in theirs._parameters.items():
            made = None if value is None else torch.nn.Parameter(self.convert(value.detach()))
            ours._parameters[name] = made
        for name, value in theirs._buffers.items():
            ours._buffers[name] = None if value is None else self.convert(value)
        for name, value in vars(ours).items():
            if name[0] != "_":
                vars(ours)[name] = self(value)
        return ours


def samples(info, dtype, *, training, grad):
    """PyTorch's samples of a module."""
    seed(0)
    with making_samples():
        found = info.module_inputs_func(
            info, device="cpu", dtype=dtype, requires_grad=grad, training=training
        )
    found = [s for s in found if s.forward_input is not None]
    if not EVERYTHING and len(found) > FEW:
        found = [found[i * len(found) // FEW] for i in range(FEW)]
    for sample in found:  # results have no gradients of their own
        given, known = sample.forward_input, {}
        given.args = _own_leaves(given.args, known)
        given.kwargs = _own_leaves(given.kwargs, known)
    return found


def _own_leaves(value, known):
    """Nested values in which tensors that require grad are leaves; one tensor stays one."""
    if isinstance(value, oracle.Tensor) and value.requires_grad:
        if id(value) not in known:
            known[id(value)] = value, value.detach().clone().requires_grad_()
        return known[id(value)][1]
    if type(value) in (list, tuple):
        return type(value)(_own_leaves(v, known) for v in value)
    if isinstance(value, dict):
        return {k: _own_leaves(v, known) for k, v in value.items()}
    return value


def theirs_of(info, sample, dtype, *, training):
    """PyTorch's module of a sample."""
    seed(1)
    made = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs)
    return made.to(dtype).train(training)


def ours_of(info, sample, theirs, dtype, *, training, device="cpu"):
    """Ours, with PyTorch's weights."""
    convert = Inputs()
    given = sample.constructor_input
    kind = getattr(torch.nn, info.module_cls.__name__)
    made = kind(*convert(list(given.args)), **convert(dict(given.kwargs)))
    assert repr(made) == repr(theirs), f"repr: {made!r}, not {theirs!r}"
    made = made.to(DTYPES[dtype]).train(training)
    if hasattr(theirs, "initialize_parameters"):  # lazy: the first input says the shapes
        first = sample.forward_input
        mine = Inputs()
        theirs(*first.args, **first.kwargs)
        made(*mine(list(first.args)), **mine(dict(first.kwargs)))
    state = theirs.state_dict()
    assert list(made.state_dict()) == list(state), f"keys: {list(made.state_dict())}"
    assert [n for n, _ in made.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    made.load_state_dict({k: convert(v.detach()) for k, v in state.items()})
    return made.to(device)


@contextlib.contextmanager
def quiet():
    """Warnings are not compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def leaves(value, kind):
    """The tensors in nested values."""
    if isinstance(value, kind):
        return [value]
    if isinstance(value, dict):
        return [t for v in value.values() for t in leaves(v, kind)]
    if isinstance(value, list | tuple):
        return [t for v in value for t in leaves(v, kind)]
    return []


def backward(outputs, grads):
    """Gradients of what requires grad among outputs."""
    total = None
    for out, g in zip(outputs, grads, strict=True):
        if out.requires_grad:
            part = (out * g).sum() if not out.is_complex() else (out * g).abs().sum()
            total = part if total is None else total + part
    if total is not None:
        total.backward()


def run(info, dtype, *, training, grad=True, device="cpu", values=True):
    """Compare every sample: text, keys, outputs, and gradients of inputs and parameters."""
    if dtype not in info.dtypes and dtype is not oracle.bfloat16:
        return 0
    done = 0
    for number, sample in enumerate(samples(info, dtype, training=training, grad=grad)):
        with quiet():
            done += 1
            _one(info, sample, dtype, training, grad, device, values, f"sample {number}")
    return done


def _one(info, sample, dtype, training, grad, device, values, what):
    theirs = theirs_of(info, sample, dtype, training=training)
    ours = ours_of(info, sample, theirs, dtype, training=training, device=device)
    args, kwargs = list(sample.forward_input.args), dict(sample.forward_input.kwargs)
    convert = Inputs(device)
    my_args, my_kwargs = convert(args), convert(kwargs)
    my_leaves = leaves([my_args, my_kwargs], torch.Tensor)
    their_leaves = leaves([args, kwargs], oracle.Tensor)
    seed(2)
    try:
        expected = theirs(*args, **kwargs)
    except NotImplementedError as error:
        raise NotThere(str(error)) from None
    found = ours(*my_args, **my_kwargs)
    if device == "meta":
        _same_shapes(found, expected, what)
        return
    same(found, expected, values=values, what=f"{what} output", factor=4)
    if not grad:
        return
    wanted = leaves(expected, oracle.Tensor)
    grads = [
        oracle.randn_like(t) if t.is_floating_point() or t.is_complex() else None for t in wanted
    ]
    backward(wanted, grads)
    mine = leaves(found, torch.Tensor)
    backward(mine, [None if g is None else Inputs(device)(g) for g in grads])
    if not values:
        return
    for i, (a, e) in enumerate(zip(my_leaves, their_leaves, strict=True)):
        _same_grad(a, e, f"{what} gradient of input {i}")
    parameters = dict(theirs.named_parameters())
    for name, p in ours.named_parameters():
        _same_grad(p, parameters[name], f"{what} gradient of {name}")
    for name, b in ours.named_buffers():
        same(b, dict(theirs.named_buffers())[name], what=f"{what} buffer {name}", factor=4)


def _same_grad(ours, theirs, what):
    if theirs.grad is None or theirs.grad.is_sparse:
        assert ours.grad is None or theirs.grad is not None, f"{what}: there is one"
        return
    assert ours.grad is not None, f"{what}: there is none"
    same(ours.grad, theirs.grad, what=what, factor=20)


def _same_shapes(found, expected, what):
    pairs = zip(leaves(found, torch.Tensor), leaves(expected, oracle.Tensor), strict=True)
    for i, (a, e) in enumerate(pairs):
        assert tuple(a.shape) == tuple(e.shape), f"{what} output {i}: {a.shape}, not {e.shape}"
        assert DTYPES[e.dtype] is a.dtype, f"{what} output {i}: {a.dtype}, not {e.dtype}"


def dtypes_of(info):
    """The dtypes an entry has that exist here."""
    return [d for d in info.dtypes if d in DTYPES]


def has_npu():
    """Whether there is an NPU, real or simulated."""
    return "npu" in {status.name for status in plugins.backends()} and torch.npu.is_available()


CHECKS = {
    "train": lambda info: run(info, oracle.float32, training=True),
    "eval": lambda info: run(info, oracle.float32, training=False),
    "float64": lambda info: run(info, oracle.float64, training=True),
    "bfloat16": lambda info: run(info, oracle.bfloat16, training=True, grad=False),
    "meta": lambda info: run(info, oracle.float32, training=True, grad=False, device="meta"),
    "npu": lambda info: run(info, oracle.float32, training=True, device="npu"),
}


class NotThere(Exception):
    """PyTorch itself cannot do it."""


def outcome(name, check):
    """How a check goes, and what is wrong."""
    try:
        done = CHECKS[check](MODULES[name])
    except NotThere:
        return NONE, ""
    except Exception as error:  # noqa: BLE001  (whatever goes wrong)
        return FAILED, f"{type(error).__name__}: {error}"
    return (PASSED if done else NONE), ""
