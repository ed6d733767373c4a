"""Compositions on a device that has only the primitives: where results lie, and how."""

import bare
import pytest

import mindtorch_core as torch


@pytest.fixture(scope="module", autouse=True)
def device(tmp_path_factory):
    with bare.loaded(tmp_path_factory.mktemp("bare")):
        yield


@pytest.mark.parametrize("make", [torch.linspace, torch.logspace])
def test_spaced_numbers_lie_where_their_ends_are(make):
    end = torch.tensor(1.0, device="bare")
    assert make(end, 2.0, 3).device.type == "bare"
    assert make(0.0, end, 3).device.type == "bare"
    assert make(0.0, end, 3, device="cpu").device.type == "cpu"


INDEX = [[0, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    "compute",
    [
        lambda x, i: x.scatter(0, i, x),
        lambda x, i: x.scatter(0, i, 2.0),
        lambda x, i: x.scatter_add(0, i, x),
        lambda x, i: x.index_add(0, i[1, :2], x),
    ],
    ids=["scatter.src", "scatter.value", "scatter_add", "index_add"],
)
def test_results_are_row_major_as_on_the_cpu(compute):
    x = torch.arange(6.0).reshape(3, 2).t()
    index = torch.tensor(INDEX)
    expected = compute(x, index)
    found = compute(x.to("bare"), index.to("bare"))
    assert found.stride() == expected.stride() == (3, 1)
    assert found.tolist() == expected.tolist()


def test_ctc_loss_reads_lengths_wherever_they_are():
    def computed(device, lengths):
        x = torch.arange(24.0).reshape(4, 2, 3).cos().to(device).requires_grad_()
        targets = torch.tensor([[1, 2], [2, 1]], device=device)
        of = [torch.tensor(v, device=lengths) for v in ([4, 3], [2, 1])]
        loss = torch.nn.functional.ctc_loss(x.log_softmax(2), targets, *of)
        loss.backward()
        return torch.cat([loss.reshape(1), x.grad.flatten()]).cpu()

    for lengths in ("cpu", "bare"):
        torch.testing.assert_close(computed("bare", lengths), computed("cpu", "cpu"))


@pytest.mark.parametrize(
    "bounds", [(0, None), (None, 2), (0.5, None), (None, 1.5), (0, 2.5)], ids=str
)
@pytest.mark.parametrize("kind", [torch.int64, torch.float16, torch.float64], ids=str)
def test_numbers_limit_elements(bounds, kind):
    x = torch.arange(-2, 5, dtype=kind)
    expected = torch.clamp(x, *bounds)
    found = torch.clamp(x.to("bare"), *bounds)
    assert found.dtype is expected.dtype
    assert found.tolist() == expected.tolist()
