"""Weights that are kept normed, along each dimension and for each option, with PyTorch as witness."""

import pytest
from module_scenarios import assert_same, fill, numbers

import mindtorch_core as torch

pt = pytest.importorskip("torch")

MODULES = {
    "linear": (lambda nn: nn.Linear(3, 4), (2, 3)),
    "convolution": (lambda nn: nn.Conv2d(2, 3, 2), (1, 2, 4, 4)),
    "turned": (lambda nn: nn.ConvTranspose1d(2, 3, 2), (1, 2, 4)),
}
DIMS = [None, -1, 0, 1]


def steps(lib, module, shape):
    """Parameters, and outputs of three steps of training."""
    found = [(name, tuple(p.shape), numbers(p)) for name, p in module.named_parameters()]
    for _ in range(3):
        out = module(lib.arange(1.0, 1 + lib.zeros(shape).numel()).reshape(shape) / 10)
        module.zero_grad()
        out.square().sum().backward()
        with lib.no_grad():
            for p in module.parameters():
                p.sub_(p.grad * 0.01)
        found.append(numbers(out))
    return [*found, sorted(module.state_dict())]


def compare(play):
    assert_same(play(torch), play(pt))


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kind", MODULES)
def test_norms_and_directions(kind, dim):
    def play(lib):
        make, shape = MODULES[kind]
        module = fill(lib, make(lib.nn))
        return steps(lib, lib.nn.utils.parametrizations.weight_norm(module, dim=dim), shape)

    compare(play)


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kind", MODULES)
def test_norms_and_directions_of_the_older_function(kind, dim):
    def play(lib):
        make, shape = MODULES[kind]
        module = lib.nn.utils.weight_norm(fill(lib, make(lib.nn)), dim=dim)
        found = steps(lib, module, shape)
        lib.nn.utils.remove_weight_norm(module)
        return [*found, numbers(module.weight), sorted(module.state_dict())]

    compare(play)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("power", [1, 2, 3])
def test_norms_along_a_dimension(power, dim):
    def play(lib):
        v = (lib.arange(24.0) - 7).reshape(2, 3, 4)
        norms = lib.norm_except_dim(v, power, dim)
        return tuple(norms.shape), numbers(norms), numbers(lib._weight_norm(v, norms * 2, dim))

    compare(play)


@pytest.mark.parametrize("map_", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("trivial", [True, False])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_orthogonal_weights(shape, map_, trivial):
    """They are orthogonal; where nothing is drawn, they and their gradient are PyTorch's."""

    def play(lib):
        module = fill(lib, lib.nn.Linear(*shape))
        options = {"orthogonal_map": map_, "use_trivialization": trivial}
        made = lib.nn.utils.parametrizations.orthogonal(module, **options)
        q = made.weight if shape[0] <= shape[1] else made.weight.mT
        found = [numbers((q.mT @ q - lib.eye(min(shape))).abs() < 1e-5)]
        if not trivial:
            made(lib.ones(1, shape[0])).sum().backward()
            found += [numbers(made.weight), numbers(made.parametrizations.weight.original.grad)]
        return found

    compare(play)
