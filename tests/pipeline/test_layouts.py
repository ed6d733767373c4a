"""Strides and offsets are known, and right, while values wait for a launch."""

import pytest

import mindtorch_core as torch

VIEWS = {
    "t": lambda x: x.t(),
    "column": lambda x: x[:, 1],
    "tail": lambda x: x[1:],
    "step": lambda x: x[:, ::2],
    "expand": lambda x: x[:1].expand(3, 4),
    "whole": lambda x: x.view(-1),
}


def matrix():
    return torch.arange(12.0).reshape(3, 4)


def geometry(t):
    return t.stride(), t.storage_offset(), t.is_contiguous()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("write", [lambda x: x.add_(1), lambda x: x[0].zero_()])
def test_a_view_made_before_keeps_its_layout_while_its_memory_is_written(view, write):
    make = VIEWS[view]
    eager = make(matrix())
    x = matrix()
    y = make(x)
    with torch.pipeline() as pipe:
        write(x)
        assert geometry(y) == geometry(eager)
        assert pipe.stats()["pending"]
    assert geometry(y) == geometry(eager)


@pytest.mark.parametrize("view", VIEWS)
def test_ops_on_a_view_made_before_give_the_layout_they_give_eagerly(view):
    def program(x, y):
        x.add_(1)
        return y * 2, y.reshape(-1), y + y.sum(0)

    x, twin = matrix(), matrix()
    wanted = program(x, VIEWS[view](x))
    y = VIEWS[view](twin)
    with torch.pipeline():
        found = program(twin, y)
        shown = [t.stride() for t in found]
    assert shown == [t.stride() for t in wanted]
    assert [t.tolist() for t in found] == [t.tolist() for t in wanted]


def test_a_view_that_cannot_be_made_is_refused_at_once():
    x = matrix()
    y = x.t()
    with torch.pipeline():
        x.add_(1)
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            y.view(-1)
