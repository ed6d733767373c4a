import math
from typing import Any

import pytest
from calling import TORCH, Out, close, refused, run, torch, workspace_size
from samples import case, check, check_refusals, sample, widened
from simtoolkit import CODES, dtypes

DIMS: list[tuple[list[int], bool]] = [
    ([0], False),
    ([-1], True),
    ([0, 2], False),
    ([1, 2], True),
    ([], False),
    ([2, 1, 0], True),
]
SHAPE = (2, 3, 5)


def reduced(shape: tuple[int, ...], dims: list[int], keep: bool) -> list[int]:
    """The shape of a result."""
    chosen = {d % len(shape) for d in dims} if dims else set(range(len(shape)))
    return [1 if d in chosen else n for d, n in enumerate(shape) if keep or d not in chosen]


def exact(dtype: str, shape: tuple[int, ...] = SHAPE, seed: int = 0) -> Any:
    """Sample numbers without infinities, whose differences are NaN."""
    return sample(dtype, shape, seed, special=False)


def oracle_of(function: Any, x: Any, dims: list[int], keep: bool, **options: Any) -> Any:
    """Call PyTorch's reduction; all dims where none are named."""
    dims = dims or list(range(x.dim()))
    return function(x, dim=dims, keepdim=keep, **options)


# ---- sums ----------------------------------------------------------------------------------------

SUMS: dict[str, tuple[Any, str]] = {
    "ReduceSum": (torch.sum, "NUM12"),
    "ReduceNansum": (torch.nansum, "REAL10-f64"),
    "Mean": (torch.mean, "REAL9+c64+c128"),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums(name: str) -> None:
    oracle, allowed = SUMS[name]
    for dtype in dtypes(allowed):
        x = sample(dtype, SHAPE)
        to = dtype if x.dtype.is_floating_point or dtype[0] == "c" else "i64"
        if name == "Mean" and to == "i64":
            to = "f32"
        for dims, keep in DIMS:
            with case(dtype, dims):
                wide = x.double() if to == "f32" else widened(x)
                expected = oracle_of(oracle, wide, dims, keep)
                out = Out(to, reduced(SHAPE, dims, keep))
                check(name, [x, dims, keep, to, out], expected, factor=4.0)


@pytest.mark.parametrize("name", SUMS)
def test_sums_refuse(name: str) -> None:
    allowed = dtypes(SUMS[name][1])
    x, out = sample("f32", SHAPE), Out("f32", (2, 3))
    no_bool = [d for d in allowed if d != "b"]
    check_refusals(name, [x, [2], False, "f32", out], [allowed, no_bool])
    assert refused(name, x, None, False, "f32", out) == CODES.NULLPTR
    assert refused(name, x, [3], False, "f32", out) == CODES.INVALID
    assert refused(name, x, [2, -1], False, "f32", out) == CODES.INVALID
    assert refused(name, x, [2], True, "f32", out) == CODES.INVALID
    assert refused(name, x, [2], False, -1, out) == CODES.INVALID


def test_the_sums_dtype_is_the_one_of_the_computation() -> None:
    x = torch.tensor([1.75, 2.75, -0.5])
    assert run("ReduceSum", x, [0], False, "i32", Out("i32", ())).item() == 3
    x = torch.full((40,), 100, dtype=torch.int8)
    assert run("ReduceSum", x, [0], False, "i64", Out("i64", ())).item() == 4000
    assert run("ReduceSum", x > 0, [0], False, "i64", Out("i64", ())).item() == 40
    x = torch.full((4096,), 1.0).half()
    assert run("ReduceSum", x, [0], False, "f16", Out("f16", ())).item() == 4096.0
    ends = torch.tensor([2**63 - 1, 1])
    assert run("ReduceSum", ends, [0], False, "i64", Out("i64", ())).item() == -(2**63)


def test_reductions_of_nothing() -> None:
    x = torch.zeros(3, 0)
    out = Out("f32", (3,))
    assert run("ReduceSum", x, [1], False, "f32", out).tolist() == [0.0] * 3
    assert run("Mean", x, [1], False, "f32", out).isnan().all()
    assert run("LogSumExp", x, [1], False, out).tolist() == [-math.inf] * 3
    assert run("Norm", x, 2.0, [1], False, out).tolist() == [0.0] * 3
    assert run("VarCorrection", x, [1], 1, False, out).isnan().all()
    assert run("All", x, [1], False, Out("b", (3,))).all()
    assert not run("Any", x, [1], False, Out("b", (3,))).any()
    assert run("ReduceSum", x, [0], False, "f32", Out("f32", (0,))).numel() == 0
    assert refused("Amax", x, [1], False, out) == CODES.INVALID
    assert refused("MaxDim", x, 1, False, out, Out("i64", (3,))) == CODES.INVALID
    assert refused("ArgMax", x, 1, False, Out("i64", (3,))) == CODES.INVALID
    assert refused("Max", x, Out("f32", ())) == CODES.INVALID


def test_a_tensor_without_dims() -> None:
    x = torch.tensor(2.5)
    for dims in ([], [0], [-1]):
        assert run("ReduceSum", x, dims, False, "f32", Out("f32", ())).item() == 2.5
        assert run("ReduceSum", x, dims, True, "f32", Out("f32", ())).item() == 2.5
    assert [r.item() for r in run("MaxDim", x, 0, False, Out("f32", ()), Out("i32", ()))] == [
        2.5,
        0,
    ]
    assert run("Cumsum", x, 0, "f32", Out("f32", ())).item() == 2.5


def test_reductions_ask_for_a_workspace() -> None:
    x = torch.zeros(3, 100)
    assert workspace_size("ReduceSum", x, [1], False, "f32", Out("f32", (3,))) == 1536
    assert workspace_size("ReduceSum", x[:, :0], [1], False, "f32", Out("f32", (3,))) == 0
    assert workspace_size("Cumsum", x.half(), 1, "f16", Out("f16", x.shape)) == 1024


@pytest.mark.parametrize("noop", [False, True])
def test_second_versions(noop: bool) -> None:
    x = exact("f32", (2, 3)).abs() + 0.1
    for dims in ([0], []):
        shape = x.shape if noop and not dims else reduced((2, 3), dims, False)
        mean = x if noop and not dims else oracle_of(torch.mean, x, dims, False)
        most = x if noop and not dims else oracle_of(torch.amax, x, dims, False)
        total = x if noop and not dims else oracle_of(torch.sum, x, dims, False)
        check("MeanV2", [x, dims, False, noop, Out("f32", shape)], mean)
        check("MaxV2", [x, dims, False, noop, Out("f32", shape)], most)
        check("ReduceLogSum", [x, dims, False, noop, Out("f32", shape)], total.log())


def test_products() -> None:
    for dtype in dtypes("NUM12"):
        x = exact(dtype)
        to = "i64" if dtype[0] in "iub" and dtype != "bf16" else dtype
        wide = widened(x)
        with case(dtype):
            check("Prod", [x, to, Out(to, (1,))], wide.prod().reshape(1), factor=20.0)
            check("Prod", [x, to, Out(to, ())], wide.prod(), factor=20.0)
            for dim, keep in [(0, False), (-2, True)]:
                shape = reduced(SHAPE, [dim], keep)
                expected = wide.prod(dim, keepdim=keep)
                check("ProdDim", [x, dim, keep, to, Out(to, shape)], expected, factor=8.0)
    assert refused("Prod", x, to, Out(to, (2,))) == CODES.INVALID


# ---- norms, variances ----------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.5, -1.0, math.inf, -math.inf])
def test_norms(p: float) -> None:
    for dtype in dtypes("FLT3"):
        x = exact(dtype)
        for dims, keep in DIMS:
            expected = torch.linalg.vector_norm(widened(x), p, dims or None, keep)
            out = Out(dtype, reduced(SHAPE, dims, keep))
            check("Norm", [x, p, dims, keep, out], expected, factor=4.0)
            check("LinalgVectorNorm", [x, p, dims or None, keep, dtype, out], expected, factor=4.0)
    f, out = exact("f32"), Out("f32", ())
    check_refusals("Norm", [f, p, [], False, out], [dtypes("FLT3")] * 2)
    assert refused("LinalgVectorNorm", f, p, None, False, "f16", out) == CODES.INVALID


@pytest.mark.parametrize("correction", [0, 1, 2, 5])
def test_variances(correction: int) -> None:
    for dtype in dtypes("FLT3"):
        x = exact(dtype)
        for dims, keep in DIMS:
            with case(dtype, dims):
                chosen = dims or [0, 1, 2]
                options = {"dim": chosen, "correction": correction, "keepdim": keep}
                if correction >= math.prod(SHAPE[d] for d in chosen):
                    continue  # PyTorch warns of them; see test_variances_of_too_few
                var, mean = torch.var_mean(widened(x), **options)
                out = Out(dtype, reduced(SHAPE, dims, keep))
                check("VarCorrection", [x, dims or None, correction, keep, out], var)
                check("Std", [x, dims, correction, keep, out], var.sqrt())
                check("VarMean", [x, dims, correction, keep, out, out], var, mean)
                check("StdMeanCorrection", [x, dims, correction, keep, out, out], var.sqrt(), mean)
                if correction < 2:
                    check("Var", [x, dims, bool(correction), keep, out], var)


def test_variances_of_too_few() -> None:
    x, out = torch.tensor([[1.0], [2.0]]), Out("f32", (2,))
    assert run("VarCorrection", x, [1], 1, False, out).isnan().all()
    pair = torch.tensor([[1.0, 2.0]])
    assert run("VarCorrection", pair, [1], 2, False, Out("f32", (1,))).tolist() == [math.inf]
    arguments = [x, [1], 1, False, out]
    check_refusals("VarCorrection", arguments, [dtypes("FLT3")] * 2)


def test_log_sum_exp() -> None:
    for dtype in dtypes("REAL10-f64"):
        x = sample(dtype, SHAPE) if dtype[0] != "f" else exact(dtype) * 40
        to = dtype if x.dtype.is_floating_point else "f32"
        for dims, keep in DIMS:
            expected = oracle_of(torch.logsumexp, x.double(), dims, keep)
            out = Out(to, reduced(SHAPE, dims, keep))
            check("LogSumExp", [x, dims, keep, out], expected)
    rows = torch.tensor([[-math.inf] * 2, [math.inf, 1], [math.nan, math.inf], [1000.0, 1000.0]])
    expected = torch.logsumexp(rows, 1)
    close(run("LogSumExp", rows, [1], False, Out("f32", (4,))), expected)


@pytest.mark.parametrize(
    ("name", "oracle", "outputs"), [("All", torch.all, ["u8", "b"]), ("Any", torch.any, ["b"])]
)
def test_truth(name: str, oracle: Any, outputs: list[str]) -> None:
    for dtype in dtypes("REAL10"):
        x = sample(dtype, SHAPE)
        x[0] = 0
        x[1, 0] = 1
        for dims, keep in DIMS:
            expected = oracle_of(oracle, x != 0, dims, keep)
            for to in outputs:
                out = Out(to, reduced(SHAPE, dims, keep))
                check(name, [x, dims, keep, out], expected.to(TORCH[to]))
    check_refusals(name, [x, [], False, Out("b", ())], [dtypes("REAL10"), outputs])


def test_trace() -> None:
    for dtype in dtypes("NUM12"):
        x = exact(dtype, (3, 5))
        to = "i64" if dtype[0] in "iub" and dtype != "bf16" else dtype
        expected = x.diagonal().to(TORCH[to]).sum()
        check("Trace", [x, Out(to, ())], expected)
    assert refused("Trace", x[0], Out(to, ())) == CODES.INVALID


# ---- extremes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "oracle"), [("Amax", torch.amax), ("Amin", torch.amin)])
def test_extremes(name: str, oracle: Any) -> None:
    for dtype in dtypes("REAL10"):
        x = sample(dtype, SHAPE)
        for dims, keep in DIMS:
            out = Out(dtype, reduced(SHAPE, dims, keep))
            check(name, [x, dims, keep, out], oracle_of(oracle, x, dims, keep))
        low, high = torch.amin(x), torch.amax(x)
        check("AminmaxAll", [x, Out(dtype, ()), Out(dtype, (1,))], low, high.reshape(1))
        whole = name.removeprefix("A").capitalize()
        check(whole, [x, Out(dtype, ())], oracle(x))
        check(whole, [x, Out(dtype, (1,))], oracle(x).reshape(1))
        low, high = torch.aminmax(x, dim=1)
        out = Out(dtype, (2, 5))
        check("AminmaxDim", [x, 1, False, out, out], low, high)
        check("Aminmax", [x, [1], False, out, out], low, high)
    f = sample("f32", SHAPE)
    check_refusals(name, [f, [0], False, Out("f32", (3, 5))], [dtypes("REAL10"), dtypes("REAL9")])


@pytest.mark.parametrize("name", ["Max", "Min"])
def test_extremes_with_positions(name: str) -> None:
    function = torch.max if name == "Max" else torch.min
    index = ["i32", "i64"] if name == "Max" else ["i32"]
    for dtype in dtypes("FLT3 IDX b"):
        x = sample(dtype, SHAPE)
        for dim, keep in [(0, False), (1, True), (-1, False)]:
            values, indices = function(x, dim, keep)
            for to in index:
                outs = [Out(dtype, values.shape), Out(to, values.shape)]
                expected = indices.to(TORCH[to])
                check(f"{name}Dim", [x, dim, keep, *outs], values, expected)
    f = sample("f32", SHAPE)
    outs = [Out("f32", (3, 5)), Out("i32", (3, 5))]
    sets = [dtypes("FLT3 IDX b"), dtypes("FLT3 IDX"), index]
    check_refusals(f"{name}Dim", [f, 0, False, *outs], sets)
    assert refused(f"{name}Dim", f, 3, False, *outs) == CODES.INVALID


@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
def test_positions(name: str) -> None:
    function = torch.argmax if name == "ArgMax" else torch.argmin
    for dtype in dtypes("REAL9"):
        x = sample(dtype, SHAPE)
        for dim, keep in [(0, False), (1, True), (-1, False)]:
            expected = function(x, dim, keep)
            check(name, [x, dim, keep, Out("i64", expected.shape)], expected)
            check(name, [x, dim, keep, Out("i32", expected.shape)], expected.int())
    check_refusals(name, [x, 0, False, Out("i64", (3, 5))], [dtypes("REAL9"), dtypes("IDX")])


@pytest.mark.parametrize(
    ("name", "oracle"), [("Median", torch.median), ("NanMedian", torch.nanmedian)]
)
def test_medians(name: str, oracle: Any) -> None:
    allowed = dtypes("REAL10-f64-b")
    for dtype in allowed:
        x = sample(dtype, (4, 6))
        with case(dtype):
            check(name, [x, Out(dtype, ())], oracle(x))
            for dim, keep in [(0, False), (1, True)]:
                values = oracle(x, dim, keep).values
                outs = [Out(dtype, values.shape), Out("i64", values.shape)]
                result, indices = run(f"{name}Dim", x, dim, keep, *outs)
                close(result, values)
                at = indices if keep else indices.unsqueeze(dim)
                close(x.gather(dim, at).reshape(values.shape), values)
    f = sample("f32")
    check_refusals(name, [f, Out("f32", ())], [["f32"], ["f32"]])
