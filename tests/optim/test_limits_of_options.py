"""Options of optimizers at their limits and beyond: refused, or stepping, as PyTorch's."""

import inspect

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.facts import missing

pt = pytest.importorskip("torch")

NAMES = sorted(
    name
    for name, found in vars(pt.optim).items()
    if inspect.isclass(found) and issubclass(found, pt.optim.Optimizer) and found is not pt.optim.Optimizer
)  # fmt: skip
VALUES = (-1.0, -0.0, 0.0, 1e-30, 0.5, 1.0, 1.5, float("inf"), float("nan"))
LEFT_OUT = {"LBFGS"}  # its steps call a function


def options_of(name):
    """Options of an optimizer that are numbers or pairs of them, with each value at each place."""
    for p in inspect.signature(getattr(pt.optim, name)).parameters.values():
        if p.name == "lr" or type(p.default) is float or type(p.default) is int:
            yield from ((p.name, v) for v in VALUES)
        elif isinstance(p.default, tuple) and p.name != "ns_coefficients":
            for i in range(len(p.default)):
                yield from ((p.name, (*p.default[:i], v, *p.default[i + 1 :])) for v in VALUES)


CASES = [
    (n, *option)
    for n in NAMES
    if n not in LEFT_OUT
    for option in options_of(n)
    # NaN is refused here, where PyTorch's SGD trains with it.
    if option[0] != "ns_steps" and not (n == "SGD" and option[1] != option[1])
]


def stepped(lib, name, option, value):
    start = np.linspace(-1, 2, 6).reshape(2, 3)
    p = lib.tensor(start, requires_grad=True)
    optimizer = getattr(lib.optim, name)([p], **{option: value})
    for factor in (1.0, -0.5, 0.25):
        g = lib.tensor(np.cos(start) * factor)
        p.grad = g.to_sparse() if name == "SparseAdam" else g
        optimizer.step()
    return p.detach().numpy()


@pytest.mark.parametrize(("name", "option", "value"), CASES, ids=str)
def test_an_option_at_a_limit(name, option, value):
    found, wanted = (outcome(stepped, lib, name, option, value) for lib in (torch, pt))
    if isinstance(wanted, Exception):
        assert isinstance(found, type(wanted))
        assert not missing(str(found), str(wanted))
    else:
        assert not isinstance(found, Exception), found
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)
