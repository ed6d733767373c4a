"""Autocast against PyTorch: the result of every op that both have, in every floating dtype.

PyTorch's CUDA ops are asked for their dtypes through fake tensors, which need no CUDA device; here a
backend without data under a PrivateUse key stands in for such a device.
"""

import contextlib
import logging
import warnings
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core import plugins
from mindtorch_core.dispatch.functions import FUNCTIONS, names_in
from mindtorch_core.nn import functional as F
from mindtorch_core.plugins import loader
from mindtorch_core.testing.comparison import assert_close
from mindtorch_core.testing.samples import samples
from mindtorch_core.values.dtypes import DTYPES

pt = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

SHAPES = Path(__file__).parent.parent / "toy_backend" / "shapes.py"
PLACES = {
    "torch": (torch, pt),
    "Tensor": (torch.Tensor, pt.Tensor),
    "nn": (F, pt.nn.functional),
}


@pytest.fixture
def shapes(site, monkeypatch):
    """The device ``shapes``, which has every op and no data."""
    site.backend("shapes", SHAPES.read_text(), config="DEVICE = 'shapes'\n")
    with monkeypatch.context() as path:
        path.delenv("MINDTORCH_BACKENDS", raising=False)
        path.syspath_prepend(str(site.folder))
        loader.rediscover()
        plugins.load("shapes")
        yield "shapes"
        plugins.unload("shapes")
    loader.rediscover()


@pytest.fixture
def fake_cuda():
    """PyTorch's tensors are fake; gives a block in which autocast is on for CUDA."""

    @contextlib.contextmanager
    def on():
        pt.set_autocast_enabled("cuda", True)  # torch.autocast("cuda") wants a real device
        try:
            yield
        finally:
            pt.set_autocast_enabled("cuda", False)

    logging.disable()  # PyTorch reports the calls that its rules refuse
    with FakeTensorMode():
        yield on
    logging.disable(logging.NOTSET)


# ---- every op -----------------------------------------------------------------------------------


def calls(dtype, most=None):
    """(name, our function, PyTorch's, sample) with the floating-point tensors of a sample in a dtype.

    ``a/b`` stands for samples whose tensors have one dtype and the other in turn.

    Args:
        dtype: the dtypes' names.
        most: how many samples of an op; all if None.
    """
    names = dtype.split("/")
    for place, (ours, theirs) in PLACES.items():
        for name in names_in(place):
            if name.startswith("_") or not hasattr(theirs, name):
                continue
            for entry in FUNCTIONS[place][name].entries:
                d = entry.definition
                if d is None or d.traits.random or "empty" in name:
                    continue
                for sample in islice(samples(d), most):
                    turn = iter(range(1000))

                    def change(recipe, turn=turn):
                        if not DTYPES[recipe.dtype].is_floating_point:
                            return recipe
                        return replace(recipe, dtype=names[next(turn) % len(names)])

                    where = f"{place}.{name}{sample} of {entry.name}"
                    call = getattr(ours, name), getattr(theirs, name), sample.changed(change)
                    yield where, *call


def to_pytorch(value, device="cpu"):
    """PyTorch's counterpart of an argument."""
    if isinstance(value, torch.Tensor):
        d, shape = getattr(pt, value.dtype.name), tuple(value.shape)
        if device != "cpu" or not value.numel():
            return pt.empty(shape, dtype=d, device=device)
        return pt.tensor(value.tolist(), dtype=d).reshape(shape)
    if isinstance(value, list | tuple):
        return type(value)(to_pytorch(v, device) for v in value)
    return getattr(pt, value.name) if isinstance(value, torch.dtype) else value


def result(fn, args, kwargs):
    """What a call returns, or the exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return fn(*args, **kwargs)
    except Exception as error:  # noqa: BLE001  (PyTorch's kernels raise anything)
        return error


def kind(value):
    """The dtypes of a result; of an exception, that it is one."""
    if isinstance(value, Exception):
        return "error"
    if isinstance(value, list | tuple):
        return [kind(v) for v in value]
    return str(getattr(value, "dtype", type(value).__name__)).removeprefix("torch.")


def difference(ours, theirs):
    """In what the results of both differ; empty if in nothing."""
    if kind(ours) != kind(theirs):
        return f"{kind(ours)} and not {kind(theirs)}"
    if isinstance(theirs, Exception):
        return "both are errors"
    low = any(d in str(kind(theirs)) for d in ("bfloat16", "float16"))
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if low else {"rtol": 1e-5, "atol": 1e-5}
    try:
        assert_close(ours, theirs, equal_nan=True, **tolerance)
    except AssertionError as error:
        return str(error)
    return ""


# Of float16 PyTorch's CPU runs these in a kernel of its own, which autocast does not see; lstm in oneDNN's of
# bfloat16, on processors that oneDNN has one for, and there alone.
RECURRENT = ("torch.lstm", "torch.gru", "torch.rnn_")


@pytest.mark.parametrize(
    "dtype",
    ["float32", "float64", "bfloat16", "float16", "float32/bfloat16", "bfloat16/float32", "int64"],
)
def test_cpu_ops(dtype):
    compared, problems = 0, []
    for where, ours, theirs, sample in calls(dtype):
        if where.startswith(RECURRENT if dtype == "float16" else "torch.lstm"):
            continue
        try:
            args, kwargs = sample.build("cpu")
        except (RuntimeError, ValueError):  # a value of the sample is none of the dtype's
            continue
        same = [to_pytorch(a) for a in args], {k: to_pytorch(v) for k, v in kwargs.items()}
        with pt.autocast("cpu"):
            expected = result(theirs, *same)
        if isinstance(expected, Exception):
            continue
        with torch.autocast("cpu"):
            found = result(ours, args, kwargs)
        compared += 1
        problem = difference(found, expected)
        if problem and kind(expected) in ("bfloat16", "float16"):
            problem = difference(found, in_double(theirs, same, expected.dtype))
        if problem and agree_without_autocast(ours, theirs, sample):
            problems.append(f"{where}: {problem}")
    assert problems == []
    assert compared > 500


def in_double(theirs, arguments, low):
    """A result of low precision whose arguments are rounded and which is rounded, and no step between.

    PyTorch's kernels of 16 bits are not the same on every processor, and some round between steps.
    """

    def wide(value):
        if isinstance(value, list | tuple):
            return type(value)(wide(v) for v in value)
        floating = isinstance(value, pt.Tensor) and value.is_floating_point()
        return value.to(low).double() if floating else value

    args, kwargs = arguments
    found = result(theirs, wide(args), {k: wide(v) for k, v in kwargs.items()})
    return found.to(low) if isinstance(found, pt.Tensor) else found


def agree_without_autocast(ours, theirs, sample):
    args, kwargs = sample.build("cpu")
    same = [to_pytorch(a) for a in args], {k: to_pytorch(v) for k, v in kwargs.items()}
    expected = result(theirs, *same)
    return not difference(result(ours, args, kwargs), expected)


# PyTorch's fake tensors go through another formula than its kernels, which multiply matrices.
# So do layers of LSTM, whose states it casts as well.
FAKED_OTHERWISE = ("torch.affine_grid_generator", "torch.lstm")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "float32/float16", "int64"])
def test_dtypes_of_ops_on_other_devices(dtype, shapes, fake_cuda):
    compared, problems = 0, []
    for where, ours, theirs, sample in calls(dtype, most=2):  # dtypes follow from dtypes
        if where.startswith(FAKED_OTHERWISE):
            continue
        try:
            args, kwargs = sample.build("shapes")
        except (RuntimeError, ValueError):
            continue
        same = [
            [to_pytorch(a, "cuda") for a in args],
            {k: "cuda" if v == "shapes" else to_pytorch(v, "cuda") for k, v in kwargs.items()},
        ]
        with fake_cuda():
            expected = result(theirs, *same)
        if isinstance(expected, Exception) or isinstance(result(ours, args, kwargs), Exception):
            continue
        args, kwargs = sample.build("shapes")
        with torch.autocast("shapes"):
            found = result(ours, args, kwargs)
        compared += 1
        if kind(found) != kind(expected) and kind(result(theirs, *same)) == kind(
            result(ours, args, kwargs)
        ):
            problems.append(f"{where}: {kind(found)} and not {kind(expected)}")
    assert problems == []
    assert compared > 500


OPERATORS = {
    "2 ** x": lambda x: 2**x,
    "x ** 2": lambda x: x**2,
    "1 / x": lambda x: 1 / x,
    "x / 2": lambda x: x / 2,
    "1 - x": lambda x: 1 - x,
    "x @ x": lambda x: x @ x,
    "x * x": lambda x: x * x,
    "x.square()": lambda x: x.square(),
    "x.std(0)": lambda x: x.std(0),
    "x.mean()": lambda x: x.mean(),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_dtypes_of_operators_on_other_devices(dtype, shapes, fake_cuda):
    with fake_cuda():
        x = pt.ones(2, 2, dtype=getattr(pt, dtype), device="cuda")
        expected = {name: kind(fn(x)) for name, fn in OPERATORS.items()}
    with torch.autocast("shapes"):
        x = torch.ones(2, 2, dtype=getattr(torch, dtype), device="shapes")
        found = {name: kind(fn(x)) for name, fn in OPERATORS.items()}
    assert found == expected
