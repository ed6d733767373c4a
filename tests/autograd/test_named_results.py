"""A backend's kernel may give its several results as a named tuple."""

from collections import namedtuple

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry

Results = namedtuple("Results", "out mean rstd")
Pair = namedtuple("Pair", "min max")
X = torch.tensor([[0.5, -1.0, 2.0], [1.0, 3.0, -2.0]])


def normed(x):
    return torch.native_layer_norm(x, (3,), None, None, 1e-5)[0]


@pytest.fixture
def named():
    """Has the CPU's kernel give a named tuple."""
    below = registry.get("native_layer_norm").kernels[torch.DispatchKey.CPU]
    with registry.scope():
        registry.register_kernel("native_layer_norm", "CPU", lambda *args: Results(*below(*args)))
        yield


def gradient(x):
    leaf = x.clone().requires_grad_()
    (found,) = torch.autograd.grad((normed(leaf) ** 3).sum(), leaf)
    return found


def deferred(x):
    with torch.pipeline():
        return normed(x + 1)


CALLS = {
    "gradient": gradient,
    "tangent": lambda x: torch.func.jvp(normed, (x,), (x * x,))[1],
    "samples": torch.vmap(normed),
    "per sample": torch.vmap(torch.func.grad(lambda x: (normed(x) ** 3).sum())),
    "inference": torch.inference_mode()(normed),
    "deferred": deferred,
}
EXPECTED = {name: call(X) for name, call in CALLS.items()}


@pytest.mark.parametrize("name", CALLS)
def test_wherever_results_are_looked_through(name, named):
    torch.testing.assert_close(CALLS[name](X), EXPECTED[name])


def test_a_composition_that_is_recorded_whole():
    def kernel(*args, **kwargs):
        return Pair(*registry.entry("aminmax").definition.decomposition(*args, **kwargs))

    x = X.clone().requires_grad_()
    with registry.scope():
        registry.register_kernel("aminmax", "CPU", kernel)
        least, most = torch.ops.aten.aminmax(x)
        assert least.grad_fn is most.grad_fn
        (least + 2 * most).backward()
    assert x.grad.tolist() == [[0, 0, 0], [0, 2, 1]]
