"""Every option of losses of numbers, beside PyTorch's: values and gradients on each side of each bend."""

import itertools

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

OPTIONS = {
    "poisson_nll_loss": {"log_input": (True, False), "full": (True, False), "eps": (1e-8, 0.5)},
    "kl_div": {"log_target": (True, False)},
    "smooth_l1_loss": {"beta": (0.0, 0.3, 1.0, 2.0)},
    "huber_loss": {"delta": (0.3, 1.0, 2.0)},
    "gaussian_nll_loss": {"full": (True, False), "eps": (1e-6, 0.6)},
    "hinge_embedding_loss": {"margin": (0.5, 1.0, 2.0)},
    "mse_loss": {},
    "l1_loss": {},
    "soft_margin_loss": {},
}
REDUCTIONS = ("none", "mean", "sum")


def cases():
    for name, options in OPTIONS.items():
        for chosen in itertools.product(*options.values(), REDUCTIONS):
            yield name, dict(zip((*options, "reduction"), chosen, strict=True))


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize(("name", "options"), [*cases()])
def test_values_and_gradients(name, options):
    def run(lib):
        input = lib.linspace(0.05, 3.0, 24, dtype=lib.float64).reshape(4, 6).requires_grad_()
        target = lib.linspace(0.1, 4.0, 24, dtype=lib.float64).flip(0).reshape(4, 6)
        if name in ("hinge_embedding_loss", "soft_margin_loss"):
            target = (target > 2).double() * 2 - 1
        more = [target]
        if name == "gaussian_nll_loss":
            more.append(lib.linspace(0.1, 2.0, 24, dtype=lib.float64).reshape(4, 6))
        loss = getattr(lib.nn.functional, name)(input, *more, **options)
        loss.backward(lib.linspace(1, 2, loss.numel(), dtype=lib.float64).reshape(loss.shape))
        return [loss.tolist(), input.grad.tolist()]

    for found, wanted in zip(run(torch), run(pt), strict=True):
        torch.testing.assert_close(torch.tensor(found), torch.tensor(wanted), rtol=1e-6, atol=1e-7)
