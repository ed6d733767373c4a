"""`DataParallel` where there are several devices: parts of batches, and what is made of them."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

import mindtorch_core as torch
from mindtorch_core import nn

Pair = namedtuple("Pair", "rows total")


class Noting(nn.Module):
    """Keeps the sizes of what it is called with."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(2.0))
        self.sizes: list[Any] = []

    def forward(self, x: Any, pair: Any = None, *, name: str = "", more: Any = None) -> Any:
        self.sizes.append((x.shape[0], None if pair is None else pair.rows.shape[0], name))
        made = x * self.weight
        return {
            "rows": made,
            "pair": Pair(made, made.sum()),
            "list": [made[:, 0], None],
            "more": more,
        }


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters lie on the first of three devices, which is the CPU."""
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cpu"))
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 3)


@pytest.mark.usefixtures("three")
def test_a_part_for_each_device() -> None:
    module = Noting()
    x = torch.arange(10.0).reshape(5, 2)
    with pytest.warns(UserWarning, match="will instead unsqueeze and return a vector"):
        made = nn.DataParallel(module)(x, Pair(x, 1), name="a", more={"x": x})
    assert module.sizes == [(2, 2, "a"), (2, 2, "a"), (1, 1, "a")]
    assert made["rows"].equal(2 * x)
    assert made["pair"].rows.equal(2 * x)
    assert made["pair"].total.tolist() == [12.0, 44.0, 34.0]
    assert made["list"][0].equal(2 * x[:, 0])
    assert made["list"][1] is None
    assert made["more"]["x"].equal(x)
    made["pair"].total.mean().backward()
    assert module.weight.grad.item() == x.sum().item() / 3


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(("rows", "sizes"), [(2, [1, 1]), (1, [1]), (4, [2, 2])])
def test_short_batches_have_fewer_parts(rows: int, sizes: list[int]) -> None:
    layer, seen = nn.Linear(2, 2), []
    layer.register_forward_pre_hook(lambda _, given: seen.append(len(given[0])))
    x = torch.ones(rows, 2)
    assert nn.parallel.data_parallel(layer, x).equal(layer(x))
    assert seen == [*sizes, rows]


@pytest.mark.usefixtures("three")
def test_with_one_device_the_batch_is_whole() -> None:
    module = Noting()
    assert nn.DataParallel(module, device_ids=[0])(torch.ones(4, 2))["pair"].total.dim() == 0
    assert [size for size, *_ in module.sizes] == [4]
