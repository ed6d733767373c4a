"""Bags of rows: what is padding counts nowhere, and where each result is from."""

import pytest

import mindtorch_core as torch

TABLE = [[1.0, -2.0], [4.0, 0.5], [-3.0, 6.0]]
INDICES = [2, 0, 1, 1, 2, 0]
OFFSETS = [0, 3, 3, 5]
EXPECTED = {  # from PyTorch, with the second row of the table as padding
    "sum": [[-2.0, 4.0], [0.0, 0.0], [-3.0, 6.0], [1.0, -2.0]],
    "mean": [[-1.0, 2.0], [0.0, 0.0], [-3.0, 6.0], [1.0, -2.0]],
    "max": [[1.0, 6.0], [0.0, 0.0], [-3.0, 6.0], [1.0, -2.0]],
}
GRADIENTS = {
    "sum": [[2.0, 2.0], [0.0, 0.0], [2.0, 2.0]],
    "mean": [[1.5, 1.5], [0.0, 0.0], [1.5, 1.5]],
    "max": [[2.0, 1.0], [0.0, 0.0], [1.0, 2.0]],
}


def bags(mode, device="cpu", **options):
    weight = torch.tensor(TABLE, device=device, requires_grad=True)
    given = torch.tensor(INDICES, device=device), weight, torch.tensor(OFFSETS, device=device)
    return weight, torch.nn.functional.embedding_bag(*given, mode=mode, **options)


@pytest.mark.parametrize("mode", EXPECTED)
def test_padding_counts_nowhere(mode):
    weight, found = bags(mode, padding_idx=1)
    assert found.tolist() == EXPECTED[mode]
    found.sum().backward()
    assert weight.grad.tolist() == GRADIENTS[mode]


@pytest.mark.parametrize("mode", EXPECTED)
def test_a_pipeline_needs_no_value_but_for_the_checks(mode):
    with torch.pipeline():
        _, found = bags(mode, padding_idx=1)
    assert found.tolist() == EXPECTED[mode]


def test_each_index_has_a_bag_whether_it_counts_or_not():
    weight, indices, offsets = torch.tensor(TABLE), torch.tensor(INDICES), torch.tensor(OFFSETS)
    made = torch.embedding_bag(weight, indices, offsets, False, 2, False, None, False, 1)
    _, bag_of, size, rows = made
    assert bag_of.tolist() == [0, 0, 0, 2, 2, 3]
    assert size.tolist() == [2, 0, 1, 1]
    assert rows.tolist() == [[0, 2], [0, 0], [2, 2], [0, 0]]


def test_rows_in_use_are_limited_once_however_often_they_are_named():
    weight = torch.tensor([[3.0, 4.0], [6.0, 8.0], [0.3, 0.4]])
    torch.embedding_renorm_(weight, torch.tensor([[1, 2], [1, 1]]), 2.0, 2.0)
    assert weight.tolist() == [[3.0, 4.0], pytest.approx([1.2, 1.6]), pytest.approx([0.3, 0.4])]
