"""`inspect.signature` says what functions, methods and modules take."""

import inspect

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.functions import FUNCTIONS, names_in

F = torch.nn.functional
T = torch.Tensor

SAID = {
    torch.conv2d: "(input, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1)",
    F.conv2d: "(input, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1)",
    torch.add: "(input, other, *, alpha=1, out=None)",
    torch.sum: "(input, dim=None, keepdim=False, *, dtype=None, out=None)",
    T.sum: "(self, dim=None, keepdim=False, *, dtype=None, out=None)",
    torch.max: "(input, dim=..., keepdim=False, *, out=None, other=...)",
    T.clamp: "(self, min=None, max=None, *, out=None)",
    torch.zeros: "(*size, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False, out=None)",
    T.view: "(self, *size, dtype=...)",
    torch.trapezoid: "(y, x=..., *, dim=-1, dx=1)",
    torch.linalg.norm: "(input, ord=None, dim=None, keepdim=False, *, dtype=None, out=None)",
}
PLAIN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@pytest.mark.parametrize("function", SAID, ids=lambda f: f.__qualname__)
def test_a_signature_is_that_of_the_schemas(function):
    said = inspect.signature(function)
    shown = said.replace(
        parameters=[p.replace(annotation=p.empty) for p in said.parameters.values()]
    )
    assert str(shown) == SAID[function]


@pytest.mark.parametrize("namespace", sorted(FUNCTIONS))
def test_no_function_of_an_op_takes_anything(namespace):
    vague = []
    for name in names_in(namespace):
        packet = FUNCTIONS[namespace][name]
        if packet.python is not None:
            continue
        parameters = list(inspect.signature(packet.function()).parameters.values())
        if any(not p.name.isidentifier() or "·" in p.name for p in parameters) or (
            parameters and all(p.kind in PLAIN for p in parameters) and len(parameters) > 1
        ):
            vague.append(name)
    assert vague == []


def test_calls_fit_the_signature():
    a = torch.ones(2, 2)
    for args, kwargs in (
        ((a,), {}),
        ((a, 1), {"keepdim": True}),
        ((a,), {"other": a}),
        ((a, a), {}),
    ):
        assert inspect.signature(torch.max).bind(*args, **kwargs)
    with pytest.raises(TypeError, match="dims"):
        inspect.signature(torch.sum).bind(a, dims=1)


def test_a_bound_method_has_no_self():
    assert next(iter(inspect.signature(torch.ones(2).sum).parameters)) == "dim"


def test_layers_say_their_arguments():
    assert [*inspect.signature(torch.nn.LSTM).parameters][:3] == [
        "input_size",
        "hidden_size",
        "num_layers",
    ]
    assert "proj_size" in inspect.signature(torch.nn.LSTM).parameters
    assert "proj_size" not in inspect.signature(torch.nn.GRU).parameters
    assert [*inspect.signature(torch.nn.RNN).parameters][3] == "nonlinearity"
    assert "nhead" in inspect.signature(torch.nn.TransformerEncoderLayer).parameters
