"""What `state_dict` hands out with and without `keep_vars`: classes, histories and memory, beside PyTorch's."""

import pytest

import mindtorch_core as torch

oracle = pytest.importorskip("torch")
pytest.importorskip("mindtorch_nn")


def module(lib):
    """With parameters, one that is frozen, buffers, one that is not kept, and a part."""
    made = lib.nn.Module()
    made.weight = lib.nn.Parameter(lib.ones(2))
    made.frozen = lib.nn.Parameter(lib.ones(3), requires_grad=False)
    made.absent = None
    made.register_parameter("none", None)
    made.register_buffer("count", lib.zeros(1))
    made.register_buffer("passing", lib.zeros(1), persistent=False)
    made.part = lib.nn.BatchNorm1d(2)
    return made


def told(lib, states, own):
    """For each name the class, whether it requires grad, whether it is the own one, and shares its memory."""
    return {
        name: (type(value).__name__, value.requires_grad, value is own[name], value.data_ptr() == own[name].data_ptr(),
               value.grad_fn is None, value.is_leaf)
        for name, value in states.items()
    }  # fmt: skip


@pytest.mark.parametrize(
    "options", [{}, {"keep_vars": True}, {"keep_vars": False}, {"prefix": "a."}], ids=str
)
def test_as_in_pytorch(options):
    def play(lib):
        made = module(lib)
        prefix = options.get("prefix", "")
        own = {
            prefix + name: value
            for name, value in (*made.named_parameters(), *made.named_buffers())
        }
        return told(lib, made.state_dict(**options), own)

    assert play(torch) == play(oracle)


@pytest.mark.parametrize("keep", [True, False])
def test_into_a_dict_that_is_given(keep):
    def play(lib):
        given = {}
        found = module(lib).state_dict(destination=given, prefix="x.", keep_vars=keep)
        return found is given, {name: type(value).__name__ for name, value in found.items()}

    assert play(torch) == play(oracle)


def test_what_training_does_later_shows():
    def play(lib):
        layer = lib.nn.Linear(1, 1, bias=False)
        with lib.no_grad():
            layer.weight.fill_(2)
        kept, plain = layer.state_dict(keep_vars=True), layer.state_dict()
        (layer(lib.ones(1, 1)) * kept["weight"]).sum().backward()
        with lib.no_grad():
            layer.weight.mul_(3)
        return kept["weight"].grad.tolist(), plain["weight"].grad, plain["weight"].tolist()

    assert play(torch) == play(oracle)
