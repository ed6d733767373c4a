"""Products at the places that a sparse matrix holds, and checks that programs ask for: as in PyTorch."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")


def drawn(lib, **options):
    def matrix(rows, columns):
        values = [[(3 * i + 5 * j) % 7 - 3.0 for j in range(columns)] for i in range(rows)]
        return lib.tensor(values, **options)

    held = lib.tensor([[1.0, 0, 2], [0, 0, -3]], dtype=options.get("dtype")).to_sparse_csr()
    return held, matrix(2, 4), matrix(4, 3)


@pytest.mark.parametrize("factors", [{}, {"beta": 0.5, "alpha": 2}, {"beta": 0}, {"alpha": -1.5}])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_sampled_addmm(factors, dtype):
    found = []
    for lib in (torch, pt):
        made = lib.sparse.sampled_addmm(*drawn(lib, dtype=getattr(lib, dtype)), **factors)
        found.append((
            made.crow_indices().tolist(), made.col_indices().tolist(), made.values().tolist(),
            tuple(made.shape), str(made.layout), str(made.dtype),
        ))  # fmt: skip
    assert found[0] == found[1]


def test_its_gradients():
    found = []
    for lib in (torch, pt):
        leaves = [x.requires_grad_() for x in drawn(lib)]
        made = lib.sparse.sampled_addmm(*leaves, beta=3.0, alpha=2.0)
        (made.to_dense() * lib.arange(6.0).reshape(2, 3)).sum().backward()
        found.append([
            (x.grad if x.grad.layout is lib.strided else x.grad.to_dense()).tolist() for x in leaves
        ])  # fmt: skip
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s, a, b: (s, a, b[:3]), "mat1 and mat2 shapes cannot be multiplied"),
        (lambda s, a, b: (s, a[:1], b), r"self.shape\[-2\] must match mat1.shape\[-2\]"),
        (lambda s, a, b: (s, a, b[:, :1]), r"self.shape\[-1\] must match mat2.shape\[-1\]"),
        (lambda s, a, b: (s, a[0], b), "Expected mat1 to be a matrix, got 1-D tensor"),
        (lambda s, a, b: (s, a, b[0]), "Expected mat2 to be a matrix, got 1-D tensor"),
        (lambda s, a, b: (s, a.double(), b.double()), "to have the same dtype"),
        (lambda s, a, b: (s.to_sparse_csc(), a, b), "Expected result to have sparse csr layout"),
    ],
)
def test_what_it_refuses(change, words):
    for lib in (torch, pt):
        with pytest.raises(RuntimeError, match=words):
            lib.sparse.sampled_addmm(*change(*drawn(lib)))
    s, a, b = drawn(torch)
    with pytest.raises(RuntimeError, match=r"csr layout, but got torch.strided"):
        torch.sparse.sampled_addmm(s.to_dense(), a, b)


@pytest.mark.parametrize("lib", [torch, pt], ids=["mindtorch", "pytorch"])
def test_checks_that_are_asked_for(lib):
    checks = lib.sparse.check_sparse_tensor_invariants
    assert not checks.is_enabled()
    checks.enable()
    try:
        assert checks.is_enabled()
        with checks(enable=False):
            assert not checks.is_enabled()
        assert checks.is_enabled()
    finally:
        checks.disable()

    @checks()
    def made(place):
        assert checks.is_enabled()
        return lib.sparse_coo_tensor([[place]], [1.0], (2,))

    assert made(1)._nnz() == made(0)._nnz() == 1
    with pytest.raises(
        RuntimeError, match="size is inconsistent with indices: for dim 0, size is 2"
    ):
        made(5)
    assert not checks.is_enabled()
    block = checks()
    with block, pytest.raises(RuntimeError, match="is already activated"), block:
        pass
    assert not checks.is_enabled()
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        lib.sparse_coo_tensor([[5]], [1.0], (2,), check_invariants=True)


@pytest.mark.parametrize("name", [None, "sparse_coo", "sparse_csr", "sparse_csc"])
def test_diagonals_are_laid_out_as_asked(name):
    made = []
    for lib in (torch, pt):
        layout = name and getattr(lib, name)
        found = lib.sparse.spdiags(lib.arange(1.0, 4.0)[None], lib.tensor([1]), (3, 3), layout)
        made.append(
            (str(found.layout).replace("mindtorch_core", "torch"), found.to_dense().tolist())
        )
    assert made[0] == made[1]
