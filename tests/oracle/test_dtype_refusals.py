"""Dtypes that an op does not serve: what catches PyTorch's error catches ours."""

import re
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.samples import samples

pt = pytest.importorskip("torch")

DTYPES = ("bool", "uint8", "int64", "float16", "bfloat16", "complex64")
# PyTorch looks at something else first. (Here norms take means, a cross product subtracts.)
ELSE = {"addcmul", "batch_norm", "cross", "group_norm", "hinge_embedding_loss", "instance_norm",
        "kthvalue", "native_batch_norm", "native_group_norm", "ormqr"}  # fmt: skip
# There are no complex numbers of half precision here; grids are of real numbers.
UNSERVED = {("complex", "float16"), ("affine_grid_generator", "complex64"),
            ("view_as_complex", "float16"), ("view_as_complex_copy", "float16")}  # fmt: skip


def converted(value, lib, dtype):
    """An argument for a library, with a dtype in the stead of floats."""
    if isinstance(value, torch.Tensor):
        t = value.detach()
        t = t.to(getattr(torch, dtype)) if t.is_floating_point() else t
        if lib is torch:
            return t
        return pt.tensor(t.tolist(), dtype=converted(t.dtype, pt, dtype)).reshape(tuple(t.shape))
    if isinstance(value, list | tuple):
        return [converted(v, lib, dtype) for v in value]
    if isinstance(value, torch.dtype):
        return getattr(lib, str(value).partition(".")[2])
    return value


def outcomes(name, sample, dtype):
    args, kwargs = sample.build("cpu")
    for lib in (torch, pt):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield outcome(
                getattr(lib, name),
                *[converted(v, lib, dtype) for v in args],
                **{k: converted(v, lib, dtype) for k, v in kwargs.items()},
            )


@pytest.mark.parametrize("dtype", DTYPES)
def test_errors_are_caught_alike(dtype):
    found, refused = [], 0
    for d in definitions():
        name = d.base_name
        if d.functional is not None or "torch" not in d.exposure.namespaces or name.startswith("_"):
            continue
        sample = next(iter(samples(d)), None)
        if sample is None or name in ELSE or not callable(getattr(pt, name, None)):
            continue
        ours, theirs = outcomes(name, sample, dtype)
        if isinstance(ours, Exception) and (name, dtype) not in UNSERVED:
            refused += 1
            if not isinstance(ours, type(theirs)):
                found.append(f"{d.name}: {ours!r}, not {theirs!r}")
    assert refused >= 10
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", ["dropout", "feature_alpha_dropout", "alpha_dropout", "dropout1d"])
@pytest.mark.parametrize("inplace", [False, True])
def test_dropout_of_complex_numbers(name, inplace):
    """PyTorch's takes them since 2.14: where real ones are dropped, with the same numbers."""
    results = []
    for lib, dtype in ((torch, torch.complex64), (pt, pt.float32)):
        lib.manual_seed(0)
        x = lib.ones(4, 5, 2, dtype=dtype).mul_(3).requires_grad_()
        y = getattr(lib.nn.functional, name)(x * 1, 0.5, True, inplace)
        (y.real if lib is torch else y).sum().backward()
        results.append([*y.real.flatten().tolist(), *x.grad.real.flatten().tolist()])
    assert results[0] == pytest.approx(results[1], rel=1e-5)


# Drawn, or of memory that nothing was written to.
DRAWN = {"bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_",
         "uniform_"}  # fmt: skip


@pytest.mark.parametrize("dtype", [*DTYPES, "float32"])
def test_forms_in_place(dtype):
    """They take the dtypes that PyTorch's take, with the same results; what they refuse stays as it is."""
    found, compared = [], 0
    out_of_place = {d.base_name: d for d in definitions() if d.functional is None}
    for d in definitions():
        name = d.base_name
        if d.functional is None or name.startswith("_") or not hasattr(pt.Tensor, name):
            continue
        base = out_of_place.get(name.removesuffix("_"))
        sample = next((s for each in (d, base) if each for s in samples(each)), None)
        if sample is None:
            continue
        args, kwargs = sample.build("cpu")
        results = []
        for lib in (torch, pt):
            first, *rest = (converted(v, lib, dtype) for v in args)
            options = {k: converted(v, lib, dtype) for k, v in kwargs.items()}
            written = first.clone()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results.append(outcome(getattr(written, name), *rest, **options))
            if lib is torch and isinstance(results[0], Exception):
                assert str(written.tolist()) == str(first.tolist()), name
        ours, theirs = results
        compared += 1
        if isinstance(ours, Exception) or isinstance(theirs, Exception):
            label = re.search(r"for '\w+'$", str(theirs))
            if not isinstance(ours, type(theirs)) or (label and label[0] not in str(ours)):
                found.append(f"{d.name}: {ours!r}, not {theirs!r}")
        elif name not in DRAWN:
            problem = outcome(torch.testing.assert_close, ours, torch.from_dlpack(theirs.detach()))
            found += [f"{d.name}: {problem}"] * isinstance(problem, Exception)
    assert compared > 100
    assert not found, "\n".join(found)
