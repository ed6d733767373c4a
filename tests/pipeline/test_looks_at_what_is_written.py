"""A look at a tensor that has numbers, and that a recorded op writes, sees what it writes; in any kind of block."""

from contextlib import ExitStack

import pytest

import mindtorch_core as torch

BLOCKS = {
    "plain": [{}],
    "nested": [{}, {}],
    "of whole steps": [{"through_backward": True}],
    "whole steps within a plain one": [{}, {"through_backward": True}],
    "plain within whole steps": [{"through_backward": True}, {}],
}
LOOKS = {
    "itself": lambda x, view: x.tolist(),
    "a view from before": lambda x, view: view.tolist(),
    "a view from after": lambda x, view: x.view(2, 2)[1].tolist(),
    "its memory": lambda x, view: x.numpy().tolist(),
    "one element": lambda x, view: x[1].item(),
    "its text": lambda x, view: repr(x),
}
WRITES = {
    "itself": lambda x, view: x.mul_(3),
    "a part": lambda x, view: x[1:].add_(1),
    "a view from before": lambda x, view: view.neg_(),
    "twice": lambda x, view: x.add_(1).mul_(2),
    "an out form": lambda x, view: torch.add(x, 2, out=x),
}


@pytest.mark.parametrize("others", [False, True], ids=["alone", "beside others"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("blocks", BLOCKS.values(), ids=BLOCKS)
def test_a_look_sees_what_was_written(blocks, look, write, others):
    def played(contexts):
        x, other = torch.arange(4.0), torch.zeros(3)
        view = x[:3]
        with ExitStack() as stack:
            for each in contexts:
                stack.enter_context(torch.pipeline(**each))
            if others:
                other.add_(1)
            write(x, view)
            seen = [look(x, view)]
            write(x, view)
            if others:
                other.mul_(x[:3])
            seen.append(look(x, view))
        return [*seen, x.tolist(), other.tolist()]

    assert played(blocks) == played([])


@pytest.mark.parametrize("blocks", BLOCKS.values(), ids=BLOCKS)
def test_a_look_at_what_only_views_were_made_of_launches_nothing(blocks):
    x, other = torch.arange(4.0), torch.zeros(3)
    with ExitStack() as stack:
        for each in blocks:
            block = stack.enter_context(torch.pipeline(**each))
        pending = other + 1
        view = x[1:]
        assert view.tolist() == [1.0, 2.0, 3.0]
        assert pending._pending is bool(blocks[-1])
    assert pending.tolist() == [1.0, 1.0, 1.0]
    assert block.stats()["launched"] >= 1
