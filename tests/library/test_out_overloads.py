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
    assert mine._schema.is_mutable
    if op not in OTHERWISE:
        theirs = getattr(getattr(pt.ops.aten, op), name)
        wanted = [a.name for a in theirs._schema.arguments]
        ours = [a for a in mine._schema.arguments if a.name in wanted]
        assert [a.name for a in ours] == wanted
        # Where one op here is several of PyTorch's, it has the options of all.
        more = [a for a in mine._schema.arguments if a.name not in wanted]
        assert all(a.has_default_value() for a in more)
        written = [a for a in mine._schema.arguments if a.is_out]
        assert [a.name for a in written] == [a.name for a in theirs._schema.arguments if a.is_out]
        assert [r.name for r in mine._schema.returns] == [r.name for r in theirs._schema.returns]


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


# With two outputs, of the values' dtype and of whole numbers, and the results in the order of the schema.
SEVERAL = {
    "max.dim_max": lambda o, x, a, i: o(x, 1, max=a, max_values=i),
    "min.dim_min": lambda o, x, a, i: o(x, 0, True, min=a, min_indices=i),
    "sort.values": lambda o, x, a, i: o(x, 1, True, values=a, indices=i),
    "sort.values_stable": lambda o, x, a, i: o(x, stable=True, indices=i, values=a),
    "topk.values": lambda o, x, a, i: o(x, 2, values=a, indices=i),
    "kthvalue.values": lambda o, x, a, i: o(x, 2, 0, values=a, indices=i),
    "mode.values": lambda o, x, a, i: o(x, values=a, indices=i),
    "median.dim_values": lambda o, x, a, i: o(x, 1, values=a, indices=i),
    "cummax.out": lambda o, x, a, i: o(x, 1, values=a, indices=i),
    "aminmax.out": lambda o, x, a, i: o(x, dim=1, min=a, max=a.clone()),
    "frexp.Tensor_out": lambda o, x, a, i: o(x, mantissa=a, exponent=i.int()),
    "linalg_eigh.eigvals": lambda o, x, a, i: o(x @ x.T, eigvals=a, eigvecs=a.clone())[:1],
    "triangular_solve.X": lambda o, x, a, i: o(x, (x @ x.T + 9).triu(), X=a, M=a.clone()),
    "linalg_inv_ex.inverse": lambda o, x, a, i: o(x @ x.T, inverse=a, info=i.int()),
    # what is refused
    "qr.Q": lambda o, x, a, i: o(x, Q=a),
    "cummin.out": lambda o, x, a, i: o(x, 1, out=(a, i)),
    "svd.U": lambda o, x, a, i: o(x, U=a, S=a.clone(), V=i),
}


@pytest.mark.filterwarnings("ignore:.*resized")
@pytest.mark.filterwarnings("ignore:torch.triangular_solve")
@pytest.mark.parametrize("name", SEVERAL)
def test_several_results_are_written_as_pytorchs_are(name):
    def played(lib):
        op, _, overload = name.partition(".")
        x = lib.tensor([[3.0, 1.0, 4.0], [1.0, 5.0, 1.0]])
        outs = lib.zeros(0), lib.zeros(0, dtype=lib.int64)
        results = SEVERAL[name](getattr(getattr(lib.ops.aten, op), overload), x, *outs)
        return [r.numpy().round(4).tolist() for r in results], results[0] is outs[0]

    found, expected = outcome(played, torch), outcome(played, pt)
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected))
        assert not missing(str(found), str(expected))
    else:
        assert found == expected


def test_lists_of_results_are_written_and_nothing_is_returned():
    def played(lib):
        outs = [lib.zeros(2), lib.zeros(2)]
        returned = lib.ops.aten.unbind_copy.int_out(lib.arange(4.0).reshape(2, 2), 1, out=outs)
        return returned, [each.tolist() for each in outs]

    assert played(torch) == played(pt) == (None, [[0.0, 2.0], [1.0, 3.0]])


def test_they_keep_their_identity_and_are_no_entries():
    before = aten.add.overloads()
    assert aten.add.out is aten.add.out is copy.copy(aten.add).out
    assert str(aten.add.out) == "aten.add.out"
    assert aten.add.overloads() == before
    with pytest.raises(AttributeError, match="no overload name 'out'"):
        _ = aten.topk.out  # that is not what it is called
