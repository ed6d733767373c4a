"""Which dtypes ``out=`` may have, against PyTorch: most ops want their result's own."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")

DTYPES = ["float64", "float32", "int64", "uint8", "bool", "complex64"]
CALLS = {
    # the result's own dtype
    **{
        name: lambda lib, x, name=name, **out: getattr(lib, name)(x, **out)
        for name in [
            "neg",
            "floor",
            "ceil",
            "trunc",
            "round",
            "sign",
            "sgn",
            "nan_to_num",
            "signbit",
            "isposinf",
            "isneginf",
            "conj_physical",
            "tril",
            "diag",
            "nonzero",
            "msort",
            "argmax",
            "negative",
            "fix",
        ]
    },
    "amax": lambda lib, x, **out: lib.amax(x, 0, **out),
    "mm": lambda lib, x, **out: lib.mm(x, x, **out),
    "addmm": lambda lib, x, **out: lib.addmm(x, x, x, **out),
    "heaviside": lambda lib, x, **out: lib.heaviside(x, x, **out),
    "where": lambda lib, x, **out: lib.where(x > 0, x, x, **out),
    "float_power": lambda lib, x, **out: lib.float_power(x, 2, **out),
    "index_select": lambda lib, x, **out: lib.index_select(x, 0, lib.tensor([0]), **out),
    "softmax": lambda lib, x, **out: lib.softmax(x.float(), 0, **out),
    "inv": lambda lib, x, **out: lib.linalg.inv(x.float() + lib.eye(2), **out),
    "fft": lambda lib, x, **out: lib.fft.fft(x, **out),
    "multi_dot": lambda lib, x, **out: lib.linalg.multi_dot([x, x], **out),
    **{
        name: lambda lib, x, name=name, **out: getattr(lib, name)(x, **out)
        for name in ["abs", "absolute"]
    },
    # any dtype of a kind
    "all": lambda lib, x, **out: lib.all(x, **out),
    "any": lambda lib, x, **out: lib.any(x, 1, **out),
    **{
        name: lambda lib, x, name=name, **out: getattr(lib.fft, name)(x, **out)
        for name in ["irfft", "irfft2", "irfftn", "hfft", "hfft2", "hfftn"]
    },
    # any dtype that the result's can be cast to
    **{
        name: lambda lib, x, name=name, **out: getattr(lib, name)(x, **out)
        for name in ["exp", "arccos", "logical_not", "max", "var", "std"]
    },
    **{
        name: lambda lib, x, name=name, **out: getattr(lib, name)([x, x], **out)
        for name in [
            "cat",
            "concat",
            "stack",
            "hstack",
            "vstack",
            "row_stack",
            "dstack",
            "column_stack",
        ]
    },
    **{
        name: lambda lib, x, name=name, **out: getattr(lib, name)(x, x, **out)
        for name in ["add", "true_divide", "divide", "multiply", "subtract", "max", "kron", "less"]
    },
    "outer": lambda lib, x, **out: lib.outer(x[0], x[0], **out),
    "addr": lambda lib, x, **out: lib.addr(x, x[0], x[0], **out),
    "logsumexp": lambda lib, x, **out: lib.logsumexp(x, 0, **out),
    "special.logsumexp": lambda lib, x, **out: lib.special.logsumexp(x, 0, **out),
    "special.expit": lambda lib, x, **out: lib.special.expit(x, **out),
    "cond": lambda lib, x, **out: lib.linalg.cond(x.float() + lib.eye(2), **out),
    "pinv": lambda lib, x, **out: lib.linalg.pinv(x.float() + lib.eye(2), **out),
    "matrix_rank": lambda lib, x, **out: lib.linalg.matrix_rank(x.float(), **out),
    "normal": lambda lib, x, **out: lib.normal(x.float(), 0.0, **out),
    "polygamma": lambda lib, x, **out: lib.special.polygamma(1, x.float() + 1, **out),
}


def accepted(lib, name, d, out):
    call, x = CALLS[name], lib.tensor([[0, 1], [1, 1]]).to(getattr(lib, d))
    wanted = outcome(call, lib, x)
    if isinstance(wanted, Exception):
        return None
    made = outcome(call, lib, x, out=lib.empty(wanted.shape, dtype=getattr(lib, out)))
    if isinstance(made, Exception):
        return isinstance(made, RuntimeError | TypeError)
    return made.tolist()


@pytest.mark.parametrize("name", CALLS)
def test_dtypes_of_outputs(name):
    for d in ("float32", "int64", "uint8", "bool", "complex64"):
        for out in DTYPES:
            ours, theirs = (accepted(lib, name, d, out) for lib in (torch, pt))
            assert (ours is True) == (theirs is True), (name, d, out, ours, theirs)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x, **out: lib.max(x, 0, **out),
        lambda lib, x, **out: lib.sort(x, **out),
        lambda lib, x, **out: lib.topk(x, 1, **out),
        lambda lib, x, **out: lib.linalg.qr(x, **out),
    ],
)
@pytest.mark.parametrize("make", [tuple, list])
def test_several_outputs_have_names(call, make):
    for lib in (torch, pt):
        x = lib.tensor([[0.0, 1.0], [2.0, 1.0]])
        outs = make(call(lib, x))
        found = call(lib, x, out=outs)
        assert all(
            getattr(found, name) is t
            for name, t in zip(names(call(pt, pt.ones(2, 2))), outs, strict=False)
        )


@pytest.mark.parametrize(
    ("phrase", "call"),
    [
        ("any only supports bool tensor", lambda lib, out: lib.any(lib.ones(2), out=out)),
        ("expects a floating point output", lambda lib, out: lib.fft.hfft(lib.ones(2), out=out)),
        ("Expected floating point type", lambda lib, out: lib.logsumexp(lib.ones(2), 0, out=out)),
    ],
)
def test_outputs_of_another_kind_are_refused_in_pytorchs_words(phrase, call):
    for lib in (torch, pt):
        with pytest.raises(RuntimeError, match=phrase):
            call(lib, lib.zeros((), dtype=lib.int64))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_the_special_names_of_softmax_take_no_output(name):
    for lib in (torch, pt):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            getattr(lib.special, name)(lib.ones(2), 0, out=lib.ones(2))


def names(result):
    return [name for name in ("values", "indices", "Q", "R") if hasattr(result, name)]
