"""Sparse matrices in compressed rows, columns and blocks against PyTorch."""

import io
import subprocess
import sys
import warnings

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
KINDS = ["csr", "csc", "bsr", "bsc"]
PROGRAMS = [
    "s", "s.to_dense()", "s.values()", "s._nnz()", "s.layout", "s.is_sparse", "s.is_sparse_csr", "s.t()", "s.mT",
    "s.transpose(0, 1).to_dense()", "s.t().t()", "s * 2", "2 * s", "-s", "s.sin()", "s.relu()", "s + s", "s.sum()", "s @ d",
    "torch.sparse.mm(s, d)", "torch.mv(s, d[:, 0])", "d.t() @ s", "(s @ s).to_dense()", "(s @ s).layout",
    "torch.addmm(torch.ones(4, 2), s, d)", "s.double()", "s.bool()", "s.int()", "s.to(torch.float64)", "s.clone()",
    "s.detach()", "s.to_sparse()", "s.to_sparse_coo()", "s.to_sparse_csr()", "s.to_sparse_csc()", "s.to_sparse_bsr((2, 2))",
    "s.to_sparse_bsc((2, 2))", "s.to_sparse(layout=torch.sparse_csc)",
    "s.to_sparse(layout=torch.sparse_bsr, blocksize=(2, 2))", "s.crow_indices()", "s.col_indices()", "s.ccol_indices()",
    "s.row_indices()", "s.indices()", "s.coalesce()", "s.is_coalesced()", "(a + 1).sparse_mask(s)", "s[0]", "s[0, 1]",
    "s * s", "s * (a + 1)", "s + (a + 1)", "s.requires_grad_()", "kept(s)",
]  # fmt: skip
MADE = [
    "torch.sparse_csc_tensor([0, 1, 2], [0, 1], [1., 2.], (2, 2))", "torch.sparse_csc_tensor([0, 1, 2], [3, 1], [1., 2.])",
    "torch.sparse_bsr_tensor([0, 1, 1], [1], torch.ones(1, 2, 3), (4, 6))",
    "torch.sparse_bsr_tensor([0, 1, 1], [1], torch.ones(1, 2, 3)).shape",
    "torch.sparse_bsc_tensor([0, 1], [1], torch.ones(1, 2, 3), dtype=torch.float64)",
    "torch.sparse_compressed_tensor([0, 1, 2], [0, 1], [1., 2.], (2, 2), layout=torch.sparse_csc)",
    "a.to_sparse_csc()", "a.to_sparse_bsr((1, 4))", "a.to_sparse_bsc((4, 1))", "a.to_sparse_bsr((2, 1)).t()",
    "torch.zeros(4, 4).to_sparse_bsr((2, 2)).to_dense()", "a.ccol_indices()", "a.row_indices()",
    "a.to_sparse().double()", "torch.zeros(2, 2).to_sparse()", "torch.zeros(2, 2, dtype=torch.int16).to_sparse()",
    "a.reshape(2, 2, 4).to_sparse(1)", "torch.eye(30).to_sparse_csr()", "a.cfloat().to_sparse_csr()",
    "torch.ones(2, 2, dtype=torch.bool).to_sparse()", "torch.zeros(2, 2).to_sparse_csc()",
    "a.to_sparse_csc().to_sparse_bsr((2, 4))", "a[:, :3].to_sparse_csc() @ d[:3]",
]  # fmt: skip


def names(lib, kind="csr"):
    a = lib.tensor([[0, 1.0, 0, 2], [3, 0, 0, 0], [0, 0, 4, 0], [0, 0, 0, 5]])
    block = ((2, 2),) if kind.startswith("b") else ()

    def kept(s):
        file = io.BytesIO()
        lib.save(s, file)
        file.seek(0)
        return lib.load(file)

    made = getattr(a, f"to_sparse_{kind}")(*block)
    return {"torch": lib, "a": a, "s": made, "d": lib.arange(8.0).reshape(4, 2), "kept": kept}


def outcome(lib, program, kind="csr"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, that they are new
        try:
            return repr(eval(program, names(lib, kind)))
        except (RuntimeError, NotImplementedError) as error:
            return type(error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_pytorch(program, kind):
    theirs, ours = outcome(pt, program, kind), outcome(torch, program, kind)
    if isinstance(theirs, type) and isinstance(ours, str):
        return  # more is served here than there
    assert ours == theirs


@pytest.mark.parametrize("program", MADE)
def test_made_as_in_pytorch(program):
    assert outcome(torch, program) == outcome(pt, program)


@pytest.mark.parametrize("kind", KINDS)
def test_what_pytorch_does_not_serve_is_right(kind):
    s, d, a = (names(torch, kind)[name] for name in "sda")
    for found, wanted in (
        (s @ d, a @ d), (d.t() @ s, d.t() @ a), ((s @ s).to_dense(), a @ a), ((s * s).to_dense(), a * a),
        ((s * (a + 1)).to_dense(), a * (a + 1)), (s.to_sparse_csr().to_dense(), a), (s.to_sparse_bsr((1, 4)).to_dense(), a), ((s - s).to_dense(), a - a),
    ):  # fmt: skip
        assert torch.equal(found, wanted)
    assert (s * s).layout is s.layout


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_reach_values_and_dense_matrices(kind):
    s, d = (names(torch, kind)[name] for name in "sd")
    s.requires_grad_()
    (s @ d).sum().backward()
    assert s.grad.layout is s.layout
    wanted = d.sum(1).expand(4, 4).sparse_mask(s.detach())
    assert torch.equal(s.grad.to_dense(), wanted.to_dense())
    a = names(torch)["a"].requires_grad_()
    block = ((2, 2),) if kind.startswith("b") else ()
    (getattr(a, f"to_sparse_{kind}")(*block) * 3).sum().backward()
    assert a.grad.sum() == 3 * s._elements.numel()


def test_coordinates_need_nothing_of_compressed_matrices():
    program = """
import mindtorch_core as torch
s = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0])
print((s + s).to_dense().sum().item(), (s * s).sum().item(), (s @ s).sum().item())
"""
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["6.0", "5.0", "4.0"]


def test_rows_out_of_order_multiply():
    unordered = torch.sparse_csr_tensor([0, 2, 3], [1, 0, 1], [1.0, 2.0, 3.0], (2, 2))
    assert (unordered * unordered).to_dense().tolist() == [[4, 1], [0, 9]]


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("a.to_sparse_bsr((3, 2))", "divisible"),
        ("a.to_sparse_bsr((0, 2))", "positive"),
        ("a.to_sparse(layout=torch.sparse_bsr)", "blocksize"),
        ("a.to_sparse(layout=torch.sparse_csc, blocksize=(2, 2))", "blocksize"),
        ("torch.sparse_csc_tensor([0, 5, 2], [0, 1], [1., 2.])", "ccol_indices"),
        ("torch.sparse_csc_tensor([0, 1, 2], [0], [1., 2.])", "row_indices"),
        ("torch.sparse_csc_tensor([0, 1, 2], [0, 1], [1., 2.], (2, 3))", "3 columns"),
        ("torch.sparse_compressed_tensor([0], [], [], layout=torch.sparse_coo)", "expected sparse"),
        ("torch.sparse_bsr_tensor([0, 1], [0], [1.])", "only matrices"),
        ("torch.ones(2, 2, 2).to_sparse_csc()", "only matrices"),
    ],
)
def test_what_does_not_fit(program, words):
    with pytest.raises((RuntimeError, NotImplementedError), match=words):
        eval(program, names(torch))
