"""Which function of ours an OpInfo means.

An OpInfo names a function of PyTorch, a method, or a small Python function that calls some. The first
two are looked up by name; a Python function runs unchanged with our modules in the place of theirs.
"""

import functools
import types

import torch as oracle
from convert import DTYPES

import mindtorch_core as torch

NAMESPACES = {
    "": oracle,
    "nn.functional": oracle.nn.functional,
    "linalg": oracle.linalg,
    "special": oracle.special,
    "fft": oracle.fft,
    "masked": oracle.masked,
    "signal.windows": oracle.signal.windows,
    "Tensor": oracle.Tensor,
}


def _names():
    found = {}
    for path, owner in NAMESPACES.items():
        for name in sorted(dir(owner), key=lambda n: n.startswith("_")):  # public ones first
            value = getattr(owner, name, None)
            if callable(value) and not isinstance(value, type):
                key = _key(value)
                if key not in found or (not path and name in _PREFERRED):
                    found[key] = f"{path}.{name}".lstrip(".")
    return found


_PREFERRED = {"mm"}  # rather than its older names dsmm, hsmm, spmm


def _key(value):
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


NAMES = _names()
MODULES = {
    oracle: "",
    oracle.nn: "nn",
    oracle.nn.functional: "nn.functional",
    oracle.linalg: "linalg",
    oracle.special: "special",
    oracle.fft: "fft",
    oracle.masked: "masked",
    oracle.signal: "signal",
    oracle.autograd: "autograd",
}


class Missing(Exception):
    """There is no such function here."""


def ours(path):
    """What a dotted name means here."""
    value = torch
    for part in filter(None, path.split(".")):
        try:
            value = getattr(value, part)
        except (AttributeError, ModuleNotFoundError) as error:
            raise Missing(f"torch.{path}") from error
    return value


class _Globals(dict):
    """Globals of a function of PyTorch's tests, each replaced by ours when it is read."""

    def __init__(self, theirs):
        super().__init__()
        self.theirs = theirs

    def __missing__(self, name):
        if name not in self.theirs:
            builtins = self.theirs["__builtins__"]
            builtins = builtins if isinstance(builtins, dict) else vars(builtins)
            return builtins[name]
        self[name] = counterpart(self.theirs[name])
        return self[name]


def counterpart(value):
    """Ours for a function, module, dtype or container of PyTorch's; other values as they are."""
    if isinstance(value, oracle.dtype):
        return DTYPES.get(value, value)
    if isinstance(value, types.ModuleType):
        return ours(MODULES[value]) if value in MODULES else value
    if isinstance(value, functools.partial):
        return functools.partial(
            counterpart(value.func),
            *map(counterpart, value.args),
            **{k: counterpart(v) for k, v in value.keywords.items()},
        )
    if not callable(value) or isinstance(value, type):
        return value
    if isinstance(value, oracle._ops.OpOverloadPacket | oracle._ops.OpOverload):
        return ours("ops." + str(value).replace("::", "."))
    path = NAMES.get(_key(value))
    if path is not None:
        return ours(path)
    if isinstance(value, types.FunctionType):
        return _rebound(value)
    return value


def _rebound(fn):
    if fn.__name__ == "freeze_rng_state":  # also reads the state of devices that only PyTorch has
        return torch.fork_rng
    cells = fn.__closure__ and tuple(
        types.CellType(counterpart(c.cell_contents)) for c in fn.__closure__
    )
    made = types.FunctionType(
        fn.__code__, _Globals(fn.__globals__), fn.__name__, fn.__defaults__, cells
    )
    made.__kwdefaults__ = fn.__kwdefaults__
    return made


def function_of(op):
    """Our function for an OpInfo.

    Raises:
        Missing: if there is none.
    """
    return counterpart(op.op)
