"""Layers whose operands have several dtypes, or no elements: the CPU's results, whoever computes them."""

import itertools

import pytest

import mindtorch_core as torch
import mindtorch_core.nn.functional as F
from mindtorch_core.testing.comparison import outcome

F32, F16, BF16, F64 = torch.float32, torch.float16, torch.bfloat16, torch.float64
# Of the input, and of the parameters.
DTYPES = [
    (F32, F32),
    (F16, F16),
    (BF16, BF16),
    (F64, F64),
    (F16, F32),
    (BF16, F32),
    (F32, F16),
    (F64, F32),
]
LAYERS = {
    "layer_norm": lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w[: x.shape[-1]], b[: x.shape[-1]]),
    "group_norm": lambda x, w, b: F.group_norm(x, 2, w, b),
    "batch_norm": lambda x, w, b: F.batch_norm(x, b * 0, b * 0 + 1, w, b, True),
    "batch_norm with statistics": lambda x, w, b: F.batch_norm(x, b.detach(), w.detach(), w, b),
    "linear": lambda x, w, b: F.linear(x.transpose(1, -1), w[None], b[:1]),
    "conv": lambda x, w, b: F.conv1d(x[:2].reshape(2, 8, -1), w[None, :, None], b[:1]),
    "prelu": F.prelu,
    "nll_loss": lambda x, w, b: F.nll_loss(x[:2].reshape(2, 8, -1).sum(-1), torch.tensor([0, 3], device=x.device), w),
}  # fmt: skip
# Norms of two elements know no gradient.
SHAPES = [(6, 8), (2, 8, 4), (2, 8, 0), (2, 8, 1, 1, 2, 3)]


def both_ways(device, layer, shape, of_input, of_parameters):
    torch.manual_seed(0)
    drawn = [torch.randn(shape).to(of_input)]
    drawn += [torch.rand(8).add(0.5).to(of_parameters) for _ in range(2)]

    def run():
        leaves = [t.to(device).requires_grad_() for t in drawn]
        y = layer(*leaves)
        y.backward(torch.linspace(0.0, 1.0, y.numel()).to(y).reshape(y.shape))
        return [y.cpu(), *(None if t.grad is None else t.grad.cpu() for t in leaves)]

    return outcome(run)


@pytest.mark.filterwarnings("ignore:.* is computed on the CPU")
@pytest.mark.parametrize("name", LAYERS)
def test_as_on_the_cpu(npu, name):
    for shape, dtypes in itertools.product(SHAPES, DTYPES):
        wanted, found = (both_ways(d, LAYERS[name], shape, *dtypes) for d in ("cpu", "npu"))
        where = f"{shape} {dtypes}: {found} on the NPU, {wanted} on the CPU"
        if isinstance(wanted, Exception) or isinstance(found, Exception):
            assert type(found) is type(wanted), where
            continue
        for ours, theirs in zip(found, wanted, strict=True):
            assert (ours is None) == (theirs is None), where
            if ours is not None:
                at_most = 2e-2 if ours.element_size() == 2 else 1e-4
                options = {"rtol": at_most, "atol": at_most, "equal_nan": True}
                problem = outcome(torch.testing.assert_close, ours, theirs, **options)
                assert not isinstance(problem, Exception), f"{where}\n{problem}"
