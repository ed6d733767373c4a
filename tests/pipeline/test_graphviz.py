"""`Graph.to_dot`: how ops and what depends on what are marked."""

import re

import pytest

import mindtorch_core as torch


def test_the_text_for_graphviz_marks_ops_and_edges():
    x, zero = torch.ones(2, 3), torch.tensor([0, 1])
    with pytest.raises(torch.PipelineError), torch.pipeline(trace=True) as pipe:  # noqa: PT012
        before, row = x.exp(), x[0]
        x.add_(1)
        (row * 2).tolist()
        row.sin()
        wrong = zero // zero
    text = pipe.graph.to_dot()
    looks = dict(re.findall(r'label="(\w+)\\n.*tooltip=".*?[^\\]", (.*)\];', text))
    assert (before.shape, wrong.shape) == ((2, 3), (2,))
    assert looks == {
        "exp": 'style="filled"',
        "select": 'style="filled,dotted"',
        "add_": 'color="#c2571a", penwidth=2, style="filled"',
        "mul": 'style="filled"',
        "sin": 'fontcolor="#8a94a0", style="filled,dashed"',
        "floor_divide": 'color="#b3131b", penwidth=2.5, style="filled"',
    }
    numbers = {n.name: n.number for n in pipe.graph}
    assert f"op{numbers['exp']} -> op{numbers['add_']} [style=dashed" in text
    assert text.count("style=dashed") == 1
