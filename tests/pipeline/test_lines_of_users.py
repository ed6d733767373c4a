"""Which line is named: the user's, also where a layer or an optimizer has called the ops."""

import inspect

import pytest

import mindtorch_core as torch
from mindtorch_core import nn


def line():
    return f"{__file__}:{inspect.currentframe().f_back.f_lineno}"


def test_an_error_in_a_layer_is_at_the_line_that_called_the_model():
    model = nn.Sequential(nn.Sequential(nn.Embedding(3, 2)), nn.Linear(2, 2))
    with pytest.raises(torch.PipelineError) as raised, torch.pipeline():
        _, where = model(torch.tensor([9])), line()
    assert (raised.value.op, raised.value.location) == ("aten::embedding", where)


def test_a_look_in_a_layer_is_one_at_that_line():
    model = nn.Sequential(nn.BatchNorm1d(3, momentum=None))  # which computes with a count
    with torch.pipeline() as pipe:
        _, where = model(torch.ones(4, 3)), line()
    assert pipe.stats()["flush_lines"][f"float() at {where}"] == 1
    with pytest.raises(torch.CaptureError, match=r"looks at values: float\(\) at ") as raised:
        torch.pipeline.capture(lambda x: model(x))(torch.ones(4, 3))
    assert f"float() at {__file__}:" in str(raised.value)


def test_an_optimizer_is_at_the_line_of_its_step():
    model = nn.Linear(2, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(1, 2)).sum().backward()
    with torch.pipeline(trace=True) as pipe:
        _, where = opt.step(), line()
    assert {node.location for node in pipe.graph} == {where}


def test_a_model_whose_ops_have_one_line_is_replayed():
    """Layers of the same kind follow one another, and another order of them is another way."""
    layers = [
        nn.Linear(3, 3),
        nn.Tanh(),
        nn.Sequential(nn.Linear(3, 3), nn.Tanh()),
        nn.Linear(3, 3),
    ]
    model, other = nn.Sequential(*layers), nn.Sequential(*layers[::-1])
    params = [*model.parameters()]
    data = torch.rand(16, 3)

    def step(m, x):
        grads = torch.autograd.grad(m(x).square().sum(), params)
        return [g.tolist() for g in grads]

    for i in range(16):
        m, x = (model, other)[i % 4 == 3], data[i : i + 1] * 2
        with torch.pipeline(through_backward=True) as pipe:
            grads = torch.autograd.grad(m(x).square().sum(), params)
        assert [g.tolist() for g in grads] == step(m, x)
    assert pipe.stats()["replayed"] == pipe.stats()["recorded"] > 0
