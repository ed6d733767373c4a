"""Compiled kernels of rows make the sums that BLAS makes, in its order where that is known."""

from collections import Counter

import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu.native import rowcode
from mindtorch_cpu.native.kernels import KERNELS, WrongKernel, made_from
from mindtorch_cpu.native.program import Graph, Node, Program
from mindtorch_cpu.native.summing import blas_function
from mindtorch_cpu.native.walks import WALKS


@pytest.fixture(autouse=True)
def apart(monkeypatch, tmp_path):
    """Nothing is compiled yet."""
    torch.zeros(1)
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    monkeypatch.setattr(KERNELS, "_kernels", {})
    monkeypatch.setattr(KERNELS, "failures", Counter())
    monkeypatch.setenv("MINDTORCH_KERNEL_CACHE", str(tmp_path))


def drawn(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3)).to(dtype)


def norms_of_rows(width, dtype):
    """Sums and products of rows alone, and of some whose elements are used again."""
    x, g = drawn(6, 4, width, dtype=dtype) + 1, drawn(6, 4, width, dtype=dtype)
    w = torch.linspace(-1, 2, 4).to(dtype)
    aten = torch.ops.aten
    y, mean, rstd = aten.native_group_norm(x, w, w, 6, 4, width, 2, 1e-5)
    images = drawn(12, 3, width, dtype=dtype)
    return (
        y, mean, rstd, F.layer_norm(x, (width,)), x.softmax(-1),
        *aten.native_group_norm_backward(g, x, mean, rstd, w, 6, 4, width, 2, [True] * 3),
        *aten.native_batch_norm_backward(
            images.flip(0), images, None, None, None, images.mean((0, 2)), images.var((0, 2)) ** -0.5,
            True, 1e-5, [True] * 3,
        ),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
# One piece, several, one with elements that fill no vector, and more pieces than NumPy adds in turn.
@pytest.mark.parametrize("width", [500, 1024, 1026, 3003, 9216])
def test_norms_with_kernels_and_without(with_and_without, width, dtype):
    found, wanted = with_and_without(lambda: norms_of_rows(width, dtype))
    assert found == wanted
    assert not KERNELS.failures


def test_where_the_order_is_not_known_blas_is_called(with_and_without, monkeypatch):
    row = WALKS["row_dots"]

    def otherwise(d, random):
        arguments, out, wanted = row.case(d, random)
        return arguments, out, wanted[::-1]

    monkeypatch.setitem(WALKS, "row_dots", row._replace(case=otherwise))
    found, wanted = with_and_without(lambda: norms_of_rows(3003, torch.float32))
    assert found == wanted
    assert list(KERNELS.failures) == ["RuntimeError: row_dots of f4: NumPy adds in another order"]


@pytest.mark.parametrize("operands", [(0,), (0, 0), (0, 1)])
def test_a_kernel_whose_sums_are_wrong_is_refused(monkeypatch, tmp_path, operands):
    def wrong(*arguments):
        name, text = blas_function(*arguments)
        assert "%width, -32" in text
        return name, text.replace("%width, -32", "%width, -64")  # some elements are added later

    op = "row_sum" if operands == (0,) else "row_dot"
    count = max(operands) + 1
    graph = Graph(("f4",) * count, (), (Node(op, "f4", operands),), ((count, count),))
    program = Program(graph, ("dense",) * count + ("single",), 1, True)
    assert made_from(program).source == "compiled"
    monkeypatch.setenv("MINDTORCH_KERNEL_CACHE", str(tmp_path / "others"))
    monkeypatch.setattr(rowcode, "blas_function", wrong)
    with pytest.raises(WrongKernel, match="of 1 operations"):
        made_from(program)
