"""Overloads of `torch.ops` that write into ``out``: PyTorch's names, schemas, results and refusals."""

import copy

import pytest

import mindtorch_core as torch
from mindtorch_core.opdefs.out_overloads import out_name, takes_out
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.facts import missing

pt = pytest.importorskip("torch")
aten = torch.ops.aten

BESIDE = [
    (op, beside)
    for op in dir(aten)
    for beside, e in getattr(aten, op)._entries().items()
    if takes_out(e)
]
# PyTorch's relu6 has none, and calls the result of the other something else.
OTHERWISE = {"relu6", "_softmax_backward_data"}


@pytest.mark.parametrize(("op", "beside"), BESIDE, ids=[f"{o}.{b}" for o, b in BESIDE])
def test_names_and_arguments_are_pytorchs(op, beside):
    name = out_name(op, beside)
    mine = getattr(getattr(aten, op), name)
    assert mine.name() == f"aten::{op}.{name}"
    assert str(mine._schema).endswith("Tensor(a!) out) -> Tensor(a!)")
    assert mine._schema.is_mutable
    if op not in OTHERWISE:
        theirs = getattr(getattr(pt.ops.aten, op), name)
        wanted = [a.name for a in theirs._schema.arguments]
        ours = [a for a in mine._schema.arguments if a.name in wanted]
        assert [a.name for a in ours] == wanted
        # Where one op here is several of PyTorch's, it has the options of all.
        more = [a for a in mine._schema.arguments if a.name not in wanted]
        assert all(a.has_default_value() for a in more)


CALLS = {
    "add.out": lambda o, x, y, out: o(x, y, alpha=2, out=out),
    "add.Scalar_out": lambda o, x, y, out: o(x, 3, out=out),
    "mul.out": lambda o, x, y, out: o(x, y, out=out),
    "cat.out": lambda o, x, y, out: o([x, y], 1, out=out),
    "eq.Tensor_out": lambda o, x, y, out: o(x, y, out=out.bool()),
    "clamp.out": lambda o, x, y, out: o(x, max=2, out=out),
    "clamp.Tensor_out": lambda o, x, y, out: o(x, y, out=out),
    "sum.IntList_out": lambda o, x, y, out: o(x, [1], out=out),
    "mean.out": lambda o, x, y, out: o(x, [0], True, out=out),
    "max.out": lambda o, x, y, out: o(x, y, out=out),
    "pow.Tensor_Scalar_out": lambda o, x, y, out: o(self=x, exponent=2, out=out),
    "mm.out": lambda o, x, y, out: o(x, y.T, out=out),
    "zeros.out": lambda o, x, y, out: o([2, 3], out=out),
    "arange.start_out": lambda o, x, y, out: o(1, 7, 2, out=out),
    "div.out_mode": lambda o, x, y, out: o(x, y, rounding_mode="floor", out=out),
    "index_select.out": lambda o, x, y, out: o(x, 1, y[0].long() - 1, out=out),
    # what is refused
    "sin.out": lambda o, x, y, out: o(x),
    "sub.out": lambda o, x, y, out: o(x, out=out),
    "exp.out": lambda o, x, y, out: o(x, out=out.long()),
    "neg.out": lambda o, x, y, out: o(x.requires_grad_(), out=out),
    "atan2.out": lambda o, x, y, out: o(x, y, out=3),
}


@pytest.mark.filterwarnings("ignore:.*resized")
@pytest.mark.parametrize("name", CALLS)
def test_calls_write_what_pytorchs_do(name):
    def played(lib):
        op, _, overload = name.partition(".")
        x, y = (lib.arange(6.0).reshape(2, 3) + n for n in (0, 1))
        out = lib.zeros(0)
        result = CALLS[name](getattr(getattr(lib.ops.aten, op), overload), x, y, out)
        return result.tolist(), result is out or result.dtype is lib.bool

    found, expected = outcome(played, torch), outcome(played, pt)
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected))
        assert not missing(str(found), str(expected))
    else:
        assert found == expected


def test_they_keep_their_identity_and_are_no_entries():
    before = aten.add.overloads()
    assert aten.add.out is aten.add.out is copy.copy(aten.add).out
    assert str(aten.add.out) == "aten.add.out"
    assert aten.add.overloads() == before
    with pytest.raises(AttributeError, match="no overload name 'values'"):
        _ = aten.topk.values  # it has several results
