"""A backend's own kernel for a composition does not have `vmap` call it once for each sample."""

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.nn import functional as F

X = torch.linspace(-1, 2, 24).reshape(2, 3, 4)
TARGETS = torch.tensor([[0, 3, 1], [2, 2, 0]])

CALLS = {
    "rms_norm": lambda x, t: F.rms_norm(x, (4,)),
    "cross_entropy_loss": F.cross_entropy,
    "l1_loss": lambda x, t: F.l1_loss(x, x.flip(0)),
    "cosine_similarity": lambda x, t: F.cosine_similarity(x, x.flip(0)),
    "pairwise_distance": lambda x, t: F.pairwise_distance(x, x.flip(0)),
    "soft_margin_loss": lambda x, t: F.soft_margin_loss(x, x.sign()),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("error:There is a performance drop")
def test_parts_are_called_once_for_all_samples(name):
    call = CALLS[name]

    def loss(x, t):
        return (call(x, t) ** 2).sum()

    wanted = [
        torch.stack([fn(x, t) for x, t in zip(X, TARGETS, strict=True)])
        for fn in (call, torch.func.grad(loss))
    ]

    def kernel(*args, **kwargs):
        raise AssertionError("a kernel knows nothing of samples")

    with registry.scope():
        registry.register_kernel(name, "CPU", kernel)
        found = [torch.vmap(fn)(X, TARGETS) for fn in (call, torch.func.grad(loss))]
    torch.testing.assert_close(found, wanted)


@pytest.mark.filterwarnings("error:There is a performance drop")
def test_a_loss_with_a_gradient_of_its_own_is_taken_apart():
    def call(x):
        return F.binary_cross_entropy_with_logits(
            x, x.sigmoid().detach() ** 2, pos_weight=x[0].exp()
        )

    for fn in (call, torch.func.grad(call)):
        torch.testing.assert_close(torch.vmap(fn)(X), torch.stack([*map(fn, X)]))
