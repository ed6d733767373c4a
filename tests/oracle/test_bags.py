"""Bags of rows against PyTorch: what is padding, in every mode, with weights and gradients."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_close, assert_same_outcome

pt = pytest.importorskip("torch")

TABLE = [[1.0, -2.0], [4.0, 0.5], [-3.0, 6.0], [2.5, -1.0]]
ROW = [2, 0, 1, 1, 3, 0, 0]
LAYOUTS = {
    "offsets": (ROW, [0, 3, 3, 5]),
    "padding_alone": ([0, 0, 1], [0, 2]),  # a bag of nothing but the row 0
    "rows": ([[2, 0, 1], [0, 0, 0], [3, 3, 0]], None),
    "last": (ROW, [0, 2, 4, 7]),
    "none": ([], [0, 0]),
}


def bags(lib, layout, mode, weighted, **options):
    """The bags, and the gradients of the table and of the weights."""
    indices, offsets = LAYOUTS[layout]
    table = lib.tensor(TABLE, dtype=lib.float64, requires_grad=True)
    given = lib.tensor(indices, dtype=lib.int64)
    leaves = [table]
    if weighted:
        factors = lib.linspace(-1, 2, max(given.numel(), 1), dtype=lib.float64)[: given.numel()]
        leaves.append(factors.reshape(given.shape).requires_grad_())
        options["per_sample_weights"] = leaves[1]
    made = lib.nn.functional.embedding_bag(
        given, table, None if offsets is None else lib.tensor(offsets), mode=mode,
        include_last_offset=layout == "last", **options,
    )  # fmt: skip
    weights = lib.arange(1.0, made.numel() + 1, dtype=lib.float64).reshape(made.shape)
    (made * weights).sum().backward()
    return [made.detach(), *(leaf.grad for leaf in leaves)]


@pytest.mark.parametrize("padding", [0, 3, -1, -4, None])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("mode", "weighted"), [("sum", False), ("mean", False), ("max", False), ("sum", True)]
)
def test_padding(mode, weighted, layout, padding):
    expected = bags(pt, layout, mode, weighted, padding_idx=padding)
    found = bags(torch, layout, mode, weighted, padding_idx=padding)
    for mine, other in zip(found, expected, strict=True):
        assert_close(mine, other)


@pytest.mark.parametrize("padding", [0, None])
@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_gradients_divided_by_frequencies(mode, padding):
    """PyTorch divides by the frequency of another index (2.13), so here a plain division is the judge."""
    made, gradient = bags(pt, "offsets", mode, False, padding_idx=padding)
    found = bags(torch, "offsets", mode, False, padding_idx=padding, scale_grad_by_freq=True)
    often = pt.tensor([max(ROW.count(i), 1) for i in range(len(TABLE))])
    assert_close(found[0], made)
    assert_close(found[1], gradient / often[:, None])


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("padding", [0, 1])
def test_what_the_op_returns_beside_the_bags(padding, mode):
    def call(lib):
        table, offsets = lib.tensor(TABLE), lib.tensor([0, 3, 3, 5])
        made = lib.embedding_bag(
            table, lib.tensor(ROW), offsets, False, mode, False, None, False, padding
        )
        return made[0] if mode != 2 else lib.cat([made[0], made[3].to(made[0].dtype)], 1)

    assert_close(call(torch), call(pt))


@pytest.mark.parametrize("padding", [4, -5])
def test_padding_outside_the_table(padding):
    assert_same_outcome(
        lambda: bags(torch, "offsets", "sum", False, padding_idx=padding)[0],
        lambda: bags(pt, "offsets", "sum", False, padding_idx=padding)[0],
    )


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("wrong", [-1, 4])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_an_index_outside_the_table(index, wrong, mode):
    def call(lib):
        given = lib.tensor([1, wrong], dtype=getattr(lib, index))
        return lib.nn.functional.embedding_bag(
            given, lib.tensor(TABLE), lib.tensor([0], dtype=given.dtype), mode=mode
        )

    assert_same_outcome(lambda: call(torch), lambda: call(pt))


@pytest.mark.parametrize("rows", [0, 4])
def test_a_sparse_gradient_without_columns(rows):
    def call(lib):
        table = lib.ones(rows, 0, requires_grad=True)
        given = lib.tensor([1, 2][: rows // 2], dtype=lib.int64)
        lib.nn.functional.embedding(given, table, sparse=True).sum().backward()
        return table.grad.to_dense()

    assert_same_outcome(lambda: call(torch), lambda: call(pt))


@pytest.mark.parametrize("padding", [0, 2, -1, -4, 4, -5, None])
def test_padding_of_an_embedding(padding):
    def call(lib):
        table = lib.tensor(TABLE, dtype=lib.float64, requires_grad=True)
        made = lib.nn.functional.embedding(lib.tensor([[0, 1], [3, 0]]), table, padding_idx=padding)
        made.exp().sum().backward()
        return lib.cat([made.detach().reshape(-1), table.grad.reshape(-1)])

    assert_same_outcome(lambda: call(torch), lambda: call(pt))
