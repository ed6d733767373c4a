"""What a sparse tensor is given and says by itself: gradients, data, devices, sums in place, refusals."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def eye(lib, by=1.0, size=3):
    return (lib.eye(size) * by).to_sparse()


def dense(value):
    return value.to_dense().tolist()


def with_gradient(lib):
    a = eye(lib).requires_grad_()
    lib.sparse.sum(a * a).backward()
    return a


def test_requires_grad_is_assigned():
    for lib in (torch, pt):
        a = eye(lib)
        a.requires_grad = True
        assert a.requires_grad
        assert a.is_leaf
        a.requires_grad = False
        assert not a.requires_grad


def test_a_gradient_is_taken_away_and_given():
    a = with_gradient(torch)
    g = a.grad
    a.grad = None
    assert a.grad is None
    a.grad = g
    assert dense(a.grad) == (2 * torch.eye(3)).tolist()


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (3, TypeError, "assigned grad expected to be a Tensor or None but got grad of type int"),
        (
            torch.eye(3),
            RuntimeError,
            "assigned grad must be sparse, with the positions of its tensor",
        ),
        (
            torch.eye(3).flip(0).to_sparse(),
            RuntimeError,
            "assigned grad must be sparse, with the pos",
        ),
        (
            torch.ones(3, 3).to_sparse(),
            RuntimeError,
            "assigned grad must be sparse, with the positions",
        ),
        (
            eye(torch).double(),
            RuntimeError,
            "attempting to assign a gradient with dtype torch.float64",
        ),
    ],
)
def test_gradients_that_do_not_fit(value, error, words):
    a = with_gradient(torch)
    with pytest.raises(error, match=f"^{words}"):
        a.grad = value
    assert dense(a.grad) == (2 * torch.eye(3)).tolist()


def test_other_data_at_the_same_positions_keeps_the_gradient():
    for lib in (torch, pt):
        a = with_gradient(lib)
        a.data = eye(lib, 5)
        assert dense(a) == (5 * torch.eye(3)).tolist()
        assert dense(a.grad) == (2 * torch.eye(3)).tolist()
        assert a.requires_grad


def test_other_positions_have_no_gradient_yet():
    a = with_gradient(torch)
    a.data = torch.ones(3, 3).to_sparse()
    assert a.grad is None
    assert dense(a) == torch.ones(3, 3).tolist()


def test_moved_only_where_it_is_another():
    for lib in (torch, pt):
        a = eye(lib)
        assert a.to(lib.float32) is a
        assert a.to("cpu") is a
        assert a.to(lib.float64).dtype is lib.float64


@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
def test_set_to_zero(layout):
    for lib in (torch, pt):
        a = getattr(lib.eye(3), layout)()
        assert a.zero_() is a
        assert dense(a) == torch.zeros(3, 3).tolist()
        assert dense(a + getattr(lib.eye(3), layout)()) == torch.eye(3).tolist()


@pytest.mark.parametrize(
    "add",
    [
        lambda a, b, lib: a.add_(b, alpha=3),
        lambda a, b, lib: a.__iadd__(b * 3),
        lambda a, b, lib: lib.Tensor.add_(a, b, alpha=3),
    ],
)
def test_sums_in_place(add):
    for lib in (torch, pt):
        a, b, c = eye(lib), eye(lib, 2), lib.ones(3, 3)
        assert add(a, b, lib) is a
        assert dense(a) == (7 * torch.eye(3)).tolist()
        assert add(c, b, lib) is c
        assert c.tolist() == (torch.ones(3, 3) + 6 * torch.eye(3)).tolist()
        with pytest.raises(
            RuntimeError, match=r"^add\(sparse, dense\) is not supported\. Use add\(d"
        ):
            add(a, c, lib)
        assert dense(a) == (7 * torch.eye(3)).tolist()


def test_the_sums_of_functions():
    for lib in (torch, pt):
        a, c = eye(lib), lib.ones(3, 3)
        assert lib.add(c, a, alpha=3).tolist() == (torch.ones(3, 3) + 3 * torch.eye(3)).tolist()
        assert lib.sub(c, a, alpha=3).tolist() == (torch.ones(3, 3) - 3 * torch.eye(3)).tolist()
        assert dense(lib.add(a, a, alpha=3)) == (4 * torch.eye(3)).tolist()
        assert c.tolist() == torch.ones(3, 3).tolist()


def test_products_with_the_dense_one_first():
    for lib in (torch, pt):
        a = lib.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse()
        b = lib.tensor([[1.0, 4.0], [5.0, 6.0]])
        for found in (b * a, lib.mul(b, a), lib.ops.aten.mul.Tensor(b, a)):
            assert found.is_sparse
            assert dense(found) == [[0, 8], [15, 0]]
        for found in (b @ a, a.__rmatmul__(b), lib.Tensor.__rmatmul__(a, b)):
            assert found.tolist() == [[12, 2], [18, 10]]
        assert dense(a.smm(b)) == [[10, 12], [3, 12]]
        assert dense(a.sspaddmm(a, b, alpha=2)) == [[20, 26], [9, 24]]


@pytest.mark.parametrize("at", [[[0.5, 1.5]], [[False, True]], [[0, 1]]])
def test_positions_become_whole_numbers(at):
    for lib in (torch, pt):
        made = lib.sparse_coo_tensor(lib.tensor(at), [1.0, 2.0], (2,), check_invariants=True)
        assert made._indices().dtype is lib.int64
        assert made.to_dense().tolist() == [1.0, 2.0]


def test_methods_of_dense_tensors():
    for lib in (torch, pt):
        assert lib.eye(3).to_sparse_coo().layout is lib.sparse_coo
        with pytest.raises((TypeError, NotImplementedError)):
            lib.eye(3).sparse_mask(lib.eye(3))
        with pytest.raises(RuntimeError):
            lib.ones(3, 3).smm(lib.ones(3, 3))
    with pytest.raises(TypeError, match="expected mask to be sparse, got a dense tensor"):
        torch.eye(3).sparse_mask(torch.eye(3))


def test_what_is_not_served_is_refused():
    with pytest.raises(RuntimeError, match="pin_memory=True is not served for sparse tensors"):
        torch.sparse_coo_tensor([[0]], [1.0], (2,), pin_memory=True)
    with pytest.raises(RuntimeError, match="to_sparse_csr: a sparse tensor keeps its dense_dim, 0"):
        eye(torch).to_sparse_csr(dense_dim=1)
    assert dense(eye(torch).to_sparse_csr(dense_dim=0)) == torch.eye(3).tolist()


def test_a_compressed_matrix_without_elements_is_shown():
    for lib in (torch, pt):
        text = repr(lib.eye(3).to_sparse_csr().to("meta"))
        assert text.startswith(
            "tensor(crow_indices=tensor(..., size=(4,)),\n       col_indices=ten"
        )
        assert "device='meta', size=(3, 3)" in " ".join(text.split())


SAMPLED = {
    "rows": ((4, 2), (2, 3), r"self\.shape\[-2\] must match mat1\.shape\[-2\]"),
    "columns": ((3, 2), (2, 4), r"self\.shape\[-1\] must match mat2\.shape\[-1\]"),
    "between": ((3, 2), (3, 3), r"mat1 and mat2 shapes cannot be multiplied \(3x2 and 3x3\)"),
}


@pytest.mark.parametrize("which", SAMPLED)
def test_sampled_products_of_other_sizes(which):
    one, other, words = SAMPLED[which]
    for lib in (torch, pt):
        with pytest.raises(RuntimeError, match=f"^sampled_addmm: {words}"):
            lib.sparse.sampled_addmm(lib.eye(3).to_sparse_csr(), lib.ones(one), lib.ones(other))


@pytest.mark.parametrize("into", ["to_sparse_csc", "to_sparse", "clone"])
def test_sampled_products_of_other_layouts(into):
    for lib in (torch, pt):
        a = getattr(lib.eye(3), into)()
        with pytest.raises((RuntimeError, NotImplementedError)) as error:
            lib.sparse.sampled_addmm(a, lib.ones(3, 2), lib.ones(2, 3))
        if lib is torch or into == "to_sparse_csc":
            assert "Expected result to have sparse csr layout" in str(error.value)


def upper(lib, layout="to_sparse", dtype="float32"):
    return getattr(lib.tensor([[1, 2], [0, 4]], dtype=getattr(lib, dtype)), layout)()


@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
@pytest.mark.parametrize("by", ["to_sparse", "clone"])
def test_products_in_place_hold_positions_and_values_that_fit(layout, by):
    a = upper(torch, layout)
    other = getattr(torch.eye(2) * 3, by)()
    assert a.mul_(other) is a
    assert dense(a) == [[3, 0], [0, 12]]
    assert a.layout is upper(torch, layout).layout
    assert dense(a + upper(torch, layout)) == [[4, 2], [0, 16]]
    if layout == "to_sparse":
        b = upper(pt).mul_(getattr(pt.eye(2) * 3, by)())
        assert dense(b) == [[3, 0], [0, 12]]
        assert a._nnz() == b._nnz()


@pytest.mark.parametrize(
    "layouts", [("to_sparse_csr", "to_sparse"), ("to_sparse", "to_sparse_csr")]
)
def test_sums_in_place_keep_the_layout(layouts):
    """PyTorch refuses these by an assertion."""
    mine, other = layouts
    a = upper(torch, mine)
    a.add_(getattr(torch.eye(2), other)())
    assert dense(a) == [[2, 2], [0, 5]]
    assert a.layout is upper(torch, mine).layout
    if mine == "to_sparse_csr":
        assert a.crow_indices().tolist() == [0, 2, 3]
        assert a.col_indices().tolist() == [0, 1, 1]
        assert a.values().tolist() == [2, 2, 5]


@pytest.mark.parametrize(
    "change",
    [lambda lib, a: a.mul_(1.5), lambda lib, a: a.add_(lib.eye(2).to_sparse())],
)
def test_no_dtype_changes_in_place(change):
    for lib in (torch, pt):
        a = upper(lib, dtype="int64")
        with pytest.raises(RuntimeError):
            change(lib, a)
        assert dense(a) == [[1, 2], [0, 4]]
        assert a._values().dtype is lib.int64
        wide = upper(lib)
        wide.add_(lib.eye(2, dtype=lib.float64).to_sparse())
        assert wide._values().dtype is lib.float32


def test_norms_are_of_all_elements():
    for lib in (torch, pt):
        a = upper(lib)
        norms = (
            a.norm(),
            a.norm(1),
            lib.norm(a, p="fro"),
            lib.norm(a, dim=(0, 1)),
            a.norm(2, (-1, 0)),
        )
        assert [round(n.item(), 4) for n in norms] == [4.5826, 7, 4.5826, 4.5826, 4.5826]
        for dim in (0, 1, (1,), -1):
            with pytest.raises(
                RuntimeError, match=r"^norm_sparse currently only supports full reducti"
            ):
                a.norm(2, dim)
        with pytest.raises(
            RuntimeError, match=r"^norm_sparse currently does not support keepdim=True"
        ):
            lib.norm(a, keepdim=True)
    assert upper(torch).norm(2, dtype=torch.float64).dtype is torch.float64
