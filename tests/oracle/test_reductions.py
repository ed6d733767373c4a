"""Reductions against PyTorch: every dtype, layout and choice of dimensions."""

import math

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_close, assert_same_outcome, from_pytorch

pt = pytest.importorskip("torch")

DTYPES = [
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool",
    "complex64",
]  # fmt: skip
LAYOUTS = ["contiguous", "transposed", "expanded", "stepped", "scalar", "empty", "permuted", "one"]


def sample(layout, dtype, seed=0):
    """A PyTorch tensor of a dtype in a layout."""
    generator = pt.Generator().manual_seed(seed)
    shapes = {
        "scalar": (), "empty": (0, 3), "expanded": (1, 3), "stepped": (5, 7), "permuted": (2, 3, 4),
        "one": (1, 1),
    }  # fmt: skip
    shape = shapes.get(layout, (3, 4))
    d = getattr(pt, dtype)
    if dtype == "bool":
        t = pt.rand(shape, generator=generator) > 0.4
    elif d.is_floating_point or d.is_complex:
        t = pt.randn(shape, generator=generator, dtype=pt.complex64 if d.is_complex else pt.float64)
        t = t.to(d)
    else:
        t = pt.randint(0 if dtype == "uint8" else -4, 5, shape, generator=generator).to(d)
    if layout == "transposed":
        return t.t()
    if layout == "expanded":
        return t.expand(4, 3)
    if layout == "stepped":
        return t[1::2, 1::3]
    if layout == "permuted":
        return t.permute(2, 0, 1)
    return t


def loose(dtype):
    rtol = {"float16": 4e-3, "bfloat16": 3e-2, "float64": 1e-12}.get(dtype, 1e-5)
    atol = {"float16": 1e-3, "bfloat16": 1e-2, "float64": 1e-12}.get(dtype, 1e-6)
    return {"rtol": rtol, "atol": atol, "equal_nan": True}


def dims_of(rank):
    yield {}
    yield {"dim": -1}
    yield {"dim": 0, "keepdim": True}
    yield {"dim": rank}
    if rank > 1:
        yield {"dim": (0, 1)}
        yield {"dim": [-1, 0], "keepdim": True}
        yield {"dim": (0, 0)}
        yield {"dim": ()}
        yield {"dim": None, "keepdim": True}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "any", "all", "var", "std"])
def test_over_several_dimensions(name, dtype):
    layouts = ["contiguous"] if name in ("amax", "amin") and dtype == "complex64" else LAYOUTS
    for seed, layout in enumerate(layouts):
        theirs = sample(layout, dtype, seed)
        ours = from_pytorch(theirs)
        for options in dims_of(theirs.dim()):
            if name in ("amax", "amin") and options.get("dim", 0) is None:
                continue
            if options.get("dim") == (0, 0) and not theirs.numel():
                continue  # which of two errors comes first is open
            case = f"{layout} {options}"
            assert_same_outcome(
                lambda ours=ours, options=options: getattr(torch, name)(ours, **options),
                lambda theirs=theirs, options=options: getattr(pt, name)(theirs, **options),
                msg=case,
                **loose(dtype),
            )
            assert_same_outcome(
                lambda ours=ours, options=options: getattr(ours, name)(**options),
                lambda theirs=theirs, options=options: getattr(theirs, name)(**options),
                msg=case,
                **loose(dtype),
            )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["prod", "argmax", "argmin", "max", "min", "logsumexp"])
def test_over_one_dimension(name, dtype):
    for seed, layout in enumerate(LAYOUTS):
        theirs = sample(layout, dtype, seed)
        ours = from_pytorch(theirs)
        rank = theirs.dim()
        cases = [(), (0,), (-1,), (0, True), (-1, True)]
        if dtype in ("bool", "complex64") and layout == "empty":
            continue  # which of two errors comes first is open
        if dtype not in ("bool", "complex64"):
            cases += [(rank,), (-rank - 1,)]
        for arguments in cases:
            assert_same_outcome(
                lambda ours=ours, arguments=arguments: first(
                    getattr(torch, name)(ours, *arguments)
                ),
                lambda theirs=theirs, arguments=arguments: first(
                    getattr(pt, name)(theirs, *arguments)
                ),
                msg=f"{layout} {arguments}",
                **loose(dtype),
            )


def first(value):
    """The values of a (values, indices) pair; ties leave the indices open."""
    return value[0] if isinstance(value, tuple) else value


@pytest.mark.parametrize("dtype", ["float32", "int64", "bfloat16", "bool"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_and_their_positions(name, dtype):
    theirs = sample("permuted", dtype)
    ours = from_pytorch(theirs)
    for dim in (0, 1, -1):
        for keepdim in (False, True):
            found = getattr(torch, name)(ours, dim, keepdim)
            values, indices = found
            assert found.values is values
            assert found.indices is indices
            assert_close(values, getattr(theirs, name)(dim, keepdim).values)
            at = indices if keepdim else indices.unsqueeze(dim)
            picked = ours.gather(dim, at)
            assert_close(picked if keepdim else picked.squeeze(dim), values)
            assert indices.dtype is torch.int64
    assert repr(found).startswith(f"torch.return_types.{name}(\nvalues=tensor(")
    other = sample("permuted", dtype, 5)
    assert_close(getattr(torch, name)(ours, from_pytorch(other)), getattr(pt, name)(theirs, other))
    assert_close(getattr(ours, name)(dim=1).values, getattr(theirs, name)(dim=1).values)


def test_arg_extremes_take_the_first_of_equals():
    ours = torch.tensor([[1, 3, 3], [2, 2, 0]])
    assert ours.argmax().item() == 1
    assert ours.argmax(1).tolist() == [1, 0]
    assert ours.argmin(0).tolist() == [0, 1, 1]
    assert ours.argmax(1, keepdim=True).tolist() == [[1], [0]]
    assert ours.argmax(keepdim=True).tolist() == [[1]]


def test_nan_wins():
    theirs = pt.tensor([[1.0, math.nan, 3.0], [math.inf, -math.inf, 0.0]])
    ours = from_pytorch(theirs)
    for name in (
        "amax",
        "amin",
        "max",
        "min",
        "argmax",
        "argmin",
        "sum",
        "mean",
        "prod",
        "any",
        "all",
    ):
        assert_close(getattr(ours, name)(), getattr(theirs, name)(), equal_nan=True)
        assert_close(first(getattr(ours, name)(1)), first(getattr(theirs, name)(1)), equal_nan=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bfloat16", "bool"])
@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
def test_dtype_option(name, dtype):
    theirs = sample("contiguous", dtype)
    ours = from_pytorch(theirs)
    for wanted in ("float64", "float32", "int64", "int32", "complex64"):
        arguments = (0,)
        assert_same_outcome(
            lambda wanted=wanted: getattr(torch, name)(
                ours, *arguments, dtype=getattr(torch, wanted)
            ),
            lambda wanted=wanted: getattr(pt, name)(theirs, *arguments, dtype=getattr(pt, wanted)),
            msg=wanted,
            **loose(dtype),
        )


@pytest.mark.parametrize("name", ["var", "std"])
def test_correction(name):
    for layout in ("contiguous", "permuted", "one", "empty"):
        theirs = sample(layout, "float64")
        ours = from_pytorch(theirs)
        cases = [
            {"correction": 0}, {"correction": 1}, {"correction": 2}, {"correction": 1.5},
            {"unbiased": False}, {"unbiased": True}, {"correction": 100},
            {"dim": 0, "correction": 0}, {"dim": (0, 1), "unbiased": False, "keepdim": True},
        ]  # fmt: skip
        for options in cases:
            assert_same_outcome(
                lambda ours=ours, options=options: getattr(torch, name)(ours, **options),
                lambda theirs=theirs, options=options: quiet(getattr(pt, name), theirs, **options),
                msg=f"{layout} {options}",
                **loose("float64"),
            )
    theirs = sample("contiguous", "float64")
    assert_close(getattr(from_pytorch(theirs), name)(0, False), getattr(theirs, name)(0, False))
    assert_close(getattr(from_pytorch(theirs), name)(False), getattr(theirs, name)(False))


@pytest.mark.filterwarnings("ignore::UserWarning")
def quiet(call, *args, **kwargs):
    """Call PyTorch without its warnings about degrees of freedom."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **kwargs)


@pytest.fixture(autouse=True)
def no_warnings_of_the_oracle():
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*degrees of freedom.*")
        yield


def test_out_argument():
    theirs = sample("contiguous", "float32")
    ours = from_pytorch(theirs)
    for name in ("sum", "mean", "amax", "prod"):
        out = torch.empty(4)
        assert getattr(torch, name)(ours, 0, out=out) is out
        assert_close(out, getattr(pt, name)(theirs, 0))
    values, indices = torch.empty(4), torch.empty(4, dtype=torch.int64)
    found = torch.max(ours, 0, out=(values, indices))
    assert found[0] is values
    assert_close(values, theirs.max(0).values)
    assert_close(indices, theirs.max(0).indices)


def test_sums_are_accurate():
    np = pytest.importorskip("numpy")
    values = np.random.default_rng(0).standard_normal(100_000).astype(np.float32)
    exact = math.fsum(values.tolist())
    assert abs(torch.tensor(values).sum().item() - exact) < 1e-2
    ones = torch.ones(5000, dtype=torch.float16)
    assert ones.sum().item() == 5000
    assert torch.ones(300, dtype=torch.bfloat16).sum().item() == 300
    assert torch.ones(300, dtype=torch.bfloat16).mean().item() == 1
    assert torch.full((300,), 300.0, dtype=torch.float16).mean().item() == 300
    assert torch.full((100,), 200, dtype=torch.uint8).sum().item() == 20_000


def test_float32_extremes_of_variance():
    far = pt.randn(1000, generator=pt.Generator().manual_seed(0)) + 1e4
    assert_close(torch.var(from_pytorch(far)), far.var(), rtol=1e-3, atol=0.0)


def test_numpy_agrees():
    np = pytest.importorskip("numpy")
    array = np.random.default_rng(1).standard_normal((3, 4, 5))
    ours = torch.tensor(array)
    for axis in (None, 0, (0, 2), (1,)):
        assert_close(ours.sum(axis), np.asarray(array.sum(axis)))
        assert_close(ours.mean(axis), np.asarray(array.mean(axis)))
        assert_close(ours.var(axis, correction=0), np.asarray(array.var(axis)))
        if axis is not None:
            assert_close(ours.amax(axis), np.asarray(array.max(axis)))


@pytest.mark.parametrize("name", ["max", "min", "amax", "amin"])
def test_complex_numbers_have_no_order(name):
    """The error names what was called, as PyTorch's does, not what it is made of."""
    with pytest.raises(NotImplementedError) as wanted:
        getattr(pt.ones(2, dtype=pt.complex64), name)()
    with pytest.raises(NotImplementedError) as found:
        getattr(torch.ones(2, dtype=torch.complex64), name)()
    said = [str(e.value).partition('"')[2].partition('"')[0] for e in (wanted, found)]
    assert said[1] in (said[0], name)
    assert "ComplexFloat" in str(found.value)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 3)])
@pytest.mark.parametrize("dim", [None, 0, 1, (0, 1)])
def test_hashes_of_nothing(shape, dim):
    """There is no hash of no elements; of none of them there is."""
    options = {} if dim is None else {"dim": dim}
    assert_same_outcome(
        lambda: torch.hash_tensor(torch.ones(shape), **options),
        lambda: pt.hash_tensor(pt.ones(shape), **options),
    )
