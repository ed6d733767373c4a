"""Max pooling of NaN, infinities and equal numbers: values, places and gradients are PyTorch's.

Both what the CPU runs and what devices without a kernel run is compared.
"""

import numpy as np
import pytest

import mindtorch_core as mt
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.nn import functional

torch = pytest.importorskip("torch")

SIZES = (7, 8, 6)
SPECIAL = (np.nan, np.inf, -np.inf)


def drawn(n, seed):
    draw = np.random.default_rng(seed)
    x = draw.integers(0, 4, (2, 3, *SIZES[:n])).astype(np.float32)
    at = draw.random(x.shape)
    for i, number in enumerate(SPECIAL):
        x[(at > 0.1 * i) & (at < 0.1 * (i + 1))] = number
    return x


def calls(n):
    """By name of a function, calls of a library's."""
    places = np.random.default_rng(n).random((2, 3, n)).astype(np.float32).tolist()
    found = {
        "max": (3, 2, 1),
        "adaptive_max": ((3, 2, 4)[:n],),
    }
    made = {
        name: lambda lib, f, x, name=name, args=args: getattr(f, f"{name}_pool{n}d")(
            x, *args, return_indices=True
        )
        for name, args in found.items()
    }
    if n > 1:
        made["fractional"] = lambda lib, f, x: getattr(f, f"fractional_max_pool{n}d")(
            x, 2, output_size=(3,) * n, return_indices=True, _random_samples=lib.tensor(places)
        )
    return made


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "name"), [(n, name) for n in (1, 2, 3) for name in calls(n)])
def test_as_in_pytorch(n, name, seed):
    found = []
    for lib, f in ((mt, functional), (torch, torch.nn.functional)):
        x = lib.tensor(drawn(n, seed)).requires_grad_()
        values, places = calls(n)[name](lib, f, x)
        values.sum().backward()
        found.append([t.detach().numpy() for t in (values, places, x.grad)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_without_a_kernel(n):
    x = drawn(n, 9)
    functional.max_pool2d
    definition = registry.entry(f"aten::max_pool{n}d_with_indices").definition
    found = definition.decomposition(mt.tensor(x), [3] * n, [2] * n, [1] * n)
    wanted = calls(n)["max"](torch, torch.nn.functional, torch.tensor(x))
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
